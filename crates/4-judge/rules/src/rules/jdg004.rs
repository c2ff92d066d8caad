//! JDG004: candidates that are no faster.

use crate::{CandidateEvidence, Check, Outcome, Rule};
use view::{CandidateVerdict, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "JDG004",
    title: "a candidate is right and no faster than the base",
    severity: Severity::Info,
    page: include_str!("jdg004.md"),
    checks: &[Check::Candidate(check)],
    panels: &[],
};

fn check(evidence: &CandidateEvidence<'_>) -> Outcome {
    if !matches!(evidence.verdict, CandidateVerdict::NotFaster | CandidateVerdict::Slower) {
        return Outcome::Silent;
    }
    let advice = "change what limits the kernel: `rockhound guide` on a profile of the base";
    Outcome::Findings(vec![RULE.finding(Severity::Info, evidence.message(), advice)])
}
