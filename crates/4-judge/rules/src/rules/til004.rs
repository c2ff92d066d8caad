//! TIL004: tile order against the number of XCDs.

use crate::{Check, LaunchEvidence, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TIL004",
    title: "workgroup mapping is no multiple of the XCDs",
    severity: Severity::Info,
    page: include_str!("til004.md"),
    checks: &[Check::Launch(check)],
    panels: &[11],
};

fn check(evidence: &LaunchEvidence<'_>) -> Outcome {
    let Some(mapping) = evidence.workgroup_mapping else { return Outcome::needs("the workgroup mapping") };
    let xcds = evidence.model.xcds.value;
    if xcds < 2 || mapping <= 1 || mapping.is_multiple_of(xcds) || evidence.workgroups <= u64::from(xcds) {
        return Outcome::Silent;
    }
    Outcome::Findings(vec![
        RULE.finding(
            Severity::Info,
            format!("a workgroup mapping of {mapping} on a GPU of {xcds} XCDs"),
            format!("try {} or {}", (mapping / xcds).max(1) * xcds, (mapping / xcds + 1) * xcds),
        )
        .with_evidence("WorkGroupMapping", mapping)
        .with_evidence("XCDs", xcds),
    ])
}
