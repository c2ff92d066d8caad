//! What stops the kernel of most time, in words.
//!
//! The one idea to keep in mind: each thing that can stop a kernel makes one kind of change useless, and saying which saves
//! the most work.

use crate::WorkloadEvidence;
use crate::limit::beside;
use crate::roofline::{Bound, Share};
use view::{GuideVerdict, Known, Mark, Missing, Number};

/// Part of a roof from which on a kernel is at it.
const AT_ROOF: f64 = 0.8;

/// The verdict on a kernel.
pub fn verdict(kernel: &WorkloadEvidence<'_>) -> GuideVerdict {
    let bound = match &kernel.roof().bound {
        Ok(bound) => bound,
        Err(reason) => {
            return GuideVerdict {
                time_percent: Number::from(kernel.time_percent.clone()),
                ..GuideVerdict::unknown(kernel.kernel, reason.clone())
            };
        }
    };
    let part = bound.part();
    let known = |value: Option<f64>| value.map_or_else(|| Number::Missing(Missing::Rate), Number::from);
    let limits = kernel.limits();
    let leading = kernel.leading_limit().filter(|leading| !leading.agrees(&limits, bound));
    let roof_trust = kernel.roof().bound_trust;
    // What is simulated is time.
    let trust = match leading {
        None => roof_trust,
        Some(_) => kernel.timed(0.0).with(Known { value: 0.0, trust: roof_trust }, f64::max).trust,
    };
    let (headline, because, meaning) = match leading {
        None => (headline(bound), bound.describe(roof_trust), meaning(bound, roof_trust)),
        // What was simulated says more than what is near.
        Some(leading) => (
            format!("held up most by {}", leading.what),
            format!(
                "without that it takes {:.0} % less, by simulation; {}, {}{}",
                kernel.timed(100.0 * leading.limit.saved.part()),
                headline(bound),
                bound.describe(roof_trust),
                beside(&limits, bound, |part| format!("{:.0} %", kernel.timed(100.0 * part)))
            ),
            leading.advice.to_owned(),
        ),
    };
    GuideVerdict {
        kernel: kernel.kernel.to_owned(),
        time_percent: Number::from(kernel.time_percent.clone()),
        headline,
        bound_by: Some(bound.name().to_owned()),
        because,
        percent_of_roof: known(part.map(|part| 100.0 * part)),
        gap: known(part.map(|part| (1.0 / part).max(1.0))),
        trust,
        roof_trust,
        meaning,
    }
}

fn headline(bound: &Bound) -> String {
    match bound {
        Bound::Ceiling { share, part, .. } => {
            let at = if *part >= AT_ROOF { "at the roof of" } else { "bound by" };
            format!("{at} {}", resource(share))
        }
        Bound::VectorIssue { .. } => "bound by the number of vector instructions".to_owned(),
        Bound::Latency { .. } => "bound by latency".to_owned(),
        Bound::Launch { .. } => "bound by launch".to_owned(),
    }
}

/// `HBM bandwidth`, `vector f32 arithmetic`.
fn resource(share: &Share) -> String {
    let what = if share.unit == "GB/s" { "bandwidth" } else { "arithmetic" };
    format!("{} {what}", share.name)
}

fn meaning(bound: &Bound, trust: Option<Mark>) -> String {
    let times_from = |part: f64| Known { value: 1.0 / part, trust }.text(times);
    match bound {
        Bound::Ceiling { share, part, .. } => {
            let less = if share.unit == "GB/s" {
                format!("fewer bytes at {}", share.name)
            } else {
                "fewer operations or a narrower type".to_owned()
            };
            if *part >= AT_ROOF {
                format!("only {less} make it faster; more waves do not")
            } else {
                format!(
                    "more in flight makes it up to {} times as fast; past that only {less} help",
                    times_from(*part)
                )
            }
        }
        Bound::VectorIssue { .. } => {
            "fewer instructions make it faster; more waves and faster memory do not".to_owned()
        }
        Bound::Latency { nearest } => {
            let room = if *nearest > 0.0 {
                format!(": the nearest ceiling leaves room for {} times the speed", times_from(*nearest))
            } else {
                String::new()
            };
            format!("nothing is busy{room}; more waves, or more loads and stores in flight per wave, make it faster")
        }
        Bound::Launch { .. } => {
            "the GPU is empty most of the time: larger or fewer launches help before any change of the kernel does"
                .to_owned()
        }
    }
}

/// `1.3`, `12`.
fn times(factor: f64) -> String {
    if factor < 9.95 { format!("{factor:.1}") } else { format!("{factor:.0}") }
}
