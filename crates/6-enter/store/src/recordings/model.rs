//! Values of a database of recordings.

use std::collections::BTreeMap;
use view::{StoredFile, StoredFinding, StoredKernel, StoredRecording};

/// A recording to add.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct NewRecording {
    /// Name: the last parts of its path.
    pub name: String,
    /// Path that it was read from.
    pub path: String,
    /// The file or run that is read; empty for the whole folder.
    pub opened: String,
    /// Form: `rocprof-compute folder, wide`.
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
    /// When it was measured, milliseconds since 1970; the time of adding if unknown.
    pub measured_ms: Option<i64>,
    /// Files by relative path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Files that are code objects.
    pub code: Vec<String>,
    /// Names of the numbers that each kernel has, in their order.
    pub quantities: Vec<Quantity>,
    /// Kernels, most time first.
    pub kernels: Vec<KernelRun>,
    /// Findings.
    pub findings: Vec<StoredFinding>,
    /// Labels: `commit`, `branch`.
    pub labels: BTreeMap<String, String>,
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
}

impl QuantityKind {
    /// The word in the database.
    pub const fn word(self) -> &'static str {
        match self {
            QuantityKind::Counter => "counter",
            QuantityKind::Metric => "metric",
            QuantityKind::Peak => "peak",
        }
    }
}

/// A counter or metric.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Quantity {
    /// Kind.
    pub kind: QuantityKind,
    /// Name.
    pub name: String,
    /// Unit; empty for counters.
    pub unit: String,
}

/// A kernel of a recording.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct KernelRun {
    /// Name.
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
}

/// Result of adding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Added {
    /// Number of the recording.
    pub id: i64,
    /// It was not there before.
    pub is_new: bool,
}

/// All of a recording.
#[derive(Clone, PartialEq, Debug)]
pub struct Stored {
    /// The recording.
    pub entry: StoredRecording,
    /// Kernels, most time first.
    pub kernels: Vec<StoredKernel>,
    /// Files.
    pub files: Vec<StoredFile>,
    /// Findings.
    pub findings: Vec<StoredFinding>,
}

/// Recordings to look at.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Selection {
    /// Labels that each has.
    pub labels: Vec<(String, String)>,
    /// The newest of them, if not all.
    pub newest: Option<u64>,
}

/// A kernel over time.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelSeries {
    /// Name of the kernel.
    pub kernel: String,
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
    /// Name of the kernel in this recording.
    pub kernel: String,
    /// Target of the GPU.
    pub gpu: Option<String>,
    /// Emulated, not measured.
    pub is_emulated: bool,
    /// When it was measured, milliseconds since 1970.
    pub measured_ms: i64,
    /// Value of the label `commit`.
    pub commit: Option<String>,
    /// Value; unknown where the recording has none.
    pub value: Option<f64>,
    /// Standard deviation over the dispatches, for times.
    pub spread: Option<f64>,
    /// Dispatches.
    pub dispatches: i64,
}

/// Rows of a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Queried {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows; an unknown value has no text.
    pub rows: Vec<Vec<Option<String>>>,
}
