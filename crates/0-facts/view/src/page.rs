//! Contents of a page: a report, and the data with which a reader examines one kernel.
//!
//! The whole run comes first and every kernel has the same tables, so choosing a kernel puts other numbers
//! into the same cells.

use crate::{
    Answer, Finding, Listing, Mark, MemoryChart, MetricCard, Number, Recordings, Resources, RooflineChart,
    RuleInfo, Table, TimelineChart,
};

/// A page.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    /// Version of the program that makes it.
    pub version: String,
    /// The report on everything selected.
    pub report: Answer<Recordings>,
    /// Roofline of each recording, the base first.
    pub rooflines: Vec<RooflineChart>,
    /// Memory chart of the base of a comparison.
    pub base_memory: Option<MemoryChart>,
    /// Kernels, most time first.
    pub kernels: Vec<PageKernel>,
    /// Dispatches in the order recorded.
    pub dispatches: Option<Table>,
    /// Definitions of the metrics in the tables.
    pub metrics: Vec<MetricCard>,
    /// The rules that found something.
    pub rules: Vec<RuleInfo>,
    /// Code of the kernels whose code is kept.
    pub code: Vec<PageCode>,
    /// Times of dispatches and of host activity; absent if no times are recorded.
    pub timeline: Option<TimelineChart>,
    /// Requests that a reader may send to the server; absent in a file.
    pub live: Option<PageLive>,
}

/// One kernel of a page.
#[derive(Clone, PartialEq, Debug)]
pub struct PageKernel {
    /// Name.
    pub name: String,
    /// Dispatches.
    pub dispatches: u64,
    /// Time of all of them, ns.
    pub time_ns: Number,
    /// Mean time of one, ns.
    pub mean_ns: Number,
    /// Trust in the times; `None` if measured.
    pub time_trust: Option<Mark>,
    /// Percent of the time of all selected dispatches.
    pub time_percent: Number,
    /// Trust in the percentage; `None` if measured, and if there is only one kernel.
    pub percent_trust: Option<Mark>,
    /// Waves in flight, percent of the GPU's wave slots.
    pub occupancy: Number,
    /// Trust in the occupancy; `None` if measured.
    pub occupancy_trust: Option<Mark>,
    /// Limiter: `HBM`, `latency`; or the reason why it is unknown.
    pub bound_by: Result<String, String>,
    /// Percent of the nearest roof reached.
    pub percent_of_roof: Number,
    /// Trust in the fraction of the roof; `None` if measured.
    pub roof_trust: Option<Mark>,
    /// The same in words.
    pub verdict: String,
    /// The kernel in the base of a comparison.
    pub base: Option<KernelChange>,
    /// Its tables and charts; absent for kernels with a negligible share of the time.
    pub detail: Option<KernelDetail>,
}

/// Change of a kernel's time since the base.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelChange {
    /// Mean time of a dispatch in the base, ns.
    pub mean_ns: Number,
    /// Trust in the mean; `None` if measured.
    pub mean_trust: Option<Mark>,
    /// Percent of the base's; absent if either is unknown.
    pub change_percent: Option<f64>,
    /// Whether the change is beyond the noise of the dispatches; absent if there are too few dispatches to
    /// decide.
    pub beyond_noise: Option<bool>,
}

/// Tables and charts of one kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelDetail {
    /// The tables of metrics, the same as for the whole run.
    pub tables: Vec<Table>,
    /// Memory chart.
    pub memory_chart: Option<MemoryChart>,
    /// Memory chart of the base.
    pub base_memory: Option<MemoryChart>,
}

/// Code of one kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct PageCode {
    /// File it was read from.
    pub file: String,
    /// Name of the kernel in the list of kernels.
    pub kernel: String,
    /// Registers and memory.
    pub resources: Resources,
    /// The annotated disassembly.
    pub listing: Listing,
    /// Findings of the rules in the code.
    pub findings: Vec<Finding>,
    /// Source files that the listing names, where they were found.
    pub sources: Vec<SourceText>,
}

/// A source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceText {
    /// File as the debug information names it.
    pub file: String,
    /// Its lines.
    pub lines: Vec<String>,
}

/// Functions of a page that comes from a server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PageLive {
    /// Address that reports whether the recording has changed.
    pub version_url: String,
    /// Version of the recording it was made from.
    pub version: String,
    /// Recordings that can be shown.
    pub recordings: Vec<String>,
    /// True for traces, which have no dispatch or unit filter.
    pub traces: bool,
    /// The recording shown, by position.
    pub shown: usize,
    /// The base, by position.
    pub base: Option<usize>,
    /// Requested kernels.
    pub kernel: String,
    /// Requested dispatches.
    pub dispatch: String,
    /// Normalisation.
    pub normal_unit: String,
    /// Unit of times.
    pub time_unit: String,
}
