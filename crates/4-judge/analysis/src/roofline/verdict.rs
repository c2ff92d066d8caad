//! Limiter of a kernel: a ceiling, vector instructions, waiting, or too little work.
//!
//! No ceiling limits a kernel that stays below half of every ceiling; whether its compute units held waves
//! all the time separates latency from launch and tail effects.

use super::{Reached, Resource, Share, Unit};
use crate::numbers::KernelNumbers;
use view::{CeilingBasis, Known, Mark, listed};

/// Percent of the time with a vector instruction, and of that in which the compute units hold waves.
pub(super) const ISSUE: &str = "issue.valu";
pub(super) const BUSY: &str = "gpu.simd_utilization";
/// The name of the first as what stops a kernel.
pub(super) const ISSUE_NAME: &str = "vector issue";

/// Limiter of a kernel.
#[derive(Clone, PartialEq, Debug)]
pub enum Bound {
    /// A ceiling, of bandwidth or of a type's rate.
    Ceiling {
        /// The ceiling.
        share: Share,
        /// Part of it reached, all types of a unit together.
        part: f64,
        /// Utilization: the share of the ceiling, or of the cycles in which the unit issues if that is more.
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
        /// Share of the time that compute units hold waves, if known.
        busy: Option<f64>,
        /// Part of the nearest ceiling, where rates are known.
        nearest: Option<f64>,
    },
    /// Some ceilings are known not to stop it, and others were not recorded.
    Open {
        /// `not HBM or L2`.
        name: String,
    },
}

impl Bound {
    /// `HBM`, `vector f32`, `vector issue`, `latency`, `launch`.
    pub fn name(&self) -> &str {
        match self {
            Bound::Ceiling { share, .. } => share.name,
            Bound::VectorIssue { .. } => ISSUE_NAME,
            Bound::Latency { .. } => "latency",
            Bound::Launch { .. } => "launch",
            Bound::Open { name } => name,
        }
    }

    /// Possible limiters after `excluded` are ruled out.
    pub(super) fn open(excluded: &[&str]) -> Bound {
        Bound::Open { name: format!("not {}", listed(excluded, "or")) }
    }

    /// Whether this names the limiter, instead of only excluding some.
    pub fn is_known(&self) -> bool {
        !matches!(self, Bound::Open { .. })
    }

    /// Part of the time that what stops the kernel accounts for; the rest is lost.
    pub fn part(&self) -> Option<f64> {
        match self {
            Bound::Ceiling { full, .. } => Some(*full),
            Bound::VectorIssue { busy, .. } => Some(*busy),
            Bound::Latency { nearest } => Some(*nearest),
            Bound::Launch { busy, nearest } => (*busy).into_iter().chain(*nearest).reduce(f64::max),
            Bound::Open { .. } => None,
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
                if share.resource == Resource::LookUps {
                    return format!("{rate:.2} {}, of {:.0} possible", share.unit, share.ceiling);
                }
                format!("{rate:.0} {}, {part:.0} % of {basis}'s {:.0}", share.unit, share.ceiling)
                    .replace("ceiling's", "ceiling of")
            }
            Bound::VectorIssue { busy, .. } => {
                format!("the vector units issue in {:.0} % of the cycles", percent(busy))
            }
            Bound::Latency { nearest } => {
                format!("waves wait: {:.0} % of the nearest ceiling reached", percent(nearest))
            }
            Bound::Launch { busy: Some(busy), .. } => {
                format!("the compute units hold waves {:.0} % of the time", percent(busy))
            }
            Bound::Launch { busy: None, .. } => {
                "how much of the time the compute units hold waves is not recorded".to_owned()
            }
            Bound::Open { name } => format!("not bound by {}", &name[4..]),
        }
    }
}

/// Confidence of the numbers of a verdict; `None` if they were measured.
pub(super) fn trust(kernel: &KernelNumbers<'_>, reached: &Reached, bound: &Bound) -> Option<Mark> {
    let of = |metric: &str| kernel.known(metric).ok();
    let near = |part: Option<f64>| nearest_ceiling(reached, part?)?.known_part();
    match bound {
        Bound::Ceiling { share, .. } => share.trust,
        Bound::VectorIssue { .. } => of(ISSUE)?.trust,
        Bound::Latency { nearest } => near(Some(*nearest))?.trust,
        Bound::Launch { nearest, .. } => {
            let busy = of(BUSY)?;
            near(*nearest).filter(|near| near.value > busy.value).unwrap_or(busy).trust
        }
        Bound::Open { .. } => near(reached.nearest())?.trust,
    }
}

/// The ceiling of which `part` is reached.
fn nearest_ceiling(reached: &Reached, part: f64) -> Option<Share> {
    for unit in [Unit::Vector, Unit::Matrix] {
        if reached.unit_part(unit) == Some(part) {
            return reached.main_rate(unit).cloned();
        }
    }
    reached.judging().find(|share| share.part() == Some(part)).cloned()
}
