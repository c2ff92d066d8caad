//! MEM006: loads in a loop behind a branch on the EXEC mask.
//!
//! A block with only loads and their address computation is a predicate, not work.

use crate::access::{self, is_global};
use crate::gain::Executed;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use isa::{Access, Class};
use std::collections::BTreeMap;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "MEM006",
    title: "loads in a loop predicated by branches",
    severity: Severity::Warning,
    page: include_str!("mem006.md"),
    checks: &[Check::Code(check)],
    panels: &[16, 17],
};

/// Vector instructions per load that still count as address arithmetic.
const ADDRESS_WORK: u32 = 8;
/// Scalar instructions of one test: save, branch, restore.
const TEST_INSTRUCTIONS: usize = 3;

/// Cycles between two instructions of a wave.
const ISSUE_CYCLES: f64 = 4.0;
/// Part of the kernel's time from which on tests and the loads that wait behind them are worth acting on.
const WORTH: f64 = 0.125;

const ADVICE: &str =
    "use buffer loads, which return zero out of bounds, or clamp the index and select the value";
/// Triton chooses the instructions itself.
const ADVICE_TRITON: &str =
    "give full blocks a loop without a mask and mask the last block only, or pad the data to whole blocks";

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let cfg = &evidence.cfg;
    let mut found: BTreeMap<u32, (usize, Vec<u32>)> = BTreeMap::new();
    for (block, number) in cfg.blocks.iter().zip(0u32..) {
        let Some(id) = block.innermost else { continue };
        let [pred] = cfg.preds(number) else { continue };
        let [next] = cfg.succs(number) else { continue };
        let branches = cfg.succs(*pred);
        let before = &cfg.blocks[*pred as usize];
        if before.innermost != Some(id)
            || branches.len() != 2
            || !branches.contains(next)
            || before.insts.is_empty()
        {
            continue;
        }
        let branch = &evidence.insts[before.insts.end as usize - 1];
        if branch.op.info().name != "s_cbranch_execz" {
            continue;
        }
        if let Some(loads) = only_loads(evidence, block.insts.clone()) {
            let (blocks, all) = found.entry(id).or_default();
            *blocks += 1;
            all.extend(loads);
        }
    }
    if found.is_empty() {
        return Outcome::Silent;
    }
    let executed = Executed::of(evidence);
    let advice = if evidence.is_triton() { ADVICE_TRITON } else { ADVICE };
    let findings = found.into_iter().map(|(id, (blocks, loads))| {
        let total = cfg.loop_own_insts(id).count();
        let cycles = (blocks * TEST_INSTRUCTIONS) as f64 * ISSUE_CYCLES;
        let mut part = executed.cycles(Some(id), cycles);
        if is_awaited_between(evidence, &loads) {
            part += executed.accesses(Some(id), loads.len() as f64);
        }
        let is_rest = has_unguarded_twin(evidence, id, &loads);
        let severity =
            if blocks >= 2 && part >= WORTH && !is_rest { Severity::Warning } else { Severity::Info };
        RULE.finding(
            severity,
            format!(
                "{} per iteration behind {} on the EXEC mask",
                view::counted(loads.len(), "load"),
                view::counted(blocks, "branch")
            ),
            advice,
        )
        .with_cost(format!("{} of {total} instructions per iteration", blocks * TEST_INSTRUCTIONS))
        .with_evidence("predicated blocks", blocks)
        .with_evidence("loads in them", loads.len())
        .with_places(access::places(evidence, loads))
    });
    Outcome::from_findings(findings.collect())
}

/// True if a wait for vector memory is between the first of the loads and the last.
fn is_awaited_between(evidence: &KernelEvidence<'_>, loads: &[u32]) -> bool {
    let (Some(first), Some(last)) = (loads.iter().min(), loads.iter().max()) else { return false };
    let between = &evidence.insts[*first as usize..*last as usize];
    between.iter().any(|inst| crate::waits::wait(inst).is_some_and(|wait| wait.vector.is_some()))
}

/// A block of the same loop loads as much without a test and is run instead: the tests are for the last,
/// partly filled piece.
fn has_unguarded_twin(evidence: &KernelEvidence<'_>, id: u32, loads: &[u32]) -> bool {
    let cfg = &evidence.cfg;
    let Some(&first) = loads.iter().min() else { return false };
    let guarded = cfg.block_of(first);
    let [test] = *cfg.preds(guarded) else { return false };
    let mut others = cfg.loop_own_blocks(id).filter(|other| {
        !loads.iter().any(|at| cfg.block_of(*at) == *other)
            && !cfg.dominates(*other, test)
            && !cfg.dominates(test, *other)
    });
    others.any(|other| {
        let insts = cfg.blocks[other as usize].insts.clone();
        let plain = evidence
            .memory_in(insts)
            .iter()
            .filter(|at| is_global(evidence, &evidence.insts[**at as usize], Access::Load));
        plain.count() >= loads.len()
    })
}

/// The loads of a block that holds nothing else than them and their addresses.
fn only_loads(evidence: &KernelEvidence<'_>, insts: std::ops::Range<u32>) -> Option<Vec<u32>> {
    let mut loads = Vec::new();
    let mut work = 0;
    for at in insts {
        let inst = &evidence.insts[at as usize];
        match inst.class() {
            Class::VmemLoad if is_global(evidence, inst, Access::Load) => loads.push(at),
            Class::Valu => work += 1,
            Class::Salu | Class::Branch | Class::Control => {}
            Class::Wait if crate::waits::wait(inst).is_some_and(|wait| wait.vector.is_none()) => {}
            _ => return None,
        }
    }
    let few = work <= ADDRESS_WORK * loads.len() as u32;
    (!loads.is_empty() && few).then_some(loads)
}
