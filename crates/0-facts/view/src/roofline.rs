//! The roofline: upper limits of the machine, and the position of kernels below them.
//!
//! The verdict is the share of the nearest roof. A kernel that reaches 80 % of one ceiling can become 1.25
//! times as fast before that ceiling limits it, whatever the others are.

use crate::{Mark, Missing, Number};
use serde::Serialize;

/// Version of the JSON written by `roofline --format json`.
pub const ROOFLINE_SCHEMA: &str = "rockhound.roofline/2";

/// The rooflines of one or more recordings.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rooflines {
    /// One per recording; letters of kernels are not used twice.
    pub workloads: Vec<WorkloadRoofline>,
    /// All of them in one chart, as text shows them.
    #[serde(skip)]
    pub together: Option<RooflineChart>,
}

/// The roofline of one recording.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadRoofline {
    /// Name: the parts of the path that distinguish the recordings.
    pub name: String,
    /// Path as given.
    pub path: String,
    /// Ceilings and kernels.
    pub roofline: RooflineChart,
}

/// Ceilings of a machine and the kernels below them.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RooflineChart {
    /// The machine, in words.
    pub machine: String,
    /// Bandwidths, from the farthest memory to the nearest.
    pub bandwidths: Vec<Ceiling>,
    /// Arithmetic rates of vector and matrix units by type.
    pub rates: Vec<Ceiling>,
    /// Kernels, most time first.
    pub kernels: Vec<RooflineKernel>,
    /// Kernels that are not in `kernels`.
    pub left_out: usize,
    /// Notes on the numbers.
    pub notes: Vec<String>,
}

/// Source of a ceiling.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CeilingBasis {
    /// A benchmark on the recorded machine.
    Measured,
    /// Clock, size and width of the machine.
    DataSheet,
}

impl CeilingBasis {
    /// As said to a reader.
    pub const fn describe(self) -> &'static str {
        match self {
            CeilingBasis::Measured => "measured",
            CeilingBasis::DataSheet => "data sheet",
        }
    }
}

/// Upper limit of one unit of the machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ceiling {
    /// `HBM`, `L2`, `vL1D`, `LDS`; `vector f32`, `matrix f16`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// `GB/s`, `Gflop/s`, `Gop/s`.
    pub unit: &'static str,
    /// Source of the ceiling.
    pub basis: CeilingBasis,
    /// True if a kernel of the chart uses the unit, or the unit was requested; always true for bandwidths.
    pub used: bool,
}

/// One kernel below the roof.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RooflineKernel {
    /// Letter it is drawn with.
    pub mark: char,
    /// Name.
    pub name: String,
    /// Dispatches.
    pub dispatches: usize,
    /// Time of all of them, ns.
    pub time_ns: Number,
    /// Share of the time of all selected dispatches, percent.
    pub time_percent: Number,
    /// Floating-point operations of a dispatch, on average.
    pub flops: Number,
    /// Gflop/s.
    pub rate: Number,
    /// Trust in the times; absent if measured, as are all other marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_trust: Option<Mark>,
    /// Trust in the operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flops_trust: Option<Mark>,
    /// Trust in the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_trust: Option<Mark>,
    /// Its position at each level, from the farthest memory to the nearest.
    pub levels: Vec<RooflineLevel>,
    /// Limiter of the kernel.
    pub verdict: RoofVerdict,
}

/// A kernel at one level of memory.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RooflineLevel {
    /// Name of the ceiling: `HBM`.
    pub level: String,
    /// Bytes of a dispatch, on average.
    pub bytes: Number,
    /// Operations per byte.
    pub intensity: Number,
    /// GB/s.
    pub bandwidth: Number,
    /// Percent of the ceiling.
    pub percent: Number,
    /// Trust in the bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_trust: Option<Mark>,
    /// Trust in the operations per byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intensity_trust: Option<Mark>,
    /// Trust in the bandwidth and its percentage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_trust: Option<Mark>,
}

/// Limiter of a kernel.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoofVerdict {
    /// `HBM`, `vector f32`, `vector issue`, `latency`, `launch`; absent when it cannot be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_by: Option<String>,
    /// Percent of the nearest roof reached.
    pub percent_of_roof: Number,
    /// How many times as fast the nearest roof allows.
    pub gap: Number,
    /// The same in words.
    pub text: String,
    /// Trust in its numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Mark>,
}

impl RoofVerdict {
    /// No verdict, for a reason.
    pub fn unknown(reason: Missing) -> Self {
        RoofVerdict {
            bound_by: None,
            trust: None,
            text: reason.to_string(),
            percent_of_roof: Number::Missing(reason.clone()),
            gap: Number::Missing(reason),
        }
    }
}
