//! SYS010: arguments of the kernel that GPUs need.

use crate::{Check, HostEvidence, Judged, Rule};
use system::Fact;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS010",
    title: "the kernel is booted without what GPUs need",
    severity: Severity::Severe,
    page: include_str!("sys010.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    let mut judged = vec![cpus(evidence)];
    let boot = &evidence.machine.boot;
    match boot {
        Fact::Known { value, .. } => {
            let arguments: Vec<&str> = value.words().collect();
            judged.push(
                iommu(evidence, value.last("iommu"), value.last("intel_iommu"))
                    .read_fact(boot, shown(&arguments, "iommu")),
            );
            let without_gpus = evidence.machine.gpus.get().is_some_and(Vec::is_empty);
            judged.push(if value.lists("pci", "realloc=off") {
                Judged::pass("pci-realloc", "pci=realloc=off").read_fact(boot, "pci=realloc=off")
            } else if without_gpus {
                Judged::unknown("pci-realloc", "no GPU was found")
            } else {
                Judged::fail("pci-realloc", "no pci=realloc=off").read_fact(boot, shown(&arguments, "pci="))
            });
            judged.push(blacklist(evidence, value.lists("modprobe.blacklist", "amdgpu")));
        }
        Fact::Unknown { reason } => {
            for check in ["iommu-pt", "pci-realloc", "amdgpu-blacklist"] {
                judged.push(Judged::unknown(check, reason.clone()));
            }
        }
    }
    judged
}

/// The arguments that have a word in them.
fn shown(arguments: &[&str], word: &str) -> String {
    let found: Vec<&str> = arguments.iter().copied().filter(|it| it.contains(word)).collect();
    if found.is_empty() {
        format!("no argument with {}", word.trim_end_matches('='))
    } else {
        found.join(" ")
    }
}

fn iommu(evidence: &HostEvidence<'_>, iommu: Option<&str>, intel: Option<&str>) -> Judged {
    const CHECK: &str = "iommu-pt";
    if iommu == Some("pt") {
        let cpu = evidence.machine.cpu_model.get().map_or("", String::as_str);
        if cpu.contains("Intel") && intel != Some("on") {
            return Judged::warn(CHECK, "iommu=pt on an Intel CPU without intel_iommu=on")
                .set_by("add intel_iommu=on iommu=pt");
        }
        return Judged::pass(CHECK, "iommu=pt");
    }
    if let Some(sign) = &evidence.machine.surroundings.virtual_machine {
        return Judged::unknown(CHECK, format!("a virtual machine ({sign}): the IOMMU is the host's"));
    }
    if evidence.machine.kernel.get().is_some_and(|kernel| kernel.to_ascii_lowercase().contains("cray")) {
        return Judged::unknown(CHECK, "a kernel of Cray, which sets the IOMMU otherwise");
    }
    match iommu {
        Some(value) => Judged::fail(CHECK, format!("iommu={value}")),
        None => Judged::fail(CHECK, "no iommu=pt"),
    }
}

fn blacklist(evidence: &HostEvidence<'_>, listed: bool) -> Judged {
    const CHECK: &str = "amdgpu-blacklist";
    match (listed, &evidence.machine.driver) {
        (false, _) => Judged::pass(CHECK, "not in modprobe.blacklist"),
        (true, fact @ Fact::Known { value, .. }) => {
            Judged::pass(CHECK, "in modprobe.blacklist, and loaded later").read_fact(fact, value)
        }
        (true, Fact::Unknown { reason }) if !evidence.machine.has_sys => {
            Judged::unknown(CHECK, format!("in modprobe.blacklist; whether it was loaded later: {reason}"))
        }
        (true, Fact::Unknown { .. }) => Judged::fail(CHECK, "in modprobe.blacklist, and not loaded"),
    }
}

fn cpus(evidence: &HostEvidence<'_>) -> Judged {
    const CHECK: &str = "cpu-255";
    let (present, online) = (&evidence.machine.cpus_present, &evidence.machine.cpus_online);
    match (present, online) {
        (Fact::Known { value: present, .. }, Fact::Known { value: on, .. }) => {
            let read = format!("{} of {} CPUs online", on.len(), present.len());
            if on.len() >= present.len() {
                Judged::pass(CHECK, read.clone()).read_fact(online, read)
            } else {
                Judged::fail(CHECK, read.clone()).read_fact(online, read)
            }
        }
        (Fact::Unknown { reason }, _) | (_, Fact::Unknown { reason }) => {
            Judged::unknown(CHECK, reason.clone())
        }
    }
}
