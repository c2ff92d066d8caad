//! SYN001: a loop waits for its loads right after issuing them.
//!
//! A wait costs the time that other waves do not hide, by instructions to issue or by outstanding loads that
//! keep memory busy.

use crate::access::{is_plain, places, reaches_global};
use crate::gain::Executed;
use crate::text::short_number;
use crate::waits::wait;
use crate::work::{Work, iteration_cycles};
use crate::{Check, Outcome, Rule, gain};
use analysis::KernelEvidence;
use analysis::affine::{Id, LANES};
use isa::Access;
use std::collections::{BTreeMap, BTreeSet};
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "SYN001",
    title: "vmcnt(0) right after the load in a loop",
    severity: Severity::Warning,
    page: include_str!("syn001.md"),
    checks: &[Check::Code(check)],
    panels: &[7, 10],
};

/// Work between load and wait that counts as none.
const LITTLE: u32 = 32;
/// Latency of a load from memory, in cycles; between the measured L2 and HBM latencies and a loaded HBM.
pub(super) const LATENCY: u32 = 800;
/// Hidden share from which the wait costs little, and from which the finding is not a warning.
const HIDDEN: f64 = 0.5;
const PARTLY_HIDDEN: f64 = 0.25;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let cfg = &evidence.cfg;
    if cfg.loops.is_empty() {
        return Outcome::Silent;
    }
    let costs = Work::of(evidence);
    let innermost: Vec<u32> = cfg.innermost_loops().collect();
    let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for block in &cfg.blocks {
        let Some(id) = block.innermost.filter(|id| innermost.contains(id)) else { continue };
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
    let ids: Vec<u32> = found.keys().copied().collect();
    let streams: Vec<Stream> = ids.iter().map(|id| Stream::of(evidence, *id)).collect();
    let is_remainder = |id: u32| {
        let own = streams.iter().find(|stream| stream.id == id);
        own.is_some_and(|own| streams.iter().any(|other| own.is_remainder_of(other)))
    };
    found.retain(|id, _| !is_remainder(*id));
    Outcome::from_findings(
        found.into_iter().filter_map(|(id, waits)| finding(evidence, &costs, id, waits)).collect(),
    )
}

/// Loads of a loop.
struct Stream {
    id: u32,
    parent: Option<u32>,
    loads: usize,
    /// Arrays as [`Addresses::array`](analysis::affine::Addresses::array) names them.
    arrays: BTreeSet<(u32, Id)>,
}

impl Stream {
    fn of(evidence: &KernelEvidence<'_>, id: u32) -> Stream {
        let addresses = evidence.addresses();
        let is_load = |at: &u32| reaches_global(evidence, &evidence.insts[*at as usize], Access::Load);
        let loads: Vec<u32> = evidence.cfg.loop_own_insts(id).filter(is_load).collect();
        let arrays =
            loads.iter().filter_map(|at| addresses.of(*at)).map(|access| addresses.array(access)).collect();
        Stream { id, parent: evidence.cfg.loops[id as usize].parent, loads: loads.len(), arrays }
    }

    /// The loop does what another, unrolled, leaves over: it loads less from the same arrays.
    fn is_remainder_of(&self, other: &Stream) -> bool {
        self.id != other.id
            && self.parent == other.parent
            && other.loads >= 2 * self.loads
            && !self.arrays.is_empty()
            && self.arrays.is_subset(&other.arrays)
    }
}

/// Share of a loop's waits that the waves of a compute unit hide.
struct Hiding {
    /// Waves per SIMD.
    waves: f64,
    /// Part of the time in which some wave issues.
    by_instructions: f64,
    /// Part of the memory bandwidth that the loop uses; absent for a target without models.
    by_loads: Option<f64>,
}

