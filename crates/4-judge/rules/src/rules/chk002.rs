//! CHK002: waves race in global memory.
//!
//! Within a dispatch, only atomics order workgroups.

use crate::execution::{ExecutionEvidence, who};
use crate::{Check, Rule};
use probe::Wrong;
use view::{Finding, Severity, with_article};

pub(crate) const RULE: Rule = Rule {
    id: "CHK002",
    title: "waves race in global memory",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Execution(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires in an emulated run with `--check races` when two waves touch the same bytes of global memory in one dispatch, at least one
of them writes, not both are atomic, and nothing orders the two accesses.

## Why it is slow
It is not slow but wrong: the result depends on which wave comes first, and between workgroups also on which caches hold the
bytes. Workgroups on different XCDs do not see each other's plain writes before the end of the dispatch.

## Evidence
Every access of the run, by workgroup, wave and lane. Waves of a workgroup are ordered by barriers. Workgroups are ordered by an
atomic that the first one makes after its access and the second one made on the same address before its own: counters of
finished workgroups and locks do this. Between the access and that atomic the first workgroup must release what it wrote for the whole
GPU: `__threadfence()`, or an atomic with release order and agent scope. On the MI300 and MI350 series this writes back the L2 of the
XCD (`buffer_wbl2 sc1`); on others it is a wait for all memory instructions. So a flag that is only `volatile`, or released for its workgroup
only, orders no other accesses. Loads and stores past the caches (`sc0`, `sc1`, `glc`) count as atomic themselves.

Memory is watched page by page as it is touched, up to 1 GiB of notes; what is touched beyond that is not watched, and the end
of the output says how many accesses that were. Each dword remembers one writer and three readers; where waves own single
bytes of one dword a race can be missed. One store by which several waves of a workgroup write the same place is taken for the
same value, since compilers replicate data among waves. Kernels with barriers of the whole grid are checked within workgroups only.

## What to do
Give each workgroup bytes of its own, for example an output of its own that a second kernel adds up. Where workgroups have to
add to one place, use atomics. A stencil needs two arrays, one read and one written. Within a workgroup `__syncthreads()` between
the two places is enough; in a kernel of Triton `tl.debug_barrier()`, because its compiler divides the elements of a program among waves
and orders no accesses of memory.

## Source
HIP programming model: workgroups of a dispatch run in any order, and see each other's writes through atomics with device scope
only; the LLVM AMDGPU memory model.
";

fn check(evidence: &ExecutionEvidence<'_>) -> Vec<Finding> {
    evidence
        .conflicts(&[Wrong::GlobalRace, Wrong::GroupRace])
        .into_iter()
        .map(|it| {
            let (first, second) = (evidence.verb(it.first), evidence.verb(it.second));
            let (one, other) = (with_article(first), with_article(second));
            let place = evidence.global(it.address);
            let (message, advice) = if it.wrong == Wrong::GroupRace {
                let groups = [it.first, it.second].map(|side| {
                    let [x, y, z] = side.workgroup;
                    format!("({x}, {y}, {z})")
                });
                (
                    format!(
                        "workgroups {} and {} race for {place}: {one} and {other} in one dispatch",
                        groups[0], groups[1]
                    ),
                    "give each workgroup bytes of its own, make both accesses atomic, or split the kernel in two"
                        .to_owned(),
                )
            } else {
                (
                    format!(
                        "waves {} and {} of a workgroup race for {place}: {one} and {other} without a barrier between",
                        it.first.wave, it.second.wave
                    ),
                    format!("put {} between the two, or make both atomic", evidence.barrier(it.first)),
                )
            };
            RULE.finding(Severity::Severe, message, advice)
                .with_evidence("the access seen first", format!("{first} by {}", who(it.first)))
                .with_evidence("the other access", format!("{second} by {}", who(it.second)))
                .with_evidence("times seen, by lane and dword", it.times)
                .with_places([evidence.place(it.first), evidence.place(it.second)])
        })
        .collect()
}
