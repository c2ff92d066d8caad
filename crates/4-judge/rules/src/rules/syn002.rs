//! SYN002: a wait for all LDS operations where the next instructions need only the first.
//!
//! LDS operations complete in order, so a count names exactly the needed ones; scalar loads do not, so zero
//! is the only usable count while one is outstanding.

use crate::access::places;
use crate::remainder::is_remainder;
use crate::waits::{NO_LDS_WAIT, wait};
use crate::work::{Clock, Work, iteration_cycles};
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use isa::{Access, Class, Inst, RegRange, RegSet, Space};
use std::collections::{BTreeMap, VecDeque};
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "SYN002",
    title: "lgkmcnt(0) where a higher count would do",
    severity: Severity::Warning,
    page: include_str!("syn002.md"),
    checks: &[Check::Code(check)],
    panels: &[7, 10],
};

/// Work that could start earlier, in cycles, from which a finding is worth it.
const WORTH: u32 = 16;
/// Minimum share of the iteration to save, as a divisor.
const WORTH_SHARE: f64 = 20.0;
/// Number of instructions checked after a wait.
const AHEAD: usize = 256;
/// Cycles from an LDS read to its result, where the target gives no figure.
const LATENCY: u32 = 32;

/// One early wait.
struct Early {
    at: u32,
    /// Count that suffices.
    count: usize,
    /// Operations in flight.
    in_flight: usize,
    /// Cycles the wave waits.
    stall: u32,
    /// Part of them that the higher count saves, in cycles.
    saved: u32,
}

/// An LDS operation in flight.
#[derive(Clone, Copy)]
struct InFlight<'a> {
    inst: &'a Inst,
    /// Cycle in which its result is there.
    done: u32,
}

/// Speed at which the LDS serves one wave.
struct LdsPace {
    /// Cycles from the last byte moved to the result.
    latency: u32,
    /// Bytes per cycle for this wave while its neighbours do the same.
    bytes_per_cycle: u32,
    free: u32,
}

impl LdsPace {
    fn of(evidence: &KernelEvidence<'_>) -> Self {
        let target = evidence.target;
        let latency = target.map_or(LATENCY, |target| target.latency.lds.value);
        let bytes = target.and_then(|target| target.lds.bytes_per_cycle.value()).unwrap_or(128);
        let waves = evidence.occupancy.as_ref().map_or(1, |occupancy| occupancy.waves_per_cu);
        let simds = target.map_or(4, |target| target.simds_per_cu.value);
        LdsPace { latency, bytes_per_cycle: (bytes / waves.clamp(1, simds)).max(1), free: 0 }
    }

    /// Cycle in which the result of an operation issued at `now` is there.
    fn issue(&mut self, inst: &Inst, now: u32) -> u32 {
        let per_lane = inst.mem().map_or(4, |mem| u32::from(mem.bytes) * u32::from(mem.elements));
        let moves = (per_lane * 64).div_ceil(self.bytes_per_cycle);
        self.free = self.free.max(now) + moves;
        self.free + self.latency
    }
}

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let cfg = &evidence.cfg;
    let has_lds = |inst: &Inst| inst.class() == Class::Lds;
    if cfg.loops.is_empty() || evidence.mix.count(Class::Lds) == 0 {
        return Outcome::Silent;
    }
    let costs = Work::of(evidence);
    let innermost: Vec<u32> = cfg.innermost_loops().collect();
    let mut unordered_at_start: Option<Vec<bool>> = None;
    let mut found: BTreeMap<u32, Vec<Early>> = BTreeMap::new();
    for (block, number) in cfg.blocks.iter().zip(0usize..) {
        let Some(id) = block.innermost.filter(|id| innermost.contains(id)) else { continue };
        let insts = &evidence.insts[block.insts.start as usize..block.insts.end as usize];
        if !insts.iter().any(has_lds) {
            continue;
        }
        let unordered = unordered_at_start.get_or_insert_with(|| unordered_at_block_starts(evidence));
        let mut unordered = unordered[number];
        let mut in_flight: VecDeque<InFlight<'_>> = VecDeque::new();
        let mut lds = LdsPace::of(evidence);
        let mut clock = Clock::default();
        for (inst, at) in insts.iter().zip(block.insts.clone()) {
            clock.issue(&costs, inst);
            if is_unordered(inst) {
                unordered = true;
            } else if has_lds(inst) {
                in_flight.push_back(InFlight { inst, done: lds.issue(inst, clock.now) });
            } else if let Some(count) = wait(inst).and_then(|wait| wait.lds) {
                let after = &insts[(at - block.insts.start) as usize + 1..];
                if count == 0 && !unordered && in_flight.len() >= 2 {
                    let early = early(&costs, at, clock, &in_flight, after);
                    found.entry(id).or_default().extend(early);
                }
                unordered &= count > 0;
                let mut done = clock.now;
                while in_flight.len() > count as usize {
                    done = in_flight.pop_front().map_or(done, |first| first.done.max(done));
                }
                clock.now = done;
            }
        }
    }
    Outcome::from_findings(
        found.into_iter().filter_map(|(id, waits)| finding(evidence, &costs, id, &waits)).collect(),
    )
}

