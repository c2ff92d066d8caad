//! MEM004: `flat_` instructions in a kernel that uses only global memory.
//!
//! Without LDS and scratch a generic address can only be global.

use crate::gain::Executed;
use crate::{Check, Outcome, Rule, access, gain};
use analysis::KernelEvidence;
use isa::{Access, Class, Operand, RegFile, Space};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "MEM004",
    title: "flat_ instructions where only global memory exists",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Code(check)],
    panels: &[16, 17],
};

const PAGE: &str = r"## What it does
Fires when a kernel uses `flat_` loads, stores or atomics although it allocates no LDS and no scratch, has no LDS
instruction, calls no function and never asks for the LDS or scratch address range. Its generic addresses can then only
be global, and `global_` instructions would do the same.

## Why it is slow
A `flat_` access finds out per lane at run time whether an address is LDS, scratch or global. It occupies the LDS path
as well as the memory path and counts on both wait counters, so every wait for it is a wait for all LDS and scalar
operations too, and results cannot be awaited in order. It has no scalar base register, so each address takes two vector
registers and a 64-bit addition.

## Evidence
The `flat_` instructions; LDS and scratch sizes of the code object; the absence of `ds_` instructions, calls and reads of
the aperture registers. It is a warning where those of the deepest loop that contains some are a twentieth of what the busiest of
vector units, memory path and LDS does for the kernel, loops taken to run 16 times; otherwise, outside loops, and
where all in loops are stores, for which nothing waits, it is for information.

## What to do
The compiler loses the address space of pointers that come from memory: tables of pointers, structures behind a
pointer, virtual calls, volatile accesses. Pass pointers as kernel arguments or inside by-value structures, or cast
where they are loaded: `(__attribute__((address_space(1))) T*)p`.

## Source
The IREE AMDGPU guide: `flat_` allows for local and global addresses alike, which makes it slower than the instruction of
the one address space.
";

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
    flat.sort_by_key(|at| std::cmp::Reverse(depth(at)));
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
