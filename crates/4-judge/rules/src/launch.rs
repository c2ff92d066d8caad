//! What rules on launches judge by: the GPU, the number of workgroups, and for a matrix product its tiles.

use crate::Outcome;
use arch::Model;
use gemm::Estimate;

/// How a kernel is launched, as far as it is known.
#[derive(Clone, Copy)]
pub struct LaunchEvidence<'a> {
    /// The GPU.
    pub model: &'static Model,
    /// Workgroups of the launch.
    pub workgroups: u64,
    /// The matrix product with its tiles, where it is one.
    pub gemm: Option<&'a Estimate>,
    /// The best other tiles for the product, fastest first.
    pub alternatives: &'a [Estimate],
    /// `WorkGroupMapping` of hipBLASLt or Tensile.
    pub workgroup_mapping: Option<u32>,
    /// The kernel deals its tiles to the XCDs itself; `None` where that is not known.
    pub remaps_xcds: Option<bool>,
}

/// Judges one launch.
pub type LaunchCheck = fn(&LaunchEvidence<'_>) -> Outcome;
