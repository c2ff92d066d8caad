//! Shared parts of rules on recordings: formatting of lost time and of shares.
//!
//! The time lost to a finding is at most the kernel's time beyond its nearest roof, since no time below the
//! roof can be gained without changing the work.

use analysis::WorkloadEvidence;
use analysis::roofline::{Bound, Share};
use view::{Finding, Known};

/// Part of the time below which nothing is lost.
const NOTHING: f64 = 0.005;

/// States that a finding costs `part` of the kernel's time, in units of time if known.
pub(crate) fn lost(evidence: &WorkloadEvidence<'_>, finding: Finding, part: impl Into<Known>) -> Finding {
    let part = part.into().map(|part| part.clamp(0.0, 1.0));
    let total = evidence.time.as_ref().ok().map(|ns| evidence.timed(*ns));
    if part.value < NOTHING {
        return finding.with_time_lost(total.map(|_| Known::from(0.0)));
    }
    let finding = finding.with_trust([part]);
    let Some(total) = total else {
        return finding.with_cost(format!("up to {} of the kernel's time", percent(part)));
    };
    let ns = total.with(part, |total, part| total * part);
    finding
        .with_cost(format!("up to {} of {} ({})", duration(ns), duration(total), percent(part)))
        .with_time_lost(Some(ns))
        .with_trust([ns, total])
}

/// As [`lost`], but at most the kernel's time beyond its nearest roof.
pub(crate) fn lost_below_roof(
    evidence: &WorkloadEvidence<'_>,
    finding: Finding,
    part: impl Into<Known>,
) -> Finding {
    let part = part.into();
    let room = known_bound(evidence).map(|part| part.map(|part| (1.0 - part).max(0.0)));
    lost(evidence, finding, room.filter(|room| room.value < part.value).unwrap_or(part))
}

/// Part of the time that what stops the kernel accounts for.
pub(crate) fn known_bound(evidence: &WorkloadEvidence<'_>) -> Option<Known> {
    let roof = evidence.roof();
    let value = roof.bound.as_ref().ok()?.part()?;
    Some(Known { value, trust: roof.bound_trust })
}

/// States that a finding costs what the kernel would save without a limit, where that was simulated;
/// otherwise as [`lost_below_roof`].
pub(crate) fn lost_to(
    evidence: &WorkloadEvidence<'_>,
    finding: Finding,
    limit: &str,
    part: impl Into<Known>,
) -> Finding {
    simulated(evidence, &finding, limit).unwrap_or_else(|| lost_below_roof(evidence, finding, part))
}

/// A finding whose cost is the kernel's saving without a limit; `None` if that was not simulated.
pub(crate) fn simulated(evidence: &WorkloadEvidence<'_>, finding: &Finding, limit: &str) -> Option<Finding> {
    let saved = evidence.saved_without(limit)?;
    let [ns, total, part] = [saved.ns, saved.base, saved.part()].map(|value| evidence.timed(value));
    let cost = match part.value {
        part if part < NOTHING => format!("nothing of {}, by simulation without it", duration(total)),
        _ => format!("{} of {} ({}), by simulation without it", duration(ns), duration(total), percent(part)),
    };
    Some(finding.clone().with_cost(cost).with_time_lost(Some(ns)).with_trust([total]))
}

/// The limits that are worth most, as evidence.
pub(crate) fn with_limits(evidence: &WorkloadEvidence<'_>, mut finding: Finding) -> Finding {
    for limit in evidence.limits().into_iter().take(LIMITS) {
        let saved = &limit.saved;
        if saved.part() >= WORTH {
            let [ns, part] = [saved.ns, saved.part()].map(|value| evidence.timed(value));
            let value = format!("saves {} ({})", duration(ns), percent(part));
            finding = finding.with_evidence(format!("with {}", limit.title), value).with_trust([ns]);
        }
    }
    finding
}

/// Limits named as evidence, and the part of the time from which on one is.
const LIMITS: usize = 3;
const WORTH: f64 = 0.01;

/// Whether no ceiling is what stops the kernel, so that more in flight would help.
pub(crate) fn waits(evidence: &WorkloadEvidence<'_>) -> bool {
    evidence.roof().may_wait() || matches!(evidence.roof().bound, Ok(Bound::Launch { .. }))
}

/// Part of a level's bandwidth ceiling that is reached, 0 if unknown.
pub(crate) fn part_of(evidence: &WorkloadEvidence<'_>, level: &str) -> Known {
    evidence.roof().level(level).and_then(Share::known_part).unwrap_or(Known::from(0.0))
}

/// `1.2 GB`, `8.39 MB`.
pub(crate) fn bytes(value: impl Into<Known>) -> String {
    value.into().text(bytes_text)
}

fn bytes_text(value: f64) -> String {
    let (value, unit) = match value {
        v if v >= 1e9 => (v / 1e9, "GB"),
        v if v >= 1e6 => (v / 1e6, "MB"),
        v if v >= 1e3 => (v / 1e3, "kB"),
        v => return format!("{v:.0} B"),
    };
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$} {unit}")
}

/// `0.4 %`, `35 %`.
pub(crate) fn percent(part: impl Into<Known>) -> String {
    let of = |value: f64| if value < 9.95 { format!("{value:.1} %") } else { format!("{value:.0} %") };
    part.into().map(|part| 100.0 * part).text(of)
}

/// `870 ns`, `17.4 us`, `3.36 ms`: three digits.
pub(crate) fn duration(ns: impl Into<Known>) -> String {
    ns.into().text(view::duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in
            [(64.0, "64 B"), (8_388_608.0, "8.39 MB"), (1.2e9, "1.20 GB"), (268.4e6, "268 MB")]
        {
            assert_eq!(bytes(value), text);
        }
        for (part, text) in [(0.004, "0.4 %"), (0.349, "35 %"), (1.0, "100 %")] {
            assert_eq!(percent(part), text);
        }
    }
}
