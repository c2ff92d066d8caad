//! The part of an answer that only `triage` has: faults and events of logs.

use crate::{NamedValue, SourceLine};
use serde::Serialize;

/// Version of the JSON written by `triage --format json`.
pub const TRIAGE_SCHEMA: &str = "rockhound.triage/2";

/// An instruction near the fault.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriageLine {
    /// Address in memory, or in the code object.
    pub address: u64,
    /// Text.
    pub text: String,
    /// The program counter is here.
    pub current: bool,
    /// This instruction may have caused the fault.
    pub suspect: bool,
    /// Source position, where it differs from the line before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
    /// Text of the source line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_text: Option<String>,
    /// Values of its registers when the wave stopped, by the dump; of the marked instructions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<String>,
}

/// One fault.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Incident {
    /// File.
    pub file: String,
    /// Line, 1-based.
    pub line: u32,
    /// The event and its location: one sentence.
    pub title: String,
    /// It follows from an earlier one.
    pub consequence: bool,
    /// Meaning of the reason; empty if unknown.
    pub meaning: String,
    /// Kernel, instruction, lanes, address.
    pub facts: Vec<NamedValue>,
    /// Instructions around the place.
    pub code: Vec<TriageLine>,
    /// Source of the instructions: the dump, or a file.
    pub code_from: String,
    /// Next steps.
    pub next: Vec<String>,
}

/// An event of the kernel's log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriageEvent {
    /// File.
    pub file: String,
    /// First line, 1-based.
    pub line: u32,
    /// Name.
    pub id: String,
    /// `fail`, `warn`, `unknown`.
    pub severity: &'static str,
    /// Device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// How often.
    pub times: u32,
    /// Text of the first.
    pub text: String,
    /// Meaning.
    pub meaning: &'static str,
    /// Next steps.
    pub next: &'static str,
}

/// The part of an answer that only `triage` has.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Incidents {
    /// Faults; consequences follow their causes.
    pub incidents: Vec<Incident>,
    /// Other events of kernel logs.
    pub events: Vec<TriageEvent>,
    /// Commands that would tell more.
    pub next: Vec<String>,
}
