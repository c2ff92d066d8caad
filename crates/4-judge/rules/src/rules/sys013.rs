//! SYS013: GPUs that are divided, capped, throttled, or that count memory errors.

use crate::{Check, HostEvidence, Judged, Rule};
use std::collections::BTreeMap;
use system::{Fact, Gpu, Machine};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS013",
    title: "a GPU is divided, capped, throttled or faulty",
    severity: Severity::Severe,
    page: include_str!("sys013.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    let machine = evidence.machine;
    match machine.gpus.get() {
        Some(gpus) if !gpus.is_empty() => {
            vec![partition(gpus), cap(gpus), throttle(gpus), load(gpus), errors(gpus)]
        }
        _ => ["partition", "power-cap", "throttle", "clock-load", "ecc"]
            .map(|check| Judged::unknown(check, none(machine)))
            .into(),
    }
}

fn none(machine: &Machine) -> String {
    machine.gpus.reason().unwrap_or("no GPU was found").to_owned()
}

fn partition(gpus: &[Gpu]) -> Judged {
    const CHECK: &str = "partition";
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for gpu in gpus {
        match (&gpu.compute_partition, &gpu.memory_partition) {
            (Fact::Known { value: compute, .. }, Fact::Known { value: memory, .. }) => {
                groups.entry(format!("{compute} {memory}")).or_default().push(&gpu.name);
            }
            (Fact::Known { value: cap, .. }, Fact::Unknown { reason }) => {
                return Judged::unknown(
                    CHECK,
                    format!("{}: {cap} W; the highest it allows: {reason}", gpu.name),
                );
            }
            (Fact::Unknown { reason }, _) => {
                return Judged::unknown(CHECK, format!("{}: {reason}", gpu.name));
            }
        }
    }
    let text: Vec<String> = groups.iter().map(|(mode, names)| format!("{mode} on {}", names.len())).collect();
    let from = gpus[0].compute_partition.from().unwrap_or_default();
    let judged = match (groups.len(), groups.contains_key("SPX NPS1")) {
        (1, true) => Judged::pass(CHECK, format!("SPX NPS1 on {} GPUs", gpus.len())),
        (1, false) => Judged::warn(CHECK, format!("{} GPUs: is it chosen?", text.join(", "))),
        _ => Judged::fail(CHECK, format!("GPUs differ: {}", text.join(", "))),
    };
    judged.read(from, text.join(", "))
}

fn cap(gpus: &[Gpu]) -> Judged {
    const CHECK: &str = "power-cap";
    let caps: Vec<(&Gpu, f64)> = gpus.iter().filter_map(|gpu| Some((gpu, *gpu.power_cap_w.get()?))).collect();
    let highest = caps.iter().map(|(_, cap)| *cap).fold(0.0, f64::max);
    let lower: Vec<String> = caps
        .iter()
        .filter(|(_, cap)| *cap < highest)
        .map(|(gpu, cap)| format!("{} {cap} W, others {highest} W", gpu.name))
        .collect();
    if !lower.is_empty() && gpus.iter().any(|gpu| gpu.power_cap_max_w.get().is_none()) {
        return Judged::warn(CHECK, lower.join("; "))
            .read(caps[0].0.power_cap_w.from().unwrap_or_default(), lower.join("; "));
    }
    let mut below = Vec::new();
    for gpu in gpus {
        match (&gpu.power_cap_w, &gpu.power_cap_max_w) {
            (Fact::Known { value: cap, .. }, Fact::Known { value: most, .. }) => {
                if cap < most {
                    below.push(format!("{} {cap} of {most} W", gpu.name));
                }
            }
            (Fact::Known { value: cap, .. }, Fact::Unknown { reason }) => {
                return Judged::unknown(
                    CHECK,
                    format!("{}: {cap} W; the highest it allows: {reason}", gpu.name),
                );
            }
            (Fact::Unknown { reason }, _) => {
                return Judged::unknown(CHECK, format!("{}: {reason}", gpu.name));
            }
        }
    }
    let most = gpus[0].power_cap_max_w.get().copied().unwrap_or_default();
    let from = gpus[0].power_cap_w.from().unwrap_or_default();
    if below.is_empty() {
        Judged::pass(CHECK, format!("{most} W, the most the GPUs allow")).read(from, format!("{most} W"))
    } else {
        Judged::warn(CHECK, below.join("; ")).read(from, below.join("; "))
    }
}

fn throttle(gpus: &[Gpu]) -> Judged {
    const CHECK: &str = "throttle";
    let mut active = Vec::new();
    let mut unknown = None;
    for gpu in gpus {
        match &gpu.throttled_by {
            Fact::Known { value, .. } if !value.is_empty() => {
                let clock = gpu.clock_mhz.get().map_or_else(String::new, |mhz| format!(", {mhz:.0} MHz"));
                let heat = gpu.hotspot_c.get().map_or_else(String::new, |c| format!(", {c:.0} C"));
                active.push(format!("{}: {}{clock}{heat}", gpu.name, value.join(", ")));
            }
            Fact::Known { .. } => {}
            Fact::Unknown { reason } => unknown = unknown.or(Some((gpu, reason))),
        }
    }
    match (active.is_empty(), unknown) {
        (false, _) => {
            Judged::fail(CHECK, active.join("; ")).read_fact(&gpus[0].throttled_by, active.join("; "))
        }
        (true, Some((gpu, reason))) => Judged::unknown(CHECK, format!("{}: {reason}", gpu.name)),
        (true, None) => {
            Judged::pass(CHECK, "no limit is active").read_fact(&gpus[0].throttled_by, "no limit active")
        }
    }
}

