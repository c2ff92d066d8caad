//! Recordings over time.
//!
//! The files of a recording are blobs by content, packed against an earlier file of the same form; unpacking returns
//! exactly the bytes that were added. SQL and `history` read tables that are computed when a recording is added.

mod add;
mod answers;
mod blobs;
mod columns;
mod copy;
mod model;
mod names;
#[cfg(feature = "parquet")]
mod parquet;
mod read;
mod series;
mod statements;

pub use model::{Added, KernelSeries, NewRecording, Point, Queried, Selection, Stored, StoredChange};
pub use series::TIME;

use crate::address::Address;
use crate::engine::Engine;
use crate::error::StoreError;
use crate::{schema, sqlite};
use blobs::Bases;
use names::Names;

/// Most bytes of one file.
pub const MOST_BYTES: u64 = 512 << 20;

/// A database of recordings.
pub struct Archive {
    engine: Box<dyn Engine>,
    names: Names,
    bases: Bases,
}

impl Archive {
    /// Opens a database to add to it; makes the file and the tables that do not exist.
    ///
    /// # Errors
    /// If the database cannot be reached, written or understood.
    pub fn open(address: &str) -> Result<Archive, StoreError> {
        Archive::new(match Address::parse(address)? {
            Address::Sqlite(path) => Box::new(sqlite::Sqlite::open(&path)?),
            #[cfg(feature = "postgres")]
            Address::Postgres(url) => Box::new(crate::postgres::Postgres::open(&url)?),
            #[cfg(not(feature = "postgres"))]
            Address::Postgres(_) => return Err(StoreError::NotBuilt),
        })
    }

    /// Opens a database that exists, to change it.
    ///
    /// # Errors
    /// If the file does not exist, or the database cannot be reached, written or understood.
    pub fn open_existing(address: &str) -> Result<Archive, StoreError> {
        if let Address::Sqlite(path) = Address::parse(address)?
            && !path.exists()
        {
            return Err(StoreError::NoDatabase { place: path.display().to_string() });
        }
        Archive::open(address)
    }

    /// Opens a database that exists, to read it. A file and its folder may be read-only.
    ///
    /// # Errors
    /// If the file does not exist, or the database cannot be reached or understood.
    pub fn open_to_read(address: &str) -> Result<Archive, StoreError> {
        if let Address::Sqlite(path) = Address::parse(address)?
            && let Some(engine) = sqlite::Sqlite::open_to_read(&path)?
        {
            return Archive::new(Box::new(engine));
        }
        Archive::open(address)
    }

    fn new(mut engine: Box<dyn Engine>) -> Result<Archive, StoreError> {
        schema::migrate(&mut *engine)?;
        Ok(Archive { engine, names: Names::default(), bases: Bases::default() })
    }

    /// Its address without password.
    pub fn place(&self) -> &str {
        self.engine.place()
    }

    /// Answers a statement of SQL that only reads, with at most `most` rows.
    ///
    /// # Errors
    /// If the statement changes something or is wrong, or with the database.
    pub fn query(&mut self, sql: &str, most: usize) -> Result<Queried, StoreError> {
        let (columns, rows) = self.engine.query(sql, most)?;
        Ok(Queried { columns, rows })
    }

    /// Bytes of the database.
    ///
    /// # Errors
    /// With the database.
    pub fn size(&mut self) -> Result<u64, StoreError> {
        Ok(u64::try_from(self.engine.size()?).unwrap_or(0))
    }

    /// Tells that this build has no Parquet.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(feature = "parquet"))]
    pub fn to_parquet(
        &mut self,
        _wanted: &[view::StoredRecording],
        _folder: &std::path::Path,
    ) -> Result<Vec<(String, u64)>, StoreError> {
        Err(StoreError::NoParquet)
    }

    fn sql(&self, text: &str) -> String {
        self.engine.dialect().sql(text)
    }

    fn unreadable(&self, table: &str) -> StoreError {
        StoreError::Engine {
            place: self.engine.place().to_owned(),
            why: format!("a row of `{table}` has another form than this version writes"),
        }
    }
}
