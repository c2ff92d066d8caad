//! The part of an answer that only `triage` has: faults and events of logs.

use crate::{Examined, NamedValue, SourceLine};
use serde::Serialize;

/// Version of the JSON written by `triage --format json`.
pub const TRIAGE_SCHEMA: &str = "rockhound.triage/3";

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

/// A message of a log, or a line that looks like an error.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriageEvent {
    /// File.
    pub file: String,
    /// First line, 1-based.
    pub line: u32,
    /// Name of the message; empty for a line that no message fits.
    pub id: String,
    /// `fail`, `warn`, `unknown`.
    pub severity: &'static str,
    /// PCI address of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Time of the first, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// How often.
    pub times: u32,
    /// Text of the first, without prefixes.
    pub text: String,
    /// Values of the first: `requested`, `sequence`.
    pub fields: Vec<NamedValue>,
    /// Ranks, workers, processes that wrote it.
    pub writers: Vec<String>,
    /// Earlier message that this one follows from: its name and place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
    /// Meaning and cause; empty if no message fits.
    pub meaning: String,
    /// Next steps.
    pub next: Vec<String>,
}

/// The part of an answer that only `triage` has.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Incidents {
    /// Faults; consequences follow their causes.
    pub incidents: Vec<Incident>,
    /// Other messages, and lines that look like errors.
    pub events: Vec<TriageEvent>,
    /// Machines that reports describe, with the checks that are not as wanted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<Examined>,
    /// Commands that would tell more.
    pub next: Vec<String>,
}
