//! The roofline chart: kernels of recordings below the ceilings of their machines.

use crate::recorded::WorkloadEvidence;
use crate::roofline::Share;
use crate::roofline::ceilings::{LEVELS, Level, RATES, Unit};
use crate::workload::machine::engine_clock;
use std::collections::BTreeSet;
use view::{
    Ceiling, Known, Mark, Missing, Number, RoofVerdict, RooflineChart, RooflineKernel, RooflineLevel,
};

/// The chart of a recording's kernels, at most `most` of them.
pub fn chart(kernels: &[WorkloadEvidence<'_>], most: usize) -> RooflineChart {
    let shown = &kernels[..kernels.len().min(most)];
    let mut notes = Vec::new();
    let Some(first) = kernels.first() else {
        return RooflineChart {
            machine: String::new(),
            bandwidths: Vec::new(),
            rates: Vec::new(),
            kernels: Vec::new(),
            left_out: 0,
            notes: vec!["no dispatch is selected".to_owned()],
        };
    };
    let used = |name: &str| {
        let integer = RATES.iter().any(|rate| rate.name == name && rate.unit == Unit::Integer);
        !integer
            && shown.iter().any(|it| {
                let share = it.roof().all.rates.iter().find(|share| share.name == name);
                share.and_then(|share| share.rate.as_ref().ok()).is_some_and(|rate| *rate > 0.0)
            })
    };
    let roof = first.roof();
    let ceiling = |share: &Share, used: bool| Ceiling {
        name: share.name.to_owned(),
        value: share.ceiling,
        unit: share.unit,
        basis: share.basis,
        used,
    };
    let bandwidths: Vec<Ceiling> = roof.all.levels.iter().map(|share| ceiling(share, true)).collect();
    let rates: Vec<Ceiling> = roof.all.rates.iter().map(|share| ceiling(share, used(share.name))).collect();
    if bandwidths.is_empty() {
        notes.push("the recording does not say enough of the machine for ceilings".to_owned());
    }
    notes.extend(uncounted(shown));
    RooflineChart {
        machine: machine(first),
        bandwidths,
        rates,
        kernels: shown.iter().zip(MARKS.chars()).map(|(it, mark)| kernel(it, mark)).collect(),
        left_out: kernels.len() - shown.len().min(MARKS.len()),
        notes,
    }
}

/// Keeps the levels of memory and the types requested; of none requested come all levels, and the types in
/// use.
pub fn restrict(chart: &mut RooflineChart, levels: &[&str], types: &[&str]) {
    if !levels.is_empty() {
        chart.bandwidths.retain(|ceiling| levels.contains(&ceiling.name.as_str()));
        for kernel in &mut chart.kernels {
            kernel.levels.retain(|level| levels.contains(&level.level.as_str()));
        }
    }
    if !types.is_empty() {
        // `matrix f4/f6` is both.
        chart.rates.retain_mut(|ceiling| {
            let kinds = ceiling.name.rsplit(' ').next().unwrap_or_default();
            ceiling.used = kinds.split('/').any(|kind| types.contains(&kind));
            ceiling.used
        });
    }
}

/// Types of integers, with the operations of a dispatch.
const INTEGERS: [(&str, &str); 3] =
    [("i8", "compute.i8_ops"), ("i32", "compute.i32_ops"), ("i64", "compute.i64_ops")];

/// A note on types whose operations no kernel has counters of.
fn uncounted(kernels: &[WorkloadEvidence<'_>]) -> Option<String> {
    let without: BTreeSet<&str> =
        kernels.iter().flat_map(|it| &it.roof().flops_without).map(String::as_str).collect();
    let list: Vec<&str> = without.into_iter().collect();
    (!list.is_empty())
        .then(|| format!("operations of {} were not recorded and are not counted", list.join(", ")))
}

/// Places the kernels by their integer operations, where only types of integers are requested.
pub fn count_integers(chart: &mut RooflineChart, kernels: &[WorkloadEvidence<'_>], types: &[&str]) {
    let metric = |name: &&str| INTEGERS.iter().find(|(known, _)| known == name).map(|(_, metric)| *metric);
    let Some(metrics) = types.iter().map(metric).collect::<Option<Vec<&str>>>().filter(|it| !it.is_empty())
    else {
        return;
    };
    for (kernel, evidence) in chart.kernels.iter_mut().zip(kernels) {
        let ops = metrics.iter().map(|metric| evidence.known(metric)).reduce(|all, more| {
            let (all, more) = (all?, more?);
            Ok(all.with(more, |a, b| a + b))
        });
        let Some(ops) = ops else { continue };
        let rate = match (&ops, evidence.known("dispatch.duration")) {
            (Ok(ops), Ok(ns)) => Ok(ops.over(ns)),
            (Err(reason), _) => Err(reason.clone()),
            (_, Err(reason)) => Err(reason),
        };
        for (level, of) in kernel.levels.iter_mut().zip(LEVELS) {
            let intensity = intensity(&ops, &evidence.known(of.bytes), of.name);
            level.intensity_trust = trust(&intensity);
            level.intensity = number(&intensity);
        }
        kernel.flops_trust = trust(&ops);
        kernel.flops = number(&ops);
        kernel.rate_trust = trust(&rate);
        kernel.rate = number(&rate);
    }
    let of_floats = uncounted(&kernels[..chart.kernels.len().min(kernels.len())]);
    chart.notes.retain(|note| Some(note) != of_floats.as_ref());
    chart.notes.push(format!(
        "kernels are placed by their operations on {}: one per lane of each instruction, matrix instructions by what they compute",
        types.join(" and ")
    ));
}

/// Operations per byte of a level.
fn intensity(
    ops: &Result<Known, Missing>,
    bytes: &Result<Known, Missing>,
    level: &str,
) -> Result<Known, Missing> {
    match (ops, bytes) {
        (Err(reason), _) | (_, Err(reason)) => Err(reason.clone()),
        (Ok(_), Ok(bytes)) if bytes.value <= 0.0 => {
            Err(Missing::Because(format!("no bytes moved at {level}")))
        }
        (Ok(ops), Ok(bytes)) => Ok(ops.over(*bytes)),
    }
}

/// Gives the kernels of all charts different letters; without enough letters the last kernels are left out.
pub fn letter<'a>(charts: impl Iterator<Item = &'a mut RooflineChart>) {
    let mut marks = MARKS.chars();
    for chart in charts {
        let before = chart.kernels.len();
        chart.kernels = std::mem::take(&mut chart.kernels)
            .into_iter()
            .map_while(|kernel| Some(RooflineKernel { mark: marks.next()?, ..kernel }))
            .collect();
        chart.left_out += before - chart.kernels.len();
    }
}

/// Several charts as one, with the ceilings of the last; kernels are called by the names of their recordings
/// too.
pub fn merge(charts: &[(&str, &RooflineChart)]) -> Option<RooflineChart> {
    let [rest @ .., (name, last)] = charts else { return None };
    let mut merged = (*last).clone();
    if rest.is_empty() {
        return Some(merged);
    }
    let used = |ceiling: &&Ceiling| ceiling.used;
    for ceiling in &mut merged.rates {
        let theirs = rest.iter().flat_map(|(_, chart)| &chart.rates).filter(used);
        ceiling.used |= theirs.into_iter().any(|it| it.name == ceiling.name);
    }
    let different =
        rest.iter().any(|(_, chart)| chart.machine != last.machine || chart.bandwidths != last.bandwidths);
    if different {
        merged
            .notes
            .insert(0, format!("the ceilings are those of {name}; percentages are of each kernel's own"));
    }
    let named = |(name, chart): &(&str, &RooflineChart)| {
        let name = (*name).to_owned();
        let of = move |kernel: &RooflineKernel| RooflineKernel {
            name: format!("{name}: {}", kernel.name),
            ..kernel.clone()
        };
        chart.kernels.iter().map(of).collect::<Vec<_>>()
    };
    merged.kernels = charts.iter().flat_map(named).collect();
    merged.left_out = charts.iter().map(|(_, chart)| chart.left_out).sum();
    for note in rest.iter().flat_map(|(_, chart)| &chart.notes) {
        if !merged.notes.contains(note) {
            merged.notes.push(note.clone());
        }
    }
    Some(merged)
}

/// Letters of kernels.
const MARKS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn machine(evidence: &WorkloadEvidence<'_>) -> String {
    let facts = &evidence.workload.machine;
    let mut words: Vec<String> = Vec::new();
    words.extend(facts.text("gpu_model").map(str::to_owned));
    words.extend(facts.target().map(str::to_owned));
    words.extend(facts.number("cu_per_gpu").map(|n| format!("{n} CUs")));
    words.extend(engine_clock(facts));
    words.join(" · ")
}

fn kernel(evidence: &WorkloadEvidence<'_>, mark: char) -> RooflineKernel {
    let roof = evidence.roof();
    let levels: Vec<RooflineLevel> = LEVELS.iter().map(|level| kernel_level(evidence, level)).collect();
    let rate = match (&roof.flops, evidence.known("dispatch.duration")) {
        (Ok(flops), Ok(ns)) => Ok(flops.over(ns)),
        (Err(reason), _) => Err(reason.clone()),
        (_, Err(reason)) => Err(reason),
    };
    let time = evidence.time.clone().map(|ns| evidence.timed(ns));
    let verdict = match roof.known_bound() {
        Ok(bound) => {
            let part = bound.part().ok_or(Missing::because("no rate is known"));
            RoofVerdict {
                bound_by: roof.names(),
                percent_of_roof: part.clone().map(|part| 100.0 * part).into(),
                gap: part.map(|part| (1.0 / part).max(1.0)).into(),
                text: roof.describe(),
                trust: roof.bound_trust,
            }
        }
        Err(reason) => RoofVerdict { text: roof.describe(), ..RoofVerdict::unknown(reason.shortened()) },
    };
    RooflineKernel {
        mark,
        name: evidence.kernel.to_owned(),
        dispatches: evidence.dispatches(),
        time_ns: evidence.time.clone().into(),
        time_percent: evidence.time_percent.clone().into(),
        time_trust: trust(&time),
        flops_trust: trust(&roof.flops),
        flops: number(&roof.flops),
        rate_trust: trust(&rate),
        rate: number(&rate),
        levels,
        verdict,
    }
}

fn trust(known: &Result<Known, Missing>) -> Option<Mark> {
    known.as_ref().ok()?.trust
}

fn number(known: &Result<Known, Missing>) -> Number {
    known.clone().map(|known| known.value).into()
}

fn kernel_level(evidence: &WorkloadEvidence<'_>, level: &Level) -> RooflineLevel {
    let roof = evidence.roof();
    let bytes = evidence.known(level.bytes);
    let intensity = intensity(&roof.flops, &bytes, level.name);
    let share = roof.all.levels.iter().find(|share| share.name == level.name);
    let bandwidth = match share {
        Some(share) => share.rate.clone(),
        None => evidence.value(level.bandwidth),
    };
    let percent = match share {
        Some(share) => share.rate.clone().map(|rate| 100.0 * rate / share.ceiling),
        None => Err(Missing::Because(format!("no ceiling of {} is known", level.name))),
    };
    RooflineLevel {
        level: level.name.to_owned(),
        bytes_trust: trust(&bytes),
        intensity_trust: trust(&intensity),
        bandwidth_trust: evidence.trust(level.bandwidth, &bandwidth),
        bytes: number(&bytes),
        intensity: number(&intensity),
        bandwidth: bandwidth.into(),
        percent: percent.into(),
    }
}
