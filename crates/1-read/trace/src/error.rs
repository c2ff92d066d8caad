//! Problems of a trace: description, place, consequence.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Severity of a problem.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Severity {
    /// Something to know: what the trace lacks.
    Info,
    /// Some values need care.
    Warning,
    /// Part of the input was unreadable and is left out.
    Error,
}

/// One problem of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// Severity.
    pub severity: Severity,
    /// Byte of the (unpacked) file, or line, where known: `byte 71,850`, `line 12`.
    pub place: Option<String>,
    /// Description and consequence.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl Problem {
    /// A problem without place.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Problem { severity, place: None, message: message.into() }
    }

    /// States where.
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }
}

/// The input is unusable.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// the file is empty
    #[error("the file is empty")]
    Empty,
    /// No reader knows the file.
    #[error("no known kind of file: {0}")]
    Unknown(String),
    /// The file is of a known kind and broken.
    #[error("{kind}, byte {offset}: {what}")]
    Broken {
        /// Kind of file.
        kind: &'static str,
        /// Byte in the (unpacked) file.
        offset: u64,
        /// Description.
        what: String,
    },
    /// A database of another layout.
    #[error("the database is no rocpd or rocprof trace: {0}")]
    Database(String),
    /// A table of another layout.
    #[error("line {line}: {what}")]
    Table {
        /// Line, 1-based.
        line: u64,
        /// Description.
        what: String,
    },
}
