//! Matrix instruction shapes and their cycles.
//!
//! Rows are keyed by the mnemonic as LLVM prints it for the target; operations follow from the shape and are
//! not stored.

use crate::fact::Basis;
use crate::overlay;
use serde::Deserialize;

/// One matrix instruction.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "Row")]
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
    /// The same when neither operand has 8-bit elements, for instructions whose element types are modifiers.
    pub narrow_cycles: Option<u32>,
    /// Of those, cycles in which other vector instructions can issue; `None` where that is not published.
    pub overlap_cycles: Option<u32>,
}

type Row = (String, u32, u32, u32, u32, u32, Overlap);

#[derive(Deserialize)]
#[serde(untagged)]
enum Overlap {
    Cycles(u32),
    Word(String),
}

impl TryFrom<Row> for MatrixShape {
    type Error = String;

    fn try_from((mnemonic, m, n, k, blocks, cycles, overlap): Row) -> Result<Self, String> {
        let overlap_cycles = match overlap {
            Overlap::Cycles(cycles) => Some(cycles),
            Overlap::Word(word) if word == "unknown" => None,
            Overlap::Word(word) => return Err(format!("`{word}` is neither a number nor `unknown`")),
        };
        Ok(MatrixShape { mnemonic, m, n, k, blocks, cycles, narrow_cycles: None, overlap_cycles })
    }
}

impl MatrixShape {
    /// Cycles with the element types that the modifiers `cbsz` and `blgp` choose for the operands: below 2
    /// they have 8 bits.
    pub fn cycles_of(&self, [a, b]: [u8; 2]) -> u32 {
        self.narrow_cycles.filter(|_| a > 1 && b > 1).unwrap_or(self.cycles)
    }

    /// Operations of one wave instruction, a multiply-add counting two; sparse forms count as dense.
    pub fn operations(&self) -> u64 {
        2 * u64::from(self.m) * u64::from(self.n) * u64::from(self.k) * u64::from(self.blocks)
    }
}

/// The matrix instructions of a target.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MatrixTable {
    /// Source of cycles and overlap.
    pub(crate) basis: Basis,
    pub(crate) shapes: Vec<MatrixShape>,
    /// Cycles without 8-bit elements, by mnemonic.
    #[serde(default)]
    narrow: Vec<(String, u32)>,
}

impl MatrixTable {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut table: MatrixTable = overlay::parse(&[text])?;
        for (mnemonic, cycles) in std::mem::take(&mut table.narrow) {
            let shape = table.shapes.iter_mut().find(|shape| shape.mnemonic == mnemonic);
            shape.ok_or_else(|| format!("`{mnemonic}` has no shape"))?.narrow_cycles = Some(cycles);
        }
        Ok(table)
    }
}
