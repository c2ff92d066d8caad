//! TIL007: loops that are not pipelined.

use crate::ir::place;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use tritonir::KernelIr;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TIL007",
    title: "a loop loads without prefetching",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Ir(check)],
    panels: &[11],
};

const PAGE: &str = r"## What it does
Fires on a loop of Triton's IR that loads tiles from global memory and uses each in the iteration that loads it: element-wise
loops, and loops of a single matrix product.

Silent: loops without loads, loads that are ahead, loops of fused products (attention), for which one stage is the advice, and loops
of one or two iterations.

## Why it is slow
Every iteration waits for its own loads. With a stage of prefetching the loads of the next iteration are under way while this one
computes.

## Evidence
For each load, the iterations between it and its use, followed through registers and LDS buffers of the IR.

## What to do
Element-wise loops: write `tl.range(…, num_stages=2)`; `num_stages` of the kernel does not reach them. Only the innermost loop is
pipelined, so make the loop with the loads the inner one. Matrix products: `num_stages=2`. Where it is set and nothing is ahead, the
loads are too narrow to be pipelined: alignment is not known, so declare it (`tl.multiple_of`, arguments divisible by 16).

## Source
The ROCm Triton wiki: software pipelining of GEMM and of element-wise kernels.
";

/// Loops of fewer iterations have nothing to fetch ahead.
const FEW: i64 = 3;

fn check(ir: &KernelIr, _: &KernelEvidence<'_>) -> Outcome {
    if ir.form != tritonir::Form::Ttgir || ir.dots.iter().any(|it| it.of_product) {
        return Outcome::Silent;
    }
    let findings = ir.loops.iter().enumerate().filter_map(|(at, found)| {
        let late: Vec<_> = found.loads.iter().filter(|it| it.distance() == Some(0)).collect();
        if late.is_empty() || late.len() < found.loads.len() || found.trips().is_some_and(|it| it < FEW) {
            return None;
        }
        let narrow = ir.accesses.iter().filter(|it| it.at.in_loop == Some(at)).filter_map(|it| it.width).min();
        let advice = if found.has_inner {
            "only innermost loops are pipelined: make the loop with the loads the inner one".to_owned()
        } else if found.dots == 0 {
            "write the loop with `tl.range(…, num_stages=2)`".to_owned()
        } else if let Some(width) = narrow.filter(|it| *it < 4) {
            format!("loads of {width} bytes per lane are not pipelined: tell the compiler the alignment (`tl.multiple_of`, arguments divisible by 16)")
        } else {
            "set `num_stages=2`".to_owned()
        };
        Some(
            RULE.finding(
                Severity::Warning,
                format!("loop {} waits for its own {} in every iteration", at + 1, view::counted(late.len() as u32, "load")),
                advice,
            )
            .with_evidence("loads used in the iteration that loads them", format!("{} of {}", late.len(), found.loads.len()))
            .with_places(std::iter::once(&found.at).chain(late.iter().map(|it| &it.at)).map(place)),
        )
    });
    Outcome::from_findings(findings.collect())
}
