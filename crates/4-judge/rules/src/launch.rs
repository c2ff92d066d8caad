//! Evidence of rules on launches: the GPU, the number of workgroups, and for a matrix product its tiles.

use crate::Outcome;
use arch::Model;
use gemm::Estimate;

/// Launch of a kernel, as far as it is known.
#[derive(Clone, Copy)]
pub struct LaunchEvidence<'a> {
    /// The GPU.
    pub model: &'static Model,
    /// Workgroups of the launch.
    pub workgroups: u64,
    /// The matrix product with its tiles, if the kernel computes one.
    pub gemm: Option<&'a Estimate>,
    /// The best other tiles for the product, fastest first.
    pub alternatives: &'a [Estimate],
    /// `WorkGroupMapping` of hipBLASLt or Tensile.
    pub workgroup_mapping: Option<u32>,
    /// The kernel deals its tiles to the XCDs itself; `None` if unknown.
    pub remaps_xcds: Option<bool>,
}

/// The number of workgroups that best split the depth of a tile (split-K), and the time expected with it,
/// microseconds; `None` if the launch has enough tiles, too little depth, or splits it already.
pub(crate) fn shared_depth(evidence: &LaunchEvidence<'_>) -> Option<(u64, f64)> {
    let it = evidence.gemm?;
    let steps = it.problem.k / it.tile.k.max(1);
    if it.tile.split_k > 1 || it.workgroups * 2 > it.rounds.units || steps < 8 {
        return None;
    }
    [2u64, 4, 8, 16]
        .into_iter()
        .filter(|parts| steps / parts >= 4)
        .map(|split_k| Estimate::of(evidence.model, it.problem, gemm::Tile { split_k, ..it.tile }))
        .filter_map(|it| Some((it.tile.split_k, it.time?.total_us)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Judges one launch.
pub type LaunchCheck = fn(&LaunchEvidence<'_>) -> Outcome;
