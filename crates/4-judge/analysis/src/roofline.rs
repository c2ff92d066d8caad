//! Where kernels stand below the ceilings of the machine, and which ceiling stops them.
//!
//! The one idea to keep in mind: every ceiling gives the least time a kernel's bytes or operations need. The longest of
//! these is the nearest roof; what the kernel takes beyond it is time no ceiling asks for.

mod ceilings;
mod verdict;

pub use verdict::Bound;

use crate::recorded::WorkloadEvidence;
use crate::workload::machine::engine_clock;
use ceilings::{LEVELS, RATES, Unit};
use metrics::Value;
use view::{
    Ceiling, CeilingBasis, Known, Mark, Missing, Number, RoofVerdict, RooflineChart, RooflineKernel,
    RooflineLevel,
};

/// Operation counts by type; those the GPU does not have are not asked for.
const FLOPS: &[&str] = &[
    "compute.f6f4_ops",
    "compute.f8_ops",
    "compute.f16_ops",
    "compute.bf16_ops",
    "compute.f32_ops",
    "compute.f64_ops",
];

/// A kernel at one ceiling.
#[derive(Clone, PartialEq, Debug)]
pub struct Share {
    /// Name of the ceiling: `HBM`, `vector f32`.
    pub name: &'static str,
    /// What the kernel reaches, in the ceiling's unit.
    pub rate: Value,
    /// The ceiling.
    pub ceiling: f64,
    /// Unit of both.
    pub unit: &'static str,
    /// What the ceiling rests on.
    pub basis: CeilingBasis,
    /// How far the rate can be trusted; none where it was measured.
    pub trust: Option<Mark>,
}

impl Share {
    /// Part of the ceiling reached, 1 at the roof.
    pub fn part(&self) -> Option<f64> {
        self.known_part().map(|part| part.value)
    }

    /// The same with how far it can be trusted.
    pub fn known_part(&self) -> Option<Known> {
        let rate = self.rate.as_ref().ok()?;
        Some(Known { value: rate / self.ceiling, trust: self.trust })
    }
}

/// A kernel below all ceilings.
#[derive(Clone, PartialEq, Debug)]
pub struct Roof {
    /// Levels of memory, farthest first.
    pub levels: Vec<Share>,
    /// Types the vector and matrix units compute with.
    pub rates: Vec<Share>,
    /// Part of the vector unit's peak, all types together, and of the matrix unit's.
    units: [Option<f64>; 2],
    /// Floating-point operations of a dispatch.
    pub flops: Result<Known, Missing>,
    /// Types whose operations were not recorded.
    pub flops_without: Vec<String>,
    /// Why the kernel's part of a ceiling is not known, of each such ceiling: any of them could be the nearest.
    pub unknown: Vec<Missing>,
    /// What stops the kernel.
    pub bound: Result<Bound, Missing>,
    /// How far its numbers can be trusted; none where they were measured.
    pub bound_trust: Option<Mark>,
}

impl Roof {
    /// What stops the kernel, or why that is not known in as few words as a table has room for.
    pub fn bound_in_short(&self) -> Result<&Bound, Missing> {
        self.bound.as_ref().map_err(|reason| reason.clone().shortened())
    }

    pub(crate) fn of(evidence: &WorkloadEvidence<'_>) -> Self {
        let mut unknown = Vec::new();
        let levels = LEVELS
            .iter()
            .filter_map(|level| {
                let ceiling = level.ceiling(evidence);
                unknown.extend(unknown_part(evidence, level.bandwidth, &ceiling));
                let (ceiling, basis) = ceiling.ok()?;
                let rate = evidence.value(level.bandwidth);
                let trust = evidence.trust(level.bandwidth, &rate);
                Some(Share { name: level.name, rate, ceiling, unit: "GB/s", basis, trust })
            })
            .collect();
        let mut units = [None; 2];
        let mut rates = Vec::new();
        for it in RATES {
            let ceiling = it.ceiling(evidence);
            if it.unit != Unit::Integer {
                unknown.extend(unknown_part(evidence, it.metric, &ceiling));
            }
            let Ok((ceiling, basis)) = ceiling else { continue };
            let rate = evidence.value(it.metric);
            let trust = evidence.trust(it.metric, &rate);
            let share = Share { name: it.name, rate, ceiling, unit: it.unit_name, basis, trust };
            let unit = match it.unit {
                Unit::Vector => Some(&mut units[0]),
                Unit::Matrix => Some(&mut units[1]),
                Unit::Integer => None,
            };
            if let (Some(part), Some(unit)) = (share.part(), unit) {
                *unit = Some(unit.unwrap_or(0.0) + part);
            }
            rates.push(share);
        }
        let (flops, flops_without) = flops(evidence);
        let mut roof = Roof {
            levels,
            rates,
            units,
            flops,
            flops_without,
            unknown,
            bound: Err(Missing::because("")),
            bound_trust: None,
        };
        roof.bound = verdict::bound(evidence, &roof);
        roof.bound_trust = roof.bound.as_ref().ok().and_then(|bound| verdict::trust(evidence, &roof, bound));
        roof
    }

