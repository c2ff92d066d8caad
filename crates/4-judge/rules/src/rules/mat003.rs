//! MAT003: the type of the factors.

use crate::{Check, LaunchEvidence, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "MAT003",
    title: "f16 where bf16 runs faster",
    severity: Severity::Info,
    page: include_str!("mat003.md"),
    checks: &[Check::Launch(check)],
    panels: &[10, 11],
};

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
