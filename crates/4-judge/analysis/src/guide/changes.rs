//! Effect of a change according to a second profile: time, limiter, work, findings.
//!
//! A time difference within the noise of the dispatches does not count as a change, whatever its percentage.

use super::selection::plain_name;
use super::{Inputs, advises};
use crate::WorkloadEvidence;
use crate::workload::{Sample, differ, durations};
use std::collections::HashMap;
use view::{
    Finding, GuideChange, GuideChanges, GuidePair, GuideTotal, Known, Mark, Missing, Number, Verdict,
};

/// Minimum change of a mean time, percent, if the dispatches are too few to estimate noise.
const CHANGED: f64 = 2.0;
/// Work of a dispatch that is compared: metric, and what it is.
const WORK: &[(&str, &str)] = &[
    ("roofline.hbm_bytes", "bytes of HBM"),
    ("compute.flops", "floating-point operations"),
    ("instructions.valu_and_matrix", "vector instructions"),
];
/// Factor from which on work differs.
const DIFFERS: f64 = 1.1;

/// Changes since the base; none without one.
pub(super) fn changes(inputs: &Inputs<'_>) -> Option<GuideChanges> {
    let [base, .., last] = inputs.subjects else { return None };
    let place = inputs.subjects.len() - 1;
    let samples = (durations(base, 0, inputs.renames), durations(last, place, inputs.renames));
    let in_base = |name: &str| inputs.renames.in_base(name, place).to_owned();
    let mut kernels = Vec::new();
    let mut new_kernels = Vec::new();
    for kernel in inputs.kernels {
        match kernel.baseline {
            Some(before) => kernels.push(change(before, kernel, &in_base(kernel.kernel), &samples)),
            None => new_kernels.push(kernel.kernel.to_owned()),
        }
    }
    let proposed = proposed(inputs, in_base);
    let judged: Vec<String> = inputs.kernels.iter().map(|kernel| in_base(kernel.kernel)).collect();
    let gone_kernels = inputs.base.iter().filter(|it| !judged.iter().any(|name| name == it.kernel));
    // A finding is the same when its rule says it of the same kernel.
    let has = |list: &[Finding], rule: &str, kernel: &str, renamed: bool| {
        list.iter().any(|f| {
            f.rule == rule && if renamed { in_base(f.kernel()) == kernel } else { f.kernel() == kernel }
        })
    };
    let appeared = inputs.findings.iter().filter(|f| advises(f.rule));
    let appeared = appeared.filter(|f| !has(inputs.base_findings, f.rule, &in_base(f.kernel()), false));
    let gone = inputs.base_findings.iter().filter(|f| advises(f.rule));
    let gone = gone.filter(|f| !has(inputs.findings, f.rule, f.kernel(), true));
    Some(GuideChanges {
        base: base.path.clone(),
        total: total(inputs),
        proposed,
        kernels,
        new_kernels,
        gone_kernels: gone_kernels.map(|it| it.kernel.to_owned()).collect(),
        appeared: appeared.cloned().collect(),
        gone: gone.cloned().collect(),
    })
}

