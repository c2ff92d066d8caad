//! Errors of unreadable inputs.

use std::fmt;

/// Error of an unreadable input, with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// Byte offset in the (uncompressed) input, if known.
    pub offset: Option<u64>,
    /// Description, as a phrase.
    pub what: String,
}

impl Error {
    /// An error of the whole input.
    pub fn whole(what: impl Into<String>) -> Error {
        Error { offset: None, what: what.into() }
    }

    /// An error at a byte.
    pub fn at(offset: u64, what: impl Into<String>) -> Error {
        Error { offset: Some(offset), what: what.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(out, "byte {offset}: {}", self.what),
            None => out.write_str(&self.what),
        }
    }
}

impl std::error::Error for Error {}
