//! SYS016: containers started without what GPU programs need.

use crate::{Check, HostEvidence, Judged, Rule};
use system::{DockerContainer, Machine};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS016",
    title: "a container lacks devices, shared memory or rights",
    severity: Severity::Severe,
    page: include_str!("sys016.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

/// Least shared memory that several processes get along with.
const ENOUGH_SHM: u64 = 4 << 30;

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    let machine = evidence.machine;
    if machine.docker.is_empty() {
        let names = ["docker-devices", "docker-ipc", "docker-limits", "docker-cpus"];
        return match &machine.surroundings.container {
            Some(sign) => names
                .map(|check| {
                    Judged::unknown(check, format!("in a container ({sign}); no `docker inspect` given"))
                })
                .into(),
            None => names.map(|check| Judged::unknown(check, "no `docker inspect` given")).into(),
        };
    }
    machine.docker.iter().flat_map(|it| [devices(it, machine), ipc(it), limits(it), cpus(it)]).collect()
}

fn from(container: &DockerContainer, field: &str) -> String {
    format!("{} {}: {field}", container.source, container.name)
}

fn devices(container: &DockerContainer, machine: &Machine) -> Judged {
    const CHECK: &str = "docker-devices";
    let read = if container.devices.is_empty() { "none".to_owned() } else { container.devices.join(", ") };
    let judged = if container.privileged {
        Judged::pass(CHECK, "privileged: all devices")
    } else if !container.devices.iter().any(|it| it == "/dev/kfd") {
        Judged::fail(CHECK, format!("{}: no /dev/kfd", container.name))
    } else if container.devices.iter().any(|it| it == "/dev/dri") {
        Judged::pass(CHECK, "/dev/kfd and all of /dev/dri")
    } else {
        let nodes = container.devices.iter().filter(|it| it.starts_with("/dev/dri/renderD")).count();
        let gpus = machine.known_gpus().len();
        match (nodes, gpus) {
            (0, _) => Judged::fail(CHECK, format!("{}: no render node of /dev/dri", container.name)),
            (nodes, gpus) if gpus > 0 && nodes >= gpus => {
                Judged::pass(CHECK, format!("/dev/kfd and {nodes} render nodes"))
            }
            (1, _) => Judged::warn(CHECK, format!("{}: one render node, so one GPU", container.name)),
            (nodes, _) => {
                Judged::warn(CHECK, format!("{}: {nodes} render nodes, so {nodes} GPUs", container.name))
            }
        }
    };
    judged.read(from(container, "HostConfig.Devices"), read)
}

fn ipc(container: &DockerContainer) -> Judged {
    const CHECK: &str = "docker-ipc";
    let mib =
        container.shm_bytes.map_or_else(|| "unknown".to_owned(), |bytes| format!("{} MiB", bytes >> 20));
    let read =
        format!("{}, {mib}", if container.ipc_mode.is_empty() { "private" } else { &container.ipc_mode });
    let judged = if container.ipc_mode == "host" {
        Judged::pass(CHECK, "IPC of the host")
    } else if container.shm_bytes.is_none() && container.ipc_mode.starts_with("of the pod") {
        Judged::pass(CHECK, "shared memory as large as the pod's memory")
    } else {
        match container.shm_bytes {
            Some(bytes) if bytes >= ENOUGH_SHM => Judged::pass(CHECK, format!("{mib} of shared memory")),
            Some(_) => {
                Judged::fail(CHECK, format!("{}: private IPC with {mib} of shared memory", container.name))
            }
            None => Judged::unknown(CHECK, format!("{}: no ShmSize", container.name)),
        }
    };
    judged.read(from(container, "HostConfig.IpcMode, ShmSize"), read)
}

fn limits(container: &DockerContainer) -> Judged {
    const CHECK: &str = "docker-limits";
    let mut lacks = Vec::new();
    if !container.privileged {
        if !container.capabilities.iter().any(|it| it == "SYS_PTRACE" || it == "ALL") {
            lacks.push("SYS_PTRACE".to_owned());
        }
        if !container.security.iter().any(|it| it == "seccomp=unconfined" || it == "seccomp:unconfined") {
            lacks.push("seccomp=unconfined".to_owned());
        }
    }
    if container.memlock != Some(-1) {
        lacks.push("memlock unlimited".to_owned());
    }
    if !(container.user.is_empty() || container.user == "root" || container.user.starts_with('0')) {
        for group in ["video", "render"] {
            if !container.groups.iter().any(|it| it == group) {
                lacks.push(format!("group {group} for user {}", container.user));
            }
        }
    }
    let judged = if lacks.is_empty() {
        Judged::pass(CHECK, "rights for tools and pinned memory")
    } else {
        Judged::warn(CHECK, format!("{}: lacks {}", container.name, lacks.join(", ")))
    };
    judged.read(
        from(container, "CapAdd, SecurityOpt, Ulimits, GroupAdd, User"),
        format!("lacks {}", lacks.len()),
    )
}

fn cpus(container: &DockerContainer) -> Judged {
    const CHECK: &str = "docker-cpus";
    let mut limits = Vec::new();
    if !container.cpus.is_empty() {
        let count = system::cpu_list(&container.cpus)
            .map_or_else(String::new, |list| format!("{} CPUs ", list.len()));
        limits.push(format!("{count}({})", container.cpus));
    }
    if container.nano_cpus > 0 {
        limits.push(format!("{:.1} CPUs of time", container.nano_cpus as f64 / 1e9));
    }
    if container.memory_bytes > 0 {
        limits.push(format!("{} GiB of memory", container.memory_bytes >> 30));
    }
    let judged = if limits.is_empty() {
        Judged::pass(CHECK, "no limit")
    } else {
        Judged::warn(CHECK, format!("{}: {}", container.name, limits.join(", ")))
    };
    judged.read(
        from(container, "CpusetCpus, NanoCpus, Memory"),
        if limits.is_empty() { "none".to_owned() } else { limits.join(", ") },
    )
}
