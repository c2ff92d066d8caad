//! SYS012: links to the host that run below their rate.

use crate::{Check, HostEvidence, Judged, Rule};
use system::{Fact, Gpu, Machine};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS012",
    title: "the PCIe link of a GPU is slow or repeats packets",
    severity: Severity::Severe,
    page: include_str!("sys012.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    vec![links(evidence.machine), replays(evidence.machine)]
}

/// Fault of a link; `Err` if it is unknown.
fn fault(gpu: &Gpu) -> Result<Option<String>, &str> {
    let link = &gpu.link;
    let (speed, width) = match (&link.speed, &link.width) {
        (Fact::Known { value: speed, .. }, Fact::Known { value: width, .. }) => (*speed, *width),
        (Fact::Unknown { reason }, _) | (_, Fact::Unknown { reason }) => return Err(reason),
    };
    // Without its most, a link is held against what MI300X and later have.
    let max_speed = link.max_speed.get().copied().unwrap_or(32.0);
    let max_width = link.max_width.get().copied().unwrap_or(16.0);
    let mut words = Vec::new();
    if width < max_width {
        words.push(format!("x{width:.0} of x{max_width:.0}"));
    }
    if speed < max_speed {
        words.push(format!("{speed} of {max_speed} GT/s"));
    }
    Ok((!words.is_empty()).then(|| words.join(", ")))
}

fn links(machine: &Machine) -> Judged {
    const CHECK: &str = "pcie-link";
    let gpus = match &machine.gpus {
        Fact::Known { value, .. } if !value.is_empty() => value,
        Fact::Known { .. } => return Judged::unknown(CHECK, "no GPU was found"),
        Fact::Unknown { reason } => return Judged::unknown(CHECK, reason.clone()),
    };
    let mut bad = Vec::new();
    let mut unknown = Vec::new();
    let mut good = 0;
    for gpu in gpus {
        match fault(gpu) {
            Ok(None) => good += 1,
            Ok(Some(text)) => bad.push((gpu, text)),
            Err(reason) => unknown.push(reason),
        }
    }
    if !bad.is_empty() {
        let text: Vec<String> = bad.iter().map(|(gpu, text)| format!("{} {text}", gpu.name)).collect();
        let judged = Judged::fail(CHECK, text.join("; "));
        return bad.iter().fold(judged, |judged, (gpu, text)| {
            judged.read_fact(&gpu.link.speed, format!("{}: {text}", gpu.name))
        });
    }
    match unknown.first() {
        Some(reason) => Judged::unknown(CHECK, format!("{} of {} GPUs: {reason}", unknown.len(), gpus.len())),
        None => {
            let text = gpus[0]
                .link
                .speed
                .get()
                .zip(gpus[0].link.width.get())
                .map_or_else(String::new, |(speed, width)| format!(": {speed} GT/s x{width:.0}"));
            Judged::pass(CHECK, format!("{good} links at full speed{text}"))
                .read_fact(&gpus[0].link.speed, format!("{good} links"))
        }
    }
}

fn replays(machine: &Machine) -> Judged {
    const CHECK: &str = "pcie-errors";
    let gpus = machine.known_gpus();
    let known: Vec<(&Gpu, u64)> = gpus.iter().filter_map(|gpu| Some((gpu, *gpu.replays.get()?))).collect();
    let bad: Vec<String> = known
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(gpu, count)| format!("{} {count}", gpu.name))
        .collect();
    match (gpus.first(), known.len()) {
        (None, _) => Judged::unknown(CHECK, machine.gpus.reason().unwrap_or("no GPU was found").to_owned()),
        (Some(gpu), 0) => Judged::unknown(CHECK, gpu.replays.reason().unwrap_or("not given").to_owned()),
        (Some(_), _) if !bad.is_empty() => {
            Judged::warn(CHECK, format!("replays since the driver was loaded: {}", bad.join(", ")))
                .read("pcie.replay_count", bad.join(", "))
        }
        (Some(_), count) if count < gpus.len() => {
            Judged::unknown(CHECK, format!("{} of {} GPUs give no count", gpus.len() - count, gpus.len()))
        }
        (Some(_), count) => {
            Judged::pass(CHECK, format!("no replay on {count} GPUs")).read("pcie.replay_count", 0)
        }
    }
}
