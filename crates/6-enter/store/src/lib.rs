//! A queue of evaluations and the journal of their results, in a database.
//!
//! One process pushes tasks, any number of workers claim them, and every result is committed before it counts. Engines
//! are SQLite in a file and, with the feature `postgres`, PostgreSQL. Payloads and results are opaque text.
//!
//! A claim is a lease: it expires by the clock of the database unless heartbeats renew it. Each claim has a token, and
//! a result is kept only with the token of the newest claim, so nothing counts twice.
#![allow(clippy::disallowed_methods, reason = "databases are IO")]

mod address;
mod engine;
mod error;
mod journal;
mod model;
#[cfg(feature = "postgres")]
mod partitions;
#[cfg(feature = "postgres")]
mod postgres;
pub mod recordings;
mod schema;
mod sqlite;
mod statements;
mod token;

pub use address::Address;
pub use error::StoreError;
pub use journal::Journal;
pub use model::{Claim, Done, Finish, Population, Progress, State, Study, StudyEntry, StudyId, Task, Worker};
#[cfg(feature = "postgres")]
pub use partitions::Scale;
pub use recordings::Archive;

/// Claims of a task that may expire before the task counts as failed: a task that kills its workers ends.
pub const MOST_LOST: i64 = 3;

/// Opens a database and brings its schema up to date: a path, `sqlite:PATH` or `postgres://USER@HOST/DATABASE`.
///
/// # Errors
/// If the address is of no engine of this build, or the database cannot be reached, written or understood.
pub fn open(address: &str) -> Result<Box<dyn Journal>, StoreError> {
    match Address::parse(address)? {
        Address::Sqlite(path) => Ok(Box::new(journal::Queue::new(sqlite::Sqlite::open(&path)?)?)),
        #[cfg(feature = "postgres")]
        Address::Postgres(url) => Ok(Box::new(journal::Queue::new(postgres::Postgres::open(&url)?)?)),
        #[cfg(not(feature = "postgres"))]
        Address::Postgres(_) => Err(StoreError::NotBuilt),
    }
}

/// Statements that make an empty PostgreSQL database with partitions by time.
#[cfg(feature = "postgres")]
pub fn script(scale: Scale) -> String {
    partitions::script(scale, &postgres::DIALECT)
}

/// Opens a database that exists, to read it. A file and its folder may be read-only.
///
/// # Errors
/// If the file does not exist, or the database cannot be reached or understood.
pub fn open_to_read(address: &str) -> Result<Box<dyn Journal>, StoreError> {
    if let Address::Sqlite(path) = Address::parse(address)?
        && let Some(engine) = sqlite::Sqlite::open_to_read(&path)?
    {
        return Ok(Box::new(journal::Queue::new(engine)?));
    }
    open(address)
}
