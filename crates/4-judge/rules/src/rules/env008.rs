//! ENV008: GPUs selected twice, or taken for others.

use crate::{Check, HostEvidence, Judged, Rule};
use system::command::Kind;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV008",
    title: "GPUs are selected twice or taken for another ISA",
    severity: Severity::Severe,
    page: include_str!("env008.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    vec![selection(evidence), isa(evidence)]
}

fn selection(evidence: &HostEvidence<'_>) -> Judged {
    const CHECK: &str = "visible-devices";
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return judged,
    };
    let names = ["HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"];
    let set: Vec<(&str, &str)> =
        names.into_iter().filter_map(|name| Some((name, environment.get(name)?))).collect();
    let serves = evidence.command.is_some_and(|it| it.stage(Kind::VllmServe).is_some())
        || environment.iter().any(|(name, _)| name.starts_with("VLLM_"));
    let text: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let runtime = set.iter().any(|(name, _)| *name == "ROCR_VISIBLE_DEVICES");
    let judged = match set[..] {
        [] => Judged::pass(CHECK, "all GPUs are visible"),
        [(_, "")] => Judged::fail(CHECK, format!("{} hides every GPU", text.join(""))),
        [("HIP_VISIBLE_DEVICES", _)] if serves => Judged::warn(
            CHECK,
            format!("{}: vLLM copies it to CUDA_VISIBLE_DEVICES (guides disagree)", text.join("")),
        ),
        [_] => Judged::pass(CHECK, text.join("")),
        _ if runtime => Judged::fail(
            CHECK,
            format!("{}: ROCR_VISIBLE_DEVICES renumbers what the others select from", text.join(", ")),
        ),
        [(_, a), (_, b), ..] if a == b => Judged::warn(CHECK, format!("{}: one is enough", text.join(", "))),
        _ => Judged::fail(CHECK, format!("{} contradict each other", text.join(", "))),
    };
    judged.read(
        evidence.environment_from("*_VISIBLE_DEVICES"),
        if text.is_empty() { "not set".to_owned() } else { text.join(", ") },
    )
}

fn isa(evidence: &HostEvidence<'_>) -> Judged {
    const CHECK: &str = "gfx-override";
    const NAME: &str = "HSA_OVERRIDE_GFX_VERSION";
    match evidence.environment(CHECK) {
        Err(judged) => judged,
        Ok(environment) => match environment.said(NAME) {
            Some(value) => Judged::fail(CHECK, format!("every GPU is taken for version {value}"))
                .read(evidence.environment_from(NAME), value),
            None => Judged::pass(CHECK, "not set").read(evidence.environment_from(NAME), "not set"),
        },
    }
}
