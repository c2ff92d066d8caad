//! MEM004: `flat_` instructions in a kernel that uses only global memory.
//!
//! Without LDS and scratch a generic address can only be global.

use crate::gain::Executed;
use crate::{Check, Outcome, Rule, access, gain};
use analysis::KernelEvidence;
use isa::{Access, Class, Operand, RegFile, Space};
use sorting::Sort;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "MEM004",
    title: "flat_ instructions where only global memory exists",
    severity: Severity::Warning,
    page: include_str!("mem004.md"),
    checks: &[Check::Code(check)],
    panels: &[16, 17],
};

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let mut flat: Vec<u32> = Vec::new();
    for &at in &evidence.memory {
        match evidence.insts[at as usize].mem().map(|mem| mem.space) {
            Some(Space::Flat) => flat.push(at),
            Some(Space::Lds | Space::Scratch) => return Outcome::Silent,
            _ => {}
        }
    }
    if flat.is_empty()
        || !evidence.calls.is_empty()
        || evidence.insts.iter().any(|inst| reads_aperture(inst.operands()))
    {
        return Outcome::Silent;
    }
    let resources = &evidence.resources;
    let (Some(lds), Some(scratch)) = (resources.lds_bytes, resources.scratch_bytes) else {
        return Outcome::needs("the LDS and scratch sizes");
    };
    if lds > 0
        || scratch > 0
        || resources.launch_lds_bytes.is_some_and(|bytes| bytes > 0)
        || resources.dynamic_stack
    {
        return Outcome::Silent;
    }
    let vector = evidence
        .insts
        .iter()
        .filter(|inst| matches!(inst.class(), Class::VmemLoad | Class::VmemStore | Class::VmemAtomic));
    let all = vector.count();
    let depth = |at: &u32| evidence.cfg.depth_of(*at);
    let in_loops = flat.iter().filter(|at| depth(at) > 0).count();
    // The deepest first; code order among equals.
    flat.in_order_by_key(|at| std::cmp::Reverse(depth(at)));
    let deepest = flat.first().and_then(|at| evidence.cfg.loop_of(*at));
    let there = flat.iter().filter(|at| evidence.cfg.loop_of(**at) == deepest).count();
    // Nothing waits for a store, so only the path it takes is lost.
    let is_awaited =
        |at: &&u32| evidence.insts[**at as usize].mem().is_some_and(|mem| mem.access != Access::Store);
    let severity = if flat.iter().filter(is_awaited).any(|at| depth(at) > 0) {
        gain::severity(Executed::of(evidence).accesses(deepest, there as f64))
    } else {
        Severity::Info
    };
    Outcome::Findings(vec![
        RULE.finding(
            severity,
            format!(
                "{} of {all} vector memory instructions are `flat_`, {in_loops} of them in loops, and the kernel has neither LDS nor scratch",
                flat.len()
            ),
            "pass the pointers as kernel arguments or in by-value structures, or cast them to the global address space where they are loaded from memory",
        )
        .with_evidence("flat instructions", flat.len())
        .with_evidence("LDS", format!("{lds} bytes"))
        .with_evidence("scratch", format!("{scratch} bytes per lane"))
        .with_places(access::places(evidence, flat)),
    ])
}

/// True if an operand is an LDS or scratch aperture register.
fn reads_aperture(operands: &[Operand]) -> bool {
    operands.iter().any(|operand| {
        matches!(operand, Operand::Reg(range) if matches!(
            range.file,
            RegFile::SrcSharedBase | RegFile::SrcSharedLimit | RegFile::SrcPrivateBase | RegFile::SrcPrivateLimit
        ))
    })
}
