//! Reason why a file cannot be read as a tuning database.

use thiserror::Error;

/// The file is not a tuning database, or is damaged beyond reading.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{}{message}", place(*.line))]
pub struct Error {
    /// Line, 1-based; 0 if the whole file is meant.
    pub line: u32,
    /// Description of the error, lower-case, without a final period.
    pub message: String,
    /// Suggested fix; may be empty.
    pub hint: &'static str,
}

fn place(line: u32) -> String {
    if line == 0 { String::new() } else { format!("line {line}: ") }
}

impl Error {
    pub(crate) fn new(line: u32, message: impl Into<String>) -> Error {
        Error { line, message: message.into(), hint: "" }
    }

    pub(crate) fn hint(mut self, hint: &'static str) -> Error {
        self.hint = hint;
        self
    }
}
