//! LDS003: lanes that queue for one address.

use crate::ir::place;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use tritonir::KernelIr;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "LDS003",
    title: "atomics of one wave to one address",
    severity: Severity::Warning,
    page: PAGE,
    check: Check::Ir(check),
};

const PAGE: &str = r"## What it does
Fires on an atomic of Triton's IR on a tensor of addresses that are all the same: one pointer, or one pointer and one offset,
splat to every element.

An atomic on a single pointer is silent: one lane of the workgroup does it. So is one on a tensor of different addresses.

## Why it is slow
Atomics of lanes to one address are done one after the other, in the L2 or in the LDS: 64 lanes take 64 turns where one
access would do, and every further wave queues behind them.

## Evidence
How the address of each `tt.atomic_rmw` is made, and the elements of the tensor.

## What to do
Reduce in the workgroup first (`tl.sum`, `tl.max`), and do one atomic on a single pointer with the result.

## Source
The IREE AMDGPU guide: accesses of all lanes to one bank become a loop of one lane at a time, which for atomics holds for one
address.
";

fn check(ir: &KernelIr, _: &KernelEvidence<'_>) -> Outcome {
    let slow = ir.atomics.iter().filter(|it| it.elements > 1 && it.one_address);
    let findings = slow.map(|it| {
        RULE.finding(
            Severity::Warning,
            format!("an atomic `{}` of {} elements to one address", it.operation, it.elements),
            "reduce the tensor first and do one atomic with the result",
        )
        .with_cost(format!("{} accesses one after the other where 1 would do", it.elements))
        .with_evidence("elements with the same address", it.elements)
        .with_places([place(&it.at)])
    });
    Outcome::from_findings(findings.collect())
}
