//! RES008: workgroups waited for a resource of the compute units.
//!
//! The workgroup manager counts the cycles in which a resource did not fit; full wave slots do not count as a
//! shortage.

use crate::recorded::{lost_below_roof, lost_to, waits};
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use sorting::Sort;
use view::{Known, Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "RES008",
    title: "workgroups waited for registers, barriers, scratch or a wave limit",
    severity: Severity::Warning,
    page: include_str!("res008.md"),
    checks: &[Check::Recording(check)],
    panels: &[6, 7],
};

/// Metric and the resource it counts.
const SHORT: &[(&str, &str)] = &[
    ("spi.no_vgprs", "vector registers"),
    ("spi.no_sgprs", "scalar registers"),
    ("spi.no_barrier", "barrier slots"),
    ("spi.scratch_stall", "scratch"),
    ("spi.workgroup_limit", "the limit on workgroups"),
    ("spi.wave_limit", "the limit on waves"),
];
/// Percent of the cycles from which on a lack counts.
const LEAST: f64 = 0.1;
/// Percent from which on it is a warning.
const MUCH: f64 = 10.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let mut known: Vec<(Known, &str)> = Vec::new();
    let mut missing = None;
    for (metric, what) in SHORT {
        match evidence.known(metric) {
            Ok(value) => known.push((value, what)),
            Err(reason) => missing = missing.or(Some(reason)),
        }
    }
    if let (Some(reason), true) = (missing, known.is_empty()) {
        return Err(reason);
    }
    known.retain(|(it, _)| it.value >= LEAST);
    known.in_order_by(|a, b| b.0.value.total_cmp(&a.0.value));
    let Some((most, what)) = known.first().copied() else { return Ok(Outcome::Silent) };
    let severe = most.value >= MUCH && waits(evidence);
    let mut finding = RULE.finding(
        if severe { Severity::Warning } else { Severity::Info },
        format!("workgroups waited for {what} in {most:.1} % of the compute units' cycles"),
        match what {
            "vector registers" => {
                "use fewer VGPRs: smaller tiles, less unrolling; `rockhound inspect` shows the next step"
            }
            "scratch" => "avoid spills and large private arrays",
            "barrier slots" => "use larger workgroups",
            "scalar registers" => "keep fewer scalar values live",
            _ => "look for a setting that limits the kernel's waves",
        },
    );
    for (value, what) in &known {
        let words = format!("{value:.1} % of the cycles");
        finding = finding.with_evidence(format!("waited for {what}"), words).with_trust([*value]);
    }
    if let Some(Ok(percent)) = evidence.percent_of_peak("wave.occupancy") {
        finding = finding.with_evidence("wave slots in use", format!("{percent:.0} %")).with_trust([percent]);
    }
    let part = most.map(|most| most / 100.0);
    Ok(Outcome::Findings(vec![match what {
        "vector registers" => lost_to(evidence, finding, "registers", part),
        _ => lost_below_roof(evidence, finding, part),
    }]))
}
