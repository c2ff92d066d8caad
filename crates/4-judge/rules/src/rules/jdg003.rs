//! JDG003: times that cannot be.

use crate::{CandidateEvidence, Check, Outcome, Rule};
use view::{CandidateVerdict, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "JDG003",
    title: "the time claimed for a candidate is impossible",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Candidate(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when `--claim` gives a time that is zero or shorter than the kernel's nearest roof allows: the bytes it moves at the peak bandwidth, or its
operations at the peak rate.

## Why it is slow
The claim is wrong: the timer measured something else, such as a launch that was not waited for, an empty loop, or another kernel.

## Evidence
The claimed time, and the least time of the work that was counted.

## What to do
Time the kernel with events around launches that are waited for, with inputs larger than the caches, and look whether its results are those of the run
that was timed.

## Source
Work counted by `rockhound judge`, peaks of the GPU; [judge.md](../judge.md).
";

fn check(evidence: &CandidateEvidence<'_>) -> Outcome {
    if evidence.verdict != CandidateVerdict::Impossible {
        return Outcome::Silent;
    }
    let advice = "time it again: wait for the launch, and check the results of the run that was timed";
    Outcome::Findings(vec![RULE.finding(Severity::Severe, evidence.message(), advice)])
}
