//! ENV004: dumps of compilers left on.

use super::env006::{left_on, shown};
use crate::{Check, HostEvidence, Judged, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV004",
    title: "dumps and prints of Triton or Inductor are left on",
    severity: Severity::Severe,
    page: include_str!("env004.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

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
