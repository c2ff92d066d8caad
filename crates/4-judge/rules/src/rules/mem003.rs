//! MEM003: lanes of a wave access memory far apart.
//!
//! The vector L1 looks up one line at a time; four accesses share a look-up if their lanes are adjacent, else
//! each takes its own.

use crate::access::{MemoryAccess, is_global, memory_access, places};
use crate::gain::Executed;
use crate::lines::Lines;
use crate::recorded::{lost, lost_below_roof};
use crate::shapes::Weighed;
use crate::{Check, Outcome, Rule, gain, shapes};
use analysis::affine::{Addresses, LANES};
use analysis::roofline::{Bound, Resource};
use analysis::{KernelEvidence, WorkloadEvidence};
use foldhash::{HashMap, HashMapExt};
use isa::Access;
use sorting::Sort;
use std::collections::BTreeMap;
use view::{Known, Missing, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "MEM003",
    title: "lanes of a wave access memory far apart",
    severity: Severity::Warning,
    page: include_str!("mem003.md"),
    checks: &[Check::Code(check_code), Check::Recording(check)],
    panels: &[16, 17],
};

/// Lines touched for each line needed, and lines touched in vain, from which an access is reported.
const TIMES: u32 = 2;
const SURPLUS: u32 = 8;

/// Scattered accesses of one kind in one loop, or outside loops.
#[derive(Default)]
struct Scattered {
    insts: Vec<(u32, Lines)>,
    /// Other accesses use most of the lines too.
    covered: bool,
}

fn check_code(evidence: &KernelEvidence<'_>) -> Outcome {
    let Some(target) = evidence.target else { return Outcome::needs("the target's cache lines") };
    let line = target.vector_l1.line_bytes.value;
    let kinds = [Access::Load, Access::Store];
    let insts: Vec<(u32, bool)> = evidence
        .memory
        .iter()
        .filter(|at| evidence.cfg.loops.is_empty() || evidence.cfg.loop_of(**at).is_some())
        .filter_map(|at| {
            let inst = &evidence.insts[*at as usize];
            let kind = kinds.into_iter().find(|kind| is_global(evidence, inst, *kind))?;
            Some((*at, kind == Access::Store))
        })
        .collect();
    if insts.is_empty() {
        return Outcome::Silent;
    }
    Outcome::from_findings(shapes::judge(evidence, |addresses| {
        let found = scattered(evidence, addresses, &insts, line).into_iter();
        found.map(|(key, found)| (key, finding(evidence, key, found, line))).collect()
    }))
}

