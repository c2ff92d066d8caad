//! Recordings in a database, and their kernels over time.

use crate::Change;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON written by `store --format json`.
pub const STORE_SCHEMA: &str = "rockhound.store/1";

/// The part of an answer that only `store` has.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stored {
    /// Subcommand: `add`, `list`, `show`, `label`, `remove`, `compact`, `query`, `history`, `changes`, `check`, `bisect`, `summary`.
    pub question: &'static str,
    /// Address of the database, without password.
    pub store: String,
    /// Recordings, oldest first.
    pub recordings: Vec<StoredRecording>,
    /// Kernels over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub histories: Vec<History>,
}

/// Kinds of entries of a database.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum StoredSort {
    /// A recording of a profiler.
    #[default]
    Recording,
    /// Configurations of a kernel with their times.
    Tuning,
    /// The tables of `trace` on a timeline.
    Timeline,
    /// The answer of another command.
    Answer,
}

impl StoredSort {
    /// All sorts.
    pub const ALL: [StoredSort; 4] =
        [StoredSort::Recording, StoredSort::Tuning, StoredSort::Timeline, StoredSort::Answer];

    /// The word in the database.
    pub const fn word(self) -> &'static str {
        match self {
            StoredSort::Recording => "recording",
            StoredSort::Tuning => "tuning",
            StoredSort::Timeline => "timeline",
            StoredSort::Answer => "answer",
        }
    }

    /// True for a recording.
    pub fn is_recording(&self) -> bool {
        *self == StoredSort::Recording
    }
}

/// A recording in a database, or a tuning, a timeline, an answer.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoredRecording {
    /// Number: `store:7` is its address.
    pub id: i64,
    /// What it is; absent for a recording.
    #[serde(skip_serializing_if = "StoredSort::is_recording")]
    pub sort: StoredSort,
    /// Name: the last two parts of its path.
    pub name: String,
    /// Path that it was read from.
    pub path: String,
    /// File or run of the path that is read; empty for the whole folder.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub opened: String,
    /// Form of its files: `rocprof-compute folder, wide`; of an answer its schema: `rockhound.guide/1`.
    pub kind: String,
    /// Target of its GPU.
    pub gpu: Option<String>,
    /// Emulator that made the recording; absent for a measurement.
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

/// Kind of a quantity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QuantityKind {
    /// A counter: its mean over the dispatches, summed over instances.
    Counter,
    /// A metric: its average.
    Metric,
    /// The peak of a metric on the machine.
    Peak,
    /// A metric that counts, per wave.
    PerWave,
    /// The same, per cycle.
    PerCycle,
    /// The same, per second.
    PerSecond,
}

impl QuantityKind {
    /// All kinds.
    pub const ALL: [QuantityKind; 6] = [
        QuantityKind::Counter,
        QuantityKind::Metric,
        QuantityKind::Peak,
        QuantityKind::PerWave,
        QuantityKind::PerCycle,
        QuantityKind::PerSecond,
    ];

    /// The word in the database.
    pub const fn word(self) -> &'static str {
        match self {
            QuantityKind::Counter => "counter",
            QuantityKind::Metric => "metric",
            QuantityKind::Peak => "peak",
            QuantityKind::PerWave => "per_wave",
            QuantityKind::PerCycle => "per_cycle",
            QuantityKind::PerSecond => "per_second",
        }
    }
}

/// A counter, metric or peak.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StoredQuantity {
    /// Kind.
    pub kind: QuantityKind,
    /// Name.
    pub name: String,
    /// Unit; empty for counters.
    pub unit: String,
}

/// A kernel of a recording that is to be stored.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct KernelRun {
    /// Name, without what profilers add.
    pub name: String,
    /// Name without arguments of templates and functions.
    pub base_name: String,
    /// Dispatches.
    pub dispatches: u64,
    /// Work items of the first dispatch.
    pub grid: Option<f64>,
    /// Work items per workgroup of the first dispatch.
    pub workgroup: Option<f64>,
    /// Times of the dispatches, ns.
    pub times: Vec<Option<f64>>,
    /// Values, in the order of the recording's quantities.
    pub numbers: Vec<Option<f64>>,
    /// Values per wave, cycle and second, in the order of the recording's normalised quantities.
    pub normals: Vec<Option<f64>>,
    /// Its places in the roofline.
    pub roofline: Vec<StoredPoint>,
}

/// A ceiling of the roofline of a stored recording.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredCeiling {
    /// A bandwidth, not an arithmetic rate.
    pub is_bandwidth: bool,
    /// Name: `HBM`, `vector f32`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Unit of the value.
    pub unit: String,
    /// A kernel of the recording uses the unit.
    pub is_used: bool,
}

/// A kernel in the roofline, at one level of memory.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredPoint {
    /// Level: `HBM`.
    pub level: String,
    /// Operations per byte.
    pub intensity: Option<f64>,
    /// Gflop/s.
    pub rate: Option<f64>,
    /// GB/s.
    pub bandwidth: Option<f64>,
}

/// A file of a stored recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredFile {
    /// Name in its folder.
    pub name: String,
    /// Bytes, unpacked.
    pub bytes: i64,
    /// True for a code object.
    pub is_code: bool,
}

/// Summary of a finding on a stored recording.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredFinding {
    /// Kernel; `None` if the finding concerns the whole recording.
    pub kernel: Option<String>,
    /// Rule.
    pub rule: String,
    /// Severity in words.
    pub severity: String,
    /// Time lost, ns.
    pub time_lost_ns: Option<f64>,
}

/// A configuration of a stored tuning.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredConfiguration {
    /// Study that tried it: a file may have several.
    pub study: String,
    /// Parameters with their values, an object of JSON.
    pub configuration: String,
    /// Median time, us.
    pub us: Option<f64>,
    /// `ok`, else the kind of failure.
    pub status: String,
    /// Reason of a failure, as far as it is known.
    pub why: Option<String>,
}

/// A cell of a table of a stored answer or timeline.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredCell {
    /// Title of its table, with its number: `1.1 Time`.
    pub table: String,
    /// Row in the table, from 0.
    pub line: i64,
    /// Heading of its column.
    pub column: String,
    /// Unit of the number.
    pub unit: String,
    /// Number, unless the cell is a text.
    pub number: Option<f64>,
    /// Text, or the reason why there is no number.
    pub text: Option<String>,
}

/// A metric of one kernel over time.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// Newest name of the kernel.
    pub kernel: String,
    /// Notes on its other names, each with the reason why both are one kernel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_names: Vec<String>,
    /// Target of the GPU. A history has one GPU, and either emulated or measured values.
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

/// A value of a history.
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
    /// Number of the first recording with the new level.
    pub recording: i64,
    /// First commit with the new level, if labelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Last commit with the level before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Median before.
    pub before: f64,
    /// Median since.
    pub since: f64,
    /// Change in percent of the level before; absent if that is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// Chance that noise alone causes such a change; absent if the values have no noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// Differences between the kernel's code before and since, if the recordings have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<Change>,
    /// True if the code objects changed too; absent if a recording has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_changed: Option<bool>,
    /// Counters and metrics that changed at the same point, largest change first.
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

/// Choices on a page of a database that a server shows.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct StoreLive {
    /// Recordings to open and compare, newest first: number, and name with commit.
    pub recordings: Vec<(i64, String)>,
    /// Kernel whose history is shown.
    pub kernel: String,
    /// Its metric.
    pub metric: String,
    /// Label that its recordings have: `branch=main`.
    pub label: String,
}
