//! Occupancy over time: waves in flight of a kernel from its start to its end.
//!
//! The time of a dispatch is cut into equal intervals, and a number is the mean of its interval; for several
//! dispatches of a kernel, it is the mean over them.

use crate::{Mark, Number};
use serde::Serialize;

/// Occupancy over time of the kernels that take most time.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaveChart {
    /// Wave slots of the GPU.
    pub wave_slots: Number,
    /// Compute units of the GPU.
    pub compute_units: Number,
    /// Kernels, most time first.
    pub kernels: Vec<KernelWaves>,
    /// Kernels that are not in `kernels`.
    pub left_out: usize,
}

/// One kernel over the time of its dispatches.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelWaves {
    /// Name.
    pub name: String,
    /// Dispatches with a known occupancy.
    pub dispatches: usize,
    /// Mean time of one of them, ns.
    pub mean_ns: f64,
    /// Waves in flight on the GPU in each equal part of the time.
    pub waves: Vec<f64>,
    /// Compute units that hold waves, in each part.
    pub busy_units: Vec<f64>,
    /// Waves in flight on average.
    pub mean_waves: f64,
    /// Maximum over the intervals.
    pub peak_waves: f64,
    /// Compute units that hold waves, on average.
    pub mean_units: f64,
    /// Tail: percent of the dispatch at its end with fewer than half the peak waves in flight.
    pub tail_percent: f64,
    /// Trust in the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Mark>,
}
