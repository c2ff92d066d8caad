//! MEM007: 16-byte loads that could be issued together and are not.
//!
//! Loads of one array form a clause only if no other instruction is between them.

use crate::access::{self, WIDEST, is_global, memory_access};
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use isa::{Access, Class, Inst, Operand, RegRange, RegSet};
use std::collections::BTreeMap;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "MEM007",
    title: "16-byte loads of one array interrupted by other instructions",
    severity: Severity::Info,
    page: include_str!("mem007.md"),
    checks: &[Check::Code(check)],
    panels: &[16, 17],
};

/// Fewest interrupted loads to report.
const LEAST: usize = 2;
/// Loads one clause holds.
const CLAUSE: usize = 4;
/// Vector instructions between two loads from which the distance looks intended: overlap, not interruption.
const INTENDED: usize = 4;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let cfg = &evidence.cfg;
    let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for block in &cfg.blocks {
        let Some(id) = block.innermost else { continue };
        let range = block.insts.clone();
        let wide = |at: &u32| is_wide_load(evidence, &evidence.insts[*at as usize]);
        let mut loads = evidence.memory_in(range).iter().copied().filter(wide);
        let Some(mut before) = loads.next() else { continue };
        let mut run = 1;
        for at in loads {
            if run < CLAUSE && is_interrupted(evidence, before, at) {
                found.entry(id).or_default().push(at);
            }
            run = if run < CLAUSE { run + 1 } else { 1 };
            before = at;
        }
    }
    let findings = found.into_iter().filter_map(|(id, insts)| {
        let own = cfg.loop_own_insts(id);
        let wide = own.filter(|at| is_wide_load(evidence, &evidence.insts[*at as usize])).count();
        if insts.len() < LEAST || insts.len() * 4 < wide {
            return None;
        }
        Some(RULE.finding(
            Severity::Info,
            format!(
                "{} of {wide} 16-byte loads per iteration are separated from the load before by instructions that can move",
                insts.len()
            ),
            "issue the loads of one array back to back, up to four at a time",
        )
        .with_evidence("interrupted loads", insts.len())
        .with_evidence("16-byte loads", wide)
        .with_places(access::places(evidence, insts)))
    });
    Outcome::from_findings(findings.collect())
}

fn is_wide_load(evidence: &KernelEvidence<'_>, inst: &Inst) -> bool {
    is_global(evidence, inst, Access::Load)
        && inst.mem().is_some_and(|mem| u32::from(mem.bytes) * u32::from(mem.elements) == WIDEST)
}

/// True if `later` could directly follow `earlier` and does not.
fn is_interrupted(evidence: &KernelEvidence<'_>, earlier: u32, later: u32) -> bool {
    let between = &evidence.insts[earlier as usize + 1..later as usize];
    let vector = between.iter().filter(|inst| matches!(inst.class(), Class::Valu | Class::Lds)).count();
    let movable = between.iter().all(|inst| matches!(inst.class(), Class::Valu | Class::Lds | Class::Salu));
    if vector == 0 || vector >= INTENDED || !movable {
        return false;
    }
    let load = &evidence.insts[later as usize];
    let (mut address, mut result) = (RegSet::default(), RegSet::default());
    load.visit_reads(|range| address.insert(range));
    load.visit_writes(|range| result.insert(range));
    let free = between.iter().all(|inst| {
        let mut touches = false;
        inst.visit_writes(|range| touches |= address.touches(range) || result.touches(range));
        inst.visit_reads(|range: RegRange| touches |= result.touches(range));
        !touches
    });
    if !free {
        return false;
    }
    let addresses = evidence.addresses();
    let accesses = [earlier, later].map(|at| memory_access(evidence, addresses, at));
    match accesses {
        [Some(a), Some(b)] => a.address.group() == b.address.group(),
        _ => same_operands(&evidence.insts[earlier as usize], load),
    }
}

/// Both loads name the same address registers.
fn same_operands(a: &Inst, b: &Inst) -> bool {
    let address = |inst: &Inst| -> Vec<Operand> { inst.operands().iter().skip(1).copied().collect() };
    address(a) == address(b)
}