impl Hiding {
    fn of(evidence: &KernelEvidence<'_>, id: u32, busy: u32, time: u32) -> Option<Hiding> {
        let occupancy = evidence.occupancy.as_ref().filter(|occupancy| occupancy.waves_per_cu > 0)?;
        let waves = occupancy.waves_per_simd;
        let moved = bytes_moved(evidence, id) as f64 * f64::from(occupancy.waves_per_cu) / f64::from(time);
        Some(Hiding {
            waves,
            by_instructions: (waves * f64::from(busy) / f64::from(time)).min(1.0),
            by_loads: evidence.target.and_then(memory_bytes_per_cycle).map(|most| (moved / most).min(1.0)),
        })
    }

    fn part(&self) -> f64 {
        self.by_loads.map_or(self.by_instructions, |by_loads| by_loads.max(self.by_instructions))
    }
}

/// Bytes that one wave loads and stores per iteration of a loop.
fn bytes_moved(evidence: &KernelEvidence<'_>, id: u32) -> u64 {
    let addresses = evidence.addresses();
    let mut bytes = 0;
    for at in evidence.cfg.loop_own_insts(id) {
        let inst = &evidence.insts[at as usize];
        let moves =
            [Access::Load, Access::Store].iter().any(|access| reaches_global(evidence, inst, *access));
        if let Some(mem) = inst.mem().filter(|_| moves) {
            let one_address = addresses.of(at).is_some_and(|access| addresses.is_uniform(access));
            let lanes = if one_address { 1 } else { LANES as u64 };
            bytes += lanes * u64::from(mem.bytes) * u64::from(mem.elements);
        }
    }
    bytes
}

/// Bytes that device memory moves per cycle for one compute unit, on the model of the target with most.
pub(super) fn memory_bytes_per_cycle(target: &'static arch::Target) -> Option<f64> {
    let of = |model: &arch::Model| {
        model.hbm.gb_per_s.value * 1e3
            / (f64::from(model.compute_units.value) * f64::from(model.engine_mhz.value))
    };
    arch::Model::of_target(target).map(of).max_by(f64::total_cmp)
}

fn finding(evidence: &KernelEvidence<'_>, costs: &Work, id: u32, waits: Vec<u32>) -> Option<Finding> {
    let cfg = &evidence.cfg;
    let own = || cfg.loop_own_insts(id).map(|at| &evidence.insts[at as usize]);
    let work: u32 = own().map(|inst| costs.cycles(inst)).sum();
    let loads = own().filter(|inst| reaches_global(evidence, inst, Access::Load)).count();
    let number = waits.len() as u32;
    let busy = iteration_cycles(evidence, costs, id);
    let waiting = number.saturating_mul(LATENCY);
    let time = busy.saturating_add(waiting);
    let hiding = Hiding::of(evidence, id, busy, time);
    let severity = match hiding.as_ref().map(Hiding::part) {
        Some(part) if part >= HIDDEN => return None,
        Some(part) if part < PARTLY_HIDDEN => {
            gain::severity(Executed::of(evidence).loop_part(id, f64::from(waiting)))
        }
        _ => Severity::Info,
    };
    let times = if number == 1 { "once".to_owned() } else { format!("{number} times") };
    let mut finding = RULE
        .finding(
            severity,
            format!("each iteration waits {times} for all its loads right after the last of them ({}, {work} cycles of work)", counted(loads, "load")),
            "issue the next iteration's loads before this one's work, so that the wait leaves them in flight",
        )
        .with_evidence("waits for all loads", number)
        .with_evidence("loads per iteration", loads)
        .with_evidence("work per iteration", format!("{work} cycles"));
    if let Some(hiding) = hiding {
        let percent = |part: f64| format!("{:.0} %", part * 100.0);
        finding = finding
            .with_evidence("waves per SIMD", short_number(hiding.waves))
            .with_evidence("hidden by instructions of other waves", percent(hiding.by_instructions));
        if let Some(by_loads) = hiding.by_loads {
            finding = finding.with_evidence("memory bandwidth in use", percent(by_loads));
        }
        finding = finding.with_cost(format!(
            "up to {waiting} of {time} cycles per iteration, of which other waves hide {}",
            percent(hiding.part())
        ));
    }
    Some(finding.with_places(places(evidence, waits)))
}
