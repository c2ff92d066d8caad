//! Where a kernel stands below the ceilings of the machine, and which ceiling stops it.
//!
//! The one idea to keep in mind: every ceiling gives the least time a kernel's bytes or operations need. The longest of
//! these is the nearest roof; what the kernel takes beyond it is time no ceiling asks for.

pub(crate) mod ceilings;
mod verdict;

pub use verdict::Bound;

use crate::numbers::KernelNumbers;
use ceilings::{LEVELS, RATES, Unit};
use metrics::Value;
use view::{CeilingBasis, Known, Mark, Missing};

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

    pub(crate) fn of(kernel: &KernelNumbers<'_>) -> Self {
        let mut unknown = Vec::new();
        let levels = LEVELS
            .iter()
            .filter_map(|level| {
                let ceiling = level.ceiling(kernel);
                unknown.extend(unknown_part(kernel, level.bandwidth, &ceiling));
                let (ceiling, basis) = ceiling.ok()?;
                let rate = kernel.value(level.bandwidth);
                let trust = kernel.trust(level.bandwidth, &rate);
                Some(Share { name: level.name, rate, ceiling, unit: "GB/s", basis, trust })
            })
            .collect();
        let mut units = [None; 2];
        let mut rates = Vec::new();
        for it in RATES {
            let ceiling = it.ceiling(kernel);
            if it.unit != Unit::Integer {
                unknown.extend(unknown_part(kernel, it.metric, &ceiling));
            }
            let Ok((ceiling, basis)) = ceiling else { continue };
            let rate = kernel.value(it.metric);
            let trust = kernel.trust(it.metric, &rate);
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
        let (flops, flops_without) = flops(kernel);
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
        roof.bound = verdict::bound(kernel, &roof);
        roof.bound_trust = roof.bound.as_ref().ok().and_then(|bound| verdict::trust(kernel, &roof, bound));
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
    kernel: &KernelNumbers<'_>,
    metric: &str,
    ceiling: &Result<T, Missing>,
) -> Option<Missing> {
    if !kernel.evaluation.defined(metric) {
        return None;
    }
    match (kernel.value(metric), ceiling) {
        (Err(reason), _) => Some(reason),
        (Ok(rate), Err(reason)) if rate > 0.0 => Some(reason.clone()),
        (Ok(_), _) => None,
    }
}

/// Operations of a dispatch as far as they were recorded, and which types were not.
fn flops(kernel: &KernelNumbers<'_>) -> (Result<Known, Missing>, Vec<String>) {
    let mut total: Option<Known> = None;
    let mut without = Vec::new();
    let mut reason = Missing::because("no operations were recorded");
    for metric in FLOPS {
        match kernel.known(metric) {
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
