//! MEM009: bytes in flight of element-wise kernels.

use crate::ir::place;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use tritonir::KernelIr;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "MEM009",
    title: "an element-wise kernel has few loads in flight",
    severity: Severity::Warning,
    page: include_str!("mem009.md"),
    checks: &[Check::Ir(check)],
    panels: &[16, 17],
};

/// Bytes in flight that keep memory busy.
const ENOUGH: u64 = 16 << 10;

fn check(ir: &KernelIr, evidence: &KernelEvidence<'_>) -> Outcome {
    let Some(occupancy) = &evidence.occupancy else {
        return Outcome::Silent;
    };
    if !ir.dots.is_empty() || ir.form != tritonir::Form::Ttgir {
        return Outcome::Silent;
    }
    let loads: Vec<_> =
        ir.accesses.iter().filter(|it| it.direction == tritonir::Direction::Load && it.bytes > 64).collect();
    let deepest = loads
        .iter()
        .filter_map(|it| it.at.in_loop)
        .max_by_key(|at| ir.loops.get(*at).map_or(0, |it| it.depth));
    let of: Vec<_> = loads.iter().filter(|it| it.at.in_loop == deepest).collect();
    let bytes: u64 = of.iter().map(|it| it.bytes).sum();
    let workgroups = u64::from(occupancy.workgroups_per_cu);
    let ahead = deepest.and_then(|at| ir.loops.get(at)?.prefetch()).unwrap_or(0);
    let flying = bytes * workgroups * u64::from(ahead.max(1));
    if of.is_empty() || flying >= ENOUGH || workgroups == 0 {
        return Outcome::Silent;
    }
    Outcome::Findings(vec![
        RULE.finding(
            Severity::Warning,
            format!(
                "{flying} bytes of loads are under way on a compute unit: {bytes} of each of {}",
                view::counted(occupancy.workgroups_per_cu, "workgroup")
            ),
            format!(
                "load {} times as much at a time: a larger `BLOCK_SIZE`, or prefetching",
                ENOUGH.div_ceil(flying.max(1))
            ),
        )
        .with_evidence("bytes loaded at a time by a workgroup", bytes)
        .with_evidence("workgroups per compute unit", workgroups)
        .with_places(of.iter().map(|it| place(&it.at))),
    ])
}
