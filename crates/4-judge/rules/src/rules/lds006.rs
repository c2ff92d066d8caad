//! LDS006: results that change layout before they are stored.

use crate::ir::place;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use tritonir::KernelIr;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "LDS006",
    title: "the epilogue converts results through the LDS",
    severity: Severity::Warning,
    page: include_str!("lds006.md"),
    checks: &[Check::Ir(check)],
    panels: &[12],
};

fn check(ir: &KernelIr, _: &KernelEvidence<'_>) -> Outcome {
    let stored = ir.conversions.iter().filter(|it| {
        it.from_mfma && it.exchange.through_lds() && it.feeds_store == Some(tritonir::Sink::Store)
    });
    let findings = stored.map(|it| {
        let bytes = match it.exchange {
            tritonir::Exchange::Lds(Some(bytes)) => format!("{bytes} bytes"),
            _ => "unknown".to_owned(),
        };
        RULE.finding(
            Severity::Warning,
            format!(
                "the {} result is converted to {} through the LDS before it is stored",
                it.shape, it.kinds.1
            ),
            "set `OPTIMIZE_EPILOGUE=1`, or store the result before it is used in another layout",
        )
        .with_cost("a store to the LDS, a barrier and a load of the whole tile")
        .with_evidence("LDS of the conversion", bytes)
        .with_places([place(&it.at)])
    });
    Outcome::from_findings(findings.collect())
}
