//! JDG002: candidates that are right by chance, or do not end.

use crate::{CandidateEvidence, Check, Outcome, Rule};
use view::{CandidateVerdict, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "JDG002",
    title: "a candidate does not end, or depends on more than its inputs",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Candidate(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when a candidate reads or writes outside its buffers, has a data race or reads memory that was never written where the base does not, leaves
elements unwritten, writes an input, gives other results when the workgroups run in reverse order, or runs very much longer than the base.

## Why it is slow
It is unsafe, not slow: its results may be right in one run and wrong in the next.

## Evidence
The mistake with its line, or the element with both values, and the set of inputs that shows it.

## What to do
Repair the named instruction. `rockhound run --check races,uninit` and `rockhound profile` on the launch file show more of it.

## Source
Variants that `rockhound judge` ran; [judge.md](../judge.md).
";

fn check(evidence: &CandidateEvidence<'_>) -> Outcome {
    if !matches!(evidence.verdict, CandidateVerdict::Unsafe | CandidateVerdict::Hangs) {
        return Outcome::Silent;
    }
    let advice = "repair what is named; `--check races,uninit` of `rockhound profile` (launch files) and of `rockhound run` (programs) shows more of it";
    Outcome::Findings(vec![RULE.finding(Severity::Severe, evidence.message(), advice)])
}
