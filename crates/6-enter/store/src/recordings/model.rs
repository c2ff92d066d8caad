//! Values of a database of recordings.

use std::collections::BTreeMap;
use view::{
    KernelRun, StoredCeiling, StoredCell, StoredConfiguration, StoredFile, StoredFinding, StoredKernel,
    StoredQuantity, StoredRecording, StoredSort,
};

/// A recording to add, or a tuning, a timeline, an answer.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct NewRecording {
    /// Sort: a recording, a tuning, a timeline, an answer.
    pub sort: StoredSort,
    /// Name: the last parts of its path.
    pub name: String,
    /// Path that it was read from.
    pub path: String,
    /// The file or run to read; empty for the whole folder.
    pub opened: String,
    /// Form of its files: `rocprof-compute folder, wide`.
    pub kind: String,
    /// Target of its GPU.
    pub gpu: Option<String>,
    /// Facts of the machine, under the names of `sysinfo.csv`.
    pub facts: BTreeMap<String, String>,
    /// Emulator that made it; a measurement has none.
    pub emulated_by: Option<String>,
    /// Version of Rockhound that computed the metrics.
    pub version: String,
    /// Dispatches.
    pub dispatches: u64,
    /// When it was measured, milliseconds since 1970; if unknown, the database takes the time of adding.
    pub measured_ms: Option<i64>,
    /// Files by relative path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Files that are code objects.
    pub code: Vec<String>,
    /// Names of the numbers of each kernel, in their order.
    pub quantities: Vec<StoredQuantity>,
    /// Names of the numbers per wave, cycle and second, in their order.
    pub normal_quantities: Vec<StoredQuantity>,
    /// Ceilings of the roofline.
    pub ceilings: Vec<StoredCeiling>,
    /// Kernels, most time first.
    pub kernels: Vec<KernelRun>,
    /// Configurations of a tuning.
    pub configurations: Vec<StoredConfiguration>,
    /// Tables of an answer or timeline.
    pub cells: Vec<StoredCell>,
    /// Findings.
    pub findings: Vec<StoredFinding>,
    /// Labels: `commit`, `branch`.
    pub labels: BTreeMap<String, String>,
}

/// Result of adding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Added {
    /// Number of the recording.
    pub id: i64,
    /// False if the database had it already.
    pub is_new: bool,
}

/// A recording with its parts.
#[derive(Clone, PartialEq, Debug)]
pub struct Stored {
    /// The recording.
    pub entry: StoredRecording,
    /// Kernels, most time first.
    pub kernels: Vec<StoredKernel>,
    /// Files.
    pub files: Vec<StoredFile>,
    /// Configurations of a tuning, fastest first.
    pub configurations: Vec<StoredConfiguration>,
    /// Tables of an answer or timeline.
    pub cells: Vec<StoredCell>,
    /// Findings.
    pub findings: Vec<StoredFinding>,
}

/// Recordings to list.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Selection {
    /// Labels that each recording has.
    pub labels: Vec<(String, String)>,
    /// Most recordings, the newest; `None` for all.
    pub newest: Option<u64>,
    /// Only recordings of this sort.
    pub sort: Option<StoredSort>,
}

/// A metric of a kernel over time.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelSeries {
    /// Unit of the values.
    pub unit: String,
    /// Values, oldest first.
    pub points: Vec<Point>,
}

/// A value of a series.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// Number of the recording.
    pub recording: i64,
    /// Target of the GPU.
    pub gpu: Option<String>,
    /// Emulated, not measured.
    pub is_emulated: bool,
    /// When it was measured, milliseconds since 1970.
    pub measured_ms: i64,
    /// Value of the label `commit`.
    pub commit: Option<String>,
    /// Value, if the recording has one.
    pub value: Option<f64>,
    /// Standard deviation over the dispatches, for times.
    pub spread: Option<f64>,
    /// Dispatches.
    pub dispatches: i64,
}

/// A change of level of a kernel's metric.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredChange {
    /// Number of the kernel.
    pub kernel: i64,
    /// Number of the first recording with the new level.
    pub recording: i64,
    /// Level before.
    pub before: f64,
    /// New level.
    pub since: f64,
    /// Change in percent of the level before; `None` if that is 0.
    pub percent: Option<f64>,
    /// Chance that noise alone causes it; `None` for values without noise.
    pub chance: Option<f64>,
}

/// Rows of a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Queried {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows; NULL has no text.
    pub rows: Vec<Vec<Option<String>>>,
}
