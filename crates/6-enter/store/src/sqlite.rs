//! SQLite in a file.
//!
//! On a disk of this machine the file has a write-ahead log: readers do not wait for writers, and a commit is one
//! write that is flushed. On a network file system it has a rollback journal, because processes share the index of a
//! write-ahead log in memory, which other machines do not see. Both survive `kill -9` at any moment, and `synchronous =
//! FULL` makes results survive a power cut.

use crate::engine::{Cell, Dialect, Engine, Row, Statements, Texts, Work};
use crate::error::StoreError;
use crate::schema;
use rusqlite::functions::FunctionFlags;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi, params_from_iter, types::ValueRef};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for another process.
const PATIENCE: Duration = Duration::from_secs(30);

/// `application_id` of the files: "Rock".
const APPLICATION: i64 = 0x526f_636b;

/// Types of file systems whose machines do not share memory: NFS, SMB 1 and 2, CIFS, Lustre, GPFS, Ceph, AFS, 9P, GFS2, OCFS2,
/// BeeGFS, and FUSE, which may be any.
const NETWORK: &[u64] = &[
    0x6969,
    0x517b,
    0xfe53_4d42,
    0xff53_4d42,
    0x0bd0_0bd0,
    0x4750_4653,
    0x00c3_6400,
    0x5346_414f,
    0x0102_1997,
    0x0116_1970,
    0x7461_636f,
    0x1983_0326,
    0x6573_5546,
];

/// An open file.
pub(crate) struct Sqlite {
    connection: Connection,
    place: String,
    /// Has a write-ahead log.
    has_log: bool,
}

impl Sqlite {
    /// Opens or makes a file, without its tables.
    pub(crate) fn open(path: &Path) -> Result<Sqlite, StoreError> {
        let place = path.display().to_string();
        let fails = |error| failure(&place, &error);
        let folder = folder_of(path);
        if !folder.is_dir() {
            let why = format!("there is no folder `{}`", folder.display());
            return Err(StoreError::Unreachable { place, why });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(fails)?;
        connection.busy_timeout(PATIENCE).map_err(fails)?;
        check_owner(&connection, &place)?;
        if connection.is_readonly("main").map_err(fails)? {
            return Err(StoreError::ReadOnly { place, why: "the file is read-only".to_owned() });
        }
        let has_log = !is_on_network(&folder);
        let mode = if has_log { "WAL" } else { "TRUNCATE" };
        let set =
            format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;");
        connection.execute_batch(&set).map_err(fails)?;
        connection.set_prepared_statement_cache_capacity(32);
        add_element(&connection).map_err(fails)?;
        let mut engine = Sqlite { connection, place, has_log };
        let (versions, marks) =
            (engine.dialect().sql(schema::VERSIONS), format!("PRAGMA application_id = {APPLICATION}"));
        engine.transaction(&mut |statements| {
            statements.rows(&marks, &[])?;
            statements.rows(&versions, &[]).map(|_| ())
        })?;
        Ok(engine)
    }
}

impl Sqlite {
    /// Opens a file without writing to it. `None` if its tables are older than those of this version, so that they
    /// have to be brought up to date.
    pub(crate) fn open_to_read(path: &Path) -> Result<Option<Sqlite>, StoreError> {
        let place = path.display().to_string();
        let fails = |error| failure(&place, &error);
        if !path.is_file() {
            return Err(StoreError::NoDatabase { place });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(fails)?;
        connection.busy_timeout(PATIENCE).map_err(fails)?;
        if check_owner(&connection, &place)? == 0 {
            return Err(StoreError::Foreign { place, why: "it has no tables".to_owned() });
        }
        add_element(&connection).map_err(fails)?;
        let mut engine = Sqlite { connection, place, has_log: false };
        let known = schema::version(&mut engine)?;
        Ok((known == schema::NEWEST).then_some(engine))
    }
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

fn is_on_network(folder: &Path) -> bool {
    rustix::fs::statfs(folder).is_ok_and(|it| NETWORK.contains(&(it.f_type as u64 & 0xffff_ffff)))
}

/// Makes the function `rockhound_element(numbers, position)`: `json_extract` parses the whole list.
fn add_element(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("rockhound_element", 2, flags, |context| {
        let (Ok(list), Ok(position)) = (context.get_raw(0).as_str(), context.get::<i64>(1)) else {
            return Ok(None);
        };
        let position = usize::try_from(position).unwrap_or(usize::MAX);
        Ok(element(list, position))
    })
}

/// The number at a position of a list of JSON; `None` for `null`, or outside of the list.
fn element(list: &str, position: usize) -> Option<f64> {
    let inside = list.strip_prefix('[')?.strip_suffix(']')?;
    let begin = match position.checked_sub(1) {
        None => 0,
        Some(commas) => memchr::memchr_iter(b',', inside.as_bytes()).nth(commas)? + 1,
    };
    let rest = inside.get(begin..)?;
    rest.get(..memchr::memchr(b',', rest.as_bytes()).unwrap_or(rest.len()))?.parse().ok()
}

/// Refuses the database of another program. Returns the number of tables and indexes.
fn check_owner(connection: &Connection, place: &str) -> Result<i64, StoreError> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let tables = number("SELECT count(*) FROM sqlite_schema").map_err(|error| failure(place, &error))?;
    let owner = number("PRAGMA application_id").map_err(|error| failure(place, &error))?;
    if tables > 0 && owner != APPLICATION {
        let why = "it is an SQLite database of another program".to_owned();
        return Err(StoreError::Foreign { place: place.to_owned(), why });
    }
    Ok(tables)
}

impl Statements for Sqlite {
    fn rows(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, StoreError> {
        rows(&self.connection, sql, cells).map_err(|error| failure(&self.place, &error))
    }
}

impl Engine for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect {
            schema: "",
            now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
            serial: "INTEGER PRIMARY KEY",
            // Writers wait for each other.
            skip_locked: "",
            lock_schema: None,
            nests_changes: false,
            bytes: "BLOB",
            numbers: "TEXT",
            element: "json_extract(run.numbers, '$[' || m.position || ']')",
            element_of_series: "rockhound_element(run.numbers, m.position)",
            first_run: "json_extract(t.result, '$.runs_us[0]')",
            each: ("json_each(run.times) AS e", "e.key"),
            // SQLite moves only the end of a long row to other pages.
            inline_numbers: "SELECT 1",
            fast_numbers: "SELECT 1",
            most_parameters: 1,
            blobs: None,
        }
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn query(&mut self, sql: &str, most: usize) -> Result<Texts, StoreError> {
        self.connection.authorizer(Some(|context: AuthContext<'_>| may(&context)));
        let found = texts(&self.connection, sql, most);
        self.connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>);
        found.map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::AuthorizationForStatementDenied) => {
                StoreError::Query { why: "a query only reads: one `SELECT`, `VALUES` or `WITH`".to_owned() }
            }
            None if matches!(error, rusqlite::Error::InvalidQuery) => {
                StoreError::Query { why: "there is no statement".to_owned() }
            }
            None | Some(ErrorCode::Unknown) => StoreError::Query { why: error.to_string() },
            Some(_) => failure(&self.place, &error),
        })
    }

