//! CTR002: many waves, few instructions.
//!
//! If the wave slots are full and few instructions issue, more waves do not help.

use crate::recorded::lost_below_roof;
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "CTR002",
    title: "few instructions per cycle although waves are resident",
    severity: Severity::Warning,
    page: include_str!("ctr002.md"),
    checks: &[Check::Recording(check)],
    panels: &[10, 11],
};

/// Instructions per cycle below which little is issued.
const LITTLE: f64 = 0.5;
/// Percent of the wave slots from which on waves are resident.
const RESIDENT: f64 = 50.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let ipc = evidence.known("issue.ipc")?;
    let none = || Err(Missing::because("the number of wave slots"));
    let resident = evidence.percent_of_peak("wave.occupancy").unwrap_or_else(none)?;
    evidence.roof().known_bound()?;
    if !evidence.roof().may_wait() {
        return Ok(Outcome::Silent);
    }
    if ipc.value >= LITTLE || resident.value < RESIDENT {
        return Ok(Outcome::Silent);
    }
    let mut finding = RULE
        .finding(
            Severity::Warning,
            format!("{ipc:.2} instructions per cycle with {resident:.0} % of the wave slots in use"),
            "more waves will not help: put more independent loads into each wave, and shorten what they wait for",
        )
        .with_evidence("instructions per busy cycle", format!("{ipc:.2}"))
        .with_evidence("wave slots in use", format!("{resident:.0} %"))
        .with_trust([ipc, resident]);
    if let Ok(cycles) = evidence.known("latency.vmem") {
        let value = format!("{cycles:.0} cycles");
        finding = finding.with_evidence("vector memory latency", value).with_trust([cycles]);
    }
    // All that is above the nearest roof.
    Ok(Outcome::Findings(vec![lost_below_roof(evidence, finding, 1.0)]))
}
