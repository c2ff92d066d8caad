//! SYS009: caching that hides memory faults while they are looked for.

use crate::{Check, HostEvidence, Judged, Profile, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS009",
    title: "cached memory hides faults while debugging",
    severity: Severity::Warning,
    page: include_str!("sys009.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

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