    fn vacuum(&mut self) -> Result<(), StoreError> {
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)", &[])?;
        self.rows("VACUUM", &[]).map(|_| ())
    }

    fn size(&mut self) -> Result<i64, StoreError> {
        let number = |rows: Vec<Row>| match rows.first().and_then(|row| row.first()) {
            Some(Cell::Integer(it)) => *it,
            _ => 0,
        };
        Ok(number(self.rows("PRAGMA page_count", &[])?) * number(self.rows("PRAGMA page_size", &[])?))
    }

    fn transaction(&mut self, work: &mut Work<'_>) -> Result<(), StoreError> {
        // Results are flushed to the disk. A claim or heartbeat that a power cut loses is made again; a rollback journal
        // needs the flush to stay intact.
        if self.has_log {
            self.rows("PRAGMA synchronous = FULL", &[])?;
        }
        let ended = self.committed(work);
        if self.has_log {
            self.rows("PRAGMA synchronous = NORMAL", &[])?;
        }
        ended
    }
}

impl Sqlite {
    fn committed(&mut self, work: &mut Work<'_>) -> Result<(), StoreError> {
        // Immediate: a transaction that begins as a reader cannot wait to become a writer.
        self.rows("BEGIN IMMEDIATE", &[])?;
        let ended = work(self).and_then(|()| self.rows("COMMIT", &[]).map(|_| ()));
        if ended.is_err() && !self.connection.is_autocommit() {
            // The first error counts; without a roll-back the next transaction reports.
            let _ = self.rows("ROLLBACK", &[]);
        }
        ended
    }
}

