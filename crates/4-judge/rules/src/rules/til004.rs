//! TIL004: tile order against the number of XCDs.

use crate::{Check, LaunchEvidence, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TIL004",
    title: "workgroup mapping is no multiple of the XCDs",
    severity: Severity::Info,
    page: PAGE,
    checks: &[Check::Launch(check)],
    panels: &[11],
};

const PAGE: &str = r"## What it does
Fires on a launch with a `WorkGroupMapping` (hipBLASLt, Tensile) that is no multiple of the number of XCDs, on a GPU with more than one.

Silent for a mapping of 1, which orders nothing, and for launches with fewer workgroups than XCDs.

## Why it is slow
Workgroups are dealt out to the XCDs one by one. A mapping that is a multiple of their number gives each XCD whole columns of tiles of a group,
which share the rows in its L2 cache; any other mapping moves the columns from XCD to XCD.

## Evidence
The mapping and the XCDs of the GPU.

## What to do
Take the next multiple: on an MI300X 8, 16, 24, 32, 40.

## Source
The ROCm MI300X workload guide: use multiples of the XCD number.
";

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
