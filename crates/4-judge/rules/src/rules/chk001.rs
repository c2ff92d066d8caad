//! CHK001: waves of a workgroup race in the LDS.
//!
//! A race is the absence of a barrier between two accesses; the order in which they happened to run does not
//! matter.

use crate::execution::{ExecutionEvidence, INTO_LDS, who};
use crate::{Check, Rule};
use probe::Wrong;
use view::{Finding, Severity, with_article};

pub(crate) const RULE: Rule = Rule {
    id: "CHK001",
    title: "waves of a workgroup race in the LDS",
    severity: Severity::Severe,
    page: include_str!("chk001.md"),
    checks: &[Check::Execution(check)],
    panels: &[],
};

fn check(evidence: &ExecutionEvidence<'_>) -> Vec<Finding> {
    evidence
        .conflicts(&[Wrong::LdsRace])
        .into_iter()
        .map(|it| {
            let (first, second) = (evidence.verb(it.first), evidence.verb(it.second));
            let (one, other) = (with_article(first), with_article(second));
            let advice = if [first, second].contains(&INTO_LDS) {
                "wait for the load (`s_waitcnt vmcnt(n)`) and then put a barrier before the LDS is read; put one between the \
                 reads and the next load into the same place"
                    .to_owned()
            } else if evidence.is_python(it.first) {
                format!(
                    "put {} between the two lines; barriers of the LDS are the compiler's task, so a report to Triton helps others",
                    evidence.barrier(it.first)
                )
            } else {
                format!("put {} between the two, or make both atomic", evidence.barrier(it.first))
            };
            RULE.finding(
                Severity::Severe,
                format!(
                    "waves {} and {} of a workgroup race for offset {:#x} of the LDS: {one} and {other} without a \
                     {} between",
                    it.first.wave,
                    it.second.wave,
                    it.address,
                    if first == INTO_LDS { "wait and a barrier" } else { "barrier" }
                ),
                advice,
            )
            .with_evidence("the access seen first", format!("{first} by {}", who(it.first)))
            .with_evidence("the other access", format!("{second} by {}", who(it.second)))
            .with_evidence("times seen, by lane and dword", it.times)
            .with_places([evidence.place(it.first), evidence.place(it.second)])
        })
        .collect()
}
