//! LDS004: two trips through the LDS that could be one.

use crate::ir::place;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use tritonir::KernelIr;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "LDS004",
    title: "a value goes through the LDS twice",
    severity: Severity::Warning,
    page: include_str!("lds004.md"),
    checks: &[Check::Ir(check)],
    panels: &[12],
};

fn check(ir: &KernelIr, _: &KernelEvidence<'_>) -> Outcome {
    let findings = ir.round_trips.iter().map(|it| {
        let way = if it.transposed { ", with a transpose on the way" } else { "" };
        RULE.finding(
            Severity::Warning,
            format!(
                "{} goes through the LDS again {} after it came back{way}",
                it.shape,
                view::counted(it.between, "operation")
            ),
            "do the arithmetic before the first trip or after the second, so that one of them is left",
        )
        .with_cost(format!("{} bytes stored to the LDS and loaded again, and a barrier", it.bytes))
        .with_evidence("element-wise operations between the trips", it.between)
        .with_evidence("bytes of the second trip", it.bytes)
        .with_places([place(&it.second), place(&it.first)])
    });
    Outcome::from_findings(findings.collect())
}
