//! Description of the synthetic recording, from `data/heat3d.toml`.
//!
//! One wave of each kernel is described; everything else is a multiple of it.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The description.
pub(super) static HEAT3D: LazyLock<Description> = LazyLock::new(|| {
    toml::from_str(include_str!("../../data/heat3d.toml")).expect("a committed description is well-formed")
});

/// Machine, counters and kernels.
#[derive(Deserialize)]
pub(super) struct Description {
    pub(super) machine: BTreeMap<String, String>,
    /// Counters whose value per L2 channel is written too.
    pub(super) per_channel: Vec<String>,
    /// Counters that are 0 for these kernels.
    pub(super) never: Vec<String>,
    pub(super) kernels: Vec<Kernel>,
}

/// Work of a kernel.
#[derive(Deserialize)]
pub(super) struct Kernel {
    pub(super) name: String,
    pub(super) dispatches: usize,
    pub(super) items: f64,
    pub(super) workgroup: f64,
    pub(super) vgprs: f64,
    pub(super) sgprs: f64,
    pub(super) lds: f64,
    /// Share of the duration without interference.
    pub(super) nanoseconds: f64,
    /// Waves on the GPU on average.
    pub(super) resident: f64,
    /// Lanes active in a vector instruction.
    pub(super) lanes: f64,
    /// Instructions of a wave.
    pub(super) add_f64: f64,
    pub(super) mul_f64: f64,
    pub(super) fma_f64: f64,
    pub(super) int32: f64,
    pub(super) salu: f64,
    pub(super) smem: f64,
    pub(super) branches: f64,
    pub(super) loads: f64,
    pub(super) stores: f64,
    pub(super) lds_accesses: f64,
    /// Cycles of bank conflicts per LDS access.
    pub(super) conflicts: f64,
    /// Lines of 64 bytes that an access touches.
    pub(super) lines: f64,
    /// Share of read lines that hit in the vector L1, and of L2 reads that hit there.
    pub(super) l1_hits: f64,
    pub(super) l2_hits: f64,
    /// Cycles from request to data.
    pub(super) latency: f64,
}