/// The wait at `at`, if a higher count would do and saves time.
fn early(
    costs: &Work,
    at: u32,
    clock: Clock,
    in_flight: &VecDeque<InFlight<'_>>,
    after: &[Inst],
) -> Option<Early> {
    let (count, length) = higher_count(costs, in_flight, after)?;
    if count >= NO_LDS_WAIT as usize {
        return None;
    }
    let all_done = in_flight.back()?.done;
    let needed_done = in_flight.get(in_flight.len() - count - 1)?.done;
    let stall = all_done.saturating_sub(clock.now);
    // With the higher count: a shorter wait, the work, and the rest of the wait if there is any.
    let mut then = clock;
    then.now = then.now.max(needed_done);
    for inst in &after[..length] {
        then.issue(costs, inst);
    }
    let worked = then.now - clock.now.max(needed_done);
    let end = then.now.max(all_done);
    let saved = (clock.now.max(all_done) + worked).saturating_sub(end);
    (saved > 0).then_some(Early { at, count, in_flight: in_flight.len(), stall, saved })
}

/// Share of the time of an iteration that saving `saved` of `stall` cycles brings, where each of `waves`
/// waves issues for `busy`.
fn share_saved(busy: u32, stall: u32, saved: u32, waves: f64) -> f64 {
    let time = |stall: u32| (f64::from(busy) * waves).max(f64::from(busy + stall));
    let now = time(stall);
    if now > 0.0 { (now - time(stall.saturating_sub(saved))) / now } else { 0.0 }
}

fn finding(evidence: &KernelEvidence<'_>, costs: &Work, id: u32, waits: &[Early]) -> Option<Finding> {
    let saved: u32 = waits.iter().map(|early| early.saved).sum();
    let stall: u32 = waits.iter().map(|early| early.stall).sum();
    let busy = iteration_cycles(evidence, costs, id);
    let waves = evidence.occupancy.as_ref().map(|occupancy| occupancy.waves_per_simd);
    let share = share_saved(busy, stall, saved, waves.unwrap_or(1.0).max(1.0));
    if waits.is_empty() || share * WORTH_SHARE < 1.0 {
        return None;
    }
    let counts: Vec<String> = waits
        .iter()
        .take(4)
        .map(|early| format!("lgkmcnt({}) of {} in flight", early.count, early.in_flight))
        .collect();
    let mut finding = RULE
        .finding(
            if waves.is_some() && !is_remainder(evidence, id) { Severity::Warning } else { Severity::Info },
            format!(
                "{} per iteration for all LDS operations where the next work needs only the first of them",
                counted(waits.len(), "wait")
            ),
            "wait with the count that leaves the later operations in flight, and again before they are used",
        )
        .with_cost(format!(
            "about {saved} of {} cycles per iteration, {:.0} % of the time of the loop",
            busy + stall,
            share * 100.0
        ))
        .with_evidence("counts that suffice", counts.join(", "));
    if let Some(waves) = waves {
        finding = finding.with_evidence("waves per SIMD", crate::text::short_number(waves));
    }
    Some(finding.with_places(places(evidence, waits.iter().map(|early| early.at))))
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

/// The count that suffices for the first need after a wait, and the instructions until more is needed.
fn higher_count(costs: &Work, in_flight: &VecDeque<InFlight<'_>>, after: &[Inst]) -> Option<(usize, usize)> {
    let results: Vec<RegSet> = in_flight
        .iter()
        .map(|one| {
            let mut set = RegSet::default();
            one.inst.visit_writes(|range| set.insert(range));
            set
        })
        .collect();
    let (mut needed, mut work, mut length) = (0, 0, 0);
    for inst in after.iter().take(AHEAD) {
        // The wait is what keeps the load from data still being read.
        if inst.mem().is_some_and(|mem| mem.access == Access::LoadToLds) {
            return None;
        }
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
            // The next use is immediate: the wait has to cover it anyway.
            needed = last;
            work = 0;
            if needed == results.len() {
                return None;
            }
        }
        length += 1;
        if needed > 0 {
            work += costs.cycles(inst);
        }
    }
    (needed > 0 && needed < results.len() && work >= WORTH).then_some((results.len() - needed, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_waves_fill_what_one_waits() {
        // Issue cycles, stall, saved, waves, percent of the time saved.
        for (busy, stall, saved, waves, expected) in [
            (200, 50, 40, 1.0, 16.0),
            (1000, 50, 40, 1.0, 3.8),
            // Two waves issue for 400 cycles, and one needs 250.
            (200, 50, 40, 2.0, 0.0),
            (40, 60, 50, 2.0, 20.0),
            (0, 0, 0, 1.0, 0.0),
        ] {
            let found = share_saved(busy, stall, saved, waves) * 100.0;
            assert!((found - expected).abs() < 0.05, "{busy} {stall} {saved} {waves}: {found}");
        }
    }
}
