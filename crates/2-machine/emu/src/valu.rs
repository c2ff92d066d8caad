//! Resolved vector ALU instruction.

use crate::lanes::Kernel;
use crate::operand::Src;

/// A resolved vector ALU instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Valu {
    pub(crate) kernel: Kernel,
    pub(crate) src: [Src; 3],
    pub(crate) dst: u16,
    /// Result rows; 0 if only a mask is written.
    pub(crate) rows: u8,
    /// Scalar pair for the mask.
    pub(crate) mask_out: u8,
    /// Mask operand.
    pub(crate) mask_in: Src,
    /// Comparison whose mask is also written to EXEC.
    pub(crate) writes_exec: bool,
    /// Row with the bits that a partial write keeps.
    pub(crate) kept: u16,
    /// Position of the destination's old value among the sources.
    pub(crate) accumulator: u8,
    /// Immediate for the kernel.
    pub(crate) immediate: u32,
}