/// Scattered accesses by innermost loop and kind: loads, then stores.
fn scattered(
    evidence: &KernelEvidence<'_>,
    addresses: &Addresses,
    insts: &[(u32, bool)],
    line: u32,
) -> BTreeMap<(Option<u32>, bool), Scattered> {
    let cfg = &evidence.cfg;
    let mut found: BTreeMap<_, Scattered> = BTreeMap::new();
    // Accessed bytes of each array in each loop, by position, each position once.
    let mut arrays: HashMap<_, BTreeMap<i64, u32>> = HashMap::new();
    let accesses: Vec<(MemoryAccess<'_>, (Option<u32>, bool))> = insts
        .iter()
        .filter_map(|(at, is_store)| {
            let access = memory_access(evidence, addresses, *at)?;
            Some((access, (cfg.loop_of(*at), *is_store)))
        })
        .collect();
    for (access, key) in &accesses {
        arrays.entry((access.address.group(), *key)).or_default().insert(access.position, access.bytes);
    }
    // Accesses of a group have the same lanes: accesses that begin at the same offset in a line touch the
    // same number of lines.
    let mut counted: HashMap<_, Option<Lines>> = HashMap::new();
    for (access, key) in &accesses {
        let place = access.position.rem_euclid(i64::from(line.max(1)));
        let lines = *counted
            .entry((access.address.group(), place, access.bytes))
            .or_insert_with(|| Lines::of(addresses, access.address, access.position, access.bytes, line));
        let Some(lines) = lines else { continue };
        if lines.touched < TIMES * lines.least || lines.surplus() < SURPLUS {
            continue;
        }
        let near = access.position - i64::from(line)..access.position + i64::from(line);
        let used: u32 = arrays[&(access.address.group(), *key)].range(near).map(|(_, bytes)| *bytes).sum();
        let scattered = found.entry(*key).or_default();
        scattered.covered |= used * LANES as u32 * 2 >= lines.touched * line;
        scattered.insts.push((access.inst, lines));
    }
    found
}

fn finding(
    evidence: &KernelEvidence<'_>,
    (in_loop, is_store): (Option<u32>, bool),
    mut found: Scattered,
    line: u32,
) -> Weighed {
    found.insts.in_order_by_key(|(at, lines)| (std::cmp::Reverse(lines.surplus()), *at));
    let worst = found.insts.first().map(|(_, lines)| *lines).unwrap_or_default();
    let by_stride = found.insts.iter().any(|(_, lines)| lines.by_stride);
    let (touched, least) = found
        .insts
        .iter()
        .fold((0, 0), |(touched, least), (_, lines)| (touched + lines.touched, least + lines.least));
    let known = !by_stride && !found.covered;
    let per = if in_loop.is_some() { " per iteration" } else { "" };
    let severity = if known {
        gain::severity(Executed::of(evidence).shared_cycles(in_loop, f64::from(touched - least)))
    } else {
        Severity::Info
    };
    let apart = match worst.by_stride {
        true => format!("lanes are n x {} bytes apart, n known at run time only", worst.apart),
        false => format!("neighbouring lanes are {} bytes apart", worst.apart),
    };
    let kind = if is_store { "store" } else { "load" };
    let mut finding = RULE
        .finding(
            severity,
            format!(
                "{}{per} touching up to {} cache lines of {line} bytes, where {} would hold the data; {apart}",
                counted(found.insts.len(), kind),
                worst.touched,
                worst.least
            ),
            "let neighbouring lanes access neighbouring addresses: exchange index roles, or transpose a tile in LDS",
        )
        .with_cost(format!("{touched} line look-ups per wave{per} where {least} would do"))
        .with_evidence("lines touched by the worst", worst.touched)
        .with_evidence("lines that hold its data", worst.least);
    if worst.by_stride {
        let from = line.div_ceil(worst.apart.unsigned_abs().max(1));
        finding = finding.with_evidence("counted for", format!("n of {from} or more"));
    }
    if found.covered {
        finding = finding.with_evidence("other accesses", "use most of these lines too");
    }
    let places = places(evidence, found.insts.iter().map(|(at, _)| *at));
    (touched - least, finding.with_places(places))
}

/// Accesses per look-up of contiguous lanes.
const CONTIGUOUS: f64 = 4.0;
/// Accesses per look-up below which it is reported.
const FEW: f64 = 3.0;
/// Accesses per look-up below which it is a warning.
const VERY_FEW: f64 = 2.0;
/// Percent of the peak of look-ups below which it does not matter.
const USED: f64 = 2.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    if evidence.value("vl1d.cache_accesses")? <= 0.0 {
        return Ok(Outcome::Silent);
    }
    let per_lookup = evidence.known("access.per_lookup")?;
    let used = evidence.evaluation.percent_of_peak("access.lookup_rate");
    if per_lookup.value >= FEW || matches!(used, Some(Ok(percent)) if percent < USED) {
        return Ok(Outcome::Silent);
    }
    let mut finding = RULE
        .finding(
            if per_lookup.value < VERY_FEW { Severity::Warning } else { Severity::Info },
            format!("{per_lookup:.1} accesses share a line look-up of the vector L1, contiguous lanes {CONTIGUOUS:.0}"),
            "let neighbouring lanes access neighbouring addresses: exchange index roles, or transpose a tile in LDS",
        )
        .with_evidence("accesses per look-up", format!("{per_lookup:.2}"))
        .with_trust([per_lookup]);
    for (metric, what, unit) in [
        ("access.lookups_per_instruction", "look-ups per memory instruction", ""),
        ("vl1d.hit_rate", "vector L1 hit rate", " %"),
        ("l2.hit_rate", "L2 hit rate", " %"),
    ] {
        if let Ok(value) = evidence.known(metric) {
            finding = finding.with_evidence(what, format!("{value:.1}{unit}")).with_trust([value]);
        }
    }
    let surplus = per_lookup.map(|accesses| 1.0 - accesses / CONTIGUOUS);
    let finding = match &evidence.roof().bound {
        // At the roof of look-ups each one less is time saved, and that roof leaves no room below it.
        Ok(Bound::Ceiling { share, part, .. }) if share.resource == Resource::LookUps => {
            let part = Known { value: *part, trust: share.trust };
            lost(evidence, finding, surplus.with(part, |surplus, part| surplus * part))
        }
        _ => lost_below_roof(evidence, finding, surplus),
    };
    Ok(Outcome::Findings(vec![finding]))
}
