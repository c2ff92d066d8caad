//! What `trace` and `comm` show: inputs with their facts, findings, tables.
//!
//! The one idea to keep in mind: the field names here are the JSON schema of `docs/trace.md` and `docs/comm.md`.

use crate::{Finding, MachineFact, NotChecked, Note, Table};
use serde::Serialize;

/// Version of the JSON written by `trace --format json`.
pub const TRACE_SCHEMA: &str = "rockhound.trace/1";
/// Version of the JSON written by `comm --format json`.
pub const COMM_SCHEMA: &str = "rockhound.comm/1";

/// One or several inputs, judged together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Survey {
    /// [`TRACE_SCHEMA`] or [`COMM_SCHEMA`].
    pub schema: &'static str,
    /// What was read; of a comparison the first is the base.
    pub inputs: Vec<SurveyInput>,
    /// What costs time, most time first.
    pub findings: Vec<Finding>,
    /// Rules that need evidence the inputs lack.
    pub not_checked: Vec<NotChecked>,
    /// Tables by number.
    pub tables: Vec<Table>,
    /// What was wrong with the inputs and what they lack.
    pub notes: Vec<Note>,
}

/// One input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SurveyInput {
    /// Name in column headings.
    pub name: String,
    /// Path as given.
    pub path: String,
    /// What it is: `PyTorch profiler trace`.
    pub kind: String,
    /// What a reader wants first: GPU, span, what is in it.
    pub facts: Vec<MachineFact>,
}

impl SurveyInput {
    /// Adds a fact.
    pub fn fact(&mut self, name: &str, value: impl Into<String>) {
        self.facts.push(MachineFact { name: name.to_owned(), value: value.into(), filled_from: None });
    }
}
