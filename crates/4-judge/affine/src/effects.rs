//! Effects of instructions on the registers that addresses pass through, independent of the kernel's initial
//! state.
//!
//! A kernel is evaluated twice, and again for each usual shape of its workgroup; facts that depend on the
//! instructions alone are computed once.

use super::semantics::{Mask, Sem, mask, sem};
use super::state::{Set, VECTOR_SLOTS, contains, insert, slots};
use isa::{Bits, Cfg, Implicit, Inst, Lane, RegFile, RegRange};
use std::ops::Range;

/// Registers with a slot that instructions write without naming them.
const UNNAMED: [(Implicit, RegRange); 2] =
    [(Implicit::VCC, RegRange::new(RegFile::Vcc, 0, 2)), (Implicit::M0, RegRange::new(RegFile::M0, 0, 1))];

/// One instruction.
#[derive(Debug)]
pub(super) struct Effect {
    /// Its arithmetic.
    pub(super) sem: Sem,
    /// Effect on EXEC, if the instruction writes it.
    pub(super) exec: Option<Mask>,
    /// Slots of its result.
    pub(super) result: Range<u16>,
    /// End of the register runs that it writes; they begin at the end of the previous instruction's runs.
    end: u32,
}

/// Registers that a loop writes.
#[derive(Clone, Default, Debug)]
pub(super) struct Written {
    pub(super) slots: Set,
    /// Registers written by arithmetic of a known kind: only these can advance by a constant step.
    pub(super) computed: Set,
    /// Lanes may leave the loop at different times.
    pub(super) exec: bool,
}

/// Effects of the instructions of a kernel.
#[derive(Debug)]
pub struct Effects {
    insts: Vec<Effect>,
    /// Slots written, in code order.
    runs: Vec<Range<u16>>,
    /// Effects of each loop.
    pub(super) loops: Vec<Written>,
}

impl Effects {
    /// Effects of `insts`, whose graph is `cfg`.
    pub fn of(insts: &[Inst], cfg: &Cfg) -> Effects {
        let mut effects = Effects {
            insts: Vec::with_capacity(insts.len()),
            runs: Vec::with_capacity(insts.len()),
            loops: Vec::new(),
        };
        for inst in insts {
            effects.push(inst);
        }
        effects.loops = effects.in_loops(cfg);
        effects
    }

    fn push(&mut self, inst: &Inst) {
        let runs = &mut self.runs;
        let mut exec = inst.implicit_writes().contains(Implicit::EXEC);
        let mut write = |range: RegRange| {
            exec |= range.file == RegFile::Exec;
            runs.extend(Some(slots(range)).filter(|run| !run.is_empty()));
        };
        inst.visit_operand_writes(&mut write);
        for (flag, range) in UNNAMED {
            if inst.implicit_writes().contains(flag) {
                write(range);
            }
        }
        let plain = inst.mods.lane == Lane::None && !inst.mods.bits.contains(Bits::CLAMP);
        self.insts.push(Effect {
            sem: if plain { sem(inst.op) } else { Sem::Unknown },
            exec: exec.then(|| mask(inst.op)),
            result: inst.destination().map_or(0..0, slots),
            end: self.runs.len() as u32,
        });
    }

    /// The effect of an instruction, and the slots it writes.
    pub(super) fn at(&self, inst: u32) -> (&Effect, &[Range<u16>]) {
        let inst = inst as usize;
        let effect = &self.insts[inst];
        let begin = if inst == 0 { 0 } else { self.insts[inst - 1].end };
        (effect, &self.runs[begin as usize..effect.end as usize])
    }

    /// Vector registers that an instruction writes, as runs of their numbers.
    pub fn vectors_written(&self, inst: u32) -> impl Iterator<Item = Range<usize>> {
        let vectors = self.at(inst).1.iter().filter(|run| usize::from(run.start) < VECTOR_SLOTS);
        vectors.map(|run| usize::from(run.start)..usize::from(run.end))
    }

    /// Whether a loop writes some of `range`; `None` for files other than vector and scalar registers.
    pub fn loop_writes(&self, id: u32, range: RegRange) -> Option<bool> {
        if !matches!(range.file, RegFile::Vgpr | RegFile::Sgpr) {
            return None;
        }
        let written = self.loops.get(id as usize)?;
        let mut run = slots(range);
        (!run.is_empty()).then(|| run.any(|slot| contains(&written.slots, slot)))
    }

    fn in_loops(&self, cfg: &Cfg) -> Vec<Written> {
        let mut written = vec![Written::default(); cfg.loops.len()];
        for block in &cfg.blocks {
            let Some(innermost) = block.innermost else { continue };
            let all = &mut written[innermost as usize];
            for at in block.insts.clone() {
                let (effect, runs) = self.at(at);
                all.exec |= effect.exec.is_some();
                runs.iter().cloned().flatten().for_each(|slot| insert(&mut all.slots, slot));
                if !matches!(effect.sem, Sem::Unknown | Sem::Load) {
                    effect.result.clone().for_each(|slot| insert(&mut all.computed, slot));
                }
            }
        }
        for id in (0..cfg.loops.len()).rev() {
            if let Some(parent) = cfg.loops[id].parent {
                let inner = written[id].clone();
                let outer = &mut written[parent as usize];
                outer.exec |= inner.exec;
                outer.slots.iter_mut().zip(inner.slots).for_each(|(all, part)| *all |= part);
                outer.computed.iter_mut().zip(inner.computed).for_each(|(all, part)| *all |= part);
            }
        }
        written
    }
}
