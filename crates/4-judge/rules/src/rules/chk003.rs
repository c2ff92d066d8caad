//! CHK003: read of memory that nothing has written.
//!
//! The LDS of a workgroup initially holds data of the previous workgroup, and new global memory whatever was there.

use crate::execution::{ExecutionEvidence, who};
use crate::{Check, Rule};
use probe::{Conflict, Wrong};
use view::{Finding, Severity, with_article};

pub(crate) const RULE: Rule = Rule {
    id: "CHK003",
    title: "read of memory that was never written",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Execution(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires in an emulated run with `--check uninit` when a lane reads bytes of the LDS that no lane of its workgroup has written
before, global memory that nothing has written since its allocation, or a part of a private array that it has not written itself.

## Why it is slow
It is not slow but wrong: none is cleared. The LDS holds what an earlier workgroup of this or another program left there, new memory
what its last owner left, and a private array what other waves left, so the result changes from run to run. Without `--check` the emulator gives zeros, which hides the mistake.

## Evidence
Every LDS access of the run, byte by byte; an atomic reads and writes. A load straight into the LDS (`global_load_lds_*`)
counts as written when it issues; a read that comes before its data is a matter of `--check races` (CHK001, CHK004).

Global memory is watched where it comes from `hipMalloc` and its relatives, or from `torch.empty`, `empty_like`, `new_empty`, `empty_strided` and
`empty_permuted` on the GPU. With `--check uninit` such memory begins with a pattern that depends on the place in it, up to 1 GiB of each allocation. A
lane that reads or atomically updates dwords that all still hold the pattern of their place reads what no kernel, copy or function of the
host has written. A dword that is written in part counts as written, as does an access with a written dword, so padding inside of a
structure is not reported, and neither is anything that a mask leaves out. Memory that the host shares (`hipHostMalloc`, `hipMallocManaged`) is not watched.

Private arrays are watched where a lane reads them by an address of its own: with an index that varies, or through a pointer. Reads at
a fixed offset are not, because compilers put registers away there and read them back in lanes that never had a value.

## What to do
Write all bytes that are read. In the last tile the lanes outside of the matrix skip the write: write zeros there instead of
nothing. Clear counters and sums: in the LDS with a loop over the whole array and `__syncthreads()` behind it, in memory with
`hipMemset` or `torch.zeros`. A kernel that adds to its output needs an output that was cleared.

## Source
HIP programming model: `__shared__` memory and the memory of `hipMalloc` are not initialised; PyTorch's documentation of `torch.empty`.
";

fn check(evidence: &ExecutionEvidence<'_>) -> Vec<Finding> {
    evidence
        .conflicts(&[Wrong::Uninitialized, Wrong::Unwritten, Wrong::Private])
        .into_iter()
        .map(|it| {
            let verb = evidence.verb(it.first);
            let (message, advice) = match it.wrong {
                Wrong::Unwritten => of_memory(evidence, &it),
                Wrong::Private => of_array(&it),
                _ => of_lds(evidence, &it),
            };
            RULE.finding(Severity::Severe, message, advice)
                .with_evidence("the access", format!("{verb} by {}", who(it.first)))
                .with_evidence("times seen, by lane and dword", it.times)
                .with_places([evidence.place(it.first)])
        })
        .collect()
}

fn of_lds(evidence: &ExecutionEvidence<'_>, it: &Conflict) -> (String, String) {
    (
        format!(
            "wave {} reads offset {:#x} of the LDS, which its workgroup has not written",
            it.first.wave, it.address
        ),
        format!("write what is read, in the last tile too, and put {} between", evidence.barrier(it.first)),
    )
}

fn of_array(it: &Conflict) -> (String, String) {
    (
        format!(
            "a lane reads offset {:#x} of its private memory, which it has not written: an element of a local array",
            it.address
        ),
        "give the array a value where it is declared, or read only elements that were written".to_owned(),
    )
}

fn of_memory(evidence: &ExecutionEvidence<'_>, it: &Conflict) -> (String, String) {
    let clear = if evidence.is_python(it.first) { "`torch.zeros`" } else { "`hipMemset`" };
    (
        format!(
            "{} finds {}, which nothing has written",
            with_article(evidence.verb(it.first)),
            evidence.global(it.address)
        ),
        format!("write what is read, or clear it first ({clear})"),
    )
}
