//! Gain of a change: the share of a kernel's time that the instructions it saves take.
//!
//! A wave runs each instruction as often as the loops around it iterate, and a compute unit's paths to memory
//! and LDS serve all its SIMDs; savings are counted against the busiest of them.

use crate::work::Work;
use analysis::KernelEvidence;
use isa::{Cfg, Class, Inst, Space};
use view::Severity;

/// Assumed iterations of a loop, since code does not tell.
const ITERATIONS: f64 = 16.0;
/// Depth of loops from which on more of it counts no more.
const MOST_DEPTH: u32 = 5;
/// Cycles for which one access of a wave occupies a path that the SIMDs of a compute unit share, counted for
/// one SIMD.
const PATH_CYCLES: f64 = 16.0;
/// SIMDs that share those paths.
const SHARED_BY: f64 = 4.0;
/// Part of the kernel's time from which on a change is worth acting on.
const WORTH: f64 = 0.05;

/// Cycles of one wave, each part by the unit that is busy.
#[derive(Clone, Copy, Default)]
struct Busy {
    vector: f64,
    memory: f64,
    lds: f64,
}

/// Instructions that a wave of the kernel executes, as far as its code tells.
pub(crate) struct Executed<'a> {
    cfg: &'a Cfg,
    insts: &'a [Inst],
    work: Work,
    busy: Busy,
}

impl<'a> Executed<'a> {
    /// Counts the instructions of a kernel.
    pub(crate) fn of(evidence: &'a KernelEvidence<'_>) -> Self {
        let executed = Executed {
            cfg: &evidence.cfg,
            insts: &evidence.insts,
            work: Work::of(evidence),
            busy: Busy::default(),
        };
        let [vector, memory, lds] = *evidence.busy.get_or_init(|| executed.count(&evidence.cfg));
        Executed { busy: Busy { vector, memory, lds }, ..executed }
    }

    /// Cycles of the whole kernel by unit: vector, memory, LDS.
    fn count(&self, cfg: &Cfg) -> [f64; 3] {
        let mut busy = Busy::default();
        for block in &cfg.blocks {
            let times = self.times(block.innermost);
            for at in block.insts.clone() {
                self.add(&mut busy, &self.insts[at as usize], times);
            }
        }
        [busy.vector, busy.memory, busy.lds]
    }

    fn add(&self, busy: &mut Busy, inst: &Inst, times: f64) {
        match inst.mem().map(|mem| mem.space) {
            Some(Space::Lds | Space::Gds) => busy.lds += PATH_CYCLES * times,
            Some(Space::Global | Space::Flat | Space::Buffer | Space::Scratch) => {
                busy.memory += PATH_CYCLES * times;
            }
            _ if inst.class() == Class::Lds => busy.lds += PATH_CYCLES * times,
            _ => busy.vector += f64::from(self.work.cycles(inst)) * times,
        }
    }

    /// Executions per wave of code in a loop, inner loops excluded.
    pub(crate) fn times(&self, innermost: Option<u32>) -> f64 {
        let depth = innermost.map_or(0, |id| self.cfg.loops[id as usize].depth);
        ITERATIONS.powi(depth.min(MOST_DEPTH) as i32)
    }

    /// Share of the kernel's time that this number of cycles takes for each iteration of a loop; without a
    /// loop, for each wave.
    pub(crate) fn cycles(&self, innermost: Option<u32>, cycles: f64) -> f64 {
        let all = self.busy.vector.max(self.busy.memory).max(self.busy.lds);
        let part = cycles * self.times(innermost);
        part / all.max(part).max(1.0)
    }

    /// The same for accesses of memory or LDS.
    pub(crate) fn accesses(&self, innermost: Option<u32>, accesses: f64) -> f64 {
        self.cycles(innermost, accesses * PATH_CYCLES)
    }

    /// The same for cycles in which the LDS or a cache of the compute unit serves one wave alone.
    pub(crate) fn shared_cycles(&self, innermost: Option<u32>, cycles: f64) -> f64 {
        self.cycles(innermost, cycles * SHARED_BY)
    }

    /// Part of the kernel's time that a loop takes, loops inside it left out, with cycles that its
    /// instructions do not show.
    pub(crate) fn loop_part(&self, id: u32, more: f64) -> f64 {
        let mut busy = Busy::default();
        for at in self.cfg.loop_own_insts(id) {
            self.add(&mut busy, &self.insts[at as usize], 1.0);
        }
        let own = busy.vector.max(busy.memory).max(busy.lds) + more;
        let all = self.busy.vector.max(self.busy.memory).max(self.busy.lds);
        let times = self.times(Some(id));
        own * times / (all + more * times).max(1.0)
    }
}

/// A warning where the part of the kernel's time is worth acting on, else information.
pub(crate) fn severity(part: f64) -> Severity {
    if part >= WORTH { Severity::Warning } else { Severity::Info }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twentieth_is_worth_acting_on() {
        for (part, expected) in [(0.0, Severity::Info), (0.049, Severity::Info), (0.05, Severity::Warning)] {
            assert_eq!(severity(part), expected, "{part}");
        }
    }
}
