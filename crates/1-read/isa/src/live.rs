//! Which registers hold a value that is still needed, before every instruction.
//!
//! This is textbook backward liveness over [`Cfg`], with one convention that matters on a GPU. **A vector
//! write ends the life of the old value even where EXEC masks some lanes off**, as the register-pressure
//! views of other tools do. The consequence: where divergent code merges two values by writing one register
//! under a smaller EXEC, and no branch separates the two writes, the register counts as dead between them
//! although its masked lanes are kept. Counts are therefore a lower bound near such merges; the opposite
//! convention would keep nearly every register alive through every loop.
//!
//! Instructions that keep part of a register (`d16`, SDWA `UNUSED_PRESERVE`, `v_writelane`) read it, so it
//! stays alive. Nothing is alive after the program's end. After a jump through a register nothing is known,
//! and nothing is assumed alive; calls are taken to read and write what the call instruction itself names.

use crate::regset::{RegSet, Run};
use crate::{Cfg, Implicit, Inst, RegFile, RegRange};
use std::collections::VecDeque;

/// Live registers before one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Live {
    /// Live VGPRs.
    pub vgprs: u16,
    /// Live AGPRs.
    pub agprs: u16,
    /// Live SGPRs, VCC and the other named scalars not counted.
    pub sgprs: u16,
}

impl Live {
    /// VGPRs and AGPRs: what a unified register file holds.
    pub fn vectors(self) -> u16 {
        self.vgprs + self.agprs
    }
}

/// Liveness of one piece of code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Liveness {
    /// Live registers before each instruction.
    pub before: Vec<Live>,
    live_in: Vec<RegSet>,
    live_out: Vec<RegSet>,
}

/// Registers read and written by one instruction: runs of registers its operands name, and implicit ones.
pub(crate) trait Effects {
    /// Registers read.
    fn reads(&self, visit: impl FnMut(RegRange)) -> Implicit;
    /// Registers written.
    fn writes(&self, visit: impl FnMut(RegRange)) -> Implicit;
}

impl Effects for Inst {
    #[inline]
    fn reads(&self, visit: impl FnMut(RegRange)) -> Implicit {
        self.visit_operand_reads(visit);
        self.implicit_reads()
    }

    #[inline]
    fn writes(&self, visit: impl FnMut(RegRange)) -> Implicit {
        self.visit_operand_writes(visit);
        self.implicit_writes()
    }
}

/// How many of the runs belong to one instruction, and what it accesses besides.
struct Effect {
    written: u8,
    read: u8,
    also_written: Implicit,
    also_read: Implicit,
}

impl Liveness {
    /// Liveness of `insts`, whose graph is `cfg`.
    pub fn build(insts: &[Inst], cfg: &Cfg) -> Liveness {
        Liveness::of_effects(insts, cfg)
    }

