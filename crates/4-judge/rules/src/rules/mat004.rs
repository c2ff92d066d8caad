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
    page: include_str!("mat004.md"),
    checks: &[Check::Ir(check)],
    panels: &[10, 11],
};

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
