//! The part of an answer that only questions about tuning databases have.

use serde::Serialize;

/// Version of the JSON document.
pub const TUNEDB_SCHEMA: &str = "rockhound.tunedb/2";

/// The question about tuning databases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tuned {
    /// Question: `show`, `lint`, `query`, `coverage`, `merge`, `convert`, `diff`, `advise`.
    pub question: &'static str,
}
