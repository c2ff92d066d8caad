//! SYN004: waves spend their time waiting.
//!
//! Waiting costs time only if all waves of a compute unit wait at once, which is the case if no ceiling is
//! reached.

use crate::recorded::lost_to;
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use view::{Finding, Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "SYN004",
    title: "waves spend most of their cycles waiting",
    severity: Severity::Warning,
    page: include_str!("syn004.md"),
    checks: &[Check::Recording(check)],
    panels: &[7, 10],
};

/// Percent of the wave cycles from which on a wait dominates.
const DOMINATES: f64 = 60.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    if evidence.value("wave.cycles")? <= 0.0 {
        return Ok(Outcome::Silent);
    }
    let dependency = evidence.known("wave.dependency_share")?;
    let issue = evidence.known("wave.issue_share")?;
    evidence.roof().known_bound()?;
    if dependency.value.max(issue.value) < DOMINATES || !evidence.roof().may_wait() {
        return Ok(Outcome::Silent);
    }
    let (what, share, limit, advice) = if dependency.value >= issue.value {
        (
            "for memory, LDS or messages",
            dependency,
            "memory-latency",
            "issue loads earlier and keep more of them in flight; more waves hide the rest",
        )
    } else {
        (
            "for their turn to issue",
            issue,
            "issue",
            "spread the work over vector, scalar and memory instructions",
        )
    };
    let finding = RULE
        .finding(Severity::Warning, format!("waves wait {what} in {share:.0} % of their cycles"), advice)
        .with_evidence("dependency wait", format!("{dependency:.1} %"))
        .with_evidence("issue wait", format!("{issue:.1} %"))
        .with_trust([dependency, issue]);
    let finding = latencies(evidence, finding);
    Ok(Outcome::Findings(vec![lost_to(evidence, finding, limit, share.map(|share| share / 100.0))]))
}

fn latencies(evidence: &WorkloadEvidence<'_>, mut finding: Finding) -> Finding {
    for (metric, what) in [
        ("latency.vmem", "vector memory latency"),
        ("latency.smem", "scalar memory latency"),
        ("lds.latency", "LDS latency"),
    ] {
        if let Ok(cycles) = evidence.known(metric) {
            finding = finding.with_evidence(what, format!("{cycles:.0} cycles")).with_trust([cycles]);
        }
    }
    if let Some(Ok(percent)) = evidence.percent_of_peak("wave.occupancy") {
        finding = finding.with_evidence("wave slots in use", format!("{percent:.0} %")).with_trust([percent]);
    }
    finding
}
