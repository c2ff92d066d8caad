//! CHK002: waves race in global memory.
//!
//! Within a dispatch, only atomics order workgroups.

use crate::execution::{ExecutionEvidence, who};
use crate::{Check, Rule};
use probe::Wrong;
use view::{Finding, Severity, with_article};

pub(crate) const RULE: Rule = Rule {
    id: "CHK002",
    title: "waves race in global memory",
    severity: Severity::Severe,
    page: include_str!("chk002.md"),
    checks: &[Check::Execution(check)],
    panels: &[],
};

fn check(evidence: &ExecutionEvidence<'_>) -> Vec<Finding> {
    evidence
        .conflicts(&[Wrong::GlobalRace, Wrong::GroupRace])
        .into_iter()
        .map(|it| {
            let (first, second) = (evidence.verb(it.first), evidence.verb(it.second));
            let (one, other) = (with_article(first), with_article(second));
            let place = evidence.global(it.address);
            let (message, advice) = if it.wrong == Wrong::GroupRace {
                let groups = [it.first, it.second].map(|side| {
                    let [x, y, z] = side.workgroup;
                    format!("({x}, {y}, {z})")
                });
                (
                    format!(
                        "workgroups {} and {} race for {place}: {one} and {other} in one dispatch",
                        groups[0], groups[1]
                    ),
                    "give each workgroup bytes of its own, make both accesses atomic, or split the kernel in two"
                        .to_owned(),
                )
            } else {
                (
                    format!(
                        "waves {} and {} of a workgroup race for {place}: {one} and {other} without a barrier between",
                        it.first.wave, it.second.wave
                    ),
                    format!("put {} between the two, or make both atomic", evidence.barrier(it.first)),
                )
            };
            RULE.finding(Severity::Severe, message, advice)
                .with_evidence("the access seen first", format!("{first} by {}", who(it.first)))
                .with_evidence("the other access", format!("{second} by {}", who(it.second)))
                .with_evidence("times seen, by lane and dword", it.times)
                .with_places([evidence.place(it.first), evidence.place(it.second)])
        })
        .collect()
}
