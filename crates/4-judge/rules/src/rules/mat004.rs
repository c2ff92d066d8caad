//! MAT004: `kpack` of a GEMM.

use crate::ir::place;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use tritonir::KernelIr;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "MAT004",
    title: "factors are read from the LDS by halves",
    severity: Severity::Info,
    page: PAGE,
    checks: &[Check::Ir(check)],
    panels: &[10, 11],
};

const PAGE: &str = r"## What it does
Fires on a kernel of one matrix product for CDNA3 whose factors come from the LDS 8 bytes per lane: `kpack=1`, Triton's default.

Silent: fused kernels, kernels that spill already, kernels with `kpack=2` (16 bytes), and CDNA4, where the compiler ignores `kpack`.

## Why it is slow
A lane reads the elements of one matrix instruction at a time. With `kpack=2` it reads those of two in one access: half as many LDS
instructions for the same bytes.

## Evidence
Elements that lie beside each other along K in the layout of each factor, and their size.

## What to do
Try `kpack=2` for the GEMM and leave it unset for other kernels. More registers are live; check that nothing spills.

## Source
The ROCm Triton wiki: `kpack` should be 2 for GEMMs and unset for other kernels.
";

/// Bytes of a factor that one access can read per lane.
const WIDEST: u32 = 16;

fn check(ir: &KernelIr, evidence: &KernelEvidence<'_>) -> Outcome {
    if evidence.resources.scratch_bytes.is_some_and(|bytes| bytes > 0) {
        return Outcome::Silent;
    }
    let in_loops: Vec<_> = ir.dots.iter().filter(|it| it.at.in_loop.is_some()).collect();
    let [dot] = in_loops.as_slice() else { return Outcome::Silent };
    let cdna3 = dot.instruction.as_ref().is_some_and(|it| it.version == 3);
    let bytes = |at: usize| {
        let bits = tritonir::Element { name: dot.elements[at].clone(), pointer: false }.bits()?;
        Some(dot.k_width[at] * bits / 8)
    };
    let (Some(left), Some(right)) = (bytes(0), bytes(1)) else { return Outcome::Silent };
    if !cdna3 || !dot.from_lds || dot.of_product || left.max(right) * 2 != WIDEST {
        return Outcome::Silent;
    }
    Outcome::Findings(vec![
        RULE.finding(
            Severity::Info,
            format!("the factors of the product are read {left} bytes per lane, {} along K", dot.k_width[0]),
            "try `kpack=2` and check that nothing spills",
        )
        .with_cost("two LDS loads where one of 16 bytes would do")
        .with_evidence("kWidth", dot.k_width[0])
        .with_places([place(&dot.at)]),
    ])
}
