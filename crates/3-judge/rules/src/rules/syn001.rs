//! SYN001: a loop waits for its loads right after issuing them.
//!
//! The one idea to keep in mind: what counts is the work between the last load and the wait for everything; other
//! waves can fill the gap only if there are enough of them.

use crate::access::{count, is_plain, places, reaches_global};
use crate::waits::wait;
use crate::work::Work;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use isa::Access;
use std::collections::BTreeMap;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "SYN001",
    title: "vmcnt(0) right after the load in a loop",
    severity: Severity::Warning,
    page: PAGE,
    check: Check::Code(check),
};

const PAGE: &str = r"## What it does
Fires on a loop in which `s_waitcnt vmcnt(0)` follows a load with less than 32 cycles of vector, matrix or LDS work between
the last load and the wait: nothing overlaps with the load, and no load is in flight across the wait. Silent where the
waves that fit on a SIMD, each with the work of one iteration, cover half of 800 cycles per wait, and for coherent loads,
which poll for what another wave writes.

## Why it is slow
A load from memory takes 400 to 900 cycles. While the wave waits for all its loads it issues nothing; the next load is only
issued after the work on this one. Unless other waves fill the gap, every iteration lasts as long as memory takes to answer.

## Evidence
Loads, waits and the work between them, in issue cycles of the target; the waves per SIMD that registers and LDS leave
room for. Where those are unknown the finding is for information.

## What to do
Load for the next iteration before working on this one, and let the wait count leave that load in flight (`vmcnt(1)`):
`num_stages=2` in Triton, double buffering or unrolling in HIP, so that several loads are issued before the first wait.
Where registers allow, more waves per SIMD do the same.

## Source
The ROCm MI300X workload guide, ROCm Triton kernel guide and ROCm Triton wiki: what the wait counts mean, and overlapping instructions to hide latency.
";

/// Work between load and wait that counts as none.
const LITTLE: u32 = 32;
/// What a load from memory takes, in cycles; between the measured L2 and HBM latencies and a loaded HBM.
const LATENCY: u32 = 800;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let cfg = &evidence.cfg;
    let costs = Work::of(evidence);
    let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for block in &cfg.blocks {
        let Some(id) = block.innermost else { continue };
        let mut between: Option<u32> = None;
        for at in block.insts.clone() {
            let inst = &evidence.insts[at as usize];
            if reaches_global(evidence, inst, Access::Load) {
                // A coherent load is there to be repeated until another wave has written.
                between = is_plain(inst).then_some(0);
            } else if let Some(wait) = wait(inst) {
                if wait.vector == Some(0) && between.take().is_some_and(|work| work < LITTLE) {
                    found.entry(id).or_default().push(at);
                }
            } else if let Some(work) = &mut between {
                *work += costs.cycles(inst);
            }
        }
    }
    Outcome::from_findings(
        found.into_iter().filter_map(|(id, waits)| finding(evidence, &costs, id, waits)).collect(),
    )
}

fn finding(evidence: &KernelEvidence<'_>, costs: &Work, id: u32, waits: Vec<u32>) -> Option<Finding> {
    let cfg = &evidence.cfg;
    let own = || cfg.loop_own_insts(id).map(|at| &evidence.insts[at as usize]);
    let work: u32 = own().map(|inst| costs.cycles(inst)).sum();
    let loads = own().filter(|inst| reaches_global(evidence, inst, Access::Load)).count();
    let number = waits.len() as u32;
    let per_wait = work / number.max(1);
    let waves = evidence.occupancy.as_ref().map(|occupancy| occupancy.waves_per_simd);
    let covered = waves.map(|waves| waves * f64::from(per_wait));
    if covered.is_some_and(|covered| covered >= f64::from(LATENCY / 2)) {
        return None;
    }
    let severity = if covered.is_some() { Severity::Warning } else { Severity::Info };
    let times = if number == 1 { "once".to_owned() } else { format!("{number} times") };
    let mut finding = RULE
        .finding(
            severity,
            format!("each iteration waits {times} for all its loads right after the last of them ({}, {work} cycles of work)", count(loads, "load")),
            "issue the next iteration's loads before this one's work, so that the wait leaves them in flight",
        )
        .with_evidence("waits for all loads", number)
        .with_evidence("loads per iteration", loads)
        .with_evidence("work per iteration", format!("{work} cycles"));
    if let (Some(waves), Some(covered)) = (waves, covered) {
        finding = finding
            .with_evidence("waves per SIMD", waves)
            .with_cost(format!("up to {LATENCY} cycles per wait, of which {waves} waves cover {covered:.0}"));
    }
    Some(finding.with_places(places(evidence, waits)))
}
