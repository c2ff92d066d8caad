//! Vector instructions altered by MODE: indexed by M0, or skipped.
//!
//! The one idea to keep in mind: an instruction with indexed registers is a different instruction. It is built
//! once for each value of M0 and executes like any other, so no other module handles indexing.
//!
//! Indexed operands, from the manual's chapter on VGPR indexing: `M0[15:12]` enables destination, src2, src1 and
//! src0, in this order, and `M0[7:0]` is added to the register number.
//!
//! | instructions | src0, src1, src2 | destination |
//! |---|---|---|
//! | VALU, also with DPP, SDWA and modifiers; VOP3P | as encoded | its own bit |
//! | accumulating (`v_mac`, `v_fmac`, `v_dot*c`): the old value is read as src2 | src2 | its own bit |
//! | `v_madmk`, `v_fmamk`: the constant takes the place of src1 | src0, and src2 for vsrc1 | its own bit |
//! | SDWA that preserves: the rest of the register is read as src2 | src2 | its own bit |
//! | 16-bit results that keep the other half: that half is not a source | as encoded | its own bit |
//! | `v_readlane`, `v_readfirstlane` | src0 | a scalar register, which is not indexed |
//! | `v_writelane` | scalars | its own bit |
//! | `v_swap`, `v_permlane*_swap` | src0, which is also written | its own bit, also read |
//! | MFMA, SMFMAC; the scales of a scaled one are src0 and src1 of its first half | as encoded | its own bit |
//! | memory, LDS, lane exchange through the LDS | not indexed | not indexed |
//!
//! Constants, scalar registers and accumulation registers are never indexed. A source out of range of the wave's
//! registers is `v0`; an instruction with a destination out of range does nothing.
//!
//! MODE can also skip instructions: all that are not scalar. Skipped instructions do not issue.

use crate::decode::Action;
use crate::indexing::{Indexing, Position};
use crate::operand::M0;
use crate::program::Program;
use crate::valu::Valu;
use crate::wave::Wave;
use isa::Encoding;
use std::collections::HashMap;
use std::sync::Arc;

/// Altered instructions that are kept, at most.
const MOST_KEPT: usize = 1 << 14;

impl Indexing {
    /// Indexes a vector ALU instruction; one that `preserves` reads the rest of its destination as src2.
    fn valu(self, valu: &Valu, preserves: bool) -> Option<Valu> {
        let mut valu = *valu;
        for (number, (position, src)) in (0..).zip(Position::SOURCES.into_iter().zip(&mut valu.src)) {
            // The old value is src2, whichever source of the kernel it is.
            let position = if number == valu.accumulator { Position::Src2 } else { position };
            self.source(position, src, 1);
        }
        let kept = if preserves { Position::Src2 } else { Position::Destination };
        valu.kept = self.row(kept, valu.kept, 1).unwrap_or(0);
        if valu.rows > 0 {
            self.destination(&mut valu.dst, usize::from(valu.rows))?;
        }
        Some(valu)
    }

    /// Indexes an action; `None` if indexing does not apply to it.
    fn apply(self, action: &Action) -> Option<Action> {
        let indexed = match action {
            Action::Valu(valu) => self.valu(valu, false).map(Action::Valu),
            Action::ValuAny(valu) => self.valu(valu, false).map(Action::ValuAny),
            Action::InPlace(valu, kernel, number) => {
                self.valu(valu, false).map(|valu| Action::InPlace(valu, *kernel, *number))
            }
            Action::Modified(both) => {
                let (valu, modifiers) = &**both;
                self.valu(valu, modifiers.preserves())
                    .map(|valu| Action::Modified(Box::new((valu, modifiers.clone()))))
            }
            Action::Lane(op) => op.indexed(self).map(|op| Action::Lane(Box::new(op))),
            Action::Scaled(it) => it.indexed(self).map(|it| Action::Scaled(Box::new(it))),
            Action::QuadSums(it) => it.indexed(self).map(|it| Action::QuadSums(Box::new(it))),
            Action::Matrix(it) => it.indexed(self).map(|it| Action::Matrix(Box::new(it))),
            _ => return None,
        };
        Some(indexed.unwrap_or(Action::Nothing))
    }
}

/// Altered instructions, by instruction index and M0.
#[derive(Debug, Default)]
pub(crate) struct Altered(HashMap<(usize, u16), Option<Arc<Action>>>);

/// Effect of MODE on an instruction.
pub(crate) enum Next {
    /// It is skipped.
    Skipped,
    /// It executes unchanged.
    Same,
    /// This one executes instead.
    Other(Arc<Action>),
}

/// Effect of MODE on the wave's next instruction.
#[cold]
#[inline(never)]
pub(crate) fn next(program: &Program, altered: &mut Altered, wave: &Wave) -> Next {
    let Some(inst) = program.instructions().get(wave.pc) else { return Next::Same };
    if is_scalar(inst.encoding) {
        return Next::Same;
    }
    if wave.mode.skips_vectors() {
        return Next::Skipped;
    }
    let m0 = wave.s[usize::from(M0)] as u16;
    let kept = &mut altered.0;
    if kept.len() >= MOST_KEPT {
        kept.clear();
    }
    let altered = kept.entry((wave.pc, m0 & 0xf0ff)).or_insert_with(|| {
        let indexing = Indexing { enabled: (m0 >> 12) as u8, index: m0 & 0xff, end: program.vector_rows() };
        program.actions.get(wave.pc).and_then(|action| indexing.apply(action)).map(Arc::new)
    });
    altered.clone().map_or(Next::Same, Next::Other)
}

/// True for encodings of scalar instructions. Invalid words stop the kernel, skipped or not.
fn is_scalar(encoding: Encoding) -> bool {
    matches!(
        encoding,
        Encoding::Sop1
            | Encoding::Sop2
            | Encoding::Sopc
            | Encoding::Sopk
            | Encoding::Sopp
            | Encoding::Smem
            | Encoding::Unknown
    )
}

#[cfg(test)]
mod tests;
