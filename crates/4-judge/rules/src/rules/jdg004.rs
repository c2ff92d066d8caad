//! JDG004: candidates that are no faster.

use crate::{CandidateEvidence, Check, Outcome, Rule};
use view::{CandidateVerdict, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "JDG004",
    title: "a candidate is right and no faster than the base",
    severity: Severity::Info,
    page: PAGE,
    checks: &[Check::Candidate(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when a candidate gives the results of the base and takes as long or longer: the times differ by less than their error, and the counted work of
the candidate is not less everywhere.

## Why it is slow
What the change saves is not what limits the kernel.

## Evidence
Both times with the error of the model, and the limiter before and after.

## What to do
Look at the limiter: `rockhound guide` on a profile of the base says what would help. A difference within the error needs a measurement on a GPU.

## Source
Counters and modelled times of `rockhound judge`; [judge.md](../judge.md).
";

fn check(evidence: &CandidateEvidence<'_>) -> Outcome {
    if !matches!(evidence.verdict, CandidateVerdict::NotFaster | CandidateVerdict::Slower) {
        return Outcome::Silent;
    }
    let advice = "change what limits the kernel: `rockhound guide` on a profile of the base";
    Outcome::Findings(vec![RULE.finding(Severity::Info, evidence.message(), advice)])
}
