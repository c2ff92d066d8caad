//! CHK005: LDS access beyond the workgroup's allocation.
//!
//! The hardware does not report it; reads return 0 and writes are dropped.

use crate::execution::{ExecutionEvidence, who};
use crate::{Check, Rule};
use probe::Side;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "CHK005",
    title: "LDS access past the allocation",
    severity: Severity::Severe,
    page: include_str!("chk005.md"),
    checks: &[Check::Execution(check)],
    panels: &[],
};

fn check(evidence: &ExecutionEvidence<'_>) -> Vec<Finding> {
    let found = evidence.checked.outside.iter();
    found
        .map(|it| {
            let side =
                Side { index: it.index, workgroup: it.wave.workgroup, wave: it.wave.wave, lane: it.lane };
            let verb = evidence.verb(side);
            RULE.finding(
                Severity::Severe,
                format!(
                    "{verb} of {} bytes at offset {:#x} of an LDS of {} bytes",
                    it.bytes, it.offset, it.size
                ),
                "check the index, or make the LDS of the launch larger",
            )
            .with_evidence("the first access", format!("{verb} by {}", who(side)))
            .with_evidence("accesses of lanes past the end", it.times)
            .with_places([evidence.place(side)])
        })
        .collect()
}
