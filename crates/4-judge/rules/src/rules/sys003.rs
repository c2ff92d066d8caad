//! SYS003: clocks that differ between GPUs or vary between measurements.

use crate::{Check, HostEvidence, Judged, Profile, Rule};
use std::collections::BTreeMap;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS003",
    title: "clocks differ between GPUs or are free while measuring",
    severity: Severity::Severe,
    page: include_str!("sys003.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

const CHECK: &str = "clock-cap";

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    let machine = evidence.machine;
    let gpus = match machine.gpus.get() {
        Some(gpus) if !gpus.is_empty() => gpus,
        Some(_) => return vec![Judged::unknown(CHECK, "no GPU was found")],
        None => return vec![Judged::unknown(CHECK, machine.gpus.reason().unwrap_or_default())],
    };
    // Setting, and the GPUs that have it.
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut unknown = Vec::new();
    let is_whole = gpus.iter().any(|gpu| gpu.perf_level.get().is_some() && gpu.max_clock_mhz.get().is_some());
    for gpu in gpus {
        match (gpu.perf_level.get(), gpu.max_clock_mhz.get()) {
            (None, None) => unknown.push(gpu.name.as_str()),
            // A partial setting is not comparable with a complete one.
            (Some(_), None) | (None, Some(_)) if is_whole => unknown.push(gpu.name.as_str()),
            (level, clock) => {
                let level = level.map_or("level unknown", String::as_str);
                let clock = clock.map_or_else(String::new, |mhz| format!(" {mhz:.0} MHz"));
                groups.entry(format!("{level}{clock}")).or_default().push(&gpu.name);
            }
        }
    }
    let readings = |judged: Judged| {
        groups.iter().fold(judged, |judged, (setting, names)| judged.read(names.join(", "), setting))
    };
    if groups.len() > 1 {
        return vec![readings(differs(&groups))];
    }
    if !unknown.is_empty() {
        let reason = gpus
            .iter()
            .find_map(|gpu| gpu.perf_level.reason().or(gpu.max_clock_mhz.reason()))
            .unwrap_or("not given");
        return vec![Judged::unknown(CHECK, format!("{} of {} GPUs: {reason}", unknown.len(), gpus.len()))];
    }
    let setting = groups.keys().next().map_or("", String::as_str);
    let fixed = setting.starts_with("determinism");
    let all = format!("{} GPUs: {setting}", gpus.len());
    vec![readings(match (fixed, evidence.is(Profile::Benchmark), evidence.profile.is_some()) {
        (false, true, _) => Judged::warn(CHECK, format!("{all}: clocks are free, so times scatter")),
        (true, false, true) => Judged::warn(CHECK, format!("{all}: held below what the GPU can do"))
            .set_by("rocm-smi --resetperfdeterminism"),
        _ => Judged::pass(CHECK, all),
    })]
}

/// GPUs that have not what most have.
fn differs(groups: &BTreeMap<String, Vec<&str>>) -> Judged {
    let (usual, most) = groups
        .iter()
        .max_by_key(|(_, names)| names.len())
        .map_or(("", 0), |(it, names)| (it.as_str(), names.len()));
    let others: Vec<String> = groups
        .iter()
        .filter(|(setting, _)| setting.as_str() != usual)
        .map(|(setting, names)| format!("{} {setting}", names.join(", ")))
        .collect();
    Judged::fail(CHECK, format!("{}; the other {most} {usual}", others.join("; ")))
        .set_by("rocm-smi --resetperfdeterminism, or --setperfdeterminism 1900 on all")
}
