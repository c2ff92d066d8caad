//! Instructions that move values between lanes or between lanes and scalars.
//!
//! The one idea to keep in mind: these instructions do not compute lane by lane, so they access registers
//! themselves. Most ignore EXEC, unlike the rest of the vector ALU.

use crate::indexing::{Indexing, Position};
use crate::lanes::{LANES, Row};
use crate::machine::Machine;
use crate::operand::{Files, M0, Pool, Src, scalar_index, source};
use crate::wave::Wave;
use isa::{Bits, Inst, Op, Operand, Ty};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    ReadFirstLane,
    ReadLane,
    WriteLane,
    Swap,
    /// Swaps alternate groups of 16 or 32 lanes between two registers.
    SwapRows(usize),
    Swizzle,
    Permute,
    BackwardPermute,
    /// Adds or subtracts (`Consume`) the number of active lanes to a counter in the LDS; active lanes get the old
    /// value.
    Append,
    Consume,
}

/// Opcodes of these instructions.
pub(crate) static LANE_OPS: &[(Op, Kind)] = &[
    (Op::named("v_readfirstlane_b32"), Kind::ReadFirstLane),
    (Op::named("v_readlane_b32"), Kind::ReadLane),
    (Op::named("v_writelane_b32"), Kind::WriteLane),
    (Op::named("v_swap_b32"), Kind::Swap),
    (Op::named("v_permlane16_swap_b32"), Kind::SwapRows(16)),
    (Op::named("v_permlane32_swap_b32"), Kind::SwapRows(32)),
    (Op::named("ds_swizzle_b32"), Kind::Swizzle),
    (Op::named("ds_permute_b32"), Kind::Permute),
    (Op::named("ds_bpermute_b32"), Kind::BackwardPermute),
    (Op::named("ds_append"), Kind::Append),
    (Op::named("ds_consume"), Kind::Consume),
];

/// A resolved instruction.
#[derive(Clone, Debug)]
pub(crate) struct LaneOp {
    kind: Kind,
    /// Scalar register or vector row.
    dst: u16,
    src: [Src; 2],
    offset: u32,
}

impl LaneOp {
    /// Resolves an instruction: `None` for other kinds, `Some(None)` if its operands are not supported.
    pub(crate) fn resolve(inst: &Inst, files: Files, pool: &mut Pool) -> Option<Option<LaneOp>> {
        let (_, kind) = *LANE_OPS.iter().find(|row| row.0 == inst.op)?;
        // GDS counters are not emulated.
        if matches!(kind, Kind::Append | Kind::Consume) && inst.mods.bits.contains(Bits::GDS) {
            return Some(None);
        }
        Some(Self::operands(inst, kind, files, pool))
    }

    fn operands(inst: &Inst, kind: Kind, files: Files, pool: &mut Pool) -> Option<LaneOp> {
        let Some(Operand::Reg(range)) = inst.operands().first() else { return None };
        let dst = match files.row(*range) {
            Some(row) => row,
            None => u16::from(scalar_index(*range)?),
        };
        let mut src = [Src::None; 2];
        for (slot, operand) in src.iter_mut().zip(&inst.operands()[1..]) {
            *slot = source(*operand, Ty::B32, files, pool)?;
        }
        Some(LaneOp { kind, dst, src, offset: inst.mods.offset as u32 })
    }

    /// Scalar register that is written, if any.
    pub(crate) fn scalar_destination(&self) -> Option<u8> {
        matches!(self.kind, Kind::ReadFirstLane | Kind::ReadLane).then_some(self.dst as u8)
    }

    /// The same instruction with registers indexed by M0; `None` if it does nothing.
    pub(crate) fn indexed(&self, by: Indexing) -> Option<LaneOp> {
        let mut it = self.clone();
        match it.kind {
            Kind::ReadFirstLane | Kind::ReadLane => by.source(Position::Src0, &mut it.src[0], 1),
            Kind::WriteLane => by.destination(&mut it.dst, 1)?,
            Kind::Swap | Kind::SwapRows(_) => {
                by.source(Position::Src0, &mut it.src[0], 1);
                by.destination(&mut it.dst, 1)?;
            }
            // Lane exchange through the LDS is not indexed.
            Kind::Swizzle | Kind::Permute | Kind::BackwardPermute | Kind::Append | Kind::Consume => {}
        }
        Some(it)
    }

