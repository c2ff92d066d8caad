//! MAT003: the type of the factors.

use crate::{Check, LaunchEvidence, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "MAT003",
    title: "f16 where bf16 runs faster",
    severity: Severity::Info,
    page: PAGE,
    checks: &[Check::Launch(check)],
    panels: &[10, 11],
};

const PAGE: &str = r"## What it does
Fires on a matrix product of f16 factors on a GPU of several XCDs that is large enough to be limited by the matrix units.

Products limited by memory, by waits or by the launch are silent: there the type does not matter.

## Why it is slow
Both types have the same peak. Multiplying f16 takes more power, so the clock is lower under full load.

## Evidence
The type, and what the expected time is bound by.

## What to do
Try bf16 where 8 bits of mantissa are enough.

## Source
The ROCm MI300X workload guide: bf16 matrix cores run noticeably faster than f16.
";

fn check(evidence: &LaunchEvidence<'_>) -> Outcome {
    let Some(it) = evidence.gemm else {
        return Outcome::needs("the shape and the tile of the matrix product");
    };
    let Some(time) = it.time else { return Outcome::Silent };
    let matrix = time.bound == gemm::Bound::Matrix;
    if it.problem.element != arch::ElementType::F16 || !matrix || evidence.model.xcds.value < 2 {
        return Outcome::Silent;
    }
    Outcome::Findings(vec![
        RULE.finding(
            Severity::Info,
            format!("f16 factors, {:.0} us bound by the matrix units", time.total_us),
            "try bf16 where 8 bits of mantissa are enough",
        )
        .with_evidence("bound by", time.bound.name()),
    ])
}
