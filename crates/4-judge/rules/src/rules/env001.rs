//! ENV001: TunableOp that tunes in the middle of a run.

use crate::{Check, HostEvidence, Judged, Profile, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV001",
    title: "tuning by TunableOp in a run that is measured or serves",
    severity: Severity::Severe,
    page: include_str!("env001.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "tunableop-tuning";
    const TUNING: &str = "PYTORCH_TUNABLEOP_TUNING";
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return vec![judged],
    };
    if !environment.is_on("PYTORCH_TUNABLEOP_ENABLED") {
        return vec![Judged::pass(CHECK, "TunableOp is off").read(
            evidence.environment_from("PYTORCH_TUNABLEOP_ENABLED"),
            environment.get("PYTORCH_TUNABLEOP_ENABLED").unwrap_or("not set"),
        )];
    }
    let file = environment.said("PYTORCH_TUNABLEOP_FILENAME").unwrap_or("tunableop_results.csv");
    let judged = match environment.said(TUNING) {
        Some(value) if !system::environment::is_on(value) => {
            Judged::pass(CHECK, format!("results are taken from {file} (not looked at), nothing is tuned"))
        }
        value => {
            let text = if value.is_some() { "tuning is on" } else { "tuning is on, which is the default" };
            if evidence.is(Profile::Benchmark) || evidence.is(Profile::Inference) {
                Judged::fail(CHECK, text)
            } else {
                Judged::warn(CHECK, format!("{text}: right for the tuning pass only"))
            }
        }
    };
    vec![judged.read(evidence.environment_from(TUNING), environment.get(TUNING).unwrap_or("not set"))]
}
