//! Operands of the product of a square block.

use crate::lanes::LANES;

/// Most numbers of an operand: 64 elements in each of 64 lanes. A power of two, so that a masked place is in
/// bounds.
pub(crate) const MOST: usize = 64 * LANES;

/// Four steps of depth in four consecutive rows of lanes, at the same lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Four {
    /// First row of A, and the lane of its row 0.
    pub(crate) a: (u8, u8),
    /// First row of B, and the lane of its column 0.
    pub(crate) b: (u8, u8),
}

/// Product of one square block whose depth consists of groups of four.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Square<'a> {
    /// Rows: 16 or 32.
    pub(crate) size: usize,
    /// Places of the factors.
    pub(crate) depth: &'a [Four],
}
