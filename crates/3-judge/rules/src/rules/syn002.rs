//! SYN002: a wait for all LDS operations where the next instructions need only the first.
//!
//! The one idea to keep in mind: LDS operations finish in order, so a count names exactly which are needed; scalar
//! loads do not, so with one of them in flight zero is the only count.

use crate::access::{count, places};
use crate::waits::wait;
use crate::work::Work;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use isa::{Class, Inst, RegRange, RegSet, Space};
use std::collections::{BTreeMap, VecDeque};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "SYN002",
    title: "lgkmcnt(0) where a higher count would do",
    severity: Severity::Warning,
    page: PAGE,
    check: Check::Code(check),
};

const PAGE: &str = r"## What it does
Fires on a loop with an `s_waitcnt lgkmcnt(0)` after several LDS operations of the same block, when what follows does at
least 16 cycles of vector or matrix work before it needs the last of them. Which operations are needed is read from the
registers: an operation is needed where its result is read or overwritten; a barrier, a store to memory, an atomic, a
call and the end of the block need all of them. Where a scalar load, a message or a flat access may be in flight the rule
is silent, since these finish out of order and only zero is safe.

## Why it is slow
An LDS read takes tens of cycles, more behind others. Waiting for all of them leaves the wave idle while the first
results, on which work could start, are already there.

## Evidence
The LDS operations before the wait in order, the first instruction that needs each, and the work in between.

## What to do
In assembly and inline assembly write the count that leaves the later operations in flight, and a second wait before they
are used. In compiled code such a wait comes from an explicit fence, `__syncthreads` or `__builtin_amdgcn_s_waitcnt`; drop
it where data dependence suffices.

## Source
The ROCm MI300X workload guide, ROCm Triton kernel guide and ROCm Triton wiki: `lgkmcnt(n)` lets n operations run on.
";

/// Work that could start earlier, in cycles, from which a finding is worth it.
const WORTH: u32 = 16;
/// Instructions looked at behind a wait.
const AHEAD: usize = 256;

/// One early wait.
struct Early {
    at: u32,
    /// Count that suffices.
    count: usize,
    /// Operations in flight.
    in_flight: usize,
    /// Cycles of work before the next operation is needed.
    work: u32,
}

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let cfg = &evidence.cfg;
    let has_lds = |inst: &Inst| inst.class() == Class::Lds;
    if cfg.loops.is_empty() || evidence.mix.count(Class::Lds) == 0 {
        return Outcome::Silent;
    }
    let costs = Work::of(evidence);
    let mut unordered_at_start: Option<Vec<bool>> = None;
    let mut found: BTreeMap<u32, Vec<Early>> = BTreeMap::new();
    for (block, number) in cfg.blocks.iter().zip(0usize..) {
        let Some(id) = block.innermost else { continue };
        let insts = &evidence.insts[block.insts.start as usize..block.insts.end as usize];
        if !insts.iter().any(has_lds) {
            continue;
        }
        let unordered = unordered_at_start.get_or_insert_with(|| unordered_at_block_starts(evidence));
        let mut unordered = unordered[number];
        let mut in_flight: VecDeque<&Inst> = VecDeque::new();
        for (inst, at) in insts.iter().zip(block.insts.clone()) {
            if is_unordered(inst) {
                unordered = true;
            } else if has_lds(inst) {
                in_flight.push_back(inst);
            } else if let Some(count) = wait(inst).and_then(|wait| wait.lds) {
                if count == 0 && !unordered && in_flight.len() >= 2 {
                    let after = &insts[(at - block.insts.start) as usize + 1..];
                    if let Some((count, work)) = higher_count(&costs, &in_flight, after) {
                        let in_flight = in_flight.len();
                        found.entry(id).or_default().push(Early { at, count, in_flight, work });
                    }
                }
                unordered &= count > 0;
                while in_flight.len() > count as usize {
                    in_flight.pop_front();
                }
            }
        }
    }
    Outcome::from_findings(
        found.into_iter().map(|(id, waits)| finding(evidence, &costs, id, &waits)).collect(),
    )
}

