//! JDG001: candidates with other results.

use crate::{CandidateEvidence, Check, Outcome, Rule};
use view::{CandidateVerdict, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "JDG001",
    title: "a candidate computes other results than the base",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Candidate(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when a candidate ends well on the inputs of the base and leaves other results: an element beyond the tolerance, or all elements together, where
each alone is within it.

## Why it is slow
It is wrong, not slow: a time of other results says nothing about the kernel.

## Evidence
The first element that differs with both values, how many differ, and the set of inputs that shows it: the seed of the random numbers and the shape.

## What to do
Run the candidate on these inputs. Where the difference comes from another order of the same sums, allow it with `--tolerance`.

## Source
Variants that `rockhound judge` ran; [judge.md](../judge.md) has the tolerance of each type.
";

fn check(evidence: &CandidateEvidence<'_>) -> Outcome {
    if evidence.verdict != CandidateVerdict::Wrong {
        return Outcome::Silent;
    }
    let advice = "run it on these inputs; `--tolerance` allows another order of the same sums";
    Outcome::Findings(vec![RULE.finding(Severity::Severe, evidence.message(), advice)])
}
