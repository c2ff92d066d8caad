//! Why a text could not be read, and where.

use thiserror::Error;

/// Why a text is no IR, or ends too early.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{what} at line {line}")]
pub struct ReadError {
    /// Line the trouble begins at, from 1.
    pub line: u32,
    /// What is wrong: lower-case, no final period.
    pub what: String,
    /// What to do about it; empty where there is no advice.
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
