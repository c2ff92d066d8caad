//! SQLite databases from foreign tools, opened from bytes in memory.
//!
//! A database brings its own SQL in views, indices and triggers, and its pages may be damaged, so the work of
//! a connection is bounded, its schema is not trusted and cells are checked before they are read.

use rusqlite::ffi;
pub use rusqlite::{Connection, Error, Result};

/// First bytes of a SQLite file.
pub const MAGIC: &[u8] = b"SQLite format 3\0";
/// Largest database that SQLite accepts in memory, bytes.
const LARGEST: usize = i32::MAX as usize;
/// Offset of the write version in the header, and its value for a database with a write-ahead log.
const WRITE_VERSION: (usize, u8) = (18, 2);
/// Steps of SQLite's machine between two checks of the bound.
const STEPS: i32 = 1000;

/// Whether bytes are a SQLite database.
pub fn is_database(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Opens a database for reading. All its queries together may take `thousands` of thousands of steps of
/// SQLite's machine.
///
/// # Errors
/// Fails on files over 2 GiB and with SQLite's own errors. Damaged pages are found when they are read.
pub fn open(bytes: &[u8], thousands: u64) -> Result<Connection> {
    let mut db = bounded(thousands)?;
    load(&mut db, "main", bytes, true)?;
    Ok(db)
}

/// Opens a copy of a database in memory that may be changed; the copy is taken out with
/// `Connection::serialize`.
///
/// # Errors
/// As [`open`].
pub fn open_copy(bytes: &[u8], thousands: u64) -> Result<Connection> {
    let mut db = bounded(thousands)?;
    load(&mut db, "main", bytes, false)?;
    Ok(db)
}

/// Opens another database for reading in a connection, under a name that is attached already.
///
/// # Errors
/// As [`open`].
pub fn load_beside(db: &mut Connection, name: &str, bytes: &[u8]) -> Result<()> {
    load(db, name, bytes, true)
}

/// The first fault of the pages and indices of an open database; `None` if they are intact.
///
/// # Errors
/// Fails if SQLite cannot run the check.
pub fn damage(db: &Connection, name: &str) -> Result<Option<String>> {
    let query = format!("PRAGMA \"{}\".quick_check(1)", name.replace('"', "\"\""));
    let found: String = db.query_row(&query, [], |row| row.get(0))?;
    Ok((found != "ok").then_some(found))
}

fn bounded(thousands: u64) -> Result<Connection> {
    let db = Connection::open_in_memory()?;
    db.execute_batch(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;",
    )?;
    let mut left = thousands;
    db.progress_handler(
        STEPS,
        Some(move || {
            left = left.saturating_sub(1);
            left == 0
        }),
    );
    Ok(db)
}

fn load(db: &mut Connection, name: &str, bytes: &[u8], read_only: bool) -> Result<()> {
    if bytes.len() > LARGEST {
        let text = "the database is larger than the 2 GiB that are read".to_owned();
        return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), Some(text)));
    }
    // Without the log, which may hold the newest rows, the file would be read as if it had none.
    if is_database(bytes) && bytes.get(WRITE_VERSION.0) == Some(&WRITE_VERSION.1) {
        let text = "the database has a write-ahead log: `sqlite3 FILE 'PRAGMA journal_mode=DELETE'` writes it into the file";
        return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CANTOPEN), Some(text.to_owned())));
    }
    db.deserialize_read_exact(name, bytes, bytes.len(), read_only)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> Vec<u8> {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE t (a INTEGER, b TEXT); CREATE INDEX i ON t(b);").unwrap();
        for number in 0..500 {
            db.execute("INSERT INTO t VALUES (?1, ?2)", (number, format!("text {number}"))).unwrap();
        }
        db.serialize("main").unwrap().to_vec()
    }

    fn sum(db: &Connection) -> Result<i64> {
        db.query_row("SELECT sum(a) FROM t", [], |row| row.get(0))
    }

    #[test]
    fn read_and_copied() {
        let bytes = made();
        let db = open(&bytes, 1000).unwrap();
        assert_eq!((sum(&db).unwrap(), damage(&db, "main").unwrap()), (124_750, None));
        assert!(db.execute("DELETE FROM t", []).is_err());
        let copy = open_copy(&bytes, 1000).unwrap();
        copy.execute("DELETE FROM t WHERE a > 1", []).unwrap();
        let copy = copy.serialize("main").unwrap().to_vec();
        assert_eq!(sum(&open(&copy, 1000).unwrap()).unwrap(), 1);
    }

    #[test]
    fn endless_views_end() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(
            "CREATE VIEW t AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT a FROM n",
        )
        .unwrap();
        let bytes = db.serialize("main").unwrap().to_vec();
        assert!(sum(&open(&bytes, 50).unwrap()).unwrap_err().to_string().contains("interrupted"));
    }

    #[test]
    fn a_log_beside_the_file_is_named() {
        let mut bytes = made();
        bytes[18..20].fill(2);
        assert!(open(&bytes, 10).unwrap_err().to_string().contains("journal_mode=DELETE"));
    }

    #[test]
    fn damaged_pages_are_errors() {
        let bytes = made();
        let mut damaged = 0;
        // Every page but the first loses its head; the rest of the file is as it was.
        for page in 1..bytes.len() / 4096 {
            let mut broken = bytes.clone();
            broken[page * 4096..page * 4096 + 16].fill(0xff);
            let db = open(&broken, 1000).unwrap();
            damaged += usize::from(damage(&db, "main").map_or(true, |it| it.is_some()));
        }
        assert_eq!(damaged, bytes.len() / 4096 - 1);
        for end in [0, 1, 16, 100, 4095] {
            assert!(open(&bytes[..end], 1000).and_then(|db| sum(&db)).is_err(), "{end}");
        }
    }
}
