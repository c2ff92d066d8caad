//! LDS003: lanes that queue for one address.

use crate::access::places;
use crate::ir::place;
use crate::lanes::only_the_end_is_off;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use analysis::affine::LANES;
use isa::{Access, Space};
use tritonir::KernelIr;
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "LDS003",
    title: "atomics of one wave to one address",
    severity: Severity::Warning,
    page: include_str!("lds003.md"),
    checks: &[Check::Ir(check), Check::Code(check_code)],
    panels: &[12],
};

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

fn check_code(evidence: &KernelEvidence<'_>) -> Outcome {
    // A kernel that never reads its work-item id does the same work in each work-item: it is launched with
    // one.
    let asks = evidence.live.before.first().is_none_or(|live| live.vectors() > 0);
    if evidence.resources.max_workgroup == Some(1) || !asks {
        return Outcome::Silent;
    }
    let is_atomic = |at: &u32| {
        evidence.insts[*at as usize].mem().is_some_and(|mem| {
            mem.access == Access::Atomic
                && matches!(mem.space, Space::Global | Space::Buffer | Space::Lds | Space::Flat)
        })
    };
    let mut slow: Vec<u32> = evidence.memory.iter().copied().filter(is_atomic).collect();
    if slow.is_empty() {
        return Outcome::Silent;
    }
    let addresses = evidence.addresses();
    slow.retain(|at| {
        let Some(access) = addresses.of(*at).filter(|access| addresses.is_uniform(access)) else {
            return false;
        };
        if is_for_one_lane(evidence, *at) {
            return false;
        }
        // What a compare-and-swap under a condition does is often a lock, or another lane's turn.
        access.has_all_lanes()
            || (!evidence.insts[*at as usize].op.info().name.contains("swap")
                && only_the_end_is_off(evidence, *at))
    });
    if slow.is_empty() {
        return Outcome::Silent;
    }
    Outcome::Findings(vec![
        RULE.finding(
            Severity::Warning,
            format!("{} by all lanes of a wave to one address", counted(slow.len(), "atomic")),
            "reduce in the wave or the workgroup first and do one atomic with the result",
        )
        .with_cost(format!("{LANES} accesses one after the other where 1 would do"))
        .with_evidence("atomics whose lanes form one address", slow.len())
        .with_places(places(evidence, slow)),
    ])
}

/// Number of conditions before an access that are checked.
const CONDITIONS: usize = 3;
/// Instructions from the number of a lane to the branch on it.
const NEAR: usize = 8;

/// A branch leads there that was made from the number of the lane among the active ones: the compiler has
/// chosen one.
fn is_for_one_lane(evidence: &KernelEvidence<'_>, at: u32) -> bool {
    let cfg = &evidence.cfg;
    let mut block = cfg.block_of(at);
    for _ in 0..CONDITIONS {
        let [before] = *cfg.preds(block) else { return false };
        let insts = &evidence.insts[cfg.blocks[before as usize].insts.start as usize..];
        let length = cfg.blocks[before as usize].insts.len();
        let end = &insts[length.saturating_sub(NEAR)..length];
        if cfg.succs(before).len() > 1 && end.iter().any(|inst| inst.op.info().name.starts_with("v_mbcnt_hi"))
        {
            return true;
        }
        block = before;
    }
    false
}
