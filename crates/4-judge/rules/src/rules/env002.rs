//! ENV002: switches of Inductor that do nothing alone, or harm.

use crate::{Check, HostEvidence, Judged, Profile, Rule};
use system::{Environment, variables};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV002",
    title: "switches of Inductor lack their masters or contradict",
    severity: Severity::Severe,
    page: PAGE,
    check: Check::Host(check),
};

const PAGE: &str = r"## What it does
Looks at the variables of Inductor (`inductor-switches`): channels-last convolutions without MIOpen's half, backends of autotuning
without autotuning, frozen weights while training, one compile thread. The same settings in Python (`torch._inductor.config`) are not seen.

## Why it is slow
A finer switch without its master does nothing: the time for looking at its effect is lost. Transposes stay where only one library
prefers channels-last. One compile thread makes start-up as many times longer as there are cores.

## Evidence
`TORCHINDUCTOR_*` and `PYTORCH_MIOPEN_SUGGEST_NHWC` of the environment.

## What to do
`TORCHINDUCTOR_MAX_AUTOTUNE=1`, or the finer `_POINTWISE` and `_GEMM`; `TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS=TRITON` fuses more, CK
adds Composable Kernel; `TORCHINDUCTOR_FREEZING=1` and `TORCHINDUCTOR_CPP_WRAPPER=1` for inference; `TORCHINDUCTOR_LAYOUT_OPTIMIZATION=1`
with `PYTORCH_MIOPEN_SUGGEST_NHWC=1` for convolutions. `TORCH_COMPILE_DEBUG=1` writes `output_code.py`, once.

## Source
The ROCm MI300X workload guide (Inductor max-autotune), the ROCm Triton wiki and kernel guide; PyTorch, torch/_inductor/config.py.
";

const CHECK: &str = "inductor-switches";

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return vec![judged],
    };
    let mut judged = Vec::new();
    let set: Vec<&str> = environment
        .iter()
        .filter(|(name, _)| variables::component(name) == Some("Inductor"))
        .map(|(name, _)| name)
        .collect();
    for (name, message) in faults(environment, evidence.is(Profile::Training)) {
        judged
            .push(message.read(evidence.environment_from(name), environment.get(name).unwrap_or("not set")));
    }
    if judged.is_empty() {
        let text = if set.is_empty() {
            "no switch is set".to_owned()
        } else {
            format!("{} switches have what they need", set.len())
        };
        judged.push(Judged::pass(CHECK, text).read(evidence.environment_from("TORCHINDUCTOR_*"), set.len()));
    }
    judged
}

fn faults(environment: &Environment, trains: bool) -> Vec<(&'static str, Judged)> {
    let mut faults = Vec::new();
    let on = |name: &str| environment.is_on(name);
    for variable in variables::all().iter().filter(|it| it.component == "Inductor") {
        let Some((master, wanted)) = variable.needs else { continue };
        if on(variable.name) && !variable.has_master(environment) {
            let text = format!("{} without {master}={wanted}", variable.name);
            faults
                .push((variable.name, Judged::warn(CHECK, text).set_by(format!("export {master}={wanted}"))));
        }
    }
    let backends = "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS";
    let tunes = on("TORCHINDUCTOR_MAX_AUTOTUNE") || on("TORCHINDUCTOR_MAX_AUTOTUNE_GEMM");
    if environment.said(backends).is_some() && !tunes {
        let text = format!(
            "{backends} without TORCHINDUCTOR_MAX_AUTOTUNE=1 (unless torch.compile is called with max-autotune)"
        );
        faults.push((backends, Judged::warn(CHECK, text).set_by("export TORCHINDUCTOR_MAX_AUTOTUNE=1")));
    }
    if trains && on("TORCHINDUCTOR_FREEZING") {
        faults.push((
            "TORCHINDUCTOR_FREEZING",
            Judged::fail(CHECK, "TORCHINDUCTOR_FREEZING=1 takes weights as constants: not for training"),
        ));
    }
    if environment.said("TORCHINDUCTOR_COMPILE_THREADS") == Some("1") {
        faults.push((
            "TORCHINDUCTOR_COMPILE_THREADS",
            Judged::warn(CHECK, "one compile thread: start-up takes as many times longer as there are cores"),
        ));
    }
    faults
}
