//! CHK001: waves of a workgroup race in the LDS.
//!
//! A race is the absence of a barrier between two accesses; the order in which they happened to run does not
//! matter.

use crate::execution::{ExecutionEvidence, INTO_LDS, who};
use crate::{Check, Rule};
use probe::Wrong;
use view::{Finding, Severity, with_article};

pub(crate) const RULE: Rule = Rule {
    id: "CHK001",
    title: "waves of a workgroup race in the LDS",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Execution(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires in an emulated run with `--check races` when two waves of a workgroup touch the same bytes of the LDS, at least one of
them writes, not both are atomic, and no barrier stands between the two accesses.

## Why it is slow
It is not slow but wrong: which access comes first depends on how the waves are scheduled. A kernel that gives the right
result today gives another one on another GPU, with another compiler, or under load. Lanes of one wave run in lockstep and are
not compared.

## Evidence
Every access of the run, by wave and lane. Two accesses are ordered by a barrier that all waves of the workgroup pass, or by an
atomic that the first wave makes after its access and the second one made on the same address before its own. The order in
which the emulator runs waves plays no part, so a race is found in any run whose accesses meet, also when the result is right.

Only read-modify-writes count as atomic here: atomic loads and stores of the LDS look like any other in the code, so a wave that
waits for another one's flag in the LDS is reported.

A load straight into the LDS (`global_load_lds_*`, `buffer_load_* … lds`) may write at any time between its issue and the
`s_waitcnt vmcnt(n)` of its wave that covers it. So an access of another wave is ordered behind it by a wait and then a barrier,
a barrier alone does not do, and before it by a barrier ahead of the issue. A kernel that counts on the latency of the load is
reported, though its result is right as long as waves do not lie further apart than a load takes.

Each dword remembers one writer and three readers; where waves own single bytes of one dword a race can be missed. One store or
load into the LDS by which several waves of a workgroup write the same place is taken for the same value, since compilers
replicate data among waves.

## What to do
Put `__syncthreads()` between the two places, also between a read and the write of the next iteration: a loop that refills a
tile needs a barrier before the refill and one after it. Where lanes add up in one place, use atomics. When both places belong to
one wave by design, index the LDS by the wave so that no other wave meets it.

For a load into the LDS: `s_waitcnt vmcnt(n)` in the wave that loads, then the barrier, then the reads; and a barrier between the
reads of a buffer and the next load into it, or one buffer more.

## Source
HIP programming model: memory of a workgroup is consistent between waves at `__syncthreads()` only; the LLVM AMDGPU memory model.
";

fn check(evidence: &ExecutionEvidence<'_>) -> Vec<Finding> {
    evidence
        .conflicts(&[Wrong::LdsRace])
        .into_iter()
        .map(|it| {
            let (first, second) = (evidence.verb(it.first), evidence.verb(it.second));
            let (one, other) = (with_article(first), with_article(second));
            let advice = if [first, second].contains(&INTO_LDS) {
                "wait for the load (`s_waitcnt vmcnt(n)`) and then put a barrier before the LDS is read; put one between the \
                 reads and the next load into the same place"
                    .to_owned()
            } else if evidence.is_python(it.first) {
                format!(
                    "put {} between the two lines; barriers of the LDS are the compiler's task, so a report to Triton helps others",
                    evidence.barrier(it.first)
                )
            } else {
                format!("put {} between the two, or make both atomic", evidence.barrier(it.first))
            };
            RULE.finding(
                Severity::Severe,
                format!(
                    "waves {} and {} of a workgroup race for offset {:#x} of the LDS: {one} and {other} without a \
                     {} between",
                    it.first.wave,
                    it.second.wave,
                    it.address,
                    if first == INTO_LDS { "wait and a barrier" } else { "barrier" }
                ),
                advice,
            )
            .with_evidence("the access seen first", format!("{first} by {}", who(it.first)))
            .with_evidence("the other access", format!("{second} by {}", who(it.second)))
            .with_evidence("times seen, by lane and dword", it.times)
            .with_places([evidence.place(it.first), evidence.place(it.second)])
        })
        .collect()
}
