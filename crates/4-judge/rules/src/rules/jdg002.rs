//! JDG002: candidates that are right by chance, or do not end.

use crate::{CandidateEvidence, Check, Outcome, Rule};
use view::{CandidateVerdict, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "JDG002",
    title: "a candidate does not end, or depends on more than its inputs",
    severity: Severity::Severe,
    page: include_str!("jdg002.md"),
    checks: &[Check::Candidate(check)],
    panels: &[],
};

fn check(evidence: &CandidateEvidence<'_>) -> Outcome {
    if !matches!(evidence.verdict, CandidateVerdict::Unsafe | CandidateVerdict::Hangs) {
        return Outcome::Silent;
    }
    let advice = "repair what is named; `--check races,uninit` of `rockhound profile` (launch files) and of `rockhound run` (programs) shows more of it";
    Outcome::Findings(vec![RULE.finding(Severity::Severe, evidence.message(), advice)])
}
