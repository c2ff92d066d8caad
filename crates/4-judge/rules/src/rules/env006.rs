//! ENV006: debugging switches left on.

use crate::{Check, HostEvidence, Judged, Rule};
use system::Environment;
use system::variables::{self, Variable};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV006",
    title: "debugging switches are left on",
    severity: Severity::Severe,
    page: include_str!("env006.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

/// Variables that another check looks at.
const ELSEWHERE: [&str; 8] = [
    "NCCL_PROTO",
    "NCCL_ALGO",
    "HSA_OVERRIDE_GFX_VERSION",
    "NCCL_P2P_DISABLE",
    "NCCL_SHM_DISABLE",
    "NCCL_IB_DISABLE",
    "NCCL_MAX_NCHANNELS",
    "NCCL_P2P_DIRECT_DISABLE",
];

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "debug-variables";
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return vec![judged],
    };
    let found = left_on(environment, |it| {
        !matches!(it.component, "Triton" | "Inductor") && !ELSEWHERE.contains(&it.name)
    });
    if found.is_empty() {
        return vec![
            Judged::pass(CHECK, "none is set")
                .read(evidence.environment_from("variables"), format!("{} read", environment.len())),
        ];
    }
    let judged = Judged::fail(CHECK, shown(&found)).set_by(unset(&found));
    vec![found.iter().fold(judged, |judged, (variable, value)| {
        judged.read(evidence.environment_from(variable.name), value)
    })]
}

/// Variables whose values cost time outside of debugging.
pub(crate) fn left_on(
    environment: &Environment,
    which: impl Fn(&Variable) -> bool,
) -> Vec<(&'static Variable, &str)> {
    environment
        .iter()
        .filter_map(|(name, value)| Some((variables::by_name(name)?, value)))
        .filter(|(variable, value)| which(variable) && variable.is_left_on(value))
        .collect()
}

/// `A=1, B=2`.
pub(crate) fn shown(found: &[(&Variable, &str)]) -> String {
    let words: Vec<String> =
        found.iter().map(|(variable, value)| format!("{}={value}", variable.name)).collect();
    words.join(", ")
}

/// The command that takes them away.
pub(crate) fn unset(found: &[(&Variable, &str)]) -> String {
    let names: Vec<&str> = found.iter().map(|(variable, _)| variable.name).collect();
    format!("unset {}", names.join(" "))
}
