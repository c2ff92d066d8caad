//! RES001: registers spilled, or private memory in scratch.
//!
//! The one idea to keep in mind: the metadata says how much was spilled; only the instructions say how often
//! it is paid for.

use crate::{Outcome, Rule};
use analysis::KernelEvidence;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "RES001",
    title: "registers spilled, or private memory in scratch",
    severity: Severity::Severe,
    page: PAGE,
    check,
};

const PAGE: &str = r"## What it does
Fires when the compiler spilled vector or scalar registers, or when the kernel keeps private data in scratch memory.

## Why it is slow
Scratch is memory: each spilled register costs a store and a load per lane through the vector memory path, 256
bytes per wave and register, and waits like any other load.

## Evidence
The spill counts and the scratch size of the code object's metadata.

## What to do
Shorten live ranges: smaller tiles, less unrolling, fewer pipeline stages.

## Source
Seed documents 000, 001, 002 and 004: check the code object for spills first.
";

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let resources = &evidence.resources;
    let (Some(spills), Some(scratch)) = (resources.vgpr_spills, resources.scratch_bytes) else {
        return Outcome::needs("spill counts and the scratch size");
    };
    if spills == 0 && scratch == 0 {
        return Outcome::Silent;
    }
    Outcome::Findings(vec![
        RULE.finding(
            Severity::Warning,
            format!("{spills} VGPRs spilled, {scratch} bytes of scratch per lane"),
            "shorten live ranges: smaller tiles, less unrolling, fewer pipeline stages",
        )
        .with_evidence("VGPR spills", spills)
        .with_evidence("scratch per lane", format!("{scratch} bytes")),
    ])
}
