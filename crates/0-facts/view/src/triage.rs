//! What `triage` says of faults.

use crate::{FileError, SourceLine};
use serde::Serialize;

/// Schema of [`Triage`].
pub const TRIAGE_SCHEMA: &str = "rockhound.triage/1";

/// A named value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TriageFact {
    /// For example `kernel`.
    pub name: String,
    /// Value.
    pub value: String,
}

/// An instruction around the place of a fault.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TriageLine {
    /// Address in memory, or in the code object.
    pub address: u64,
    /// Text.
    pub text: String,
    /// The program counter stands here.
    pub current: bool,
    /// This instruction may have made the fault.
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
pub struct Incident {
    /// File.
    pub file: String,
    /// Line, 1-based.
    pub line: u32,
    /// What happened, where: one sentence.
    pub title: String,
    /// It follows from an earlier one.
    pub consequence: bool,
    /// What the reason means; empty where nothing is known of it.
    pub meaning: String,
    /// Kernel, instruction, lanes, address.
    pub facts: Vec<TriageFact>,
    /// Instructions around the place.
    pub code: Vec<TriageLine>,
    /// Where the instructions come from: the dump, or a file.
    pub code_from: String,
    /// What to do.
    pub next: Vec<String>,
}

/// An event of the kernel's log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
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
    /// What it means.
    pub meaning: &'static str,
    /// What to do.
    pub next: &'static str,
}

/// The answer of `triage`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Triage {
    /// [`TRIAGE_SCHEMA`].
    pub schema: &'static str,
    /// Faults, those that came first before what follows from them.
    pub incidents: Vec<Incident>,
    /// Other events of kernel logs.
    pub events: Vec<TriageEvent>,
    /// What else to know.
    pub notes: Vec<String>,
    /// What to run to learn more.
    pub next: Vec<String>,
    /// Inputs that could not be read.
    pub errors: Vec<FileError>,
}