    /// The level with this name.
    pub fn level(&self, name: &str) -> Option<&Share> {
        self.levels.iter().find(|share| share.name == name)
    }

    /// Part of the vector unit's peak reached by floating-point operations.
    pub fn vector_part(&self) -> Option<f64> {
        self.units[0]
    }

    /// Part of the matrix unit's peak reached.
    pub fn matrix_part(&self) -> Option<f64> {
        self.units[1]
    }

    /// The same with how far it can be trusted.
    pub fn known_matrix_part(&self) -> Option<Known> {
        Some(Known { value: self.matrix_part()?, trust: self.main_rate(Unit::Matrix)?.trust })
    }

    /// The type that the unit spends most of its peak on.
    fn main_rate(&self, unit: Unit) -> Option<&Share> {
        let of_unit = |share: &&Share| RATES.iter().any(|rate| rate.name == share.name && rate.unit == unit);
        let part = |share: &Share| share.part().unwrap_or(0.0);
        self.rates.iter().filter(of_unit).max_by(|a, b| part(a).total_cmp(&part(b)))
    }

    /// The nearest roof's part, over 1 where a kernel beats a measured ceiling.
    pub fn nearest(&self) -> Option<f64> {
        let parts = self.levels.iter().filter_map(Share::part).chain(self.units.into_iter().flatten());
        parts.filter(|part| part.is_finite()).reduce(f64::max)
    }
}

/// Why the part of a ceiling that a metric reaches is not known; none of what the GPU has not, or where nothing is moved or computed.
fn unknown_part<T>(
    evidence: &WorkloadEvidence<'_>,
    metric: &str,
    ceiling: &Result<T, Missing>,
) -> Option<Missing> {
    if !evidence.evaluation.defined(metric) {
        return None;
    }
    match (evidence.value(metric), ceiling) {
        (Err(reason), _) => Some(reason),
        (Ok(rate), Err(reason)) if rate > 0.0 => Some(reason.clone()),
        (Ok(_), _) => None,
    }
}

/// Operations of a dispatch as far as they were recorded, and which types were not.
fn flops(evidence: &WorkloadEvidence<'_>) -> (Result<Known, Missing>, Vec<String>) {
    let mut total: Option<Known> = None;
    let mut without = Vec::new();
    let mut reason = Missing::because("no operations were recorded");
    for metric in FLOPS {
        match evidence.known(metric) {
            Ok(known) => total = Some(total.map_or(known, |total| total.with(known, |a, b| a + b))),
            // A counter the GPU does not have counts nothing.
            Err(missing @ Missing::Columns(_)) => {
                let name = metric.trim_start_matches("compute.").trim_end_matches("_ops");
                without.push(name.to_owned());
                reason = missing;
            }
            Err(_) => {}
        }
    }
    (total.ok_or(reason), without)
}

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
                let share = it.roof().rates.iter().find(|share| share.name == name);
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
    let bandwidths: Vec<Ceiling> = roof.levels.iter().map(|share| ceiling(share, true)).collect();
    let rates: Vec<Ceiling> = roof.rates.iter().map(|share| ceiling(share, used(share.name))).collect();
    if bandwidths.is_empty() {
        notes.push("the recording does not say enough of the machine for ceilings".to_owned());
    }
    let mut without: Vec<&String> = shown.iter().flat_map(|it| &it.roof().flops_without).collect();
    without.sort_unstable();
    without.dedup();
    if !without.is_empty() {
        let list: Vec<&str> = without.into_iter().map(String::as_str).collect();
        notes.push(format!("operations of {} were not recorded and are not counted", list.join(", ")));
    }
    RooflineChart {
        machine: machine(first),
        bandwidths,
        rates,
        kernels: shown.iter().zip(MARKS.chars()).map(|(it, mark)| kernel(it, mark)).collect(),
        left_out: kernels.len() - shown.len().min(MARKS.len()),
        notes,
    }
}

/// Keeps the levels of memory and the types asked for; of none asked for come all levels, and the types in use.
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

/// Places the kernels by their integer operations, where only types of integers are asked for.
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
    chart.notes.retain(|note| !note.starts_with("operations of "));
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

/// Several charts as one, with the ceilings of the last; kernels are called by the names of their recordings too.
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
    let verdict = match &roof.bound {
        Ok(bound) => {
            let part = bound.part().ok_or(Missing::because("no rate is known"));
            RoofVerdict {
                bound_by: Some(bound.name().to_owned()),
                percent_of_roof: part.clone().map(|part| 100.0 * part).into(),
                gap: part.map(|part| (1.0 / part).max(1.0)).into(),
                text: bound.describe(roof.bound_trust),
                trust: roof.bound_trust,
            }
        }
        Err(reason) => RoofVerdict::unknown(reason.clone().shortened()),
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

fn kernel_level(evidence: &WorkloadEvidence<'_>, level: &ceilings::Level) -> RooflineLevel {
    let roof = evidence.roof();
    let bytes = evidence.known(level.bytes);
    let intensity = intensity(&roof.flops, &bytes, level.name);
    let share = roof.level(level.name);
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
