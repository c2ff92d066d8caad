//! The interface between journal and database.

use crate::error::StoreError;

/// A value of a column or parameter.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cell {
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Numbers, some of them unknown.
    Numbers(Vec<Option<f64>>),
    /// Nothing.
    Null,
}

/// A row of a result.
pub(crate) type Row = Vec<Cell>;

impl From<i64> for Cell {
    fn from(it: i64) -> Cell {
        Cell::Integer(it)
    }
}

impl From<&str> for Cell {
    fn from(it: &str) -> Cell {
        Cell::Text(it.to_owned())
    }
}

impl From<Option<&str>> for Cell {
    fn from(it: Option<&str>) -> Cell {
        it.map_or(Cell::Null, Cell::from)
    }
}

impl From<String> for Cell {
    fn from(it: String) -> Cell {
        Cell::Text(it)
    }
}

impl From<&[u8]> for Cell {
    fn from(it: &[u8]) -> Cell {
        Cell::Bytes(it.to_owned())
    }
}

impl From<Option<f64>> for Cell {
    fn from(it: Option<f64>) -> Cell {
        it.map_or(Cell::Null, Cell::Real)
    }
}

impl From<Option<i64>> for Cell {
    fn from(it: Option<i64>) -> Cell {
        it.map_or(Cell::Null, Cell::Integer)
    }
}

/// Words in which the engines' SQL differs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// The schema before the name of a table, with the dot.
    pub(crate) schema: &'static str,
    /// Milliseconds since 1970 by the clock of the database.
    pub(crate) now: &'static str,
    /// Type of a column that numbers its rows.
    pub(crate) serial: &'static str,
    /// Locks the chosen task, and passes over tasks that others lock.
    pub(crate) skip_locked: &'static str,
    /// Locks the schema until the transaction ends, where a transaction alone does not.
    pub(crate) lock_schema: Option<&'static str>,
    /// A statement may hold others that change rows.
    pub(crate) nests_changes: bool,
    /// Type of a column of bytes.
    pub(crate) bytes: &'static str,
    /// Type of a column of [`Cell::Numbers`].
    pub(crate) numbers: &'static str,
    /// The number at `m.position`, from 0, in `run.numbers`.
    pub(crate) element: &'static str,
    /// The same for a single kernel's series; not for views, which others read too.
    pub(crate) element_of_series: &'static str,
    /// The numbers of `run.times` as rows `e`, and their index from 0.
    pub(crate) each: (&'static str, &'static str),
    /// The time of the first run in the result of task `t`.
    pub(crate) first_run: &'static str,
    /// Keeps the numbers of a kernel in its row: a series reads one of them from each of thousands of rows.
    pub(crate) inline_numbers: &'static str,
    /// Packs numbers so that they are unpacked fast: a series unpacks the numbers of thousands of rows.
    pub(crate) fast_numbers: &'static str,
    /// Parameters of a statement that inserts rows: exchanges with a server take longer than its parser, and a text that
    /// is parsed once serves each row of a file.
    pub(crate) most_parameters: usize,
    /// A shared lock that prevents the removal of blobs until the transaction ends, and the exclusive lock to remove.
    pub(crate) blobs: Option<(&'static str, &'static str)>,
}

impl Dialect {
    /// SQL of this dialect.
    pub(crate) fn sql(&self, text: &str) -> String {
        text.replace("{s}", self.schema)
            .replace("{now}", self.now)
            .replace("{serial}", self.serial)
            .replace("{skip_locked}", self.skip_locked)
            .replace("{inline_numbers}", self.inline_numbers)
            .replace("{fast_numbers}", self.fast_numbers)
            .replace("{element_of_series}", self.element_of_series)
            .replace("{bytes}", self.bytes)
            .replace("{numbers}", self.numbers)
            .replace("{element}", self.element)
            .replace("{first_run}", self.first_run)
            .replace("{each}", self.each.0)
            .replace("{place}", self.each.1)
    }
}

/// Runs statements.
pub(crate) trait Statements {
    /// Runs a statement with parameters `?1`, `?2` and returns its rows.
    fn rows(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, StoreError>;
}

/// Columns and rows of a user's query, as texts.
pub(crate) type Texts = (Vec<String>, Vec<Vec<Option<String>>>);

/// Work of one transaction. It may run several times: it must change nothing but the database.
pub(crate) type Work<'a> = dyn FnMut(&mut dyn Statements) -> Result<(), StoreError> + 'a;

/// A database. As [`Statements`] it runs each statement as a transaction, and repeats it if the connection was lost:
/// the statement may have run already.
pub(crate) trait Engine: Statements + Send {
    /// Its SQL.
    fn dialect(&self) -> Dialect;

    /// Its address without password.
    fn place(&self) -> &str;

    /// Whether the last statement ran again after the connection was lost.
    fn repeated(&self) -> bool {
        false
    }

    /// Runs one statement that only reads, and returns at most `most` rows.
    fn query(&mut self, sql: &str, most: usize) -> Result<Texts, StoreError>;

    /// Frees the space of removed rows.
    fn vacuum(&mut self) -> Result<(), StoreError>;

    /// Bytes of the database.
    fn size(&mut self) -> Result<i64, StoreError>;

    /// Runs work as one transaction, which sees no other's changes and whose changes others see at once.
    fn transaction(&mut self, work: &mut Work<'_>) -> Result<(), StoreError>;
}
