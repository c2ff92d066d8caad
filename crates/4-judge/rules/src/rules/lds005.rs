//! LDS005: transposes that a load could do.

use crate::ir::place;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use tritonir::KernelIr;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "LDS005",
    title: "a transpose in user code goes through the LDS",
    severity: Severity::Info,
    page: include_str!("lds005.md"),
    checks: &[Check::Ir(check)],
    panels: &[12],
};

fn check(ir: &KernelIr, _: &KernelEvidence<'_>) -> Outcome {
    let costly = ir
        .transposes
        .iter()
        .filter(|it| it.through_lds && it.of_load && it.reaches_dot && !it.to_dot && !it.of_buffer);
    let findings = costly.map(|it| {
        RULE.finding(
            Severity::Info,
            format!("the transpose of a loaded {} tile takes a trip through the LDS before the product's own", it.shape),
            "load the tile transposed, by swapping strides and ranges of its pointers, or compute before the transpose",
        )
        .with_evidence("tile transposed", &it.shape)
        .with_places([place(&it.at)])
    });
    Outcome::from_findings(findings.collect())
}
