//! Scalar registers that hold something when a wave begins.
//!
//! They are written four at a time, and the descriptor says how many there are.

use codeobj::Descriptor;

/// Registers of the scratch base on targets that write them without being asked.
const SCRATCH_BASE: u64 = 2;

/// Writes of four registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LaunchRegisters {
    /// For what the descriptor asks for.
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
