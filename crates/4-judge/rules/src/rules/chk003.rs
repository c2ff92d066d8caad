//! CHK003: read of uninitialised LDS.
//!
//! The LDS of a workgroup initially holds data of the previous workgroup.

use crate::execution::{ExecutionEvidence, who};
use crate::{Check, Rule};
use probe::Wrong;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "CHK003",
    title: "LDS read that was never written",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Execution(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires in an emulated run with `--check uninit` when a lane reads bytes of the LDS that no lane of its workgroup has written
before.

## Why it is slow
It is not slow but wrong: the LDS is not cleared. It holds what an earlier workgroup of this or another program left there, so the
result changes from run to run. The emulator gives zeros, which hides the mistake.

## Evidence
Every LDS access of the run, byte by byte; an atomic reads and writes. A load straight into the LDS (`global_load_lds_*`)
counts as written when it issues; a read that comes before its data is a matter of `--check races` (CHK001, CHK004).

## What to do
Write all bytes that are read. In the last tile the lanes outside of the matrix skip the write: write zeros there instead of
nothing. Clear counters and sums with a loop over the whole array, and put `__syncthreads()` behind it.

## Source
HIP programming model: `__shared__` memory is not initialised.
";

fn check(evidence: &ExecutionEvidence<'_>) -> Vec<Finding> {
    evidence
        .conflicts(&[Wrong::Uninitialized])
        .map(|it| {
            let verb = evidence.verb(it.first);
            RULE.finding(
                Severity::Severe,
                format!(
                    "wave {} reads offset {:#x} of the LDS, which its workgroup has not written",
                    it.first.wave, it.address
                ),
                "write what is read, in the last tile too, and put `__syncthreads()` between",
            )
            .with_evidence("the access", format!("{verb} by {}", who(it.first)))
            .with_evidence("times seen, by lane and dword", it.times)
            .with_places([evidence.place(it.first)])
        })
        .collect()
}
