//! CTR001: limiter of the kernel, from the roofline.
//!
//! The distance to the nearest roof is the largest gain without changing another property of the kernel.

use crate::recorded::{duration, known_bound, lost, percent, simulated, with_limits};
use crate::{Check, Outcome, Rule};
use analysis::roofline::{Bound, Resource, RivalReason, Share};
use analysis::{WorkloadEvidence, beside};
use view::{Finding, Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "CTR001",
    title: "what bounds the kernel: a ceiling, instructions, latency or launch",
    severity: Severity::Warning,
    page: include_str!("ctr001.md"),
    checks: &[Check::Recording(check)],
    panels: &[2],
};

/// Part of a roof from which on a kernel is at it.
const AT_ROOF: f64 = 0.8;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let roof = evidence.roof();
    let bound = roof.known_bound()?.clone();
    let known = bound.describe(roof.bound_trust);
    let (severity, message, advice) = match &bound {
        Bound::Ceiling { share, part, .. } => {
            let at = if *part >= AT_ROOF { "at the roof of" } else { "bound by" };
            let what = match share.resource {
                Resource::Bandwidth => format!("{} bandwidth", share.name),
                _ => share.name.to_owned(),
            };
            (
                Severity::Info,
                format!("{at} {what}: {known}"),
                match (share.resource, *part < AT_ROOF) {
                    (_, true) => {
                        "more waves or more independent loads in flight bring it nearer to the roof; at the roof only less work helps"
                    }
                    (Resource::Bandwidth, _) => for_level(share),
                    (Resource::LookUps, _) => {
                        "look up fewer lines: wider accesses, neighbouring lanes on neighbouring addresses, reuse in registers or LDS"
                    }
                    (Resource::Arithmetic, _) => for_rate(share),
                },
            )
        }
        Bound::VectorIssue { .. } => (
            Severity::Info,
            format!("bound by vector instructions: {known}"),
            "spend fewer instructions on addresses, conversions and control per useful operation; packed and wider \
             instructions do more at once",
        ),
        Bound::Launch { .. } => (
            Severity::Warning,
            format!("bound by launch: {known}"),
            "give the kernel more work per launch, or put several small kernels into one",
        ),
        Bound::Open { .. } => return Ok(Outcome::Silent),
        Bound::Latency { .. } => (
            Severity::Warning,
            format!("bound by latency: {known}"),
            "keep more requests in flight: more waves, more independent loads per wave, loads issued earlier",
        ),
    };
    let bound_part = known_bound(evidence);
    let noise = roof.rivals.iter().find(|rival| rival.reason == RivalReason::Noise);
    let message = match noise {
        Some(rival) => format!("{message}; {} is as near, within the noise", rival.bound.name()),
        None => message,
    };
    let mut finding = RULE.finding(severity, message, advice).with_trust(bound_part);
    finding = reached(evidence, finding);
    finding = with_limits(evidence, busy(evidence, finding));
    if matches!(bound, Bound::Launch { .. }) {
        let typical = evidence.typical();
        for (metric, what) in
            [("dispatch.workgroups", "workgroups per dispatch"), ("gpu.cus", "compute units")]
        {
            if let Ok(value) = typical.known(metric) {
                finding = finding.with_evidence(what, format!("{value:.0}")).with_trust([value]);
            }
        }
        if let Ok(ns) = typical.known("dispatch.duration") {
            finding = finding.with_evidence("mean time of a dispatch", duration(ns)).with_trust([ns]);
        }
    }
    let finding = match bound_part {
        Some(part) => lost(evidence, finding, part.map(|part| 1.0 - part)),
        None => finding,
    };
    Ok(Outcome::Findings(vec![by_simulation(evidence, finding, &bound)]))
}

/// Reached share of each ceiling, and the ceilings whose counters were not recorded.
fn reached(evidence: &WorkloadEvidence<'_>, mut finding: Finding) -> Finding {
    let roof = evidence.roof();
    for share in roof.reached.judging().chain(&roof.reached.rates) {
        if let Some(part) = share.known_part().filter(|part| part.value >= 0.01) {
            let rate = part.map(|part| part * share.ceiling);
            let digits = if share.resource == Resource::LookUps { 2 } else { 0 };
            let value = format!("{rate:.digits$} of {:.0} {} ({})", share.ceiling, share.unit, percent(part));
            finding = finding.with_evidence(share.name, value).with_trust([part]);
        }
    }
    if !roof.lacks.is_empty() {
        let mut lacks: Vec<&str> = roof.lacks.iter().map(|lack| lack.name).collect();
        lacks.dedup();
        finding = finding.with_evidence("not recorded, and could be nearer", lacks.join(", "));
    }
    finding
}

/// Part of the time from which on the limit that costs most is a warning.
const WARNS: f64 = 0.15;

/// The finding with the most expensive simulated limit first; unchanged if none was simulated.
fn by_simulation(evidence: &WorkloadEvidence<'_>, finding: Finding, bound: &Bound) -> Finding {
    let Some(leading) = evidence.leading_limit() else { return finding };
    let part = evidence.timed(leading.limit.saved.part());
    let limits = evidence.limits();
    if leading.agrees(&limits, bound) {
        let is_work = match bound {
            // The work itself is not a loss: the possible gain is the distance to the ceiling.
            Bound::Ceiling { share, .. } => share.resource == Resource::Arithmetic,
            Bound::VectorIssue { .. } => true,
            Bound::Latency { .. } | Bound::Launch { .. } | Bound::Open { .. } => false,
        };
        let limit = limits.iter().find(|limit| limit.is_bound(bound)).filter(|_| !is_work);
        return limit.and_then(|limit| simulated(evidence, &finding, limit.name)).unwrap_or(finding);
    }
    let beside = beside(&limits, bound, |part| percent(evidence.timed(part)));
    let finding = Finding {
        severity: if part.value >= WARNS { Severity::Warning } else { Severity::Info },
        message: format!(
            "held up most by {}: {} of its time; {}{beside}",
            leading.what,
            percent(part),
            finding.message
        ),
        advice: leading.advice.to_owned(),
        ..finding
    };
    simulated(evidence, &finding, leading.limit.name).unwrap_or(finding)
}

/// Utilization of the compute units and vector units.
fn busy(evidence: &WorkloadEvidence<'_>, mut finding: Finding) -> Finding {
    for (metric, what) in
        [("gpu.simd_utilization", "compute units hold waves"), ("issue.valu", "vector units issue")]
    {
        if let Ok(value) = evidence.known(metric) {
            finding = finding.with_evidence(what, format!("{value:.1} % of the cycles")).with_trust([value]);
        }
    }
    finding
}

fn for_level(share: &Share) -> &'static str {
    match share.name {
        "HBM" => "move fewer bytes: fuse with neighbouring kernels, narrower types, reuse in the caches",
        "L2" => "reuse more in vector L1, LDS or registers, so that fewer requests reach L2",
        "LDS" => "keep more in registers: larger tiles per wave, wider LDS accesses",
        _ => "read each line with fewer and wider accesses, and keep values in registers or LDS",
    }
}

fn for_rate(share: &Share) -> &'static str {
    if share.name.starts_with("matrix") {
        "a narrower type has a higher ceiling; otherwise compute less"
    } else {
        "use the matrix unit where the computation allows, or a narrower or packed type"
    }
}
