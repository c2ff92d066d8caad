//! Inputs read from a machine: files by pattern, and the tools called.
//!
//! The list is data, so that the contents of a bundle can be read before it is made; it excludes serial
//! numbers, host name, addresses and other users' processes.

use serde_json::Value;

/// Files read from every machine; `*` matches part of one name.
pub const FILES: &[&str] = &[
    ".dockerenv",
    "run/.containerenv",
    "opt/rocm/.info/version",
    "opt/rocm/.info/version-dev",
    "proc/cmdline",
    "proc/version",
    "proc/cpuinfo",
    "proc/1/cgroup",
    "proc/1/mountinfo",
    "proc/1/comm",
    "proc/self/status",
    "proc/sys/kernel/numa_balancing",
    "sys/class/kfd/kfd/topology/nodes/*/gpu_id",
    "sys/class/kfd/kfd/topology/nodes/*/name",
    "sys/class/kfd/kfd/topology/nodes/*/properties",
    "sys/class/kfd/kfd/topology/nodes/*/io_links/*/properties",
    "sys/devices/system/cpu/present",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/smt/control",
    "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    "sys/devices/system/cpu/cpu*/cpuidle/state*/name",
    "sys/devices/system/cpu/cpu*/cpuidle/state*/disable",
    "sys/devices/system/node/node*/cpulist",
    "sys/devices/virtual/dmi/id/bios_version",
    "sys/devices/virtual/dmi/id/product_name",
    "sys/devices/virtual/dmi/id/sys_vendor",
    "sys/hypervisor/type",
    "sys/kernel/mm/transparent_hugepage/enabled",
    "sys/module/amdgpu/version",
    "sys/module/amdgpu/refcnt",
    "sys/bus/pci/devices/*/vendor",
];

/// Files read of each PCI device of AMD.
pub const AMD_PCI_FILES: &[&str] = &[
    "class",
    "device",
    "current_link_speed",
    "current_link_width",
    "max_link_speed",
    "max_link_width",
    "numa_node",
    "current_compute_partition",
    "current_memory_partition",
    "power_dpm_force_performance_level",
    "pp_dpm_sclk",
];

/// Files read from each process: the name, which reveals a NUMA daemon.
pub const PROCESS_FILES: &[&str] = &["proc/*/comm"];

/// Keeps only some fields of files that would make bundles large or reveal too much.
pub fn trimmed(path: &str, bytes: Vec<u8>) -> Vec<u8> {
    let keep: fn(&str) -> bool = match path {
        "proc/cpuinfo" => {
            |line| ["processor", "vendor_id", "model name", "flags"].iter().any(|it| line.starts_with(it))
        }
        "proc/self/status" => {
            |line| line.starts_with("Cpus_allowed_list") || line.starts_with("Mems_allowed_list")
        }
        "proc/1/mountinfo" => |line| line.split(' ').nth(4) == Some("/"),
        _ => return bytes,
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut seen_flags = false;
    let lines = text.lines().filter(|line| keep(line)).filter(|line| {
        let again = line.starts_with("flags") && std::mem::replace(&mut seen_flags, true);
        !again
    });
    lines.flat_map(|line| [line, "\n"]).collect::<String>().into_bytes()
}

/// Part of a file that goes into a bundle: the kernel arguments that checks ask for, without disks and
/// addresses.
pub fn for_bundle(path: &str, bytes: &[u8]) -> Vec<u8> {
    if path != "proc/cmdline" {
        return bytes.to_vec();
    }
    const KEPT: [&str; 9] = [
        "iommu=",
        "amd_iommu=",
        "intel_iommu=",
        "pci=",
        "modprobe.blacklist=",
        "numa_balancing=",
        "amdgpu.",
        "processor.",
        "idle=",
    ];
    let text = String::from_utf8_lossy(bytes);
    let words = text
        .split_whitespace()
        .take_while(|word| *word != "--")
        .filter(|word| KEPT.iter().any(|it| word.starts_with(it)));
    // A line without any of them is still a line that was read.
    format!("BOOT_IMAGE=withheld {}\n", words.collect::<Vec<_>>().join(" ")).into_bytes()
}

/// Parts of keys whose values name one single board or process.
const SINGLE: [&str; 5] = ["serial", "uuid", "fru_id", "guid", "unique"];
const WITHHELD: &str = "withheld";

/// The output of a tool without serial numbers.
pub fn without_serials(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    if text.trim_start().starts_with(['[', '{'])
        && let Ok(mut value) = serde_json::from_str::<Value>(&text)
    {
        withhold(&mut value);
        return value.to_string().into_bytes();
    }
    let single = |line: &str| {
        let lower = line.to_ascii_lowercase();
        SINGLE.iter().any(|it| lower.contains(it))
    };
    let lines = text.lines().map(|line| match line.split_once(':') {
        Some((key, _)) if single(line) => format!("{key}: {WITHHELD}\n"),
        None if single(line) => format!("{WITHHELD}\n"),
        _ => format!("{line}\n"),
    });
    lines.collect::<String>().into_bytes()
}

fn withhold(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(withhold),
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                let key = key.to_ascii_lowercase();
                if SINGLE.iter().any(|it| key.contains(it)) {
                    *value = Value::String(WITHHELD.to_owned());
                } else {
                    withhold(value);
                }
            }
        }
        _ => {}
    }
}

