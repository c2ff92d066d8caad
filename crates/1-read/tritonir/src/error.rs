//! Error of reading a text: reason and position.

use thiserror::Error;

/// The text is not IR, or ends too early.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{what} at line {line}")]
pub struct ReadError {
    /// Line the trouble begins at, from 1.
    pub line: u32,
    /// Description: lower-case, no final period.
    pub what: String,
    /// Suggested fix; empty without one.
    pub hint: String,
}

impl ReadError {
    pub(crate) fn new(line: u32, what: impl Into<String>) -> Self {
        Self { line, what: what.into(), hint: String::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}
