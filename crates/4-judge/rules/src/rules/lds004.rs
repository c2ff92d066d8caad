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
    page: PAGE,
    checks: &[Check::Ir(check)],
    panels: &[12],
};

const PAGE: &str = r"## What it does
Fires where Triton's IR takes a value through the LDS, changes it element by element at most, and takes it through the LDS
again: twice `convert_layout`, or a conversion and a buffer that a matrix product reads.

A matrix product or a reduction between the two makes new values, so that is silent. Conversions within lanes or waves do not count.

## Why it is slow
Each trip is a store, a barrier and a load. Arithmetic on single elements is the same in every layout, so it can be done before the
first trip or after the second, and one of them is left.

## Evidence
Both places with the operations between them, the shape and the bytes of the second trip.

## What to do
Do the arithmetic in the layout the data is loaded in, or after the last conversion: load in the shape the product needs, convert types or
unpack before a transpose, drop a `tl.trans` by swapping the strides of the load.

## Source
The ROCm MI300X workload guide, ROCm Triton kernel guide and ROCm Triton wiki: an int4 kernel whose IR uses the LDS once for a transpose and once for
the dot operand.
";

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
