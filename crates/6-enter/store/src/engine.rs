//! The interface between journal and database.

use crate::error::StoreError;

/// A value of a column or parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Cell {
    /// A number.
    Integer(i64),
    /// Text.
    Text(String),
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
}

impl Dialect {
    /// SQL of this dialect.
    pub(crate) fn sql(&self, text: &str) -> String {
        text.replace("{s}", self.schema)
            .replace("{now}", self.now)
            .replace("{serial}", self.serial)
            .replace("{skip_locked}", self.skip_locked)
    }
}

/// Runs statements.
pub(crate) trait Statements {
    /// Runs a statement with parameters `?1`, `?2` and returns its rows.
    fn rows(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, StoreError>;
}

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

    /// Runs work as one transaction, which sees no other's changes and whose changes others see at once.
    fn transaction(&mut self, work: &mut Work<'_>) -> Result<(), StoreError>;
}
