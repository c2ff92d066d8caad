//! ENV002: switches of Inductor that do nothing alone, or harm.

use crate::{Check, HostEvidence, Judged, Profile, Rule};
use std::collections::BTreeMap;
use system::{Environment, InductorCode, variables};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV002",
    title: "switches of Inductor lack their masters or contradict",
    severity: Severity::Severe,
    page: include_str!("env002.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

const CHECK: &str = "inductor-switches";

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    let environment = evidence.environment(CHECK);
    let code = evidence.machine.inductor.as_ref();
    let mut judged = code.map_or_else(Vec::new, |code| {
        of_code(code, environment.as_ref().ok().copied(), evidence.is(Profile::Training))
    });
    match environment {
        Ok(environment) => judged.extend(of_environment(evidence, environment)),
        // If the environment is unknown, the settings in the code are used instead.
        Err(unknown) if code.is_none() => judged.push(unknown),
        Err(_) => {}
    }
    judged
}

/// Settings that code was generated with, where the environment requests others.
fn of_code(code: &InductorCode, environment: Option<&Environment>, trains: bool) -> Vec<Judged> {
    let mut judged = Vec::new();
    let own = code.as_environment();
    let words = |name: &str| code.settings.get(name).map_or_else(String::new, values);
    for (name, message) in faults(&own, trains) {
        judged.push(
            message.read(format!("{name}, as {} has it", code.file), own.get(name).unwrap_or("not set")),
        );
    }
    for (name, value) in own.iter() {
        let Some(asked) = environment.and_then(|it| it.said(name)) else { continue };
        if system::environment::is_on(asked) != system::environment::is_on(value) {
            let text = format!(
                "{name}={asked} is set, the code was written with {value}: options of torch.compile or another process"
            );
            judged.push(Judged::warn(CHECK, text).read(code.file.clone(), value));
        }
    }
    for (setting, text) in [
        ("force_disable_caches", "caches are switched off: every start compiles again"),
        (
            "are_deterministic_algorithms_enabled",
            "deterministic algorithms are on: atomics and faster reductions are not used",
        ),
    ] {
        if code.is_on(setting) {
            judged.push(Judged::warn(CHECK, text).read(format!("{setting} in {}", code.file), "True"));
        }
    }
    if code.kernels > 0 && code.setting("is_hip") == Some("False") {
        let text = "the code was written for another GPU than AMD's";
        judged.push(Judged::warn(CHECK, text).read(format!("is_hip in {}", code.file), "False"));
    }
    if !code.unread.is_empty() {
        let text = format!(
            "winners of autotuning that cannot be read are searched again: {}",
            code.unread.join(", ")
        );
        judged.push(Judged::warn(CHECK, text).read(code.file.clone(), code.unread.len()));
    }
    if judged.is_empty() {
        let text =
            format!("{} kernels and {} library calls, settings agree", code.kernels, code.library_calls);
        let mut pass = Judged::pass(CHECK, text);
        if let Some(words) = code.folder_words() {
            pass = pass.read(code.file.clone(), words);
        }
        for name in ["max_autotune", "max_autotune_pointwise", "coordinate_descent_tuning"] {
            if code.settings.contains_key(name) {
                pass = pass.read(format!("{name} in {}", code.file), words(name));
            }
        }
        judged.push(pass);
    }
    judged
}

/// `False (12 kernels), True (3 kernels)`.
fn values(values: &BTreeMap<String, u64>) -> String {
    let words: Vec<String> =
        values.iter().map(|(value, count)| format!("{value} ({count} kernels)")).collect();
    words.join(", ")
}

fn of_environment(evidence: &HostEvidence<'_>, environment: &Environment) -> Vec<Judged> {
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
