//! Errors of a trace that cannot be used, and notes on the others.

use crate::foreign::Foreign;
use view::{Note, NoteKind};

/// A note on a place in the (unpacked) file: `byte 71,850`, `line 12`.
pub(crate) fn note_at(kind: NoteKind, place: &str, text: &str) -> Note {
    Note { kind, text: format!("{place}: {text}") }
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
    /// A file of a tool that is not read, with what to do in place.
    #[error("{0}")]
    Foreign(Foreign),
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
