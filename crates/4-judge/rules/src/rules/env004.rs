//! ENV004: dumps of compilers left on.

use super::env006::{left_on, shown};
use crate::{Check, HostEvidence, Judged, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV004",
    title: "dumps and prints of Triton or Inductor are left on",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Host(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Looks for variables of Triton and Inductor that print, dump, or pass caches by (`triton-dumps`): `AMDGCN_ENABLE_DUMP`,
`MLIR_ENABLE_DUMP`, `TRITON_PRINT_AUTOTUNING`, `TRITON_ALWAYS_COMPILE`, `TORCH_COMPILE_DEBUG` and others of the table.

## Why it is slow
Every kernel is printed at every compilation, for each configuration of autotuning. What passes the cache by compiles at each start.

## Evidence
The environment, against the column `relations` of the table of variables.

## What to do
Unset them in runs that are measured. To read one kernel's assembly: `AMDGCN_ENABLE_DUMP=1 python k.py 2>&1 | rockhound inspect -`.

## Source
The ROCm MI300X workload guide (MLIR and assembly analysis), the ROCm Triton wiki (appendix); Triton, python/triton/knobs.py.
";

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "triton-dumps";
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return vec![judged],
    };
    let found = left_on(environment, |variable| matches!(variable.component, "Triton" | "Inductor"));
    if found.is_empty() {
        return vec![
            Judged::pass(CHECK, "none is set")
                .read(evidence.environment_from("TRITON_*, TORCHINDUCTOR_*, *_DUMP"), "none on"),
        ];
    }
    let judged = Judged::fail(CHECK, shown(&found)).set_by(super::env006::unset(&found));
    vec![found.iter().fold(judged, |judged, (variable, value)| {
        judged.read(evidence.environment_from(variable.name), value)
    })]
}
