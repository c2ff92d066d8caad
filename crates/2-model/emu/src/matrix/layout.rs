//! Which lane and register holds which element of a matrix.
//!
//! The one idea to keep in mind: lanes count rows of A (columns of B) first, then groups of depth, then blocks; results
//! come in groups of four rows (one for f64).

use super::element::Element;
use isa::{Matrix, MatrixType};

/// Place of operands' elements: the same for A and B with rows and columns exchanged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    /// Rows of A, or columns of B.
    width: usize,
    /// Elements of a lane.
    pub(super) per_lane: usize,
    /// Groups of lanes along the depth.
    groups: usize,
    /// Elements of a lane that lie together in depth.
    run: usize,
    /// Blocks stand between the rows and the depth in the lane's number.
    blocks_first: bool,
    blocks: usize,
}

impl Operand {
    /// The layout of an operand with `depth` stored elements per row.
    pub(super) fn new(shape: &Matrix, element: Element, width: u8, depth: usize) -> Operand {
        let width = usize::from(width);
        let blocks = usize::from(shape.blocks);
        let per_lane = (width * depth * blocks / 64).max(1);
        let groups = (depth / per_lane).max(1);
        // Bytes of the long formats come in two runs of 16; narrower ones are in one piece.
        let split = shape.a == MatrixType::F8F6F4 && element.bits() == 8;
        let run = if split { per_lane / 2 } else { per_lane };
        Operand { width, per_lane, groups, run, blocks_first: shape.acc == MatrixType::F64, blocks }
    }

    /// First lane and element that hold depth `k` of a block; rows follow in the next lanes.
    #[inline(always)]
    pub(super) fn place(&self, k: usize, block: usize) -> (usize, usize) {
        let run = k / self.run;
        let (group, element) = (run % self.groups, run / self.groups * self.run + k % self.run);
        let lane = if self.blocks_first {
            self.width * (block + self.blocks * group)
        } else {
            self.width * (group + self.groups * block)
        };
        (lane, element)
    }
}

/// First lane and register of row `i` of a block of the result; columns follow in the next lanes.
#[inline(always)]
pub(super) fn result(shape: &Matrix, i: usize, block: usize) -> (usize, usize) {
    let (m, n, blocks) = (usize::from(shape.m), usize::from(shape.n), usize::from(shape.blocks));
    if shape.acc == MatrixType::F64 {
        return if m == 4 { (n * (block + blocks * i), 0) } else { (n * (i % 4), i / 4) };
    }
    if m == 4 {
        return (n * block, i);
    }
    let lane_groups = 64 / n;
    let (four, row) = (i / 4, i % 4);
    (n * (four % lane_groups), 4 * (four / lane_groups) + row + m * n / 64 * block)
}
