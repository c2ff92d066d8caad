//! JDG003: times that cannot be.

use crate::{CandidateEvidence, Check, Outcome, Rule};
use view::{CandidateVerdict, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "JDG003",
    title: "the time claimed for a candidate is impossible",
    severity: Severity::Severe,
    page: include_str!("jdg003.md"),
    checks: &[Check::Candidate(check)],
    panels: &[],
};

fn check(evidence: &CandidateEvidence<'_>) -> Outcome {
    if evidence.verdict != CandidateVerdict::Impossible {
        return Outcome::Silent;
    }
    let advice = "time it again: wait for the launch, and check the results of the run that was timed";
    Outcome::Findings(vec![RULE.finding(Severity::Severe, evidence.message(), advice)])
}