/// Time of all dispatches, before and now.
fn total(inputs: &Inputs<'_>) -> GuideTotal {
    let sum = |kernels: &[WorkloadEvidence<'_>]| -> Result<f64, Missing> {
        kernels.iter().map(|it| it.time.clone()).sum()
    };
    let (before, after) = (sum(inputs.base), sum(inputs.kernels));
    let trust = |kernels: &[WorkloadEvidence<'_>]| kernels.first().and_then(WorkloadEvidence::time_trust);
    let change_percent = match (&before, &after) {
        (Ok(before), Ok(after)) if *before > 0.0 => Some(100.0 * (after / before - 1.0)),
        _ => None,
    };
    GuideTotal {
        before_trust: trust(inputs.base),
        before_ns: Number::from(before),
        after_trust: trust(inputs.kernels),
        after_ns: Number::from(after),
        change_percent,
    }
}

/// The one kernel on each side that the other has not: most likely the same under another name.
fn proposed(inputs: &Inputs<'_>, in_base: impl Fn(&str) -> String) -> Option<GuidePair> {
    let own = |it: &&WorkloadEvidence<'_>| it.runtime().is_none();
    let new: Vec<&WorkloadEvidence<'_>> =
        inputs.kernels.iter().filter(own).filter(|it| it.baseline.is_none()).collect();
    let known: Vec<String> = inputs.kernels.iter().map(|it| in_base(it.kernel)).collect();
    let gone: Vec<&WorkloadEvidence<'_>> =
        inputs.base.iter().filter(own).filter(|it| known.iter().all(|name| name != it.kernel)).collect();
    let ([new], [gone]) = (&new[..], &gone[..]) else { return None };
    let part = |kernel: &str, all: &[WorkloadEvidence<'_>]| {
        let part = plain_name(kernel);
        let others = all.iter().filter(|it| it.kernel.contains(part)).count();
        // The first `=` with names on both sides parts a pair.
        if others == 1 && !part.contains('=') { part.to_owned() } else { kernel.to_owned() }
    };
    Some(GuidePair { old: part(gone.kernel, inputs.base), new: part(new.kernel, inputs.kernels) })
}

type Samples = (HashMap<String, Sample>, HashMap<String, Sample>);

fn change(
    before: &WorkloadEvidence<'_>,
    after: &WorkloadEvidence<'_>,
    name_in_base: &str,
    samples: &Samples,
) -> GuideChange {
    let mean = |it: &WorkloadEvidence<'_>| it.time.clone().map(|time| time / it.dispatches().max(1) as f64);
    let (old, new) = (mean(before), mean(after));
    let change_percent = match (&old, &new) {
        (Ok(old), Ok(new)) if *old > 0.0 => Some(100.0 * (new / old - 1.0)),
        _ => None,
    };
    let beyond_noise =
        change_percent.and_then(|_| differ(samples.0.get(name_in_base)?, samples.1.get(name_in_base)?));
    let counts = beyond_noise.unwrap_or(change_percent.is_some_and(|percent| percent.abs() >= CHANGED));
    let verdict = match change_percent {
        Some(percent) if counts && percent < 0.0 => Verdict::Better,
        Some(percent) if counts && percent > 0.0 => Verdict::Worse,
        _ => Verdict::Neutral,
    };
    let bound =
        |it: &WorkloadEvidence<'_>| it.roof().bound.as_ref().ok().map(|bound| bound.name().to_owned());
    let (bound_before, bound_now) = (bound(before), bound(after));
    let mut trust = Vec::new();
    GuideChange {
        kernel: after.kernel.to_owned(),
        text: words(before, after, verdict, change_percent, beyond_noise, &mut trust),
        before_ns: Number::from(old),
        before_trust: before.time_trust(),
        after_ns: Number::from(new),
        after_trust: after.time_trust(),
        change_percent,
        trust,
        beyond_noise,
        verdict,
        bound_before,
        bound_now,
    }
}

/// `3.1 times as fast; 64 times fewer bytes of HBM`; the marks of its numbers go to `trust`.
fn words(
    before: &WorkloadEvidence<'_>,
    after: &WorkloadEvidence<'_>,
    verdict: Verdict,
    percent: Option<f64>,
    beyond_noise: Option<bool>,
    trust: &mut Vec<Mark>,
) -> String {
    let mut signed = |factor: Known| {
        trust.extend(factor.trust.filter(|mark| *mark != Mark::Exact && !trust.contains(mark)));
        factor.text(times)
    };
    let factor = percent.map(|percent| 1.0 + percent / 100.0);
    let factor = factor.map(|factor| before.timed(1.0).with(after.timed(1.0), |_, _| factor));
    let mut parts = vec![match (verdict, factor) {
        (Verdict::Better, Some(factor)) => format!("{} times as fast", signed(factor.map(|it| 1.0 / it))),
        (Verdict::Worse, Some(factor)) => format!("takes {} times as long", signed(factor)),
        (_, Some(_)) if beyond_noise == Some(false) => "no change of time beyond the noise".to_owned(),
        (_, Some(_)) => "takes as long as before".to_owned(),
        (_, None) => "the times are not known".to_owned(),
    }];
    if beyond_noise.is_none() && verdict != Verdict::Neutral {
        parts[0] += " (too few dispatches to tell it from noise)";
    }
    for (metric, what) in WORK {
        let (Ok(old), Ok(new)) = (before.known(metric), after.known(metric)) else { continue };
        if old.value <= 0.0 || new.value <= 0.0 {
            continue;
        }
        let (more, fewer) = (new.over(old), old.over(new));
        if more.value >= DIFFERS {
            parts.push(format!("{} times the {what}", signed(more)));
        } else if fewer.value >= DIFFERS {
            parts.push(format!("{} times fewer {what}", signed(fewer)));
        }
    }
    parts.join("; ")
}

/// `1.04`, `3.1`, `29`.
fn times(factor: f64) -> String {
    match factor {
        f if f < 1.095 => format!("{f:.2}"),
        f if f < 9.95 => format!("{f:.1}"),
        f => format!("{f:.0}"),
    }
}
