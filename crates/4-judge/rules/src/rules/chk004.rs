//! CHK004: a wave accesses LDS before waiting for its own LDS-DMA load to it.
//!
//! Only `s_waitcnt vmcnt(n)` orders a load into the LDS before accesses of the same wave.

use crate::execution::{ExecutionEvidence, who};
use crate::{Check, Rule};
use probe::Wrong;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "CHK004",
    title: "load into the LDS that is not waited for",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Execution(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires in an emulated run with `--check races` when a wave reads or writes bytes of the LDS that a load of its own straight into
the LDS (`global_load_lds_*`, `buffer_load_* … lds`) writes, and no `s_waitcnt vmcnt(n)` between the two covers the load.

## Why it is slow
It is not slow but wrong: the data arrives some hundred cycles after the load issues, or later under load. Until then the LDS holds
what was there before. Waiting for `lgkmcnt` does not help: such loads count as vector memory.

## Evidence
Every load of the run, by wave, with its number among the vector memory instructions that the wave has issued: a wait for
`vmcnt(n)` covers all but the last n, stores, atomics and `buffer_wbl2` counted in. At most 63 are outstanding; a load with more behind
it is done. Other waves that touch the bytes too early are reported as CHK001.

The emulator writes the LDS as late as the wait allows, after all other waves of the workgroup had a turn, so a missing wait
also shows in the result.

## What to do
Put `s_waitcnt vmcnt(n)` before the access, n the number of vector memory instructions that the wave issued after the load; mind
those of the last iterations, which may issue fewer. Compilers insert the wait for `__builtin_amdgcn_global_load_lds` where
they see which LDS is read; they do not for inline assembly, nor where the LDS is addressed through integers.

## Source
CDNA3 instruction set architecture, data dependency resolution: `VM_CNT`; LLVM AMDGPU backend, insertion of waits.
";

fn check(evidence: &ExecutionEvidence<'_>) -> Vec<Finding> {
    evidence
        .conflicts(&[Wrong::NotWaited])
        .into_iter()
        .map(|it| {
            let (load, verb) = (evidence.verb(it.first), evidence.verb(it.second));
            RULE.finding(
                Severity::Severe,
                format!(
                    "wave {} does not wait for a {load} before a {verb} at offset {:#x}",
                    it.second.wave, it.address
                ),
                "put `s_waitcnt vmcnt(n)` between, n the vector memory instructions issued after the load",
            )
            .with_evidence("the load", format!("{load} by {}", who(it.first)))
            .with_evidence("the access", format!("{verb} by {}", who(it.second)))
            .with_evidence("times seen, by lane and dword", it.times)
            .with_places([evidence.place(it.first), evidence.place(it.second)])
        })
        .collect()
}