    /// Liveness of instructions, given what each reads and writes.
    pub(crate) fn of_effects(insts: &[impl Effects], cfg: &Cfg) -> Liveness {
        // Effects are asked once, in the order both walks below take: blocks in code order, each from its
        // end.
        let mut runs: Vec<Run> = Vec::with_capacity(insts.len() * 3);
        let mut effects: Vec<Effect> = Vec::with_capacity(insts.len());
        // What each block reads before writing it, and what it writes.
        let mut summary: Vec<(RegSet, RegSet)> = Vec::with_capacity(cfg.blocks.len());
        for block in &cfg.blocks {
            let (mut needs, mut kills) = (RegSet::default(), RegSet::default());
            for inst in insts[block.insts.start as usize..block.insts.end as usize].iter().rev() {
                let from = runs.len();
                let also_written = inst.writes(|range| Run::each(range, |run| runs.push(run)));
                let middle = runs.len();
                let also_read = inst.reads(|range| Run::each(range, |run| runs.push(run)));
                for &run in &runs[from..middle] {
                    needs.remove_run(run);
                    kills.insert_run(run);
                }
                needs.remove_implicit(also_written);
                kills.insert_implicit(also_written);
                for &run in &runs[middle..] {
                    needs.insert_run(run);
                }
                needs.insert_implicit(also_read);
                effects.push(Effect {
                    written: (middle - from) as u8,
                    read: (runs.len() - middle) as u8,
                    also_written,
                    also_read,
                });
            }
            summary.push((needs, kills));
        }

        let (live_in, live_out) = solve(cfg, &summary);

        let mut before = vec![Live::default(); insts.len()];
        let mut runs = runs.as_slice();
        let mut take = |count: u8| {
            let (taken, rest) = runs.split_at(usize::from(count));
            runs = rest;
            taken
        };
        let mut effects = effects.into_iter();
        for (block, live_out) in cfg.blocks.iter().zip(&live_out) {
            let mut set = *live_out;
            let mut live = Live {
                vgprs: set.count(RegFile::Vgpr),
                agprs: set.count(RegFile::Agpr),
                sgprs: set.count(RegFile::Sgpr),
            };
            for (i, effect) in block.insts.clone().rev().zip(&mut effects) {
                for &run in take(effect.written) {
                    let gone = set.remove_run(run);
                    if let Some(count) = live.of(run.file) {
                        *count -= gone;
                    }
                }
                set.remove_implicit(effect.also_written);
                for &run in take(effect.read) {
                    let new = set.insert_run(run);
                    if let Some(count) = live.of(run.file) {
                        *count += new;
                    }
                }
                set.insert_implicit(effect.also_read);
                before[i as usize] = live;
            }
        }
        Liveness { before, live_in, live_out }
    }

    /// The first instruction before which the most vector registers (VGPRs and AGPRs) are live.
    pub fn peak(&self) -> Option<u32> {
        self.first_max(|live| live.vectors())
    }

    fn first_max(&self, key: impl Fn(Live) -> u16) -> Option<u32> {
        let best = self.before.iter().map(|live| key(*live)).max()?;
        self.before.iter().position(|live| key(*live) == best).map(|at| at as u32)
    }

    /// Registers live before instruction `inst`; walks its block from the end.
    pub fn set_before(&self, insts: &[Inst], cfg: &Cfg, inst: u32) -> RegSet {
        let block = cfg.block_of(inst);
        let Some(mut set) = self.live_out.get(block as usize).copied() else { return RegSet::default() };
        let end = cfg.blocks[block as usize].insts.end;
        for one in insts.get(inst as usize..end as usize).unwrap_or_default().iter().rev() {
            one.visit_writes(&mut |range| set.remove(range));
            one.visit_reads(&mut |range| set.insert(range));
        }
        set
    }
}

impl Live {
    fn of(&mut self, file: RegFile) -> Option<&mut u16> {
        match file {
            RegFile::Vgpr => Some(&mut self.vgprs),
            RegFile::Agpr => Some(&mut self.agprs),
            RegFile::Sgpr => Some(&mut self.sgprs),
            _ => None,
        }
    }
}

/// Live sets at both ends of every block, from `(needs, kills)` of each: the least fixed point, reached by
/// visiting blocks after their successors and again when a successor changed.
fn solve(cfg: &Cfg, summary: &[(RegSet, RegSet)]) -> (Vec<RegSet>, Vec<RegSet>) {
    let mut live_in: Vec<RegSet> = summary.iter().map(|(needs, _)| *needs).collect();
    let mut live_out = vec![RegSet::default(); summary.len()];
    let mut queued = vec![true; summary.len()];
    let mut queue: VecDeque<u32> = cfg.order().iter().rev().copied().collect();
    while let Some(block) = queue.pop_front() {
        let b = block as usize;
        queued[b] = false;
        let mut out = live_out[b];
        for &next in cfg.succs(block) {
            out.union(&live_in[next as usize]);
        }
        live_out[b] = out;
        out.subtract(&summary[b].1);
        if live_in[b].union(&out) {
            for &from in cfg.preds(block) {
                if !std::mem::replace(&mut queued[from as usize], true) {
                    queue.push_back(from);
                }
            }
        }
    }
    (live_in, live_out)
}

#[cfg(test)]
mod tests;
