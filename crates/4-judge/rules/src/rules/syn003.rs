//! SYN003: a loop meets at a barrier after little work.
//!
//! A barrier costs the wait for the slowest wave and the restart, so the work between two barriers has to
//! amortize it.

use crate::access::places;
use crate::gain::Executed;
use crate::work::Work;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use isa::{Access, Cfg, Class};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "SYN003",
    title: "barriers in a loop with little work between",
    severity: Severity::Warning,
    page: include_str!("syn003.md"),
    checks: &[Check::Code(check)],
    panels: &[7, 10],
};

/// Cycles of work per barrier below which the loop is named, and below which it is a warning.
const LITTLE: u32 = 128;
const VERY_LITTLE: u32 = 64;
/// Weight of issuing a memory instruction.
const MEMORY_CYCLES: u32 = 4;

/// Time until all waves have arrived at a barrier, in cycles.
const MEETING_CYCLES: f64 = 48.0;
/// Part of the kernel's time from which on its barriers are worth acting on.
const WORTH: f64 = 0.25;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let resources = &evidence.resources;
    let lanes = resources.wavefront_size.unwrap_or(64);
    let waves =
        resources.waves_per_workgroup.or_else(|| resources.max_workgroup.map(|size| size.div_ceil(lanes)));
    if waves == Some(1) {
        return Outcome::Silent;
    }
    if evidence.mix.count(Class::Barrier) == 0 {
        return Outcome::Silent;
    }
    let work = Work::of(evidence);
    let loops: Vec<BarrierLoop> =
        (0..evidence.cfg.loops.len() as u32).filter_map(|id| BarrierLoop::of(evidence, &work, id)).collect();
    let findings = evidence.cfg.innermost_loops().filter_map(|id| {
        let found = loops.iter().find(|found| found.id == id)?;
        let is_role = || {
            let others = loops.iter().filter(|other| other.id != id && other.per_barrier() >= LITTLE);
            others.into_iter().any(|other| are_alternatives(&evidence.cfg, id, other.id))
        };
        if found.has_atomics || found.per_barrier() >= LITTLE || is_role() {
            return None;
        }
        Some(finding(evidence, found))
    });
    Outcome::from_findings(findings.collect())
}

/// A loop with barriers, loops inside it left out.
struct BarrierLoop {
    id: u32,
    barriers: Vec<u32>,
    /// Work per iteration, cycles.
    cycles: u32,
    has_atomics: bool,
}

impl BarrierLoop {
    fn of(evidence: &KernelEvidence<'_>, work: &Work, id: u32) -> Option<Self> {
        let mut found = BarrierLoop { id, barriers: Vec::new(), cycles: 0, has_atomics: false };
        for at in evidence.cfg.loop_own_insts(id) {
            let inst = &evidence.insts[at as usize];
            match inst.class() {
                Class::Barrier => found.barriers.push(at),
                Class::VmemAtomic => found.has_atomics = true,
                Class::VmemLoad | Class::VmemStore => found.cycles += MEMORY_CYCLES,
                _ => {
                    found.has_atomics |= inst.mem().is_some_and(|mem| mem.access == Access::Atomic);
                    found.cycles += work.cycles(inst);
                }
            }
        }
        (!found.barriers.is_empty()).then_some(found)
    }

    fn per_barrier(&self) -> u32 {
        self.cycles / self.barriers.len() as u32
    }
}

/// A wave runs one of two loops and not the other: none follows the other, unless around a loop that holds
/// both.
fn are_alternatives(cfg: &Cfg, one: u32, other: u32) -> bool {
    let header = |id: u32| cfg.loops[id as usize].header;
    let nested = cfg.loop_contains(one, header(other)) || cfg.loop_contains(other, header(one));
    !nested && !follows(cfg, header(one), header(other)) && !follows(cfg, header(other), header(one))
}

/// True if a path leads from one block to another without going back to the start of a loop.
fn follows(cfg: &Cfg, from: u32, to: u32) -> bool {
    let mut seen = vec![false; cfg.blocks.len()];
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        for &next in cfg.succs(block) {
            let back = cfg.dominates(next, block);
            if next == to && !back {
                return true;
            }
            if !back && !std::mem::replace(&mut seen[next as usize], true) {
                open.push(next);
            }
        }
    }
    false
}

/// The loop's distance is halved or doubled each time: a scan or a reduction as a tree.
fn is_tree(evidence: &KernelEvidence<'_>, id: u32) -> bool {
    evidence.cfg.loop_own_insts(id).map(|at| &evidence.insts[at as usize]).any(|inst| {
        let by_one = inst.operands().iter().skip(1).any(|operand| matches!(operand, isa::Operand::Int(1)));
        by_one && SHIFTS.iter().any(|name| inst.op.info().name == *name)
    })
}

/// Shifts by which a loop's distance is halved or doubled.
const SHIFTS: [&str; 7] =
    ["s_lshr_b32", "s_ashr_i32", "s_lshl_b32", "s_lshr_b64", "s_lshl_b64", "v_lshrrev_b32", "v_lshlrev_b32"];

fn finding(evidence: &KernelEvidence<'_>, found: &BarrierLoop) -> Finding {
    let (count, per, cycles) = (found.barriers.len() as u32, found.per_barrier(), found.cycles);
    let part = Executed::of(evidence).loop_part(found.id, f64::from(count) * MEETING_CYCLES);
    // A loop that halves or doubles its distance runs a few times only.
    let worth = part >= WORTH && !is_tree(evidence, found.id);
    let severity = if per < VERY_LITTLE && worth { Severity::Warning } else { Severity::Info };
    RULE.finding(
            severity,
            format!("{} per iteration with {per} cycles of work per barrier", view::counted(count, "barrier")),
            "do more between barriers: larger steps, two LDS buffers, or wave-level exchange instead of LDS and barrier",
        )
        .with_evidence("barriers per iteration", count)
        .with_evidence("work per iteration", format!("{cycles} cycles"))
        .with_places(places(evidence, found.barriers.iter().copied()))
}
