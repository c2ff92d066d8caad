//! ENV008: GPUs selected twice, or taken for others.

use crate::{Check, HostEvidence, Judged, Rule};
use system::command::Kind;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV008",
    title: "GPUs are selected twice or taken for another ISA",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Host(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Looks at the variables that select devices (`visible-devices`) and at `HSA_OVERRIDE_GFX_VERSION` (`gfx-override`).

## Why it is slow
`ROCR_VISIBLE_DEVICES` renumbers the GPUs that the two others then select from, so that a selection made twice picks others or none. A
forced ISA runs kernels of another GPU: they fault or lack its instructions.

## Evidence
The variables of the environment. vLLM copies `HIP_VISIBLE_DEVICES` to `CUDA_VISIBLE_DEVICES` where the latter is not set, and stops where
the two differ; Ray and guides disagree on which to set, so with vLLM the former only warns.

## What to do
Set one of the three: `CUDA_VISIBLE_DEVICES` with vLLM and PyTorch; the documentation of HIP prefers `ROCR_VISIBLE_DEVICES`. Unset `HSA_OVERRIDE_GFX_VERSION` on Instinct GPUs.

## Source
HIP documentation (GPU isolation), the vLLM guide for AMD GPUs, vllm/platforms/rocm.py; on the override own judgement.
";

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