/// A GPU works if it does so for this part of the time, percent.
const BUSY: f64 = 90.0;
/// Below this share of its highest clock something is wrong: dense matrix work leaves 0.5 and more.
const LOW: f64 = 0.4;

fn load(gpus: &[Gpu]) -> Judged {
    const CHECK: &str = "clock-load";
    let highest = |gpu: &Gpu| {
        let product = gpu.product.get().cloned().or_else(|| crate::product_of(gpu.device_id.get()?));
        let model = product.and_then(|it| arch::Model::by_name(&it));
        gpu.max_clock_mhz.get().copied().or_else(|| Some(f64::from(model?.engine_mhz.value)))
    };
    let mut working = Vec::new();
    let mut low = Vec::new();
    for gpu in gpus {
        let (Some(clock), Some(busy)) = (gpu.clock_mhz.get(), gpu.busy_percent.get()) else { continue };
        let Some(highest) = highest(gpu).filter(|_| *busy >= BUSY) else { continue };
        let text = format!("{} {clock:.0} of {highest:.0} MHz at {busy:.0} % use", gpu.name);
        if *clock < LOW * highest {
            low.push(text.clone());
        }
        working.push(text);
    }
    let from = gpus[0].clock_mhz.from().unwrap_or_default();
    match (low.is_empty(), working.is_empty()) {
        (false, _) => Judged::fail(CHECK, low.join("; ")).read(from, low.join("; ")),
        (true, false) => Judged::pass(CHECK, working.join("; ")).read(from, working.join("; ")),
        (true, true) => {
            let given = gpus.iter().any(|it| it.busy_percent.get().is_some() && it.clock_mhz.get().is_some());
            let reason = if given { "no GPU was at work" } else { "clock and use are not both given" };
            Judged::unknown(CHECK, reason)
        }
    }
}

fn errors(gpus: &[Gpu]) -> Judged {
    const CHECK: &str = "ecc";
    let uncorrectable: Vec<String> = named(gpus, |gpu| gpu.ecc_uncorrectable.get().copied());
    let correctable: Vec<String> = named(gpus, |gpu| gpu.ecc_correctable.get().copied());
    let unknown: Vec<&Gpu> = gpus
        .iter()
        .filter(|gpu| gpu.ecc_uncorrectable.get().is_none() || gpu.ecc_correctable.get().is_none())
        .collect();
    let from = gpus.iter().find_map(|gpu| gpu.ecc_uncorrectable.from()).unwrap_or_default();
    let also =
        if unknown.is_empty() { String::new() } else { format!("; unknown on {} GPUs", unknown.len()) };
    if !uncorrectable.is_empty() {
        let is_counted = gpus.iter().any(|gpu| gpu.ecc_correctable.get().is_some());
        let correctable = match (correctable.is_empty(), is_counted) {
            (true, true) => "none".to_owned(),
            (true, false) => "not given".to_owned(),
            _ => correctable.join(", "),
        };
        let text = format!("uncorrectable {}; correctable {correctable}", uncorrectable.join(", "));
        let is_known = gpus.iter().all(|gpu| gpu.ecc_uncorrectable.get().is_some());
        let also = if is_known && !is_counted { String::new() } else { also };
        return Judged::fail(CHECK, format!("{text}{also}")).read(from, text);
    }
    if !correctable.is_empty() {
        return Judged::warn(
            CHECK,
            format!("corrected {}: is the number growing?{also}", correctable.join(", ")),
        )
        .read(from, correctable.join(", "));
    }
    let retired: Vec<String> = named(gpus, |gpu| gpu.retired_pages.get().copied());
    if !retired.is_empty() {
        let from = gpus.iter().find_map(|gpu| gpu.retired_pages.from()).unwrap_or_default();
        return Judged::warn(
            CHECK,
            format!("pages of memory retired for errors: {}{also}", retired.join(", ")),
        )
        .read(from, retired.join(", "));
    }
    match unknown.first() {
        Some(gpu) => {
            let reason =
                gpu.ecc_uncorrectable.reason().or(gpu.ecc_correctable.reason()).unwrap_or("not given");
            Judged::unknown(
                CHECK,
                format!("{} of {} GPUs, {}: {reason}", unknown.len(), gpus.len(), gpu.name),
            )
        }
        None => Judged::pass(CHECK, format!("no memory error on {} GPUs", gpus.len())).read(from, 0),
    }
}

/// GPUs whose count is not 0.
fn named(gpus: &[Gpu], count: impl Fn(&Gpu) -> Option<u64>) -> Vec<String> {
    gpus.iter()
        .filter_map(|gpu| Some((gpu, count(gpu).filter(|it| *it > 0)?)))
        .map(|(gpu, count)| format!("{count} on {}", gpu.name))
        .collect()
}
