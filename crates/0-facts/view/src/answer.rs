//! The answer of a command: inputs, findings, tables, notes, errors.
//!
//! The field names are the JSON schemas in `docs/schema`. A rename is a new schema version.

use crate::{Finding, GateSummary, NotChecked, Recipe, Recording, Table};
use serde::{Deserialize, Serialize};

/// An answer. `P` is the part that only one command has: charts of a recording, incidents of a log.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer<P = Plain> {
    /// Name and version of the JSON document: `rockhound.trace/2`.
    pub schema: &'static str,
    /// The files and folders read; the first is the base of a comparison.
    pub inputs: Vec<Input>,
    /// The part that only this command has.
    #[serde(flatten)]
    pub part: P,
    /// Findings, most time lost or worst first.
    pub findings: Vec<Finding>,
    /// Comparison with a baseline and exceptions, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateSummary>,
    /// Rules that could not be checked.
    pub not_checked: Vec<NotChecked>,
    /// Tables, by number where they have one.
    pub tables: Vec<Table>,
    /// Steps to follow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recipes: Vec<Recipe>,
    /// Problems of the inputs, assumptions made.
    pub notes: Vec<Note>,
    /// Inputs that could not be read, in whole or in part.
    pub errors: Vec<FileError>,
}

/// Empty body of an answer that has only the common fields.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plain {}

impl<P> Answer<P> {
    /// An answer with nothing but its part.
    pub fn new(schema: &'static str, part: P) -> Self {
        Answer {
            schema,
            inputs: Vec::new(),
            part,
            findings: Vec::new(),
            gate: None,
            not_checked: Vec::new(),
            tables: Vec::new(),
            recipes: Vec::new(),
            notes: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Adds a note.
    pub fn note(&mut self, kind: NoteKind, text: impl Into<String>) {
        self.notes.push(Note { kind, text: text.into() });
    }

    /// Names of the inputs, as column headings have them.
    pub fn input_names(&self) -> Vec<&str> {
        self.inputs.iter().map(|input| input.name.as_str()).collect()
    }
}

/// One file or folder that was read.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Input {
    /// Name in column headings: the last parts of the path that distinguish the inputs.
    pub name: String,
    /// Path as given.
    pub path: String,
    /// Form recognised: `rocprof-compute folder, wide`, `PyTorch profiler trace`.
    pub kind: String,
    /// Amount of the input that was used: `94 rows`, `3 of 5 files`; empty if all of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub used: String,
    /// Parts of the input that were not used, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_used: Vec<String>,
    /// Main facts, a line each: `GPU`, `memory`, `command`.
    pub facts: Vec<NamedValue>,
    /// Numbers of a recording of counters; absent for other inputs.
    #[serde(flatten)]
    pub recording: Option<Recording>,
}

impl Input {
    /// An input of a form.
    pub fn new(name: impl Into<String>, path: impl Into<String>, kind: impl Into<String>) -> Self {
        Input { name: name.into(), path: path.into(), kind: kind.into(), ..Input::default() }
    }

    /// Adds a fact.
    pub fn fact(&mut self, name: &str, value: impl Into<String>) {
        self.facts.push(NamedValue::new(name, value));
    }
}

/// A named value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedValue {
    /// Name; for facts of a machine as in `sysinfo.csv`.
    pub name: String,
    /// Value as recorded.
    pub value: String,
    /// Source of a fact that the recording lacks: `data sheet of Instinct MI300X`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filled_from: Option<String>,
}

impl NamedValue {
    /// A fact that the input itself states.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        NamedValue { name: name.into(), value: value.into(), filled_from: None }
    }
}

/// Something to know about the inputs.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Note {
    /// `error`: part of the input is left out; `warning`: some values need care; `info`: what was assumed.
    pub kind: NoteKind,
    /// The note as text: its subject, its place and its consequence.
    pub text: String,
}

/// How much a note matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NoteKind {
    /// Part of the input was unreadable.
    Error,
    /// Some values are missing or need care.
    Warning,
    /// An assumption that was made.
    Info,
}

/// One file that could not be read, in whole or in part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileError {
    /// File.
    pub file: String,
    /// The failure, and its place in the file.
    pub error: String,
    /// How to repair it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl FileError {
    /// File and error as one line; the file is named once.
    pub fn message(&self) -> String {
        let is_named = self.error.contains(&format!("`{}`", self.file))
            || self.error.strip_prefix(&self.file).is_some_and(|rest| rest.starts_with(':'));
        if is_named {
            return self.error.clone();
        }
        format!("{}: {}", self.file, self.error)
    }
}

/// Version of the JSON written by `trace --format json`.
pub const TRACE_SCHEMA: &str = "rockhound.trace/2";
/// Version of the JSON written by `comm --format json`.
pub const COMM_SCHEMA: &str = "rockhound.comm/2";