fn rows(connection: &Connection, sql: &str, cells: &[Cell]) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns = statement.column_count();
    let mut found = statement.query(params_from_iter(cells.iter().map(parameter)))?;
    let mut all = Vec::new();
    while let Some(row) = found.next()? {
        let cell = |at| {
            Ok(match row.get_ref(at)? {
                ValueRef::Integer(it) => Cell::Integer(it),
                ValueRef::Real(it) => Cell::Real(it),
                ValueRef::Text(it) => Cell::Text(String::from_utf8_lossy(it).into_owned()),
                ValueRef::Blob(it) => Cell::Bytes(it.to_owned()),
                ValueRef::Null => Cell::Null,
            })
        };
        all.push((0..columns).map(cell).collect::<rusqlite::Result<Row>>()?);
    }
    Ok(all)
}

fn parameter(cell: &Cell) -> rusqlite::types::Value {
    match cell {
        Cell::Integer(it) => (*it).into(),
        Cell::Real(it) => (*it).into(),
        Cell::Text(it) => it.clone().into(),
        Cell::Bytes(it) => it.clone().into(),
        Cell::Numbers(it) => json(it).into(),
        Cell::Null => rusqlite::types::Value::Null,
    }
}

/// Numbers as JSON, whole ones without a fraction: `json_extract` then returns integers.
fn json(numbers: &[Option<f64>]) -> String {
    let text =
        |it: &Option<f64>| it.filter(|it| it.is_finite()).map_or("null".to_owned(), |it| it.to_string());
    format!("[{}]", numbers.iter().map(text).collect::<Vec<_>>().join(","))
}

/// Allows a user's statement to read, and nothing else.
fn may(context: &AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select
        | AuthAction::Read { .. }
        | AuthAction::Function { .. }
        | AuthAction::Recursive => Authorization::Allow,
        _ => Authorization::Deny,
    }
}

fn texts(connection: &Connection, sql: &str, most: usize) -> rusqlite::Result<Texts> {
    let mut statement = connection.prepare(sql)?;
    let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    if names.is_empty() {
        // The text is a comment.
        return Err(rusqlite::Error::InvalidQuery);
    }
    let mut found = statement.query([])?;
    let mut all = Vec::new();
    while all.len() < most
        && let Some(row) = found.next()?
    {
        let text = |at| {
            Ok(match row.get_ref(at)? {
                ValueRef::Integer(it) => Some(it.to_string()),
                ValueRef::Real(it) => Some(it.to_string()),
                ValueRef::Text(it) => Some(String::from_utf8_lossy(it).into_owned()),
                ValueRef::Blob(it) => Some(it.iter().map(|byte| format!("{byte:02x}")).collect()),
                ValueRef::Null => None,
            })
        };
        all.push((0..names.len()).map(text).collect::<rusqlite::Result<_>>()?);
    }
    Ok((names, all))
}

fn failure(place: &str, error: &rusqlite::Error) -> StoreError {
    let (place, why) = (place.to_owned(), error.to_string());
    let Some(code) = error.sqlite_error_code() else { return StoreError::Engine { place, why } };
    match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            StoreError::Locked { place, seconds: PATIENCE.as_secs() }
        }
        ErrorCode::DiskFull => StoreError::Full { place },
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly { place, why },
        ErrorCode::NotADatabase => {
            StoreError::Foreign { place, why: "it is another kind of file".to_owned() }
        }
        ErrorCode::CannotOpen => {
            // A write-ahead log cannot even be read where its index cannot be written.
            let path = Path::new(&place);
            let writable = |it: &Path| rustix::fs::access(it, rustix::fs::Access::WRITE_OK);
            match writable(&folder_of(path))
                .and_then(|()| if path.is_file() { writable(path) } else { Ok(()) })
            {
                Err(error) => StoreError::ReadOnly { place, why: std::io::Error::from(error).to_string() },
                Ok(()) => StoreError::Unreachable { place, why: "the file cannot be opened".to_owned() },
            }
        }
        ErrorCode::DatabaseCorrupt => StoreError::Engine {
            place,
            why: "the file is damaged; go on from a copy, or begin a new one".to_owned(),
        },
        _ => {
            let extended = error.sqlite_error().map_or(ffi::SQLITE_ERROR, |it| it.extended_code);
            StoreError::Engine { place, why: format!("{why} (SQLite's code {extended})") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_that_of_the_list() {
        let numbers = [Some(1.5), None, Some(-3e300), Some(0.0)];
        let list = json(&numbers);
        for (at, expected) in numbers.iter().chain([&None]).enumerate() {
            assert_eq!(element(&list, at), *expected, "{list} {at}");
        }
        assert_eq!((element("[]", 0), element("", 0), element("null", 1)), (None, None, None));
    }
}
