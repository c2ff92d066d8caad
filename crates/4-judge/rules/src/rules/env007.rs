//! ENV007: variables that do nothing.

use crate::{Check, HostEvidence, Judged, Rule};
use system::command::Kind;
use system::{Environment, variables};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV007",
    title: "a variable that nobody reads, or that lacks its master",
    severity: Severity::Severe,
    page: include_str!("env007.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    let environment = match evidence.environment("unknown-variables") {
        Ok(environment) => environment,
        Err(judged) => {
            let others = ["rccl-debug-name", "sub-switches"].map(|check| Judged { check, ..judged.clone() });
            return [vec![judged], others.into()].concat();
        }
    };
    let unread = unread(evidence, environment).into_iter().collect();
    [
        names(evidence, environment),
        unread,
        vec![debug_name(evidence, environment)],
        masters(evidence, environment),
    ]
    .concat()
}

fn names(evidence: &HostEvidence<'_>, environment: &Environment) -> Vec<Judged> {
    const CHECK: &str = "unknown-variables";
    let mut judged = Vec::new();
    let mut unknown = Vec::new();
    for (name, value) in environment.iter().filter(|(name, _)| variables::by_name(name).is_none()) {
        let Some(component) = variables::component(name) else { continue };
        match variables::nearest(name) {
            Some(variable) => judged.push(
                Judged::fail(CHECK, format!("{name}: no such variable; {} exists", variable.name))
                    .read(evidence.environment_from(name), value)
                    .set_by(format!("unset {name}; export {}={value}", variable.name)),
            ),
            None => unknown.push(format!("{name} ({component})")),
        }
    }
    let dead = environment.iter().filter_map(|(name, value)| Some((variables::by_name(name)?, value)));
    let dead = dead.filter(|(variable, _)| variable.name != "RCCL_DEBUG" && variable.instead.is_some());
    let (harmless, renamed): (Vec<_>, Vec<_>) =
        dead.partition(|(it, _)| it.instead == Some(variables::NOBODY));
    for (variable, value) in renamed {
        let (name, read) = (variable.name, variable.instead.unwrap_or_default());
        judged.push(
            Judged::warn(CHECK, format!("{name} does nothing: {read} is read"))
                .read(evidence.environment_from(name), value)
                .set_by(format!("unset {name}; export {read}={value}")),
        );
    }
    if !unknown.is_empty() {
        judged.push(Judged::unknown(CHECK, format!("not in the table: {}", unknown.join(", "))));
    }
    if judged.is_empty() {
        let known = environment.iter().filter(|(name, _)| variables::by_name(name).is_some()).count();
        let text = match known {
            0 => "no variable of GPU programs is set".to_owned(),
            _ => format!("{known} variables of GPU programs are set, all known"),
        };
        let harmless: Vec<&str> = harmless.iter().map(|(variable, _)| variable.name).collect();
        let text = match harmless[..] {
            [] => text,
            _ => format!("{text}; nobody reads {}", harmless.join(", ")),
        };
        judged.push(Judged::pass(CHECK, text).read(evidence.environment_from("names"), environment.len()));
    }
    judged
}

/// Components whose libraries each known program loads; a program not listed may load any.
const LOADED: [(Kind, &[&str]); 2] = [
    (Kind::HipblasltBench, &["HIP", "ROCr", "debug agent", "ROCprofiler", "hipBLASLt", "Tensile", "CPU"]),
    (Kind::RcclTests, &["HIP", "ROCr", "debug agent", "ROCprofiler", "RCCL", "UCX", "CPU"]),
];

/// Reports variables of libraries that the command's program does not load; `None` if the program is unknown.
fn unread(evidence: &HostEvidence<'_>, environment: &Environment) -> Option<Judged> {
    const CHECK: &str = "unread-variables";
    let program = evidence.command?.program()?;
    let (_, loaded) = LOADED.iter().find(|(kind, _)| *kind == program.kind)?;
    let known = environment.iter().filter_map(|(name, _)| Some((name, variables::by_name(name)?.component)));
    let unread: Vec<&str> =
        known.filter(|(_, component)| !loaded.contains(component)).map(|(name, _)| name).collect();
    Some(if unread.is_empty() {
        Judged::pass(CHECK, format!("{} reads every variable of the table that is set", program.program))
            .read("the command", program.program.clone())
    } else {
        Judged::warn(CHECK, format!("{} does not read {}", program.program, unread.join(", ")))
            .read("the command", program.program.clone())
            .set_by(format!("unset {}", unread.join(" ")))
    })
}

fn debug_name(evidence: &HostEvidence<'_>, environment: &Environment) -> Judged {
    const CHECK: &str = "rccl-debug-name";
    match environment.get("RCCL_DEBUG") {
        Some(value) => Judged::warn(CHECK, "RCCL_DEBUG does nothing: NCCL_DEBUG is read")
            .read(evidence.environment_from("RCCL_DEBUG"), value),
        None => Judged::pass(CHECK, "RCCL_DEBUG is not set")
            .read(evidence.environment_from("RCCL_DEBUG"), "not set"),
    }
}

fn masters(evidence: &HostEvidence<'_>, environment: &Environment) -> Vec<Judged> {
    const CHECK: &str = "sub-switches";
    let mut judged = Vec::new();
    // Finer switches by the master they lack: one line for all of one master.
    let mut lacking: std::collections::BTreeMap<(&str, &str), Vec<&str>> = std::collections::BTreeMap::new();
    for (name, value) in environment.iter() {
        let Some(variable) = variables::by_name(name) else { continue };
        let off = value.trim() == "0" || value.trim().eq_ignore_ascii_case("false");
        // Inductor's are ENV002's; a switch that is off needs no master.
        if off || value.trim().is_empty() || variable.component == "Inductor" {
            continue;
        }
        if let (Some(master), false) = (variable.needs, variable.has_master(environment)) {
            lacking.entry(master).or_default().push(variable.name);
        }
        for other in variable.conflicts.iter().filter(|it| !it.ends_with("VISIBLE_DEVICES")) {
            let (other, wanted) =
                other.split_once('=').map_or((*other, None), |(name, value)| (name, Some(value)));
            // Two names of one setting with the same value agree.
            let there = environment
                .said(other)
                .is_some_and(|it| wanted.map_or(it != value.trim(), |wanted| wanted == it));
            // Of a pair that names each other, one line is enough.
            let both = variables::by_name(other)
                .is_some_and(|it| it.conflicts.iter().any(|it| it.starts_with(name)));
            if there && !(both && other < name) {
                judged.push(
                    Judged::fail(
                        CHECK,
                        format!(
                            "{name}={value} contradicts {other}={}",
                            environment.get(other).unwrap_or_default()
                        ),
                    )
                    .read(evidence.environment_from(name), value),
                );
            }
        }
    }
    for ((master, wanted), names) in lacking {
        judged.push(
            Judged::fail(CHECK, format!("{} without {master}={wanted}: does nothing", names.join(", ")))
                .read(evidence.environment_from(master), environment.get(master).unwrap_or("not set"))
                .set_by(format!("export {master}={wanted}")),
        );
    }
    if judged.is_empty() {
        judged.push(
            Judged::pass(CHECK, "each switch has what it needs")
                .read(evidence.environment_from("switches"), "no contradiction"),
        );
    }
    judged
}
