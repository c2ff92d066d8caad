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
use std::collections::BTreeMap;
use view::{Known, Missing, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "MEM003",
    title: "lanes of a wave access memory far apart",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Code(check_code), Check::Recording(check)],
    panels: &[16, 17],
};

const PAGE: &str = r"## What it does
In a recording it fires when an access of the vector L1 shares its line look-up with few others: fewer than 3 accesses per look-up where
contiguous lanes have 4. Warning below 2. Kernels that look up a line in less than 2 % of their cycles are left out.

By its code it fires on loads and stores of global memory in loops, or anywhere in a kernel without loops, that touch at least
twice as many cache lines as would hold their data, and 8 more: a stride of 28 bytes, a row of a matrix per lane. Warning
where the distance of the lanes is known, the other accesses to the same array leave most of these lines unused, and the
look-ups that contiguous lanes would save are a twentieth of what the busiest of vector units, memory path and LDS does for
the kernel, loops taken to run 16 times. Otherwise it is for information: where the kernel hardly waits for them, where the
lanes are a stride apart that only a run tells, which may be 1, and where the
code object does not tell the shape of the workgroup. Then the usual shapes are judged (64x1, 256x1, 32x8, 16x16, 8x8),
and the finding names those it holds for. Coherent accesses, and addresses that depend on data, are left out.

## Why it is slow
The L1 looks up one line per cycle. A load of 8 bytes per lane makes 64 accesses: with neighbouring lanes on neighbouring
addresses 16 look-ups, with lanes in different lines 64. Lines that hold one wanted value each also fill the caches with
unwanted ones. Reading a matrix by rows in one lane each instead of by columns cost a factor of 5.6.

## Evidence
Accesses and line look-ups of the vector L1, and look-ups per memory instruction. The cost is the share of look-ups that
contiguous lanes would save: of the time that look-ups fill where they are what stops the kernel, else within what the roofline
leaves.
By the code, the address of each lane by symbolic evaluation, with all lanes active, and the lines of the target's vector L1
that they touch. Lanes that are an unknown stride apart are taken to touch different lines, as they do from one line on.

## What to do
Let neighbouring lanes access neighbouring addresses: exchange the loops or the index mapping, transpose the data or a tile of
it in LDS, use arrays of fields instead of arrays of structs.

## Source
The Omniperf training, exercise 4 (strided data access); the IREE AMDGPU guide (coalesced accesses).
";

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
    found.insts.sort_by_key(|(at, lines)| (std::cmp::Reverse(lines.surplus()), *at));
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
