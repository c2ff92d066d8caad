//! Known register values at one point.
//!
//! Vector instructions write only the lanes that EXEC enables. When lanes are re-enabled, a value written
//! without them is no longer uniform over all lanes, so it is forgotten.

use super::value::Id;
use isa::{RegFile, RegRange};
use std::ops::Range;

/// No known value; reading it makes an unknown.
pub(super) const NONE: Id = Id::MAX;
/// Vector registers have the first slots.
pub(super) const VECTOR_SLOTS: usize = 256;
/// Registers that are followed.
pub(super) const SLOTS: usize = 384;
/// Deepest nest of EXEC changes followed; deeper ones are merged.
const MAX_LEVELS: usize = 12;

/// The slots of a run of registers; empty for files that addresses do not pass through.
pub(super) fn slots(range: RegRange) -> Range<u16> {
    let (base, size) = match range.file {
        RegFile::Vgpr => (0, 256),
        RegFile::Sgpr => (256, 102),
        RegFile::Vcc => (358, 2),
        RegFile::M0 => (360, 1),
        RegFile::Ttmp => (361, 16),
        _ => return 0..0,
    };
    let first = range.first.min(size);
    base + first..base + first.saturating_add(u16::from(range.count)).min(size)
}

/// A set of register slots.
pub(super) type Set = [u64; SLOTS / 64];

pub(super) fn insert(set: &mut Set, slot: u16) {
    set[usize::from(slot) / 64] |= 1 << (slot % 64);
}

pub(super) fn contains(set: &Set, slot: u16) -> bool {
    set[usize::from(slot) / 64] >> (slot % 64) & 1 != 0
}

/// The slots of a set, ascending.
pub(super) fn members(set: &Set) -> impl Iterator<Item = usize> + '_ {
    (0..set.len()).flat_map(|word| {
        let mut bits = set[word];
        std::iter::from_fn(move || {
            let bit = bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
            (bit < 64).then(|| word * 64 + bit as usize)
        })
    })
}

/// Registers at one point.
#[derive(Clone)]
pub(super) struct State {
    pub(super) registers: [Id; SLOTS],
    /// Vector registers written since EXEC was narrowed, one set per nested change.
    pub(super) levels: Vec<Set>,
}

impl State {
    /// Lanes are re-enabled: what was written without them is forgotten.
    pub(super) fn widen(&mut self) {
        let Some(written) = self.levels.pop() else { return };
        self.forget(&written);
        if let Some(outer) = self.levels.last_mut() {
            outer.iter_mut().zip(written).for_each(|(outer, inner)| *outer |= inner);
        }
    }

    /// Lanes are turned off.
    pub(super) fn narrow(&mut self) {
        if self.levels.len() < MAX_LEVELS {
            self.levels.push(Set::default());
        }
    }

    /// Lanes differ in when these were last written.
    pub(super) fn forget(&mut self, written: &Set) {
        for slot in members(written).take_while(|slot| *slot < VECTOR_SLOTS) {
            self.registers[slot] = NONE;
        }
    }

    /// Keeps what both paths agree on.
    pub(super) fn meet(&mut self, other: &State) {
        // All bits of NONE are set; without a branch several registers are compared at once. A plain count: iterators are calls
        // where a build optimises little, and this is the inner loop of the evaluation.
        let mut at = 0;
        while at < SLOTS {
            self.registers[at] |= if self.registers[at] == other.registers[at] { 0 } else { NONE };
            at += 1;
        }
        // The shallower nest holds; what was written in deeper ones was written in it.
        let depth = self.levels.len().min(other.levels.len());
        for levels in [std::mem::take(&mut self.levels), other.levels.clone()] {
            for (at, written) in levels.into_iter().enumerate() {
                let at = at.min(depth.saturating_sub(1));
                if self.levels.len() <= at {
                    self.levels.push(Set::default());
                }
                self.levels[at].iter_mut().zip(written).for_each(|(all, part)| *all |= part);
            }
        }
        self.levels.truncate(depth);
    }
}
