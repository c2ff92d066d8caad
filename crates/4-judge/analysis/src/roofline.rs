//! Position of a kernel below the ceilings of the machine, and the ceiling that limits it.
//!
//! Every ceiling gives the minimum time for a kernel's bytes or operations. The longest of these times is the
//! nearest roof; the kernel's time beyond it is not explained by any ceiling.

mod at_most;
pub(crate) mod ceilings;
mod judge;
mod typical;
mod verdict;

pub use at_most::AtMost;
pub use ceilings::Resource;
pub use judge::{Lack, Rival, RivalReason};
pub use typical::Typical;
pub use verdict::Bound;

use crate::numbers::KernelNumbers;
use ceilings::{Both, DRAWN_ONLY, LEVELS, LOOKUPS, RATES, Unit};
use metrics::Value;
use view::{CeilingBasis, Known, Mark, Missing};

/// Operation counts by type; those the GPU does not have are not requested.
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
    /// Resource that it limits.
    pub resource: Resource,
    /// Rate of the kernel, in the ceiling's unit.
    pub rate: Value,
    /// The ceiling.
    pub ceiling: f64,
    /// Unit of both.
    pub unit: &'static str,
    /// Source of the ceiling.
    pub basis: CeilingBasis,
    /// The ceiling of the data sheet, where `ceiling` was measured and both are known.
    pub data_sheet: Option<f64>,
    /// Confidence of the rate; `None` if it was measured.
    pub trust: Option<Mark>,
}

