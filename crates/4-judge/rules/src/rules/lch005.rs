//! LCH005: lanes switched off in vector instructions.
//!
//! A vector instruction takes the same time for one lane as for 64.

use crate::recorded::lost;
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "LCH005",
    title: "vector instructions run with lanes switched off",
    severity: Severity::Warning,
    page: include_str!("lch005.md"),
    checks: &[Check::Recording(check)],
    panels: &[6, 7],
};

/// Lanes below which it is reported.
const FEW: f64 = 51.2;
/// Lanes below which it is a warning.
const VERY_FEW: f64 = 32.0;
/// Percent of the cycles the vector units issue, below which it does not matter.
const BUSY: f64 = 5.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    if evidence.value("instructions.valu_and_matrix")? <= 0.0 {
        return Ok(Outcome::Silent);
    }
    let active = evidence.known("issue.active_threads")?;
    let busy = evidence.known("issue.valu")?;
    if active.value >= FEW || busy.value < BUSY {
        return Ok(Outcome::Silent);
    }
    let mut finding = RULE
        .finding(
            if active.value < VERY_FEW { Severity::Warning } else { Severity::Info },
            format!("{active:.1} of 64 lanes active in a vector instruction on average"),
            "let neighbouring lanes take the same branch: a workgroup size that is a multiple of 64, sorted work, selects instead of branches",
        )
        .with_evidence("active lanes", format!("{active:.1}"))
        .with_evidence("vector units issue", format!("{busy:.1} % of the cycles"))
        .with_trust([active, busy]);
    if let Ok(size) = evidence.value("dispatch.workgroup_size") {
        finding = finding.with_evidence("workgroup size", format!("{size:.0}"));
    }
    let part = busy.with(active, |busy, active| busy / 100.0 * (1.0 - active / 64.0));
    Ok(Outcome::Findings(vec![lost(evidence, finding, part)]))
}
