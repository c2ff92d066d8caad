//! Answers about tuning databases: tables of rows, findings with file and line, steps to follow.
//!
//! The one idea to keep in mind: every question of `rockhound tunedb` is answered by this one value, so each format of
//! output is written once.

use crate::{FileError, Finding, Missing, NotChecked};
use serde::Serialize;

/// Version of the JSON document.
pub const TUNEDB_SCHEMA: &str = "rockhound.tunedb/1";

/// The answer to one question.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TuneReport {
    /// [`TUNEDB_SCHEMA`].
    pub schema: &'static str,
    /// What was asked: `show`, `lint`, `query`, `coverage`, `merge`, `convert`, `diff`, `advise`.
    pub question: &'static str,
    /// Tables.
    pub sheets: Vec<Sheet>,
    /// Findings, by file and line; their first place is where they are.
    pub findings: Vec<Finding>,
    /// Rules that could not be checked.
    pub not_checked: Vec<NotChecked>,
    /// Steps to follow.
    pub flows: Vec<Recipe>,
    /// Sentences that matter beside the tables.
    pub notes: Vec<String>,
    /// Files that could not be read.
    pub errors: Vec<FileError>,
}

impl TuneReport {
    /// An empty answer.
    pub fn new(question: &'static str) -> TuneReport {
        TuneReport {
            schema: TUNEDB_SCHEMA,
            question,
            sheets: Vec::new(),
            findings: Vec::new(),
            not_checked: Vec::new(),
            flows: Vec::new(),
            notes: Vec::new(),
            errors: Vec::new(),
        }
    }
}

/// A table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Sheet {
    /// What it is about: a file, a question.
    pub title: String,
    /// Facts about the whole, as name and value.
    pub facts: Vec<(String, String)>,
    /// Columns.
    pub columns: Vec<SheetColumn>,
    /// Rows, a cell for each column.
    pub rows: Vec<Vec<SheetCell>>,
    /// Rows that are not shown.
    pub more: usize,
    /// Sentences below it.
    pub notes: Vec<String>,
}

/// A column.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SheetColumn {
    /// Name in JSON and CSV: `time_us`.
    pub key: &'static str,
    /// Title for people: `time`.
    pub title: &'static str,
    /// Unit; may be empty.
    pub unit: &'static str,
    /// What its cells are.
    pub kind: SheetKind,
}

/// What the cells of a column are, which decides how they are aligned and shortened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SheetKind {
    /// A word that is never shortened.
    Word,
    /// Text that gives way where the terminal is narrow.
    Text,
    /// A number.
    Number,
    /// A share that is shown in percent, with its sign.
    Change,
}

/// A cell.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum SheetCell {
    /// Text.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number; never NaN or infinite.
    Number(f64),
    /// No value, and why.
    Missing(Missing),
}

impl SheetCell {
    /// A text.
    pub fn text(text: impl Into<String>) -> SheetCell {
        SheetCell::Text(text.into())
    }

    /// A value that is not there.
    pub fn missing(reason: impl Into<String>) -> SheetCell {
        SheetCell::Missing(Missing::because(reason))
    }

    /// A number, or the reason why it is none.
    pub fn number(value: Result<f64, &str>) -> SheetCell {
        match value {
            Ok(value) if value.is_finite() => SheetCell::Number(value),
            Ok(_) => SheetCell::missing("the number is not finite"),
            Err(reason) => SheetCell::missing(reason),
        }
    }
}

/// Steps that lead to something.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Recipe {
    /// What they lead to.
    pub title: String,
    /// Why they are worth it here.
    pub why: String,
    /// The steps.
    pub steps: Vec<RecipeStep>,
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RecipeStep {
    /// What to do.
    pub text: String,
    /// Command to paste; may be several lines, may be empty.
    pub command: String,
}
