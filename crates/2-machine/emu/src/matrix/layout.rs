//! Layout of matrices: lane and register of each element.
//!
//! The one idea to keep in mind: lane numbers count rows of A (columns of B) first, then groups of depth, then
//! blocks. Results come in groups of four rows (of one row for f64). All places are computed once, at decode.

use super::element::Element;
use crate::lanes::LANES;
use crate::square::Four;
use isa::{Matrix, MatrixType};

/// Layout of an operand; A and B differ only in rows and columns exchanged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    /// Rows of A, or columns of B.
    width: usize,
    /// Elements per lane.
    per_lane: usize,
    /// Groups of lanes along the depth.
    groups: usize,
    /// Consecutive elements of depth in a lane.
    run: usize,
    /// Lane numbers count blocks before groups of depth.
    blocks_first: bool,
    blocks: usize,
}

impl Operand {
    /// Layout of an operand with `depth` stored elements per row.
    fn new(shape: &Matrix, element: Element, width: u8, depth: usize) -> Operand {
        let width = usize::from(width);
        let blocks = usize::from(shape.blocks);
        let per_lane = (width * depth * blocks / 64).max(1);
        let groups = (depth / per_lane).max(1);
        // 8-bit elements of the F8F6F4 formats come in two runs of 16 per lane; narrower elements in one run.
        let split = shape.a == MatrixType::F8F6F4 && element.bits() == 8;
        let run = if split { per_lane / 2 } else { per_lane };
        Operand { width, per_lane, groups, run, blocks_first: shape.acc == MatrixType::F64, blocks }
    }

    /// Place of depth `k` of a block: element times 64, plus the lane of row 0; other rows of A follow in the
    /// next lanes.
    fn place(&self, k: usize, block: usize) -> u16 {
        let run = k / self.run;
        let (group, element) = (run % self.groups, run / self.groups * self.run + k % self.run);
        let lane = if self.blocks_first {
            self.width * (block + self.blocks * group)
        } else {
            self.width * (group + self.groups * block)
        };
        (element * LANES + lane) as u16
    }
}

/// First place of row `i` of a block of the result; columns follow in the next lanes.
fn result(shape: &Matrix, i: usize, block: usize) -> u16 {
    let (m, n, blocks) = (usize::from(shape.m), usize::from(shape.n), usize::from(shape.blocks));
    let (lane, register) = if shape.acc == MatrixType::F64 {
        if m == 4 { (n * (block + blocks * i), 0) } else { (n * (i % 4), i / 4) }
    } else if m == 4 {
        (n * block, i)
    } else {
        let lane_groups = 64 / n;
        let (four, row) = (i / 4, i % 4);
        (n * (four % lane_groups), 4 * (four / lane_groups) + row + m * n / 64 * block)
    };
    (register * LANES + lane) as u16
}

/// Four rows of the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    /// Block of the rows.
    pub(super) block: usize,
    /// First row in the block.
    pub(super) first: usize,
    /// First place of each row in the result.
    pub(super) places: [u16; 4],
}

/// Groups of four consecutive depths; `None` if some group does not lie in four consecutive rows at one lane.
fn groups_of_four(a: &[u16], b: &[u16]) -> Option<Vec<Four>> {
    let place = |four: &[u16; 4]| {
        let follows = (1..4).all(|step| four[step] == four[0] + (step * LANES) as u16);
        follows.then_some(((usize::from(four[0]) / LANES) as u8, (usize::from(four[0]) % LANES) as u8))
    };
    let (a, rest) = a.as_chunks::<4>();
    let fours = a.iter().zip(b.as_chunks().0).map(|(a, b)| Some(Four { a: place(a)?, b: place(b)? }));
    fours.collect::<Option<_>>().filter(|_| rest.is_empty())
}

/// All places of an instruction.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Elements of A in a lane as stored; half of them if sparse.
    pub(super) a_elements: usize,
    /// Elements of B in a lane.
    pub(super) b_elements: usize,
    /// By block and depth: place of row 0 of A.
    pub(super) a: Vec<Vec<u16>>,
    /// By block and depth: place of column 0 of B.
    pub(super) b: Vec<Vec<u16>>,
    /// Depth of the first block in groups of four, if possible.
    pub(super) fours: Option<Vec<Four>>,
    pub(super) rows: Vec<Rows>,
    /// Registers of the result, counted in elements of the accumulator's type per lane.
    pub(super) registers: usize,
}

impl Plan {
    /// Computes the places; `block_of_a` gives the block of A that a block of the result uses.
    pub(super) fn new(
        shape: &Matrix,
        (a_type, b_type): (Element, Element),
        block_of_a: impl Fn(usize) -> usize,
    ) -> Plan {
        let depth = usize::from(shape.k);
        let stored = if shape.sparse { depth / 2 } else { depth };
        let a = Operand::new(shape, a_type, shape.m, depth);
        let b = Operand::new(shape, b_type, shape.n, depth);
        let blocks = 0..usize::from(shape.blocks);
        let places = |operand: Operand, block: usize| (0..depth).map(|k| operand.place(k, block)).collect();
        let elements = usize::from(shape.m) * usize::from(shape.n) * usize::from(shape.blocks);
        let of_block = |block: usize| {
            (0..usize::from(shape.m)).step_by(4).map(move |first| Rows {
                block,
                first,
                places: [0, 1, 2, 3].map(|row| result(shape, first + row, block)),
            })
        };
        let b_elements = b.per_lane;
        let a_places: Vec<Vec<u16>> = blocks.clone().map(|block| places(a, block_of_a(block))).collect();
        let b_places: Vec<Vec<u16>> = blocks.clone().map(|block| places(b, block)).collect();
        Plan {
            a_elements: Operand::new(shape, a_type, shape.m, stored).per_lane,
            b_elements,
            fours: a_places.first().zip(b_places.first()).and_then(|(a, b)| groups_of_four(a, b)),
            a: a_places,
            b: b_places,
            rows: blocks.flat_map(of_block).collect(),
            registers: elements / LANES,
        }
    }
}
