//! Matrix instructions: D = A x B + C over the lanes of a wave.
//!
//! The one idea to keep in mind: operands are unpacked to one number per element and lane. The layout tells which
//! lane holds which element of a matrix; the product is one loop for all shapes and types.

mod element;
mod layout;
mod packed;
mod product;
#[cfg(test)]
mod tests;

use crate::indexing::{Indexing, Position};
use crate::lanes::Row;
use crate::machine::Machine;
use crate::operand::{Files, Pool, Src, source};
use crate::square::{MOST, Square};
use crate::wave::Wave;
use element::Element;
use isa::{Inst, Isa, Matrix, MatrixType, Operand, Ty};
use layout::Plan;
use packed::Packed;
pub(crate) use product::Workplace;

/// A matrix instruction, resolved.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    shape: Matrix,
    dst: u16,
    a: Packed,
    b: Packed,
    c: Src,
    /// Lane exchange of B (BLGP).
    exchange: u8,
    /// Signs of A, B and C (f64).
    neg: u8,
    /// Scale operands of A and B, and the byte of the register that holds the scale.
    scales: Option<[(Src, u8); 2]>,
    /// Sparse: operand with the positions of A's elements, and the part of the register in use.
    positions: Option<(Src, u8)>,
    plan: Plan,
    /// Accumulator of f32, and register operands without exchange, scales or sparsity.
    pub(crate) plain: bool,
}

/// Resolves a matrix instruction; `None` if it is not emulated.
pub(crate) fn resolve(inst: &Inst, isa: Isa, files: Files, pool: &mut Pool) -> Option<Instruction> {
    let shape = inst.info().matrix?;
    let mods = &inst.mods;
    let operands = inst.operands();
    let Operand::Reg(range) = *operands.first()? else { return None };
    let dst = files.row(range)?;
    let mut operand = |index: usize, ty: Ty| source(*operands.get(index)?, ty, files, pool);
    let accumulator = match shape.acc {
        MatrixType::F64 => Ty::F64,
        MatrixType::I32 => Ty::I32,
        _ => Ty::F32,
    };
    let (a, b, third) = (operand(1, Ty::B32)?, operand(2, Ty::B32)?, operand(3, accumulator)?);
    let scales = match shape.scaled {
        true => {
            let byte = |index: u8| mods.op_sel >> index & 1 | (mods.op_sel_hi >> index & 1) << 1;
            Some([(operand(4, Ty::B32)?, byte(0)), (operand(5, Ty::B32)?, byte(1))])
        }
        false => None,
    };
    let formats = shape.a == MatrixType::F8F6F4;
    let double = shape.acc == MatrixType::F64;
    let (a_type, b_type) = (Element::of(shape.a, mods.cbsz, isa)?, Element::of(shape.b, mods.blgp, isa)?);
    // CBSZ and ABID: a group of blocks uses one block of A.
    let (size, chosen) = if formats || shape.sparse { (0, 0) } else { (mods.cbsz, mods.abid) };
    let group = (1usize << size.min(4)).min(usize::from(shape.blocks));
    let block_of_a =
        |block: usize| if size == 0 { block } else { block / group * group + usize::from(chosen) % group };
    let plan = Plan::new(&shape, (a_type, b_type), block_of_a);
    let exchange = if formats || double { 0 } else { mods.blgp };
    let c = if shape.sparse { Src::Row(dst) } else { third };
    let registers = [a, b, c].iter().all(|src| matches!(src, Src::Row(_)));
    let single = !matches!(shape.acc, MatrixType::F64 | MatrixType::I32);
    Some(Instruction {
        shape,
        dst,
        a: Packed::new(a, a_type, plan.a_elements),
        b: Packed::new(b, b_type, plan.b_elements),
        c,
        plan,
        plain: single && registers && exchange == 0 && !shape.sparse && !shape.scaled,
        exchange,
        neg: if double { mods.blgp } else { 0 },
        scales,
        positions: shape.sparse.then_some((third, if mods.cbsz == 0 { mods.abid } else { 0 })),
    })
}

impl Instruction {
    /// The same instruction with registers indexed by M0; `None` if it does nothing. Accumulation registers are
    /// not indexed.
    pub(crate) fn indexed(&self, by: Indexing) -> Option<Instruction> {
        let mut it = self.clone();
        let sums = it.plan.registers * if it.shape.acc == MatrixType::F64 { 2 } else { 1 };
        let (a, b) = (it.a.registers(), it.b.registers());
        by.source(Position::Src0, &mut it.a.src, a);
        by.source(Position::Src1, &mut it.b.src, b);
        match &mut it.positions {
            // The third operand holds the positions of A's elements; sums are added to the destination.
            Some((positions, _)) => {
                by.source(Position::Src2, positions, 1);
                if let Src::Row(row) = &mut it.c {
                    by.destination(row, sums)?;
                }
            }
            None => by.source(Position::Src2, &mut it.c, sums),
        }
        for (position, scale) in Position::SOURCES.into_iter().zip(it.scales.iter_mut().flatten()) {
            by.source(position, &mut scale.0, 1);
        }
        by.destination(&mut it.dst, sums)?;
        Some(it)
    }

    /// Executes a `plain` instruction. `quick` adds the product of a square block to its sums, if it supports the
    /// size; it returns true if it did.
    #[inline(always)]
    pub(crate) fn run_plain(
        &self,
        machine: &Machine<'_>,
        workplace: &mut Workplace,
        wave: &mut Wave,
        quick: impl Fn(Square<'_>, [&[f32; MOST]; 2], &mut [Row]) -> bool,
    ) {
        product::plain(self, machine, workplace, wave, quick);
    }

    /// Executes an instruction on all lanes; matrix instructions ignore EXEC.
    #[inline(always)]
    pub(crate) fn run(&self, machine: &Machine<'_>, workplace: &mut Workplace, wave: &mut Wave) {
        match self.shape.acc {
            MatrixType::F64 => product::double(self, machine, workplace, wave),
            MatrixType::I32 => product::integer(self, machine, workplace, wave),
            _ => product::single(self, machine, workplace, wave),
        }
    }
}