fn finding(evidence: &KernelEvidence<'_>, costs: &Work, id: u32, waits: &[Early]) -> Finding {
    let total: u32 = waits.iter().map(|early| early.work).sum();
    let all: u32 = evidence.cfg.loop_own_insts(id).map(|at| costs.cycles(&evidence.insts[at as usize])).sum();
    let counts: Vec<String> = waits
        .iter()
        .take(4)
        .map(|early| format!("lgkmcnt({}) of {} in flight", early.count, early.in_flight))
        .collect();
    RULE.finding(
        Severity::Warning,
        format!(
            "{} per iteration for all LDS operations where the next work needs only the first of them",
            count(waits.len(), "wait")
        ),
        "wait with the count that leaves the later operations in flight, and again before they are used",
    )
    .with_cost(format!("{total} of {all} cycles of work per iteration could start earlier"))
    .with_evidence("counts that suffice", counts.join(", "))
    .with_places(places(evidence, waits.iter().map(|early| early.at)))
}

/// Counted by the same counter and finished out of order.
fn is_unordered(inst: &Inst) -> bool {
    match inst.class() {
        Class::Smem | Class::Message => true,
        _ => inst.mem().is_some_and(|mem| matches!(mem.space, Space::Flat | Space::Scalar | Space::Gds)),
    }
}

/// Whether an unordered operation may be in flight at the start of each block.
fn unordered_at_block_starts(evidence: &KernelEvidence<'_>) -> Vec<bool> {
    let cfg = &evidence.cfg;
    // What a block does to the state: sets, clears or keeps it.
    let effects: Vec<Option<bool>> = cfg
        .blocks
        .iter()
        .map(|block| {
            let insts = &evidence.insts[block.insts.start as usize..block.insts.end as usize];
            insts.iter().rev().find_map(|inst| {
                if is_unordered(inst) {
                    return Some(true);
                }
                wait(inst).is_some_and(|wait| wait.lds == Some(0)).then_some(false)
            })
        })
        .collect();
    let mut starts = vec![false; cfg.blocks.len()];
    let mut work: Vec<u32> =
        (0..cfg.blocks.len() as u32).filter(|b| effects[*b as usize] == Some(true)).collect();
    while let Some(block) = work.pop() {
        for &next in cfg.succs(block) {
            let start = &mut starts[next as usize];
            if !*start {
                *start = true;
                if effects[next as usize].is_none() {
                    work.push(next);
                }
            }
        }
    }
    starts
}

/// The count that suffices for the first need after a wait, and the work until more is needed.
fn higher_count(costs: &Work, in_flight: &VecDeque<&Inst>, after: &[Inst]) -> Option<(usize, u32)> {
    let results: Vec<RegSet> = in_flight
        .iter()
        .map(|inst| {
            let mut set = RegSet::default();
            inst.visit_writes(|range| set.insert(range));
            set
        })
        .collect();
    let mut needed = 0;
    let mut work = 0;
    for inst in after.iter().take(AHEAD) {
        let needs_all = matches!(
            inst.class(),
            Class::Barrier
                | Class::Branch
                | Class::VmemStore
                | Class::VmemAtomic
                | Class::Message
                | Class::Unknown
        ) || wait(inst).is_some_and(|wait| wait.lds.is_some());
        let mut last = 0;
        if !needs_all {
            let mut touch = |range: RegRange| {
                if let Some(at) = results.iter().rposition(|set| set.touches(range)) {
                    last = last.max(at + 1);
                }
            };
            inst.visit_reads(&mut touch);
            inst.visit_writes(&mut touch);
        }
        if needs_all || last > needed {
            if needs_all || (needed > 0 && work >= WORTH) {
                break;
            }
            // The next need comes at once: the wait has to cover it anyway.
            needed = last;
            work = 0;
            if needed == results.len() {
                return None;
            }
        }
        if needed > 0 {
            work += costs.cycles(inst);
        }
    }
    (needed > 0 && needed < results.len() && work >= WORTH).then_some((results.len() - needed, work))
}
