//! Matrix instruction shapes and their cycles.
//!
//! The one idea to keep in mind: rows are keyed by the mnemonic as LLVM prints it for the target; operations
//! follow from the shape and are not stored.

use crate::fact::Basis;
use crate::overlay;
use serde::Deserialize;

/// One matrix instruction.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(from = "Row")]
pub struct MatrixShape {
    /// Mnemonic without encoding suffix.
    pub mnemonic: String,
    /// Rows of the result.
    pub m: u32,
    /// Columns of the result.
    pub n: u32,
    /// Depth.
    pub k: u32,
    /// Independent products in one instruction.
    pub blocks: u32,
    /// Cycles one wave instruction occupies its SIMD's matrix unit.
    pub cycles: u32,
    /// Of those, cycles in which other vector instructions can issue.
    pub overlap_cycles: u32,
}

type Row = (String, u32, u32, u32, u32, u32, u32);

impl From<Row> for MatrixShape {
    fn from((mnemonic, m, n, k, blocks, cycles, overlap_cycles): Row) -> Self {
        MatrixShape { mnemonic, m, n, k, blocks, cycles, overlap_cycles }
    }
}

impl MatrixShape {
    /// Operations of one wave instruction, a multiply-add counting two; sparse forms count as dense.
    pub fn operations(&self) -> u64 {
        2 * u64::from(self.m) * u64::from(self.n) * u64::from(self.k) * u64::from(self.blocks)
    }
}

/// The matrix instructions of a target.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MatrixTable {
    /// What cycles and overlap rest on.
    pub(crate) basis: Basis,
    pub(crate) shapes: Vec<MatrixShape>,
}

impl MatrixTable {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        overlay::parse(&[text])
    }
}
