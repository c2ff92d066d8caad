//! CHK004: a wave accesses LDS before waiting for its own LDS-DMA load to it.
//!
//! Only `s_waitcnt vmcnt(n)` orders a load into the LDS before accesses of the same wave.

use crate::execution::{ExecutionEvidence, who};
use crate::{Check, Rule};
use probe::Wrong;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "CHK004",
    title: "load into the LDS that is not waited for",
    severity: Severity::Severe,
    page: include_str!("chk004.md"),
    checks: &[Check::Execution(check)],
    panels: &[],
};

fn check(evidence: &ExecutionEvidence<'_>) -> Vec<Finding> {
    evidence
        .conflicts(&[Wrong::NotWaited])
        .into_iter()
        .map(|it| {
            let (load, verb) = (evidence.verb(it.first), evidence.verb(it.second));
            RULE.finding(
                Severity::Severe,
                format!(
                    "wave {} does not wait for a {load} before a {verb} at offset {:#x}",
                    it.second.wave, it.address
                ),
                "put `s_waitcnt vmcnt(n)` between, n the vector memory instructions issued after the load",
            )
            .with_evidence("the load", format!("{load} by {}", who(it.first)))
            .with_evidence("the access", format!("{verb} by {}", who(it.second)))
            .with_evidence("times seen, by lane and dword", it.times)
            .with_places([evidence.place(it.first), evidence.place(it.second)])
        })
        .collect()
}
