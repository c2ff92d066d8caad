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
    page: PAGE,
    checks: &[Check::Recording(check)],
    panels: &[6, 7],
};

const PAGE: &str = r"## What it does
Fires when vector instructions run with fewer than 51 of 64 lanes active on average (80 %). Warning below 32. Kernels
whose vector units issue in less than 5 % of the cycles are left out: there nothing is to be gained.

## Why it is slow
Both sides of a branch on which the lanes of a wave disagree are run one after the other, each with some lanes off; so are
loops with trip counts that differ between lanes, and waves that the workgroup size does not fill. The instructions take as
long as with all lanes.

## Evidence
Active lanes per vector instruction, how busy the vector units are, and the workgroup size. The cost is the vector units'
time in lanes that are off.

## What to do
Make the workgroup size a multiple of 64. Sort or bin the work so that neighbouring lanes take the same branch. Replace short
branches by selects. Move bounds checks to whole workgroups, with one edge kernel.

## Source
The Omniperf training: active threads per wave of the vector unit in the speed of light.
";

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
