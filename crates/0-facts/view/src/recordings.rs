//! The part of an answer that only recordings of counters have: charts, conditions, reasons.

use crate::{Answer, Guide, Mark, MemoryChart, NamedValue, Number, RooflineChart, WaveChart};
use serde::Serialize;

/// Version of the JSON written by `analyze --format json`.
pub const ANALYZE_SCHEMA: &str = "rockhound.analyze/2";

/// A recording, or several compared with the first. Charts, findings and the guide are about the last one.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recordings {
    /// Averaging and normalisation of values.
    pub settings: ReportSettings,
    /// Verdict and next steps; a separate JSON document.
    #[serde(skip)]
    pub guide: Option<Guide>,
    /// Ceilings and the kernels below them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roofline: Option<RooflineChart>,
    /// Blocks of the memory system with the traffic between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_chart: Option<MemoryChart>,
    /// Waves in flight over the time of kernels, if modelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy_over_time: Option<WaveChart>,
    /// Conditions that were to be judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionResult>,
    /// Why values are missing, each reason once.
    pub missing: Vec<MissingValues>,
}

impl Answer<Recordings> {
    /// The recordings read, the base first.
    pub fn recordings(&self) -> impl Iterator<Item = &Recording> {
        self.inputs.iter().filter_map(|input| input.recording.as_ref())
    }

    /// Whether several recordings are compared.
    pub fn is_comparison(&self) -> bool {
        self.inputs.len() > 1
    }
}

/// Head of one recording.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recording {
    /// GPU as the recording names it, or the target.
    pub gpu: String,
    /// Target.
    pub target: String,
    /// Kernels in the selection.
    pub kernels: u64,
    /// Dispatches in the selection.
    pub dispatches: u64,
    /// Dispatches recorded.
    pub recorded_dispatches: u64,
    /// Counters recorded, instances of one block counted once.
    pub counters: u64,
    /// Time of the selected dispatches together, ns.
    pub time_ns: Number,
    /// Mark of the time; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_trust: Option<Mark>,
    /// The selection in words; empty for everything.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub selection: String,
    /// All facts of the machine, by name.
    pub machine: Vec<NamedValue>,
}

/// How values were computed.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportSettings {
    /// `weighted` or `dispatches`.
    pub average: &'static str,
    /// `per_kernel`, `per_wave`, `per_cycle` or `per_second`.
    pub normalization: &'static str,
}

/// A condition of `--fail-on`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConditionResult {
    /// As written.
    pub condition: String,
    /// True if the condition holds; absent if its value is unknown.
    pub met: Option<bool>,
    /// The value compared, or the reason why it is missing.
    pub detail: String,
}

/// Values missing for one reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingValues {
    /// The reason.
    pub reason: String,
    /// Rows concerned: `17.2.3`.
    pub rows: Vec<String>,
    /// Advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
