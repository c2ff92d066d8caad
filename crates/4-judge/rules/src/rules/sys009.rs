//! SYS009: caching that hides memory faults while they are looked for.

use crate::{Check, HostEvidence, Judged, Profile, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS009",
    title: "cached memory hides faults while debugging",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Host(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
With `--profile debug`, asks for `PYTORCH_NO_HIP_MEMORY_CACHING` and `HSA_DISABLE_FRAGMENT_ALLOCATOR`. Without that profile ENV006
warns of the same variables, since they slow programs down.

## Why it is slow
It is about right and wrong: an access beyond the end of a cached block stays within a larger allocation, so the GPU reports no fault,
and what it overwrote shows elsewhere and later.

## Evidence
The two variables of the environment.

## What to do
`export PYTORCH_NO_HIP_MEMORY_CACHING=1 HSA_DISABLE_FRAGMENT_ALLOCATOR=1` while looking for a fault, and unset both afterwards.
`rockhound run --check` finds accesses beyond allocations without them.

## Source
The ROCm MI300X workload guide (debug memory access faults) and the ROCm Triton wiki.
";

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "debug-caching";
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return vec![judged],
    };
    if !evidence.is(Profile::Debug) {
        // What is left on is the business of ENV006.
        return Vec::new();
    }
    let names = ["PYTORCH_NO_HIP_MEMORY_CACHING", "HSA_DISABLE_FRAGMENT_ALLOCATOR"];
    let missing: Vec<&str> = names.into_iter().filter(|name| !environment.is_on(name)).collect();
    vec![if missing.is_empty() {
        Judged::pass(CHECK, "both kinds of caching are off").read(evidence.environment_from(names[0]), "set")
    } else {
        Judged::warn(
            CHECK,
            format!("{} not set: an overrun may stay within a cached block", missing.join(" and ")),
        )
    }]
}
