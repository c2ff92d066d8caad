//! Detection of containers and virtual machines, which hide the host.
//!
//! A missing sign of a container does not prove bare metal; only visible signs are reported.

use crate::Tree;

/// Signs of a container or virtual machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Surroundings {
    /// The sign of a container: `/.dockerenv`.
    pub container: Option<String>,
    /// The sign of a virtual machine: `bios version: Hyper-V UEFI Release v4.1`.
    pub virtual_machine: Option<String>,
}

/// Words in DMI fields of virtual machines.
const HYPERVISORS: [&str; 11] = [
    "hyper-v",
    "virtual machine",
    "qemu",
    "kvm",
    "vmware",
    "virtualbox",
    "xen",
    "bochs",
    "amazon ec2",
    "google compute engine",
    "openstack",
];
const DMI: [(&str, &str); 3] =
    [("bios_version", "BIOS version"), ("product_name", "product"), ("sys_vendor", "vendor")];
const CONTAINER_WORDS: [&str; 7] = ["docker", "kubepods", "containerd", "libpod", "lxc", "crio", "buildkit"];

/// Looks for signs of both.
pub(crate) fn surroundings(tree: &Tree) -> Surroundings {
    Surroundings { container: container(tree), virtual_machine: virtual_machine(tree) }
}

fn container(tree: &Tree) -> Option<String> {
    for file in [".dockerenv", "run/.containerenv"] {
        if tree.has(file) {
            return Some(format!("/{file}"));
        }
    }
    let cgroup = tree.text("proc/1/cgroup");
    if let Some(word) = cgroup.get().and_then(|text| CONTAINER_WORDS.iter().find(|word| text.contains(*word)))
    {
        return Some(format!("/proc/1/cgroup names {word}"));
    }
    let mounts = tree.text("proc/1/mountinfo");
    let overlay = mounts.get().is_some_and(|text| {
        text.lines().any(|line| line.split(' ').nth(4) == Some("/") && line.contains(" - overlay "))
    });
    overlay.then(|| "/proc/1/mountinfo: the root is an overlay".to_owned())
}

fn virtual_machine(tree: &Tree) -> Option<String> {
    for (file, what) in DMI {
        for folder in ["sys/devices/virtual/dmi/id", "sys/class/dmi/id"] {
            let text = tree.text(&format!("{folder}/{file}"));
            let Some(text) = text.get() else { continue };
            let lower = text.to_ascii_lowercase();
            // Amazon's servers without a hypervisor name Amazon too, and say `metal`.
            if HYPERVISORS.iter().any(|word| lower.contains(word)) && !lower.contains("metal") {
                return Some(format!("{what}: {text}"));
            }
        }
    }
    let flags = tree.text("proc/cpuinfo");
    let flagged = flags.get().is_some_and(|text| {
        let mut lines = text.lines().filter(|line| line.starts_with("flags"));
        lines.next().is_some_and(|line| line.split_whitespace().any(|flag| flag == "hypervisor"))
    });
    if flagged {
        return Some("/proc/cpuinfo: flag hypervisor".to_owned());
    }
    tree.text("sys/hypervisor/type").get().map(|kind| format!("/sys/hypervisor/type: {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_named() {
        for (path, text, container, machine) in [
            (".dockerenv", "", Some("/.dockerenv"), None),
            ("proc/1/cgroup", "0::/kubepods/burstable/x", Some("/proc/1/cgroup names kubepods"), None),
            ("proc/1/cgroup", "0::/init.scope", None, None),
            (
                "sys/devices/virtual/dmi/id/bios_version",
                "Hyper-V UEFI Release v4.1",
                None,
                Some("BIOS version: Hyper-V UEFI Release v4.1"),
            ),
            ("proc/cpuinfo", "flags\t: fpu hypervisor sse\n", None, Some("/proc/cpuinfo: flag hypervisor")),
            ("proc/cpuinfo", "flags\t: fpu sse\n", None, None),
            ("sys/class/dmi/id/product_name", "m7a.metal-48xl", None, None),
        ] {
            let mut tree = Tree::new("t");
            tree.insert(path, text.as_bytes().to_vec());
            let found = surroundings(&tree);
            assert_eq!(
                (found.container.as_deref(), found.virtual_machine.as_deref()),
                (container, machine),
                "{path} {text}"
            );
        }
    }
}
