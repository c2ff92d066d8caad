//! CHK005: LDS access beyond the workgroup's allocation.
//!
//! The hardware does not report it; reads return 0 and writes are dropped.

use crate::execution::{ExecutionEvidence, who};
use crate::{Check, Rule};
use probe::Side;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "CHK005",
    title: "LDS access past the allocation",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Execution(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires in an emulated run with `--check`, whatever is looked for, when lanes load, store or update the LDS at an offset that is not below
what the kernel declares and the launch adds. Without `--check` a warning says the same once for each instruction, with the number of accesses.

It is no fault that ends the kernel, since a GPU goes on too: out of range, a read gives 0 and a write is dropped. A violation is reported only where
the register field `LDS_CONFIG.ADDR_OUT_OF_RANGE_REPORTING` is set, which a program cannot do. With `--check` the exit code is 2.

## Why it is slow
It is not slow but wrong: such reads give 0 and such writes vanish, on a GPU as here, and nothing tells the program. GPUs allocate the
LDS in blocks of 512 bytes or more, so an access that is only a little too far may seem to work there; here the LDS ends at the byte the launch asks for.

## Evidence
Every LDS access of the run. The first one in the order of workgroups is named; the others are counted, lane by lane.

## What to do
Compare the index with the size of the array: mind the padding of rows and the last element of a copy. With `extern __shared__` the size is
an argument of the launch: it has to cover all arrays that are cut from it, and it counts bytes.

## Source
AMD Instinct instruction set architecture guides, chapter on the local data share: out-of-range addresses.
";

fn check(evidence: &ExecutionEvidence<'_>) -> Vec<Finding> {
    let found = evidence.checked.outside.iter();
    found
        .map(|it| {
            let side =
                Side { index: it.index, workgroup: it.wave.workgroup, wave: it.wave.wave, lane: it.lane };
            let verb = evidence.verb(side);
            RULE.finding(
                Severity::Severe,
                format!(
                    "{verb} of {} bytes at offset {:#x} of an LDS of {} bytes",
                    it.bytes, it.offset, it.size
                ),
                "check the index, or make the LDS of the launch larger",
            )
            .with_evidence("the first access", format!("{verb} by {}", who(side)))
            .with_evidence("accesses of lanes past the end", it.times)
            .with_places([evidence.place(side)])
        })
        .collect()
}
