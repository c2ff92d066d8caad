//! SYN003: a loop meets at a barrier after little work.
//!
//! The one idea to keep in mind: a barrier costs what the slowest wave and the restart cost, so it has to be paid for
//! by the work between two of them.

use crate::access::{self, places};
use crate::work::Work;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use isa::{Access, Class};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "SYN003",
    title: "barriers in a loop with little work between",
    severity: Severity::Warning,
    page: PAGE,
    check: Check::Code(check),
};

const PAGE: &str = r"## What it does
Fires on an innermost loop with barriers in which a wave does fewer than 128 cycles of vector, matrix and LDS work per
barrier. Memory loads count as 4 cycles each. Kernels whose workgroups are single waves are left out: a barrier costs
nothing there. So are loops with atomics, which wait for other workgroups.

## Why it is slow
At a barrier every wave waits for the slowest, with its loads and LDS accesses drained, and starts again with nothing in
flight. With little work between two barriers the waves of a workgroup spend their time meeting.

## Evidence
Barriers and issue cycles of the work per iteration on the target. Under 64 cycles per barrier it is a warning, otherwise
for information.

## What to do
Do more per barrier: a larger tile, several steps of the loop per stage, two buffers in LDS so that one barrier per
iteration suffices. Reductions: finish within the wave by DPP or shuffles, which need no barrier, and meet once at the end.

## Source
The ROCm Triton wiki: do not wait for LDS or global loads if other instructions could run before the barrier.
";

/// Cycles of work per barrier below which the loop is named, and below which it is a warning.
const LITTLE: u32 = 128;
const VERY_LITTLE: u32 = 64;
/// What issuing a memory instruction counts.
const MEMORY_CYCLES: u32 = 4;

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
    let findings = evidence.cfg.innermost_loops().filter_map(|id| finding(evidence, &work, id));
    Outcome::from_findings(findings.collect())
}

fn finding(evidence: &KernelEvidence<'_>, work: &Work, id: u32) -> Option<Finding> {
    let mut barriers: Vec<u32> = Vec::new();
    let mut cycles = 0;
    for at in evidence.cfg.loop_own_insts(id) {
        let inst = &evidence.insts[at as usize];
        match inst.class() {
            Class::Barrier => barriers.push(at),
            Class::VmemAtomic => return None,
            Class::Lds if inst.mem().is_some_and(|mem| mem.access == Access::Atomic) => return None,
            Class::VmemLoad | Class::VmemStore => cycles += MEMORY_CYCLES,
            _ => cycles += work.cycles(inst),
        }
    }
    let count = barriers.len() as u32;
    if count == 0 || cycles / count >= LITTLE {
        return None;
    }
    let per = cycles / count;
    let severity = if per < VERY_LITTLE { Severity::Warning } else { Severity::Info };
    Some(
        RULE.finding(
            severity,
            format!("{} per iteration with {per} cycles of work per barrier", access::count(count, "barrier")),
            "do more between barriers: larger steps, two LDS buffers, or wave-level exchange instead of LDS and barrier",
        )
        .with_evidence("barriers per iteration", count)
        .with_evidence("work per iteration", format!("{cycles} cycles"))
        .with_places(places(evidence, barriers)),
    )
}
