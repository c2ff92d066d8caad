//! Limiter of the kernel of most time, in words.
//!
//! Each limiter makes one kind of change useless, and naming the useless changes saves the most work.

use super::words::in_short;
use crate::WorkloadEvidence;
use crate::limit::beside;
use crate::roofline::{AtMost, Bound, Lack, Resource, RivalReason, Roof, Share};
use metrics::Definitions;
use view::{GuideVerdict, Known, Mark, Missing, Number, duration, listed};

/// Part of a roof from which on a kernel is at it.
const AT_ROOF: f64 = 0.8;

/// The verdict on a kernel.
pub fn verdict(kernel: &WorkloadEvidence<'_>) -> GuideVerdict {
    let roof = kernel.roof();
    let bound = match &roof.bound {
        Ok(bound) => bound,
        Err(reason) => {
            if let Some(traced) = super::traced::verdict(kernel) {
                return traced;
            }
            // Without the GPU's facts counters alone say little, and naming it is the first thing to do.
            let known = kernel.workload.machine.target().is_some();
            let unknown_gpu = || "the recording does not say which GPU it is from".to_owned();
            return GuideVerdict {
                time_percent: Number::from(kernel.time_percent.clone()),
                because: if known {
                    without(kernel).unwrap_or_else(|| reason.to_string())
                } else {
                    unknown_gpu()
                },
                notes: recorded(kernel),
                meaning: if known {
                    String::new()
                } else {
                    "`--arch` with a target or model names it".to_owned()
                },
                lacks: names(&roof.lacks),
                ..GuideVerdict::unknown(kernel.kernel, reason.clone().shortened())
            };
        }
    };
    let part = bound.part();
    let known = |value: Option<f64>| value.map_or_else(|| Number::Missing(Missing::Rate), Number::from);
    let limits = kernel.limits();
    let leading = kernel.leading_limit().filter(|leading| !leading.agrees(&limits, bound));
    let roof_trust = roof.bound_trust;
    // What is simulated is time.
    let trust = match leading {
        None => roof_trust,
        Some(_) => kernel.timed(0.0).with(Known { value: 0.0, trust: roof_trust }, f64::max).trust,
    };
    let (headline, because, meaning) = match leading {
        None if !bound.is_known() => {
            let because = without(kernel).unwrap_or_else(|| bound.describe(roof_trust));
            (headline(roof, bound), because, meaning(bound, roof_trust))
        }
        None => (headline(roof, bound), bound.describe(roof_trust), meaning(bound, roof_trust)),
        // A simulated gain says more than a near ceiling.
        Some(leading) => (
            format!("held up most by {}", leading.what),
            format!(
                "without that it takes {:.0} % less, by simulation; {}, {}{}",
                kernel.timed(100.0 * leading.limit.saved.part()),
                headline(roof, bound),
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
        bound_by: bound.is_known().then(|| bound.name().to_owned()),
        or: roof.rivals.iter().map(|rival| rival.bound.name().to_owned()).collect(),
        excluded: roof.excluded.iter().map(|name| (*name).to_owned()).collect(),
        lacks: names(&roof.lacks),
        notes: notes(kernel, roof),
        because,
        percent_of_roof: known(part.map(|part| 100.0 * part)),
        gap: known(part.map(|part| (1.0 / part).max(1.0))),
        trust,
        roof_trust,
        meaning,
    }
}

/// Metrics that say something of a kernel by themselves: what they are of.
const ALONE: &[(&str, &str)] = &[
    ("fabric.read_bandwidth", "read from memory"),
    ("fabric.write_bandwidth", "written to memory"),
    ("l2.hit_rate", "of the L2's look-ups hit"),
    ("wave.occupancy_share", "of the wave slots in use"),
    ("issue.valu", "of the cycles with vector instructions issued"),
];

/// Recorded rates, if they are too few for a verdict: `1530 GB/s read from memory (29 % of the peak)`.
fn recorded(kernel: &WorkloadEvidence<'_>) -> Vec<String> {
    let said = |(metric, what): &(&str, &str)| {
        let value = kernel.known(metric).ok()?;
        let unit = Definitions::built_in().metric(metric).map_or("", |it| it.unit_text.as_str());
        let share = kernel.percent_of_peak(metric).filter(|_| unit != "%");
        let share = share.and_then(Result::ok).map(|share| format!(" ({share:.0} % of the peak)"));
        let digits = if value.value < 10.0 { 2 } else { 0 };
        Some(format!("{value:.digits$} {unit} {what}{}", share.unwrap_or_default()))
    };
    let all: Vec<String> = ALONE.iter().filter_map(said).collect();
    if all.is_empty() { Vec::new() } else { vec![format!("recorded: {}", all.join(", "))] }
}

/// Counters that were not recorded, by unit and level.
fn names(lacks: &[Lack]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for lack in lacks {
        // The types of a unit are one thing to record.
        let unit = lack.name.split_once(' ').map(|(unit, _)| unit);
        let name = match unit {
            Some(unit @ ("vector" | "matrix")) if lack.name != "vector issue" => format!("{unit} arithmetic"),
            _ => lack.name.to_owned(),
        };
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// `HBM and L2 are not known: TCC_EA0_RDREQ was not recorded`; `None` if nothing is missing.
fn without(kernel: &WorkloadEvidence<'_>) -> Option<String> {
    let lacks = &kernel.roof().lacks;
    let names = names(lacks);
    let are = if names.len() == 1 { "is" } else { "are" };
    let what = listed(&names, "and");
    Some(match Missing::together(lacks.iter().map(|lack| &lack.reason))? {
        Missing::Columns(counters) => {
            let counters: Vec<&str> = counters.iter().map(String::as_str).collect();
            let needs = in_short(&counters, kernel.evaluation.compiled());
            let needs = needs.unwrap_or_else(|| listed(&counters, "and"));
            format!("{what} {are} not known: {needs} not recorded")
        }
        other => format!("{what} {are} not known: {other}"),
    })
}

/// Dispatches that the verdict is about, limiters within the noise, and counters that were missing.
fn notes(kernel: &WorkloadEvidence<'_>, roof: &Roof) -> Vec<String> {
    let mut out = Vec::new();
    let typical = &roof.typical;
    if let (true, Some([shortest, middle, longest])) = (typical.rows.len() < typical.of, typical.times) {
        let time = |ns: f64| kernel.timed(ns).text(duration);
        let size = match typical.grid {
            Some(grid) => {
                format!(" of {} sizes, those of {grid:.0} work-items:", typical.sizes)
            }
            None => ":".to_owned(),
        };
        let judged = match typical.rows.len() {
            1 => "dispatch".to_owned(),
            n => n.to_string(),
        };
        out.push(format!(
            "judged by the middle {judged} of {} dispatches{size} {} to {}, median {}",
            typical.of,
            time(shortest),
            time(longest),
            time(middle)
        ));
    }
    for rival in &roof.rivals {
        out.push(match rival.reason {
            RivalReason::Noise => {
                format!(
                    "{} is as near, within the noise: {}",
                    rival.bound.name(),
                    rival.bound.describe(roof.bound_trust)
                )
            }
            RivalReason::DataSheet => {
                format!("by the data sheet's ceilings in place of the measured ones: {}", rival.bound.name())
            }
        });
    }
    out.extend(without(kernel).filter(|_| bound_is_known(roof)));
    out.extend(stand_ins(&roof.at_most));
    out
}

fn bound_is_known(roof: &Roof) -> bool {
    roof.bound.as_ref().is_ok_and(Bound::is_known)
}

/// `matrix f8 was not recorded; it is at most 0 % of its ceiling: matrix operations keep the matrix unit
/// busy`.
fn stand_ins(limits: &[AtMost]) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&str>, f64)> = Vec::new();
    for limit in limits {
        match by_reason.iter_mut().find(|it| it.0 == limit.reason) {
            Some((_, names, most)) => {
                names.push(limit.ceiling);
                *most = most.max(limit.part);
            }
            None => by_reason.push((limit.reason, vec![limit.ceiling], limit.part)),
        }
    }
    let text = |(reason, names, most): (&str, Vec<&str>, f64)| {
        let (is, each) = if names.len() == 1 { ("was", "its ceiling") } else { ("were", "each ceiling") };
        let percent = 100.0 * most;
        let much = if percent == 0.0 {
            "none of".to_owned()
        } else if percent < 1.0 {
            "less than 1 % of".to_owned()
        } else {
            format!("at most {percent:.0} % of")
        };
        format!("{} {is} not recorded and can reach {much} {each}: {reason}", listed(&names, "and"))
    };
    by_reason.into_iter().map(text).collect()
}

fn headline(roof: &Roof, bound: &Bound) -> String {
    let noise = roof.rivals.iter().find(|rival| rival.reason == RivalReason::Noise);
    let or = noise.map_or_else(String::new, |rival| format!(" or {}", what(&rival.bound)));
    match bound {
        Bound::Ceiling { part, .. } if *part >= AT_ROOF && noise.is_none() => {
            format!("at the roof of {}", what(bound))
        }
        Bound::Open { name } => format!("{}bound by {}", &name[..4], &name[4..]),
        _ => format!("bound by {}{or}", what(bound)),
    }
}

/// `HBM bandwidth`, `vector f32 arithmetic`, `latency`.
fn what(bound: &Bound) -> String {
    match bound {
        Bound::Ceiling { share, .. } => resource(share),
        Bound::VectorIssue { .. } => "the number of vector instructions".to_owned(),
        other => other.name().to_owned(),
    }
}

fn resource(share: &Share) -> String {
    match share.resource {
        Resource::Bandwidth => format!("{} bandwidth", share.name),
        Resource::LookUps => share.name.to_owned(),
        Resource::Arithmetic => format!("{} arithmetic", share.name),
    }
}

fn meaning(bound: &Bound, trust: Option<Mark>) -> String {
    let times_from = |part: f64| Known { value: 1.0 / part, trust }.text(times);
    match bound {
        Bound::Ceiling { share, part, .. } => {
            let less = match share.resource {
                Resource::Bandwidth => format!("fewer bytes at {}", share.name),
                Resource::LookUps => {
                    "fewer look-ups (wider accesses, lanes on neighbouring addresses, reuse in registers or LDS)".to_owned()
                }
                Resource::Arithmetic => "fewer operations or a narrower type".to_owned(),
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
        Bound::Open { .. } => "what else stops it shows once the rest is recorded".to_owned(),
    }
}

/// `1.3`, `12`.
fn times(factor: f64) -> String {
    if factor < 9.95 { format!("{factor:.1}") } else { format!("{factor:.0}") }
}
