//! Building tables.

use view::{Cell, Column, ColumnKind, Number, Row, Table};

/// Nanoseconds in a millisecond.
pub(crate) const MS: f64 = 1e6;
/// Nanoseconds in a microsecond.
pub(crate) const US: f64 = 1e3;

/// A table without rows.
pub(crate) fn table(
    id: &str,
    panel: &str,
    title: &str,
    label: &str,
    columns: &[(&str, ColumnKind, &str)],
) -> Table {
    Table {
        id: id.to_owned(),
        panel: panel.to_owned(),
        title: title.to_owned(),
        label: label.to_owned(),
        columns: columns.iter().map(|(title, kind, unit)| Column::new(*title, *kind, *unit)).collect(),
        rows: Vec::new(),
        ..Table::default()
    }
}

/// Adds a row; its number is its place.
pub(crate) fn push(table: &mut Table, label: impl Into<String>, cells: Vec<Cell>) {
    let label = label.into();
    let id = table.rows.len().to_string();
    table.rows.push(Row { id, label, cells, ..Row::default() });
}

/// A number.
pub(crate) fn number(value: f64) -> Cell {
    Cell::Number(Number::from(value))
}

/// A count.
pub(crate) fn count(value: u64) -> Cell {
    number(value as f64)
}

/// Milliseconds.
pub(crate) fn ms(ns: i64) -> Cell {
    number(ns as f64 / MS)
}

/// Microseconds.
pub(crate) fn us(ns: f64) -> Cell {
    number(ns / US)
}

/// Percent of a whole, or the reason why it is missing.
pub(crate) fn percent(part: i64, whole: i64) -> Cell {
    match whole {
        0 => Cell::Number(Number::missing("the whole is no time at all")),
        whole => number(100.0 * part as f64 / whole as f64),
    }
}

/// No number, and why.
pub(crate) fn missing(reason: &str) -> Cell {
    Cell::Number(Number::missing(reason))
}

/// Words.
pub(crate) fn text(words: impl Into<String>) -> Cell {
    Cell::Text(words.into())
}

/// Leaves the first rows and says how many there were.
pub(crate) fn cut(table: &mut Table, top: usize) {
    let all = table.rows.len();
    if all > top && table.panel != "time" {
        table.rows.truncate(top);
        table.notes.insert(0, format!("{} more rows: `--top 0` shows all {all}", all - top));
    }
}
