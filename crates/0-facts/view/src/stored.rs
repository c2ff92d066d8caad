//! Recordings in a database, and their kernels over time.

use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON written by `store --format json`.
pub const STORE_SCHEMA: &str = "rockhound.store/1";

/// The part of an answer that only `store` has.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stored {
    /// Question: `add`, `list`, `show`, `history`, `check`.
    pub question: &'static str,
    /// Address of the database, without password.
    pub store: String,
    /// Recordings, oldest first.
    pub recordings: Vec<StoredRecording>,
    /// Kernels over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub histories: Vec<History>,
}

/// A recording in a database.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoredRecording {
    /// Number: `store:7` is its address.
    pub id: i64,
    /// Name: the last two parts of its path.
    pub name: String,
    /// Path that it was read from.
    pub path: String,
    /// File or run of the path that is read; empty for the whole folder.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub opened: String,
    /// Form: `rocprof-compute folder, wide`.
    pub kind: String,
    /// Target of its GPU.
    pub gpu: Option<String>,
    /// Emulator that made it; absent for a measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulated_by: Option<String>,
    /// Version of Rockhound that computed its metrics.
    pub version: String,
    /// Dispatches.
    pub dispatches: i64,
    /// Bytes of its files, unpacked.
    pub bytes: i64,
    /// Time of its commit if known, else when it was measured: milliseconds since 1970.
    pub measured_ms: i64,
    /// When it was added.
    pub added_ms: i64,
    /// Labels: `commit`, `branch`.
    pub labels: BTreeMap<String, String>,
}

/// A kernel of a stored recording.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredKernel {
    /// Name.
    pub name: String,
    /// Dispatches.
    pub dispatches: i64,
    /// Sum of times, ns.
    pub total_ns: Option<f64>,
    /// Median time, ns.
    pub median_ns: Option<f64>,
    /// Standard deviation of the times, ns.
    pub spread_ns: Option<f64>,
}

/// A file of a stored recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredFile {
    /// Name in its folder.
    pub name: String,
    /// Bytes, unpacked.
    pub bytes: i64,
    /// It is a code object.
    pub is_code: bool,
}

/// A finding on a stored recording, in short.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredFinding {
    /// Kernel; `None` if it is about no kernel.
    pub kernel: Option<String>,
    /// Rule.
    pub rule: String,
    /// Severity in words.
    pub severity: String,
    /// Time lost, ns.
    pub time_lost_ns: Option<f64>,
}

/// A metric of one kernel over time.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// Kernel, by its newest name.
    pub kernel: String,
    /// Other names it had, each with why it is taken for the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_names: Vec<String>,
    /// Target of the GPU; GPUs are not mixed, nor emulated with measured values.
    pub gpu: Option<String>,
    /// Emulated, not measured.
    pub is_emulated: bool,
    /// Metric: `time`, a metric or a counter.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Values, oldest first.
    pub points: Vec<HistoryPoint>,
    /// Changes of level, oldest first.
    pub changes: Vec<LevelChange>,
}

/// A value over time.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryPoint {
    /// Number of the recording.
    pub recording: i64,
    /// Milliseconds since 1970.
    pub measured_ms: i64,
    /// Commit, if labelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Value.
    pub value: f64,
    /// Standard deviation over the dispatches, for times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Dispatches.
    pub dispatches: i64,
}

/// A change of the level of a metric.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelChange {
    /// Index of the first point of the new level.
    pub at: usize,
    /// Number of the first recording that shows it.
    pub recording: i64,
    /// The first commit that shows it, if labelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The last commit that does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Median before.
    pub before: f64,
    /// Median since.
    pub since: f64,
    /// Change in percent of the level before; absent if that is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// Chance that noise alone looks like this; absent where the values have no noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// Whether the code objects changed too; absent if one of the recordings has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_changed: Option<bool>,
    /// Counters and metrics that changed at the same point, most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<Moved>,
}

/// A counter or metric that moved with another.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moved {
    /// Name.
    pub name: String,
    /// Unit; empty for counters.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Value before.
    pub before: f64,
    /// Value since.
    pub since: f64,
    /// Change in percent; absent if the value before is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
}
