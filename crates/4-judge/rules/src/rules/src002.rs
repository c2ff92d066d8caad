//! SRC002: configurations that compute something else.

use crate::{Check, Outcome, Rule, SearchEvidence};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "SRC002",
    title: "valid configurations compute wrong results",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Search(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when a configuration that the constraints allow gives wrong results: other than the launch file expects, other than those of the start, or
with a race or a read of unwritten LDS.

## Why it is slow
It is wrong, not slow: a tuner that only looks at times takes such a configuration first, because it skips work.

## Evidence
How many configurations were wrong, and the first reason.

## What to do
Find the condition that these configurations break and add it to `constraints`, or repair the kernel.

## Source
Searches of tuning spaces; [tune.md](../tune.md).
";

fn check(evidence: &SearchEvidence<'_>) -> Outcome {
    let Some(why) = evidence.wrong_because.filter(|_| evidence.wrong > 0) else { return Outcome::Silent };
    Outcome::Findings(vec![RULE.finding(
        Severity::Warning,
        format!("{} with wrong results: {why}", counted(evidence.wrong, "configuration")),
        "add the condition that they break to `constraints`, or repair the kernel",
    )])
}
