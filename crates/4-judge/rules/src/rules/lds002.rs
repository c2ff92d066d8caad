//! LDS002: lanes of one access request different addresses of the same LDS bank.
//!
//! Only addresses known lane by lane are judged, and then exactly.

use crate::access::places;
use crate::gain::Executed;
use crate::recorded::{lost, percent, simulated};
use crate::remainder::is_remainder;
use crate::{Check, Outcome, Rule, gain, shapes};
use analysis::affine::{Addresses, LANES};
use analysis::{KernelEvidence, WorkloadEvidence};
use foldhash::{HashMap, HashMapExt};
use isa::{Access, Class, Inst, Operand, Space};
use sorting::Sort;
use std::collections::BTreeMap;
use view::{Finding, Missing, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "LDS002",
    title: "LDS bank conflicts",
    severity: Severity::Warning,
    page: include_str!("lds002.md"),
    checks: &[Check::Code(check), Check::Recording(check_recorded)],
    panels: &[12],
};

/// Minimum share of a loop's LDS cycles for its conflicts to be reported, as a divisor.
const WORTH_SHARE: u32 = 8;
/// Conflict cycles per wave below which code outside loops is not reported.
const WORTH_OUTSIDE: u32 = 64;

/// Conflicts of one loop or of the code outside loops.
#[derive(Default)]
struct Conflicts {
    /// Instruction, cycles, bytes per lane; only those with conflicts.
    insts: Vec<(u32, Cycles, u32)>,
    /// LDS accesses whose lanes are known.
    judged: u32,
    /// Cycles of all judged.
    total: Cycles,
}

impl Conflicts {
    /// Cycles that the conflicts take.
    fn extra(&self) -> u32 {
        self.insts.iter().map(|(_, cycles, _)| cycles.taken - cycles.least).sum()
    }
}

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let cfg = &evidence.cfg;
    if evidence.mix.count(Class::Lds) == 0 {
        return Outcome::Silent;
    }
    let Some(target) = evidence.target else { return Outcome::needs("the target's LDS banks") };
    let banks = target.lds.banks.value;
    if !banks.is_power_of_two() {
        return Outcome::Silent;
    }
    let outside = cfg.loops.len() as u32;
    Outcome::from_findings(shapes::judge(evidence, |addresses| {
        let found = conflicts(evidence, addresses, banks).into_iter();
        let findings = found.filter_map(|(id, conflicts)| {
            let weight = conflicts.extra();
            let in_loop = (id < outside).then_some(id);
            Some((id, (weight, finding(evidence, in_loop, conflicts, banks)?)))
        });
        findings.collect()
    }))
}

/// Conflicts per innermost loop; those outside loops last.
fn conflicts(evidence: &KernelEvidence<'_>, addresses: &Addresses, banks: u32) -> BTreeMap<u32, Conflicts> {
    let cfg = &evidence.cfg;
    let mut known: HashMap<_, Option<Cycles>> = HashMap::new();
    let mut found: BTreeMap<u32, Conflicts> = BTreeMap::new();
    let outside = cfg.loops.len() as u32;
    for access in addresses.accesses() {
        let inst = &evidence.insts[access.inst as usize];
        let Some(width) = judged_width(inst) else { continue };
        // A constant moves all lanes alike: within a group only the part below a dword matters.
        let phase = (access.constant() + if width.elements == 1 { inst.mods.offset } else { 0 }) & 3;
        let phase = if width.bytes < 4 { phase } else { 0 };
        let cycles = *known.entry((access.group().1, width, phase)).or_insert_with(|| {
            let lanes = addresses.lanes(access)?;
            if width.bytes < 4 && addresses.unknown_alignment(access) < 4 {
                return None;
            }
            let first = lanes[0];
            let relative: [u32; LANES] =
                std::array::from_fn(|i| lanes[i].wrapping_sub(first).wrapping_add((1 << 20) + phase as u32));
            if width.bytes >= 4 && relative.iter().any(|lane| lane % 4 != 0) {
                return None;
            }
            Some(width.cycles(&relative, banks))
        });
        let Some(all) = cycles else { continue };
        let bytes = width.bytes;
        let conflicts = found.entry(cfg.loop_of(access.inst).unwrap_or(outside)).or_default();
        conflicts.judged += 1;
        conflicts.total.taken += all.taken;
        conflicts.total.least += all.least;
        if all.taken > all.least {
            conflicts.insts.push((access.inst, all, bytes));
        }
    }
    found.retain(|_, conflicts| !conflicts.insts.is_empty());
    found
}

/// Cycles of one access or of several.
#[derive(Clone, Copy, Default)]
struct Cycles {
    /// Actual cycles.
    taken: u32,
    /// Cycles without conflicts.
    least: u32,
}

impl Cycles {
    /// Cycles of one access of `bytes` per lane, all lanes active.
    fn of(lanes: &[u32; LANES], bytes: u32, banks: u32) -> Cycles {
        let found = mem::bank_cycles(&lanes.map(u64::from), u64::MAX, bytes, banks as usize, true);
        Cycles { taken: found.taken as u32, least: (found.taken - found.bank) as u32 }
    }
}

/// Data that one LDS read or write moves per lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Width {
    /// Bytes of an element.
    bytes: u32,
    elements: u32,
    /// Two adjacent elements.
    adjacent: bool,
}

impl Width {
    /// Cycles of the access. Two adjacent elements count as one of twice the size if that is faster.
    fn cycles(self, lanes: &[u32; LANES], banks: u32) -> Cycles {
        let one = Cycles::of(lanes, self.bytes, banks);
        let apart = Cycles { taken: one.taken * self.elements, least: one.least * self.elements };
        if !self.adjacent {
            return apart;
        }
        let together = Cycles::of(lanes, self.bytes * 2, banks);
        if together.taken < apart.taken { together } else { apart }
    }
}

