//! Where a register's value comes from, and who reads it.
//!
//! An index of the positions that write and that read each register, made once, turns every question into
//! binary searches; paths are computed only on demand. The convention of [`crate::Liveness`] holds: a vector
//! write replaces the old value whatever EXEC is. An instruction that keeps part of its destination both
//! reads and writes it, so its own definition can be followed further back.

use crate::regset::{SLOTS, slots};
use crate::{Cfg, Inst, RegRange};

/// Positions that write and read each register of one piece of code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DefUse {
    defs: Index,
    uses: Index,
}

/// Per slot, ascending positions laid end to end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Index {
    starts: Vec<u32>,
    positions: Vec<u32>,
}

impl Index {
    fn build(count: usize, visit: impl Fn(usize, &mut dyn FnMut(RegRange))) -> Index {
        // (first slot, end of slots, position) of each access, in ascending order of positions.
        let mut accesses: Vec<(u16, u16, u32)> = Vec::with_capacity(count * 3);
        let mut starts = vec![0u32; SLOTS + 1];
        for i in 0..count {
            visit(i, &mut |range| {
                let slots = slots(range);
                accesses.push((slots.start, slots.end, i as u32));
                for slot in slots {
                    starts[usize::from(slot) + 1] += 1;
                }
            });
        }
        for slot in 0..SLOTS {
            starts[slot + 1] += starts[slot];
        }
        let mut cursor = starts.clone();
        let mut positions = vec![0u32; starts[SLOTS] as usize];
        for (from, to, i) in accesses {
            for at in &mut cursor[usize::from(from)..usize::from(to)] {
                positions[*at as usize] = i;
                *at += 1;
            }
        }
        Index { starts, positions }
    }

    fn of(&self, slot: u16) -> &[u32] {
        let slot = usize::from(slot);
        match (self.starts.get(slot), self.starts.get(slot + 1)) {
            (Some(&from), Some(&to)) => &self.positions[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Last position of any register of `range` in `from..to`.
    fn last_in(&self, range: RegRange, from: u32, to: u32) -> Option<u32> {
        let last = |slot| {
            let all = self.of(slot);
            let at = all.partition_point(|&position| position < to);
            all[..at].last().copied().filter(|&position| position >= from)
        };
        slots(range).filter_map(last).max()
    }

    /// First position of any register of `range` in `from..to`.
    fn first_in(&self, range: RegRange, from: u32, to: u32) -> Option<u32> {
        let first = |slot| {
            let all = self.of(slot);
            let at = all.partition_point(|&position| position < from);
            all.get(at).copied().filter(|&position| position < to)
        };
        slots(range).filter_map(first).min()
    }
}

/// Definitions that reach a place.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reaching {
    /// Positions of the instructions, ascending.
    pub defs: Vec<u32>,
    /// On some path there is none: the value comes from before the searched code (the entry, or outside the
    /// loop).
    pub from_outside: bool,
}

impl Reaching {
    /// The one instruction the value always comes from.
    pub fn single(&self) -> Option<u32> {
        match self.defs[..] {
            [only] if !self.from_outside => Some(only),
            _ => None,
        }
    }
}

impl DefUse {
    /// The index of `insts`.
    pub fn build(insts: &[Inst]) -> DefUse {
        DefUse {
            defs: Index::build(insts.len(), |i, f| insts[i].visit_writes(f)),
            uses: Index::build(insts.len(), |i, f| insts[i].visit_reads(f)),
        }
    }

    /// Positions that write some register of `range`, ascending, each once.
    pub fn defs_of(&self, range: RegRange) -> Vec<u32> {
        merged(slots(range).map(|slot| self.defs.of(slot)))
    }

    /// Positions that read some register of `range`, ascending, each once.
    pub fn uses_of(&self, range: RegRange) -> Vec<u32> {
        merged(slots(range).map(|slot| self.uses.of(slot)))
    }

    /// The last instruction before `inst` in its block that writes some register of `range`.
    pub fn last_def_before(&self, cfg: &Cfg, inst: u32, range: RegRange) -> Option<u32> {
        let block = cfg.blocks.get(cfg.block_of(inst) as usize)?;
        self.defs.last_in(range, block.insts.start, inst)
    }

    /// The first instruction after `inst` in its block that writes some register of `range`.
    pub fn next_def_after(&self, cfg: &Cfg, inst: u32, range: RegRange) -> Option<u32> {
        let block = cfg.blocks.get(cfg.block_of(inst) as usize)?;
        self.defs.first_in(range, inst.saturating_add(1), block.insts.end)
    }

    /// The first instruction after `inst` in its block that reads some register of `range`.
    pub fn next_use_after(&self, cfg: &Cfg, inst: u32, range: RegRange) -> Option<u32> {
        let block = cfg.blocks.get(cfg.block_of(inst) as usize)?;
        self.uses.first_in(range, inst.saturating_add(1), block.insts.end)
    }

    /// Instructions of the same block that read what `inst` writes to the registers of `range`: up to the
    /// instruction that replaces them, per register.
    pub fn uses_within_block(&self, cfg: &Cfg, inst: u32, range: RegRange) -> Vec<u32> {
        let Some(block) = cfg.blocks.get(cfg.block_of(inst) as usize) else { return Vec::new() };
        let from = inst.saturating_add(1);
        let of_slot = |slot: u16| {
            let one = crate::regset::register(slot)?;
            let end = self.defs.first_in(one, from, block.insts.end).map_or(block.insts.end, |def| def + 1);
            let all = self.uses.of(slot);
            let (low, high) = (all.partition_point(|&p| p < from), all.partition_point(|&p| p < end));
            all.get(low..high)
        };
        merged(slots(range).filter_map(of_slot))
    }

    /// Every instruction whose value of some register of `range` can be there before `inst`, on all paths;
    /// with `within`, on paths inside that loop only.
    pub fn reaching(&self, cfg: &Cfg, inst: u32, range: RegRange, within: Option<u32>) -> Reaching {
        let mut result = Reaching::default();
        let mut seen = vec![false; cfg.blocks.len()];
        let mut work: Vec<u32> = Vec::new();
        for slot in slots(range) {
            let Some(one) = crate::regset::register(slot) else { continue };
            let home = cfg.block_of(inst);
            let Some(block) = cfg.blocks.get(home as usize) else { continue };
            if let Some(def) = self.defs.last_in(one, block.insts.start, inst) {
                result.defs.push(def);
                continue;
            }
            seen.fill(false);
            work.push(home);
            while let Some(block) = work.pop() {
                result.from_outside |= block == 0 || cfg.preds(block).is_empty();
                for &from in cfg.preds(block) {
                    if within.is_some_and(|id| !cfg.loop_contains(id, from)) {
                        result.from_outside = true;
                    } else if !std::mem::replace(&mut seen[from as usize], true) {
                        let insts = &cfg.blocks[from as usize].insts;
                        match self.defs.last_in(one, insts.start, insts.end) {
                            Some(def) => result.defs.push(def),
                            None => work.push(from),
                        }
                    }
                }
            }
        }
        result.defs.sort_unstable();
        result.defs.dedup();
        result
    }
}

/// Ascending lists as one ascending list without repetition.
fn merged<'a>(lists: impl Iterator<Item = &'a [u32]>) -> Vec<u32> {
    let mut all: Vec<u32> = lists.flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