/// A tool called for facts.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// Name of the output in a bundle, below `commands/`.
    pub output: &'static str,
    /// Program.
    pub program: &'static str,
    /// Arguments.
    pub arguments: &'static [&'static str],
}

/// Tools called if installed. None of them changes anything.
pub const TOOLS: &[Tool] = &[
    Tool { output: "amd-smi-list.json", program: "amd-smi", arguments: &["list", "--json"] },
    Tool { output: "amd-smi-static.json", program: "amd-smi", arguments: &["static", "--json"] },
    Tool { output: "amd-smi-metric.json", program: "amd-smi", arguments: &["metric", "--json"] },
    Tool { output: "amd-smi-topology.json", program: "amd-smi", arguments: &["topology", "--json"] },
    Tool { output: "amd-smi-version.json", program: "amd-smi", arguments: &["version", "--json"] },
    Tool { output: "rocm-smi.txt", program: "rocm-smi", arguments: &[] },
    Tool { output: "rocminfo.txt", program: "rocminfo", arguments: &[] },
    Tool { output: "lspci.txt", program: "lspci", arguments: &["-vvv"] },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_name_no_board_and_no_disk() {
        let line = for_bundle(
            "proc/cmdline",
            b"BOOT_IMAGE=/x root=UUID=1 ip=10.0.0.1 iommu=pt pci=noats,realloc=off -- iommu=off\n",
        );
        assert_eq!(line, b"BOOT_IMAGE=withheld iommu=pt pci=noats,realloc=off\n");
        let json =
            without_serials(br#"[{"gpu": 0, "asic": {"asic_serial": "0x7E8F", "oam_id": 1}, "uuid": "x"}]"#);
        assert_eq!(json, br#"[{"asic":{"asic_serial":"withheld","oam_id":1},"gpu":0,"uuid":"withheld"}]"#);
        let text = without_serials(b"  Uuid:   GPU-a867\n  Name: gfx90a\n\tDevice Serial Number 00-11\n");
        assert_eq!(text, b"  Uuid: withheld\n  Name: gfx90a\nwithheld\n");
    }

    #[test]
    fn only_what_is_needed_stays() {
        let cpu = b"processor\t: 0\nflags\t: fpu hypervisor\nserial\t: 7\nprocessor\t: 1\nflags\t: fpu hypervisor\n".to_vec();
        assert_eq!(
            trimmed("proc/cpuinfo", cpu),
            b"processor\t: 0\nflags\t: fpu hypervisor\nprocessor\t: 1\n"
        );
        assert_eq!(trimmed("proc/version", b"x".to_vec()), b"x");
    }
}