    #[inline(always)]
    pub(crate) fn run(&self, machine: &mut Machine<'_>, wave: &mut Wave) {
        let dst = usize::from(self.dst);
        let exec = wave.exec();
        match self.kind {
            Kind::ReadFirstLane => {
                let lane = if exec == 0 { 0 } else { exec.trailing_zeros() as usize };
                wave.s[dst & 127] = machine.lane(wave, self.src[0], lane);
            }
            Kind::ReadLane => {
                let lane = machine.scalar(wave, self.src[1]) as usize & 63;
                wave.s[dst & 127] = machine.lane(wave, self.src[0], lane);
            }
            Kind::WriteLane => {
                let lane = machine.scalar(wave, self.src[1]) as usize & 63;
                wave.v[dst].0[lane] = machine.scalar(wave, self.src[0]) as u32;
            }
            Kind::Swap => {
                let Src::Row(other) = self.src[0] else { return };
                let (mine, theirs) = (wave.v[dst], wave.v[usize::from(other)]);
                wave.store_row(dst, &theirs, exec);
                wave.store_row(usize::from(other), &mine, exec);
            }
            Kind::SwapRows(size) => {
                let Src::Row(other) = self.src[0] else { return };
                let (mut mine, mut theirs) = (wave.v[dst], wave.v[usize::from(other)]);
                // Swaps odd groups of the destination with even groups of the source.
                for lane in (0..LANES).filter(|lane| lane / size % 2 == 0) {
                    std::mem::swap(&mut mine.0[lane + size], &mut theirs.0[lane]);
                }
                wave.store_row(dst, &mine, exec);
                wave.store_row(usize::from(other), &theirs, exec);
            }
            Kind::Swizzle => {
                let from = machine.row(wave, self.src[0]);
                let offset = self.offset;
                let result = Row(std::array::from_fn(|lane| {
                    let source = swizzled(lane, offset);
                    if exec >> source & 1 != 0 { from.0[source] } else { 0 }
                }));
                wave.store_row(dst, &result, exec);
            }
            Kind::Permute => {
                let (to, from) = (machine.row(wave, self.src[0]), machine.row(wave, self.src[1]));
                let mut result = Row::ZERO;
                for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
                    result.0[to.0[lane].wrapping_add(self.offset) as usize / 4 % LANES] = from.0[lane];
                }
                wave.store_row(dst, &result, exec);
            }
            Kind::Append | Kind::Consume if exec == 0 => {}
            Kind::Append | Kind::Consume => {
                let at = (wave.s[usize::from(M0)] & 0xffff).wrapping_add(self.offset) as usize;
                let counter = machine.lds.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<4>);
                let old = counter.as_ref().map_or(0, |it| u32::from_le_bytes(**it));
                let count = exec.count_ones();
                let new =
                    if self.kind == Kind::Append { old.wrapping_add(count) } else { old.wrapping_sub(count) };
                if let Some(counter) = counter {
                    *counter = new.to_le_bytes();
                }
                wave.store_row(dst, &Row([old; LANES]), exec);
            }
            Kind::BackwardPermute => {
                let (at, from) = (machine.row(wave, self.src[0]), machine.row(wave, self.src[1]));
                let result = Row(std::array::from_fn(|lane| {
                    let source = at.0[lane].wrapping_add(self.offset) as usize / 4 % LANES;
                    if exec >> source & 1 != 0 { from.0[source] } else { 0 }
                }));
                wave.store_row(dst, &result, exec);
            }
        }
    }
}

/// Source lane of a lane in `ds_swizzle_b32`.
fn swizzled(lane: usize, offset: u32) -> usize {
    let offset = offset as usize;
    if offset >= 0xe000 {
        // FFT mode: reversed bits within 32 lanes.
        let reversed = |value: usize| (value as u32).reverse_bits() as usize >> 27;
        let group = lane & !31;
        return match offset & 31 {
            0x1f => lane,
            keep => group | (reversed(lane & 31) & !keep & 31) | (lane & keep & 31),
        };
    }
    if offset >= 0xc000 {
        // Rotation within 32 lanes; masked bits of the lane number stay.
        let (amount, keep) = (offset >> 5 & 31, offset & 31);
        let rotated = if offset >> 10 & 1 == 0 { lane + amount } else { lane.wrapping_sub(amount) } & 31;
        return lane & !31 | (rotated & !keep) | (lane & keep);
    }
    if offset >= 0x8000 {
        return lane & !3 | offset >> (2 * (lane & 3)) & 3;
    }
    let (and, or, xor) = (offset & 31, offset >> 5 & 31, offset >> 10 & 31);
    lane & !31 | ((lane & 31 & and) | or) ^ xor
}

#[cfg(test)]
mod tests {
    use super::swizzled;

    #[test]
    fn swizzles_have_their_patterns() {
        for (offset, lane, source) in [
            // quad_perm(3, 2, 1, 0)
            (0x801b, 5, 6),
            (0x801b, 60, 63),
            // and 31, xor 1
            (0x041f, 6, 7),
            (0x041f, 39, 38),
            // broadcast lane 3 of 32
            (0x0060, 40, 35),
            // rotate by 4
            (0xc080, 30, 2),
            // no swizzle
            (0xe01f, 11, 11),
            (0xe000, 1, 16),
        ] {
            assert_eq!(swizzled(lane, offset), source, "{offset:#x} {lane}");
        }
    }
}