/// The width of an LDS read or write.
fn judged_width(inst: &Inst) -> Option<Width> {
    let mem = inst.mem().filter(|mem| mem.space == Space::Lds)?;
    if !matches!(mem.access, Access::Load | Access::Store) {
        return None;
    }
    let offsets = (inst.mods.offset & 255, inst.mods.offset >> 8 & 255);
    let strided = inst.op.info().name.contains("st64");
    let adjacent = mem.elements == 2 && !strided && offsets.0.abs_diff(offsets.1) == 1;
    Some(Width { bytes: u32::from(mem.bytes), elements: u32::from(mem.elements), adjacent })
}

/// True if a comparison with a number of lanes before the access disables the other lanes, as in the steps of
/// a reduction.
fn has_few_lanes(evidence: &KernelEvidence<'_>, at: u32) -> bool {
    let start = at.saturating_sub(GUARDED) as usize;
    let before = &evidence.insts[start..at as usize];
    let Some(mask) = before.iter().rposition(|inst| inst.op.info().name.contains("saveexec")) else {
        return false;
    };
    let compare = before[..mask].iter().rfind(|inst| inst.op.info().name.starts_with("v_cmp"));
    compare.is_some_and(|inst| {
        inst.operands().iter().any(|it| matches!(it, Operand::Int(lanes) if (1..=64).contains(lanes)))
    })
}

/// Instructions before an access in which its guard is looked for.
const GUARDED: u32 = 64;

fn finding(
    evidence: &KernelEvidence<'_>,
    in_loop: Option<u32>,
    mut found: Conflicts,
    banks: u32,
) -> Option<Finding> {
    // The worst first; code order among equals.
    found.insts.in_order_by_key(|(at, cycles, _)| (std::cmp::Reverse(cycles.taken - cycles.least), *at));
    let (_, worst, bytes) = *found.insts.first()?;
    let bytes = counted(bytes, "byte");
    let extra = found.extra();
    let is_small = match in_loop {
        Some(_) => extra * WORTH_SHARE < found.total.least,
        None => extra < WORTH_OUTSIDE,
    };
    if is_small {
        return None;
    }
    let has_dwords = found.insts.iter().any(|(_, _, bytes)| *bytes >= 4);
    let doubled = found.total.taken >= 2 * found.total.least;
    let once = in_loop.is_none() && found.insts.iter().any(|(at, ..)| has_few_lanes(evidence, *at));
    let is_rest = in_loop.is_some_and(|id| is_remainder(evidence, id));
    let severity = if has_dwords && doubled && !once && !is_rest {
        gain::severity(Executed::of(evidence).shared_cycles(in_loop, f64::from(extra)))
    } else {
        Severity::Info
    };
    let per = if in_loop.is_some() { "per iteration" } else { "outside loops" };
    let advice = if has_dwords {
        "pad the rows of the tile by one access width, or permute columns with an exclusive-or of the row"
    } else {
        "let each lane access 4 contiguous bytes or more"
    };
    Some(
        RULE.finding(
            severity,
            format!(
                "{} {per} with conflicts over the {banks} banks; the worst ({bytes} per lane) takes {} cycles instead of {}",
                counted(found.insts.len(), "LDS access"),
                worst.taken,
                worst.least
            ),
            advice,
        )
        .with_cost(format!(
            "{extra} conflict cycles per wave {per}, on top of {} for the {} with known lanes",
            found.total.least,
            counted(found.judged, "access")
        ))
        .with_evidence("accesses with conflicts", format!("{} of {}", found.insts.len(), found.judged))
        .with_evidence("conflict cycles", extra)
        .with_places(places(evidence, found.insts.iter().map(|(at, ..)| *at))),
    )
}

/// Conflict cycles per data cycle from which it is reported, and from which it is a warning.
const WORTH_RATIO: f64 = 0.125;
const DOUBLED: f64 = 1.0;
/// Percent of the kernel's cycles below which conflicts do not matter.
const WORTH_TIME: f64 = 1.0;

fn check_recorded(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    if evidence.value("lds.bank_conflict_cycles")? <= 0.0 {
        return Ok(Outcome::Silent);
    }
    let ratio = evidence.known("lds.conflicts_per_access")?;
    let share = evidence.known("lds.conflict_share")?;
    if ratio.value < WORTH_RATIO || share.value < WORTH_TIME {
        return Ok(Outcome::Silent);
    }
    let part = share.map(|share| share / 100.0);
    let mut finding = RULE
        .finding(
            if ratio.value >= DOUBLED { Severity::Warning } else { Severity::Info },
            format!(
                "{ratio:.2} conflict cycles for each LDS cycle that moves data, in {} of the kernel's cycles",
                percent(part)
            ),
            "pad the rows of the tile or permute columns by exclusive-or; `rockhound inspect` names the accesses",
        )
        .with_evidence("conflict cycles per cycle of data", format!("{ratio:.2}"))
        .with_evidence("conflict cycles", format!("{share:.1} % of the kernel's"))
        .with_trust([ratio, share]);
    if let Ok(busy) = evidence.known("lds.utilization") {
        finding = finding.with_evidence("LDS busy", format!("{busy:.1} %")).with_trust([busy]);
    }
    let cost = simulated(evidence, &finding, "lds-conflicts");
    Ok(Outcome::Findings(vec![cost.unwrap_or_else(|| lost(evidence, finding, part))]))
}
