//! A read error: the failure, its position, and advice for the user.
//!
//! One bad file gives one of these and nothing else stops.

use thiserror::Error;

/// Why bytes could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{what} at byte {position:#x}")]
pub struct ReadError {
    /// Byte the trouble begins at, within the input that was handed in.
    pub position: u64,
    /// The failure: lower-case, no final period.
    pub what: String,
    /// Advice; empty if there is none.
    pub hint: String,
}

impl ReadError {
    pub(crate) fn new(position: u64, what: impl Into<String>) -> Self {
        Self { position, what: what.into(), hint: String::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The same error for an input that begins `base` bytes into a larger one.
    pub(crate) fn within(mut self, base: u64) -> Self {
        self.position = self.position.saturating_add(base);
        self
    }
}
