//! Output of `accuracy`: a recording of a GPU beside an emulated one, without anything that identifies its
//! user. An answer with this part names no inputs.

use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON written by `accuracy`.
pub const ACCURACY_SCHEMA: &str = "rockhound.accuracy/2";

/// The comparison.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Accuracy {
    /// Version of the program that compared.
    pub rockhound: String,
    /// Facts of the GPU.
    pub gpu: BTreeMap<String, String>,
    /// Facts of the emulated one.
    pub emulated: BTreeMap<String, String>,
    /// Kernels that both ran equally often.
    pub kernels: Vec<AccuracyKernel>,
    /// Counters that the GPU has and the emulator has not.
    pub only_measured: Vec<String>,
    /// Counters the other way round.
    pub only_emulated: Vec<String>,
    /// Kernels that only one ran, or not equally often.
    pub kernels_left_out: usize,
    /// Modelled quantities, the largest mean error first.
    #[serde(skip)]
    pub modelled: Vec<AccuracyError>,
}

/// A modelled quantity over all kernels.
#[derive(Clone, PartialEq, Debug)]
pub struct AccuracyError {
    /// Counter, or time.
    pub name: String,
    /// Mean relative error, as a share.
    pub mean: f64,
    /// Kernels that have it.
    pub kernels: usize,
}

/// One kernel.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccuracyKernel {
    /// Its name, where the user agrees to have it in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its name for the screen.
    #[serde(skip)]
    pub shown_name: String,
    /// Work-items of the first dispatch's grid.
    pub grid: Option<f64>,
    /// Work-items of its workgroup.
    pub workgroup: Option<f64>,
    /// Dispatches.
    pub dispatches: usize,
    /// Times first, then counters by name.
    pub quantities: Vec<AccuracyQuantity>,
}

/// One quantity of a kernel.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccuracyQuantity {
    /// Counter, or time.
    pub name: String,
    /// Result.
    pub verdict: AccuracyVerdict,
    /// Error of the sum over dispatches; absent if only the GPU counted 0.
    pub error_percent: Option<f64>,
    /// The first dispatches on the GPU.
    pub measured: Vec<f64>,
    /// The first dispatches emulated.
    pub emulated: Vec<f64>,
    /// Sums over all dispatches, measured and emulated.
    #[serde(skip)]
    pub sums: [f64; 2],
}

/// Result for a counter of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AccuracyVerdict {
    /// It follows from execution and is equal.
    Equal,
    /// It follows from execution and is not equal: a fault of the emulator, or a different run.
    #[serde(rename = "not equal")]
    NotEqual,
    /// It is modelled.
    Modelled,
}

impl Accuracy {
    /// Quantities with a verdict.
    pub fn count(&self, verdict: AccuracyVerdict) -> usize {
        self.kernels.iter().flat_map(|it| &it.quantities).filter(|it| it.verdict == verdict).count()
    }
}
