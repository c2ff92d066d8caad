//! Operands of a square block of a matrix product.

use crate::lanes::LANES;

/// Numbers of an operand at most: 64 elements in each of 64 lanes. A power of two, so that a masked place is inside.
pub(crate) const MOST: usize = 64 * LANES;

/// Four steps of depth that lie in four rows of lanes one after the other, at the same lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Four {
    /// First row of A, and row 0's lane in it.
    pub(crate) a: (u8, u8),
    /// First row of B, and column 0's lane in it.
    pub(crate) b: (u8, u8),
}

/// The product of one block with as many rows as columns, whose depth is made of fours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Square<'a> {
    /// Rows: 16 or 32.
    pub(crate) size: usize,
    /// Where the factors stand.
    pub(crate) depth: &'a [Four],
}
