//! Output of `roofline --measure`: measured roofs of a GPU.

use serde::Serialize;

/// Version of the JSON written by `roofline --measure --format json`.
pub const ROOFS_SCHEMA: &str = "rockhound.roofs/1";

/// The roofs of a GPU.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Roofs {
    /// Name of the GPU.
    pub gpu: String,
    /// The GPU was emulated.
    pub emulated: bool,
    /// Roofs in the order they were measured.
    pub roofs: Vec<Roof>,
}

/// One measured number.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Roof {
    /// The measured part of the machine.
    pub what: &'static str,
    /// Column of the vendor's file.
    pub column: Option<&'static str>,
    /// Measured value.
    pub value: f64,
    /// The smallest and the largest of repeated measurements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Unit of the value.
    pub unit: &'static str,
    /// Maximum according to the data sheet or the width of the unit.
    pub promised: Option<f64>,
}
