//! TUN028: measured kernels whose results are wrong.
//!
//! A script that reads times only takes them where they are fast.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::FlawKind;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TUN028",
    title: "measured kernels whose results are wrong",
    severity: Severity::Severe,
    page: include_str!("tun028.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files {
        for flaw in file.flaws.iter().filter(|it| it.kind == FlawKind::WrongResult) {
            let advice = "do not use its time; report the kernel with sizes, types and versions, or leave it out of the library";
            findings.push(
                RULE.finding(Severity::Severe, flaw.text.clone(), advice).with_places([at(file, flaw.line)]),
            );
        }
    }
    outcome(findings)
}
