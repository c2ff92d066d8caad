//! What stops a kernel: a ceiling, vector instructions, waiting, or too little to do.
//!
//! The one idea to keep in mind: a kernel below half of every ceiling is stopped by none of them; whether its compute
//! units held waves all the time tells waiting from starting and ending. A verdict needs everything it could turn on, so that
//! recording more never gives another one.

use super::{Roof, Share, Unit};
use crate::numbers::KernelNumbers;
use view::{CeilingBasis, Known, Mark, Missing};

/// Part of a ceiling from which on it is what stops a kernel.
pub(super) const BOUND_FROM: f64 = 0.5;
/// Part of the cycles with a vector instruction from which on their number stops a kernel.
pub(super) const ISSUE_BOUND_FROM: f64 = 0.8;
/// Part of the time the compute units hold waves below which starting and ending is what takes the time.
pub(super) const BUSY_FROM: f64 = 0.5;

/// Percent of the time with a vector instruction, and of that in which the compute units hold waves.
const ISSUE: &str = "issue.valu";
const BUSY: &str = "gpu.simd_utilization";

/// What stops a kernel.
#[derive(Clone, PartialEq, Debug)]
pub enum Bound {
    /// A ceiling, of bandwidth or of a type's rate.
    Ceiling {
        /// The ceiling.
        share: Share,
        /// Part of it reached, all types of a unit together.
        part: f64,
        /// How full it is: the part, or that of the cycles in which the unit issues where that is more.
        full: f64,
    },
    /// The vector unit is busy, with more than floating-point operations.
    VectorIssue {
        /// Part of the cycles in which it issues.
        busy: f64,
        /// Part of the nearest ceiling.
        nearest: Option<f64>,
    },
    /// Waves are there and wait.
    Latency {
        /// Part of the nearest ceiling.
        nearest: f64,
    },
    /// The compute units hold no waves most of the time.
    Launch {
        /// Part of the time they do.
        busy: f64,
        /// Part of the nearest ceiling, where rates are known.
        nearest: Option<f64>,
    },
}

impl Bound {
    /// `HBM`, `vector f32`, `vector issue`, `latency`, `launch`.
    pub fn name(&self) -> &str {
        match self {
            Bound::Ceiling { share, .. } => share.name,
            Bound::VectorIssue { .. } => "vector issue",
            Bound::Latency { .. } => "latency",
            Bound::Launch { .. } => "launch",
        }
    }

    /// Part of the time that what stops the kernel accounts for; the rest is lost.
    pub fn part(&self) -> Option<f64> {
        match self {
            Bound::Ceiling { full, .. } => Some(*full),
            Bound::VectorIssue { busy, .. } => Some(*busy),
            Bound::Latency { nearest } => Some(*nearest),
            Bound::Launch { busy, nearest } => Some(nearest.unwrap_or(0.0).max(*busy)),
        }
    }

    /// One sentence with numbers, which have the sign of their mark.
    pub fn describe(&self, trust: Option<Mark>) -> String {
        let known = |value| Known { value, trust };
        let percent = |part: &f64| known(100.0 * part);
        match self {
            Bound::Ceiling { share, part, .. } => {
                let basis = match share.basis {
                    CeilingBasis::Measured => "the measured ceiling",
                    CeilingBasis::DataSheet => "the data sheet",
                };
                let rate = share.rate.as_ref().copied().unwrap_or(part * share.ceiling);
                let (rate, part) = (known(rate), percent(part));
                format!("{rate:.0} {}, {part:.0} % of {basis}'s {:.0}", share.unit, share.ceiling)
                    .replace("ceiling's", "ceiling of")
            }
            Bound::VectorIssue { busy, .. } => {
                format!("the vector units issue in {:.0} % of the cycles", percent(busy))
            }
            Bound::Latency { nearest } => {
                format!("waves wait: {:.0} % of the nearest ceiling reached", percent(nearest))
            }
            Bound::Launch { busy, .. } => {
                format!("the compute units hold waves {:.0} % of the time", percent(busy))
            }
        }
    }
}

pub(super) fn bound(kernel: &KernelNumbers<'_>, roof: &Roof) -> Result<Bound, Missing> {
    let issue = if kernel.evaluation.defined(ISSUE) { Some(kernel.value(ISSUE)) } else { None };
    let issue_unknown = issue.iter().filter_map(|value| value.as_ref().err());
    if let Some(reason) = Missing::together(roof.unknown.iter().chain(issue_unknown)) {
        return Err(reason);
    }
    let nearest = roof.nearest();
    let issue = issue.and_then(Result::ok).map(|percent| percent / 100.0);
    let busy = kernel.value(BUSY).map(|percent| percent / 100.0);
    if let Some(part) = nearest.filter(|part| *part >= BOUND_FROM)
        && let Some(share) = nearest_ceiling(roof, part)
    {
        let vector = roof.vector_part() == Some(part);
        let full = issue.filter(|_| vector).map_or(part, |busy| busy.max(part));
        // A unit that issues all the time is full, however few of its instructions are floating-point operations.
        return match issue.filter(|busy| *busy >= ISSUE_BOUND_FROM && *busy > part) {
            Some(busy) if !vector || part < ISSUE_BOUND_FROM => Ok(Bound::VectorIssue { busy, nearest }),
            _ => Ok(Bound::Ceiling { share, part, full }),
        };
    }
    if let Some(busy) = issue.filter(|busy| *busy >= ISSUE_BOUND_FROM) {
        return Ok(Bound::VectorIssue { busy, nearest });
    }
    match (busy?, nearest) {
        (busy, nearest) if busy < BUSY_FROM => Ok(Bound::Launch { busy, nearest }),
        (_, Some(nearest)) => Ok(Bound::Latency { nearest }),
        (_, None) => Err(Missing::Rate),
    }
}

/// How far the numbers of a verdict can be trusted; none where they were measured.
pub(super) fn trust(kernel: &KernelNumbers<'_>, roof: &Roof, bound: &Bound) -> Option<Mark> {
    let of = |metric: &str| kernel.known(metric).ok();
    let near = |part: Option<f64>| nearest_ceiling(roof, part?)?.known_part();
    match bound {
        Bound::Ceiling { share, .. } => share.trust,
        Bound::VectorIssue { .. } => of(ISSUE)?.trust,
        Bound::Latency { nearest } => near(Some(*nearest))?.trust,
        Bound::Launch { nearest, .. } => {
            let busy = of(BUSY)?;
            near(*nearest).filter(|near| near.value > busy.value).unwrap_or(busy).trust
        }
    }
}

/// The ceiling of which `part` is reached.
fn nearest_ceiling(roof: &Roof, part: f64) -> Option<Share> {
    if roof.vector_part() == Some(part) {
        return roof.main_rate(Unit::Vector).cloned();
    }
    if roof.matrix_part() == Some(part) {
        return roof.main_rate(Unit::Matrix).cloned();
    }
    roof.levels.iter().find(|share| share.part() == Some(part)).cloned()
}
