//! TIL006: pipeline stages that spill.
//!
//! Each stage holds the loads of one more iteration in registers.

use crate::sites::Sites;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TIL006",
    title: "software pipelining spills registers",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Code(check)],
    panels: &[11],
};

const PAGE: &str = r"## What it does
Fires on a Triton kernel compiled with more than one pipeline stage (`num_stages` in the JSON beside the code object) that
spills vector registers, or keeps data in scratch memory that its loop touches.

## Why it is slow
Loads go to registers, not to LDS directly: every further stage keeps the tiles of one more iteration in flight
in registers. When they no longer fit, the compiler stores them to scratch memory and loads them back, and the latency that
pipelining should hide returns as spill traffic.

## Evidence
`num_stages` from the companion file, spills and scratch size from the metadata, scratch accesses in the code.

## What to do
Lower `num_stages` by one and compare. Stages by kind of kernel: 2 for a GEMM that loads directly, 3 where
loads go through loaded indices, 1 for compute-bound fused kernels (attention prefill), 2 for memory-bound fused ones, 1
where there is no loop to pipeline. Smaller tiles or more warps also make room.

## Source
The ROCm MI300X workload guide and ROCm Triton wiki (stages by kind of kernel; registers are the destination of loads, so more stages
may spill; with spills, do not pipeline), the ROCm Triton kernel guide (the values for an older compiler).
";

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let Some(stages) = evidence.kernel.metadata.num_stages else {
        return Outcome::needs("`num_stages` of Triton's JSON file");
    };
    let resources = &evidence.resources;
    let spills = resources.vgpr_spills.unwrap_or(0);
    if stages < 2 || (spills == 0 && resources.scratch_bytes.unwrap_or(0) == 0) {
        return Outcome::Silent;
    }
    let sites = Sites::scratch(evidence);
    if spills == 0 && sites.in_loops() == 0 {
        return Outcome::Silent;
    }
    let scratch = resources.scratch_bytes.unwrap_or(0);
    let mut finding = RULE
        .finding(
            Severity::Warning,
            format!(
                "{stages} pipeline stages and {} spilled ({scratch} bytes of scratch per lane)",
                counted(spills, "VGPR")
            ),
            format!("try `num_stages={}`, smaller tiles or more warps, until nothing spills", stages - 1),
        )
        .with_evidence("num_stages", stages)
        .with_evidence("VGPR spills", spills)
        .with_evidence("scratch per lane", format!("{scratch} bytes"))
        .with_places(sites.places(evidence));
    if let Some(hot) = sites.hottest {
        finding = finding.with_cost(format!("{} access scratch", hot.per_iteration()));
    }
    Outcome::Findings(vec![finding])
}
