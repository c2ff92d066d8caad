//! GPU facts per target and per model, and occupancy arithmetic.
//!
//! Facts are data files; nothing above this crate names a GPU. A fact has its source, and an unknown fact has
//! a reason instead of being zero.

mod caches;
mod descriptor;
mod element;
mod elf;
pub mod fabric;
mod fact;
mod generic;
mod launch;
mod matrix;
mod model;
mod occupancy;
mod overlay;
mod rate;
mod residency;
mod table;
mod target;

pub use caches::{
    Atomics, CacheControl, InstructionCache, L2, Latency, MemoryMap, MemorySideCache, MemoryType,
    ScalarCache, Translation, VectorL1,
};
pub use descriptor::DescriptorFamily;
pub use element::ElementType;
pub use elf::{elf_machine, elf_processor};
pub use fact::{Basis, Fact, Known, Missing};
pub use generic::{code_runs_on, generic_targets, runs_on};
pub use launch::LaunchCosts;
pub use matrix::MatrixShape;
pub use model::{ComputePartition, LOWEST_MHZ, Model, target_of_product};
pub use occupancy::{
    Boundary, LdsRounding, Limit, Limiter, Occupancy, Resources, Step, boundaries, lds_rounding, occupancy,
    vgprs_allocated, workgroups_per_cu,
};
pub use rate::{PeakRate, Unit};
pub use residency::{Residency, residency_targets};
pub use target::{IssueCosts, Lds, Registers, Target};
