//! Scalar registers that are initialised when a wave begins.
//!
//! They are written four at a time; the descriptor has their number.

use codeobj::Descriptor;

/// Registers of the scratch base on targets that always write them.
const SCRATCH_BASE: u64 = 2;

/// Writes of four registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LaunchRegisters {
    /// For the registers the descriptor enables.
    pub(crate) quads: u64,
    /// With the scratch base.
    pub(crate) quads_with_scratch: u64,
}

impl LaunchRegisters {
    pub(crate) fn of(descriptor: &Descriptor) -> LaunchRegisters {
        let registers =
            u64::from(descriptor.user_sgprs) + u64::from(descriptor.workgroup_id_mask.count_ones());
        LaunchRegisters {
            quads: registers.div_ceil(4),
            quads_with_scratch: (registers + SCRATCH_BASE).div_ceil(4),
        }
    }
}