impl Share {
    fn of(
        kernel: &KernelNumbers<'_>,
        (name, metric): (&'static str, &str),
        (resource, unit): (Resource, &'static str),
        both: Both,
    ) -> Option<Share> {
        let rate = kernel.value(metric);
        let (ceiling, basis) = both.of(rate.as_ref().ok().copied())?;
        let trust = kernel.trust(metric, &rate);
        let data_sheet = both.data_sheet.filter(|_| basis == CeilingBasis::Measured);
        Some(Share { name, resource, rate, ceiling, unit, basis, data_sheet, trust })
    }

    /// Part of the ceiling reached, 1 at the roof.
    pub fn part(&self) -> Option<f64> {
        self.known_part().map(|part| part.value)
    }

    /// The reached share with its confidence.
    pub fn known_part(&self) -> Option<Known> {
        let rate = self.rate.as_ref().ok()?;
        Some(Known { value: rate / self.ceiling, trust: self.trust })
    }
}

/// Shares of the ceilings that some dispatches reach.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reached {
    /// Levels of memory, farthest first.
    pub levels: Vec<Share>,
    /// Look-ups of the vector L1.
    pub lookups: Option<Share>,
    /// Types the vector and matrix units compute with.
    pub rates: Vec<Share>,
    /// Ceilings of which the kernel's share is unknown, with the reason.
    unknown: Vec<(&'static str, Missing)>,
}

impl Reached {
    fn of(kernel: &KernelNumbers<'_>) -> Self {
        let mut unknown = Vec::new();
        let mut levels = Vec::new();
        for level in LEVELS {
            let both = level.ceilings(kernel);
            if level.name != DRAWN_ONLY {
                unknown.extend(unknown_part(kernel, (level.name, level.bandwidth), &both));
            }
            let what = (Resource::Bandwidth, "GB/s");
            levels.extend(
                both.ok().and_then(|both| Share::of(kernel, (level.name, level.bandwidth), what, both)),
            );
        }
        let looked_up = (LOOKUPS.name, LOOKUPS.bandwidth);
        let both = LOOKUPS.ceilings(kernel);
        unknown.extend(unknown_part(kernel, looked_up, &both));
        let what = (Resource::LookUps, "look-ups per cycle and CU");
        let lookups = both.ok().and_then(|both| Share::of(kernel, looked_up, what, both));
        let mut rates = Vec::new();
        for it in RATES {
            let both = it.ceilings(kernel);
            if it.unit != Unit::Integer {
                unknown.extend(unknown_part(kernel, (it.name, it.metric), &both));
            }
            let what = (Resource::Arithmetic, it.unit_name);
            rates.extend(both.ok().and_then(|both| Share::of(kernel, (it.name, it.metric), what, both)));
        }
        Reached { levels, lookups, rates, unknown }
    }

    /// Part of a unit's peak, all types together.
    fn unit_part(&self, unit: Unit) -> Option<f64> {
        self.of_unit(unit).filter_map(Share::part).reduce(|all, part| all + part)
    }

    fn of_unit(&self, unit: Unit) -> impl Iterator<Item = &Share> {
        let is_of =
            move |share: &&Share| RATES.iter().any(|rate| rate.name == share.name && rate.unit == unit);
        self.rates.iter().filter(is_of)
    }

    /// The type that the unit spends most of its peak on.
    fn main_rate(&self, unit: Unit) -> Option<&Share> {
        let part = |share: &Share| share.part().unwrap_or(0.0);
        self.of_unit(unit).max_by(|a, b| part(a).total_cmp(&part(b)))
    }

    /// The levels that judge, and look-ups.
    pub fn judging(&self) -> impl Iterator<Item = &Share> {
        self.levels.iter().filter(|level| level.name != DRAWN_ONLY).chain(&self.lookups)
    }

    /// Share of the nearest roof. A value above every ceiling is a counting error and is skipped.
    fn nearest(&self) -> Option<f64> {
        let units = [Unit::Vector, Unit::Matrix].into_iter().filter_map(|unit| self.unit_part(unit));
        let parts = self.judging().filter_map(Share::part).chain(units);
        parts.filter(|part| part.is_finite()).reduce(f64::max)
    }
}

/// A kernel below all ceilings.
#[derive(Clone, PartialEq, Debug)]
pub struct Roof {
    /// Shares that all its dispatches together reach.
    pub all: Reached,
    /// Shares that its typical dispatches reach; the verdict is about these.
    pub reached: Reached,
    /// The typical dispatches.
    pub typical: Typical,
    /// Floating-point operations of a dispatch.
    pub flops: Result<Known, Missing>,
    /// Types whose operations were not recorded.
    pub flops_without: Vec<String>,
    /// Limiter of the kernel; missing if the recorded counters do not determine it.
    pub bound: Result<Bound, Missing>,
    /// Confidence of its numbers; `None` if they were measured.
    pub bound_trust: Option<Mark>,
    /// Other possible limiters: within the noise, or by the other ceilings.
    pub rivals: Vec<Rival>,
    /// Ceilings that do not stop it.
    pub excluded: Vec<&'static str>,
    /// Unrecorded counters that could change the verdict.
    pub lacks: Vec<Lack>,
    /// Unrecorded counters that cannot change it, since other counters bound them.
    pub at_most: Vec<AtMost>,
}

impl Roof {
    pub(crate) fn of(kernel: &KernelNumbers<'_>) -> Self {
        let all = Reached::of(kernel);
        let typical = Typical::of(kernel);
        let of_typical;
        let (judged, reached) = if typical.rows.len() == kernel.evaluation.rows().len() {
            (kernel, all.clone())
        } else {
            of_typical = KernelNumbers {
                workload: kernel.workload,
                evaluation: kernel.evaluation.over(typical.rows.clone()),
                target: kernel.target,
            };
            (&of_typical, Reached::of(&of_typical))
        };
        let (flops, flops_without) = flops(kernel, &reached);
        let verdict = judge::judge(judged, &reached, typical.noise);
        let bound_trust =
            verdict.bound.as_ref().ok().and_then(|bound| verdict::trust(judged, &reached, bound));
        let judge::Verdict { bound, rivals, excluded, lacks, at_most } = verdict;
        Roof {
            all,
            reached,
            typical,
            flops,
            flops_without,
            bound,
            bound_trust,
            rivals,
            excluded,
            lacks,
            at_most,
        }
    }

    /// Limiter of the kernel; missing also if the recording only excludes some.
    pub fn known_bound(&self) -> Result<&Bound, Missing> {
        match &self.bound {
            Ok(bound) if bound.is_known() => Ok(bound),
            Ok(_) => {
                Err(Missing::together(self.lacks.iter().map(|lack| &lack.reason)).unwrap_or(Missing::Rate))
            }
            Err(reason) => Err(reason.clone()),
        }
    }

    /// Whether waves that wait stop the kernel, or are within the noise of what does.
    pub fn may_wait(&self) -> bool {
        let near = self.rivals.iter().filter(|rival| rival.reason == RivalReason::Noise);
        self.bound.iter().chain(near.map(|rival| &rival.bound)).any(|it| matches!(it, Bound::Latency { .. }))
    }

    /// The level with this name.
    pub fn level(&self, name: &str) -> Option<&Share> {
        self.reached.levels.iter().find(|share| share.name == name)
    }

    /// Part of the matrix unit's peak reached.
    pub fn known_matrix_part(&self) -> Option<Known> {
        let trust = self.reached.main_rate(Unit::Matrix)?.trust;
        Some(Known { value: self.reached.unit_part(Unit::Matrix)?, trust })
    }

    /// The nearest roof's part, over 1 where a kernel beats a measured ceiling.
    pub fn nearest(&self) -> Option<f64> {
        self.reached.nearest()
    }

    /// The verdict in a sentence; the list of missing counters is shortened.
    pub fn describe(&self) -> String {
        match self.known_bound() {
            Ok(bound) => bound.describe(self.bound_trust),
            Err(reason) => {
                let open = self.bound.as_ref().map_or_else(|_| String::new(), |it| it.describe(None) + "; ");
                format!("{open}{}", reason.shortened())
            }
        }
    }

    /// Limiter of the kernel and the limiters within its noise: `latency or launch`; `None` if only excluded
    /// ones are known.
    pub fn names(&self) -> Option<String> {
        let bound = self.known_bound().ok()?;
        let noise = self.rivals.iter().find(|rival| rival.reason == RivalReason::Noise);
        Some(match noise {
            Some(rival) => format!("{} or {}", bound.name(), rival.bound.name()),
            None => bound.name().to_owned(),
        })
    }
}

/// Reason why the share of a ceiling that a metric reaches is unknown; `None` if the GPU lacks the resource,
/// or if nothing is moved or computed.
fn unknown_part<T>(
    kernel: &KernelNumbers<'_>,
    (name, metric): (&'static str, &str),
    ceiling: &Result<T, Missing>,
) -> Option<(&'static str, Missing)> {
    if !kernel.evaluation.defined(metric) {
        return None;
    }
    match (kernel.value(metric), ceiling) {
        (Err(reason), _) => Some((name, reason)),
        (Ok(rate), Err(reason)) if rate > 0.0 => Some((name, reason.clone())),
        (Ok(_), _) => None,
    }
}

/// Operations of a dispatch as far as they were recorded, and which types were not. A type without a matrix
/// instruction has none.
fn flops(kernel: &KernelNumbers<'_>, reached: &Reached) -> (Result<Known, Missing>, Vec<String>) {
    let mut total: Option<Known> = None;
    let mut without = Vec::new();
    let mut reason = Missing::because("no operations were recorded");
    for metric in FLOPS {
        match kernel.known(metric) {
            Ok(known) => total = Some(total.map_or(known, |total| total.with(known, |a, b| a + b))),
            // A counter the GPU does not have counts nothing.
            Err(missing @ Missing::Columns(_)) => {
                let name = metric.trim_start_matches("compute.").trim_end_matches("_ops");
                if !proven_zero(kernel, reached, name) {
                    without.push(name.to_owned());
                }
                reason = missing;
            }
            Err(_) => {}
        }
    }
    (total.ok_or(reason), without)
}

/// True if other counters prove that a type has zero operations, as for a type counted only by matrix
/// instructions.
fn proven_zero(kernel: &KernelNumbers<'_>, reached: &Reached, kind: &str) -> bool {
    let of_type: Vec<_> =
        reached.unknown.iter().filter(|(name, _)| name.rsplit(' ').next() == Some(kind)).collect();
    !of_type.is_empty()
        && of_type.iter().all(|(name, _)| at_most::at_most(kernel, name).is_some_and(|it| it.part == 0.0))
}
