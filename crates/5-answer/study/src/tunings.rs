//! Questions about tuning databases, answered as values.
//!
//! The rule of a library's loader decides which row it takes; the rules are written once, in [`query`];
//! everything else compares rows by key and time.

mod advise;
mod convert;
mod coverage;
mod diff;
mod lint;
mod merge;
mod query;
mod shapes;
mod show;

pub use advise::advise;
pub use convert::{Converted, To, convert};
pub use coverage::{WITHOUT, coverage};
pub use diff::{Calls, calls, diff};
pub use lint::lint;
pub use merge::{Merged, NOISE, Options as MergeOptions, Refusal, merge};
pub use query::{Choice, Problem, Taken, choose, query};
pub use shapes::{ShapesTo, Written as WrittenShapes, shapes, write as write_shapes};
pub use show::{Order, Selection, show};

use tunedb::{Row, Tunings};
use view::{
    Answer, Cell, Column, ColumnKind, Input, NamedValue, Row as TableRow, TUNEDB_SCHEMA, Table, Tuned,
};

/// An answer on these files, without tables.
pub(crate) fn answer<'f, 'a: 'f>(
    question: &'static str,
    files: impl IntoIterator<Item = &'f Tunings<'a>>,
) -> Answer<Tuned> {
    Answer {
        inputs: files.into_iter().map(input).collect(),
        ..Answer::new(TUNEDB_SCHEMA, Tuned { question })
    }
}

fn input(file: &Tunings<'_>) -> Input {
    let rows = file.rows.len() as u64;
    Input { used: view::counted(rows, "row"), ..Input::new(file.base_name(), &file.name, file.format.name()) }
}

/// A table of rows without labels.
pub(crate) fn table(
    title: impl Into<String>,
    facts: Vec<(String, String)>,
    columns: Vec<Column>,
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> Table {
    Table {
        title: title.into(),
        facts: facts.into_iter().map(|(name, value)| NamedValue::new(name, value)).collect(),
        columns,
        rows: rows.into_iter().map(TableRow::of).collect(),
        ..Table::default()
    }
}

pub(crate) fn column(key: &'static str, title: &str, unit: &str, kind: ColumnKind) -> Column {
    Column { key, ..Column::new(title, kind, unit) }
}

/// A text that a row may not say.
pub(crate) fn said<T: AsRef<str>>(value: &Result<T, &'static str>) -> Cell {
    match value {
        Ok(text) => Cell::text(text.as_ref()),
        Err(reason) => Cell::missing(*reason),
    }
}

/// Sizes of a row.
pub(crate) fn shape(row: &Row<'_>) -> Cell {
    match &row.shape {
        Ok(shape) => Cell::text(shape.to_string()),
        Err(reason) => Cell::missing(*reason),
    }
}

/// `rounded up to 8192`: the size that a loader takes for another one.
pub(crate) fn rounded_words(wanted: u64, taken: u64) -> String {
    let way = if taken < wanted { "down" } else { "up" };
    format!("rounded {way} to {taken}")
}

/// Target and compute units of a row: `gfx942 304`.
pub(crate) fn gpu(row: &Row<'_>) -> Cell {
    match (&row.target, &row.cu_count) {
        (Ok(target), Ok(units)) => Cell::text(format!("{target}/{units}")),
        (Ok(target), Err(_)) => Cell::text(target.as_ref()),
        (Err(_), Ok(units)) => Cell::text(format!("any/{units}")),
        (Err(reason), Err(_)) => Cell::missing(*reason),
    }
}

/// Facts about a file, for the head of its table.
pub(crate) fn facts(file: &Tunings<'_>) -> Vec<(String, String)> {
    let mut facts = vec![("format".to_owned(), file.format.name().to_owned())];
    facts.extend(file.versions.iter().map(|it| (it.key.to_string(), it.value.trim_end().to_owned())));
    facts
}
