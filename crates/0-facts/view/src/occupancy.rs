//! Output of the occupancy calculator: the result, and how much of each resource fits at each level.
//!
//! The table of boundaries keeps every other resource at its requested amount.

use crate::OccupancyCard;
use serde::Serialize;

/// Version of the JSON written by `occupancy --format json`.
pub const OCCUPANCY_SCHEMA: &str = "rockhound.occupancy/2";

/// The part of an answer that only `occupancy` has.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OccupancyReport {
    /// Processor.
    pub target: String,
    /// Resources of the kernel in question.
    pub resources: OccupancyInputs,
    /// The occupancy.
    pub result: OccupancyCard,
    /// Waves per SIMD each resource alone would allow.
    pub limits: Vec<ResourceLimit>,
    /// For each resource, the most of it at each number of waves.
    pub boundaries: Vec<BoundaryTable>,
}

/// Resources of the kernel in question.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "named after the flags")]
pub struct OccupancyInputs {
    pub vgprs: u32,
    pub agprs: u32,
    pub sgprs: u32,
    pub lds_bytes: u32,
    pub waves_per_workgroup: u32,
}

/// Occupancy that one resource alone would allow.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResourceLimit {
    /// `VGPR`, `LDS`, …
    pub resource: String,
    /// Waves per SIMD.
    pub waves_per_simd: f64,
}

/// How much of one resource fits at each number of waves.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundaryTable {
    /// `VGPR`, `LDS`, …
    pub resource: String,
    /// `registers` or `bytes`.
    pub unit: String,
    /// Most waves first.
    pub rows: Vec<BoundaryRow>,
}

/// One step.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundaryRow {
    /// Waves per SIMD this resource allows.
    pub waves_per_simd: f64,
    /// Largest amount of the resource that allows them.
    pub at_most: u32,
    /// The kernel is at this step.
    pub here: bool,
}
