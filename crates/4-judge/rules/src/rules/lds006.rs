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
    page: PAGE,
    checks: &[Check::Ir(check)],
    panels: &[12],
};

const PAGE: &str = r"## What it does
Fires where the result of matrix instructions goes through the LDS only to be stored in another layout.

Silent where the result goes to an atomic, for which the switch does not work, and where the conversion moves nothing between waves.

## Why it is slow
The conversion stores and loads the whole result tile, padded against bank conflicts: LDS that counts for the occupancy of the
whole kernel, and time at its end. Stores from the layout of the matrix instructions are narrower, which costs less.

## Evidence
The conversion with its bytes, and the store that its value goes to.

## What to do
Set `OPTIMIZE_EPILOGUE=1` for compilers that know it (Triton up to 3.4 for AMD); newer ones store from the matrix layout by themselves,
unless the tile is used in another layout too: then convert after the store.

## Source
The ROCm Triton kernel guide: `OPTIMIZE_EPILOGUE=1` removes the `convert_layout` of the epilogue, except before `tt.atomic_add`.
";

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
