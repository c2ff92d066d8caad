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
    page: PAGE,
    checks: &[Check::Ir(check)],
    panels: &[12],
};

const PAGE: &str = r"## What it does
Fires on a `tl.trans` of a loaded tensor whose result is converted through the LDS, and from which a factor of a matrix product is computed.

Silent where the transpose is absorbed: of a buffer that is in the LDS anyway, or straight into a matrix product, where only addresses
change. Silent also where no product follows: something has to exchange rows and columns, and the LDS is the right place for it.

## Why it is slow
The factor goes through the LDS for the product anyway. The transposed layout does not suit the arithmetic before it, so the compiler stores the tile to
the LDS once more, element by element, and loads it back.

## Evidence
The transpose, what it is of, how the conversion after it is carried out, and the product that it leads to.

## What to do
Load the tile transposed: swap the two strides and the two ranges of the pointers; the arithmetic then has the layout of the load. Or do the arithmetic
before the transpose, and leave that to the product.

## Source
The ROCm Triton wiki: transposes can sometimes be absorbed into layout conversions; in general they should be avoided in user code.
";

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
