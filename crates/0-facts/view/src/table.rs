//! Tables: the one kind that every command shows.
//!
//! A table carries exact numbers; renderers decide how many decimals a reader sees.

use crate::{Missing, NamedValue, Number};
use serde::Serialize;

/// A table of numbers.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Table {
    /// Number: `7.1`; empty for tables of files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Title of its panel: `Wavefront`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub panel: String,
    /// Title.
    pub title: String,
    /// Heading of the rows' labels: `metric`, `kernel`, `channel`; empty if rows have no label.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Facts about the whole table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<NamedValue>,
    /// Columns of the cells.
    pub columns: Vec<Column>,
    /// Rows.
    pub rows: Vec<Row>,
    /// Rows left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
    /// Remarks on the table: rows left out, origin of values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A column of cells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Column {
    /// Name in CSV: `time_us`; empty if the heading serves.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub key: &'static str,
    /// Heading: `avg`.
    pub title: String,
    /// Kind of its cells.
    pub kind: ColumnKind,
    /// Unit of all its cells, unless each row has a unit.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Recording that its values come from.
    pub recording: usize,
}

impl Column {
    /// A column of the first recording.
    pub fn new(title: impl Into<String>, kind: ColumnKind, unit: impl Into<String>) -> Self {
        Column { key: "", title: title.into(), kind, unit: unit.into(), recording: 0 }
    }
}

/// Kind of the cells of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Words; shortened where the terminal is narrow.
    Text,
    /// A word that is never shortened.
    Word,
    /// A number that names something, such as a line: written without separators.
    Id,
    /// A share by which a value changes, shown as a percentage with its sign.
    Share,
    /// Trust in the row's values, in words; the reason, if it has no value.
    Trust,
    /// Meaning of the row's label, in words; equal wherever the label occurs.
    Meaning,
    /// A number.
    Number,
    /// Percent of a whole, drawn as a bar.
    Percent,
    /// One of minimum, quartiles and maximum; five in a row are drawn as a box.
    Quartile,
}

impl ColumnKind {
    /// Whether its cells are words.
    pub const fn is_words(self) -> bool {
        matches!(self, ColumnKind::Text | ColumnKind::Word | ColumnKind::Trust | ColumnKind::Meaning)
    }
}

/// Percent below which a difference is insignificant.
pub const LITTLE_PERCENT: f64 = 1.0;

/// A row.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Number: `2.1.20`, a kernel's index, a dispatch ID.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Label.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Metric it shows, for `rockhound metrics`, or name of a limit or change in files; empty if it shows
    /// none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub metric: String,
    /// Unit of its numbers.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Cells, one per column.
    pub cells: Vec<Cell>,
    /// Change below [`LITTLE_PERCENT`]; text output folds such rows.
    #[serde(skip)]
    pub little: bool,
}

/// A cell. In JSON: a text, a number or the reason why it is missing, an object with a change, or null.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Cell {
    /// The column does not apply to the row.
    Empty,
    /// Words.
    Text(String),
    /// A number.
    Number(Number),
    /// A number with its difference from the base.
    Change(Delta),
}

impl Row {
    /// A row without a label.
    pub fn of(cells: Vec<Cell>) -> Self {
        Row { cells, ..Row::default() }
    }
}

fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// The column with the peaks of the machine.
const PEAK: &str = "peak";

impl Table {
    /// First reason why no cell has a measured value; `None` if a cell has one, and for tables without rows.
    /// Peaks do not count: they are facts of the machine.
    pub fn only_missing(&self) -> Option<&Missing> {
        let mut first = None;
        for row in &self.rows {
            let cells = row.cells.iter().enumerate();
            for (_, cell) in cells.filter(|(at, _)| self.columns.get(*at).is_none_or(|it| it.title != PEAK)) {
                match cell {
                    Cell::Number(Number::Missing(reason)) => first = first.or(Some(reason)),
                    Cell::Empty => {}
                    _ => return None,
                }
            }
        }
        first
    }
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// A count; exact up to 2^53.
    pub fn count(count: u64) -> Cell {
        Cell::Number(Number::Known(count as f64))
    }

    /// No value, for a reason as a phrase.
    pub fn missing(reason: impl Into<String>) -> Cell {
        Cell::Number(Number::missing(reason))
    }

    /// A number, or the reason why it is missing, as a phrase.
    pub fn known(value: Result<f64, &str>) -> Cell {
        match value {
            Ok(value) => Cell::Number(Number::from(value)),
            Err(reason) => Cell::missing(reason),
        }
    }

    /// The number, if it is one and known.
    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Number(number) | Cell::Change(Delta { value: number, .. }) => number.get(),
            Cell::Empty | Cell::Text(_) => None,
        }
    }
}

/// A number of a later recording, compared with the base.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delta {
    /// The number.
    pub value: Number,
    /// Difference from the base; absent if either is unknown.
    pub change: Option<f64>,
    /// Percent of the base's; absent where the base is zero or either is unknown.
    pub change_percent: Option<f64>,
    /// Whether the change is beyond the noise of the dispatches; absent if there are too few dispatches to
    /// decide.
    pub beyond_noise: Option<bool>,
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Cell::Number(Number::from(value))
    }
}
