//! JDG001: candidates with other results.

use crate::{CandidateEvidence, Check, Outcome, Rule};
use view::{CandidateVerdict, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "JDG001",
    title: "a candidate computes other results than the base",
    severity: Severity::Severe,
    page: include_str!("jdg001.md"),
    checks: &[Check::Candidate(check)],
    panels: &[],
};

fn check(evidence: &CandidateEvidence<'_>) -> Outcome {
    if evidence.verdict != CandidateVerdict::Wrong {
        return Outcome::Silent;
    }
    let advice = "run it on these inputs; `--tolerance` allows another order of the same sums";
    Outcome::Findings(vec![RULE.finding(Severity::Severe, evidence.message(), advice)])
}
