//! A vector ALU instruction, resolved.

use crate::lanes::Kernel;
use crate::operand::Src;

/// A vector ALU instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Valu {
    pub(crate) kernel: Kernel,
    pub(crate) src: [Src; 3],
    pub(crate) dst: u16,
    /// Result rows, 0 when only a mask is written.
    pub(crate) rows: u8,
    /// Scalar pair that gets the mask.
    pub(crate) mask_out: u8,
    /// Mask operand.
    pub(crate) mask_in: Src,
    /// The mask is a comparison's and goes to EXEC too.
    pub(crate) writes_exec: bool,
    /// Row whose bits stay where only a part of the destination is written.
    pub(crate) kept: u16,
    /// Place among the sources of the old value of the destination.
    pub(crate) accumulator: u8,
    /// Number for the kernel.
    pub(crate) immediate: u32,
}
