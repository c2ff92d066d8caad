//! SRC002: configurations that compute something else.

use crate::{Check, Outcome, Rule, SearchEvidence};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "SRC002",
    title: "valid configurations compute wrong results",
    severity: Severity::Warning,
    page: include_str!("src002.md"),
    checks: &[Check::Search(check)],
    panels: &[],
};

fn check(evidence: &SearchEvidence<'_>) -> Outcome {
    let Some(why) = evidence.wrong_because.filter(|_| evidence.wrong > 0) else { return Outcome::Silent };
    Outcome::Findings(vec![RULE.finding(
        Severity::Warning,
        format!("{} with wrong results: {why}", counted(evidence.wrong, "configuration")),
        "add the condition that they break to `constraints`, or repair the kernel",
    )])
}
