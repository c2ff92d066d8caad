//! What programs look at to know which GPUs there are: `rocminfo`, `rocm_agent_enumerator`, and the driver's topology.
//!
//! The programs are scripts that print the emulated GPUs. Their folder is the last of `PATH`, so the machine's own come
//! first.

use anyhow::{Context, Result};
use arch::Model;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Writes both into a folder.
pub(crate) fn write(folder: &Path, model: &Model, devices: u32) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, text) in
        [("rocminfo", information(model, devices)), ("rocm_agent_enumerator", agents(model, devices))]
    {
        let path = folder.join(name);
        let script = format!("#!/bin/sh\ncat <<'END'\n{text}END\n");
        std::fs::write(&path, script)
            .and_then(|()| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Writes the tree of `/sys/class/kfd`: a node for the host, then one for each GPU.
pub(crate) fn write_topology(folder: &Path, model: &Model, devices: u32) -> Result<()> {
    let target = model.target();
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    // `gfx90a` is 9.0.10.
    let digits = target.name.trim_start_matches("gfx");
    let digit = |it: u8| u64::from(char::from(it).to_digit(16).unwrap_or(0));
    let version = match digits.as_bytes() {
        [major @ .., minor, step] => {
            let major = major.iter().fold(0, |all, it| 10 * all + digit(*it));
            10_000 * major + 100 * digit(*minor) + digit(*step)
        }
        _ => 0,
    };
    for node in 0..=devices {
        let (is_gpu, folder) = (node > 0, folder.join(format!("kfd/topology/nodes/{node}")));
        let of_gpu = |value: u64| if is_gpu { value } else { 0 };
        let units = u64::from(model.compute_units.value);
        let simds = units * u64::from(target.simds_per_cu.value);
        let facts = [
            ("cpu_cores_count", if is_gpu { 0 } else { cores }),
            ("simd_count", of_gpu(simds)),
            ("simd_per_cu", of_gpu(u64::from(target.simds_per_cu.value))),
            ("wave_front_size", of_gpu(u64::from(target.lanes_per_wave.value))),
            ("gfx_target_version", of_gpu(version)),
            ("vendor_id", of_gpu(0x1002)),
            ("location_id", of_gpu(u64::from(node) << 8)),
            ("max_engine_clk_fcompute", of_gpu(u64::from(model.engine_mhz.value))),
        ];
        let text =
            facts.iter().fold(String::new(), |text, (name, value)| text + &format!("{name} {value}\n"));
        let name = if is_gpu { target.name } else { "" };
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(folder.join("properties"), text))
            .and_then(|()| std::fs::write(folder.join("gpu_id"), format!("{}\n", of_gpu(u64::from(node)))))
            .and_then(|()| std::fs::write(folder.join("name"), format!("{name}\n")))
            .with_context(|| format!("cannot write into {}", folder.display()))?;
    }
    Ok(())
}

/// A line for the host, then one for each GPU.
fn agents(model: &Model, devices: u32) -> String {
    (0..devices).fold("gfx000\n".to_owned(), |text, _| text + model.target().name + "\n")
}

/// The lines of the vendor's program that others read.
fn information(model: &Model, devices: u32) -> String {
    let target = model.target();
    let mut text = String::from(
        "ROCk module is not loaded: these GPUs are emulated by Rockhound\n\
         =====================\nHSA System Attributes\n=====================\nRuntime Version:         1.18\n\n\
         ==========\nHSA Agents\n==========\n",
    );
    let mut agent = |lines: &[(&str, String)]| {
        text += "*******\n";
        lines.iter().for_each(|(name, value)| text += &format!("{name:<27}{value}\n"));
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    agent(&[
        ("Agent 1", String::new()),
        ("  Name:", "CPU".to_owned()),
        ("  Device Type:", "CPU".to_owned()),
        ("  Compute Unit:", cores.to_string()),
    ]);
    for number in 0..devices {
        agent(&[
            (&format!("Agent {}", number + 2), String::new()),
            ("  Name:", target.name.to_owned()),
            ("  Uuid:", format!("GPU-{:016x}", 0x726f_636b_0000_0000 + u64::from(number))),
            ("  Marketing Name:", format!("AMD {}", model.name)),
            ("  Vendor Name:", "AMD".to_owned()),
            ("  Node:", (number + 1).to_string()),
            ("  Device Type:", "GPU".to_owned()),
            ("  Max Clock Freq. (MHz):", model.engine_mhz.value.to_string()),
            ("  Compute Unit:", model.compute_units.value.to_string()),
            ("  SIMDs per CU:", target.simds_per_cu.value.to_string()),
            ("  Wavefront Size:", format!("{0}({0:#x})", target.lanes_per_wave.value)),
            ("  ISA Info:", String::new()),
            ("    ISA 1", String::new()),
            ("      Name:", format!("amdgcn-amd-amdhsa--{}:sramecc+:xnack-", target.name)),
        ]);
    }
    text + "*** Done ***\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_topology_has_a_node_for_the_host_and_each_gpu() {
        let folder = tempfile::tempdir().unwrap();
        write_topology(folder.path(), Model::by_name("mi210").unwrap(), 2).unwrap();
        let nodes = folder.path().join("kfd/topology/nodes");
        let properties = |node: &str| std::fs::read_to_string(nodes.join(node).join("properties")).unwrap();
        assert_eq!(std::fs::read_dir(&nodes).unwrap().count(), 3);
        assert!(properties("0").contains("simd_count 0\n"));
        assert!(properties("2").contains("simd_count 416\n"));
        assert!(properties("2").contains("gfx_target_version 90010\n"), "{}", properties("2"));
    }

    #[test]
    fn programs_print_the_gpus() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), Model::by_name("mi210").unwrap(), 2).unwrap();
        let printed = |name: &str| testkit::run(folder.path().join(name), &[]);
        assert_eq!(printed("rocm_agent_enumerator"), "gfx000\ngfx90a\ngfx90a\n");
        let information = printed("rocminfo");
        let count = |line: &str| information.lines().filter(|it| *it == line).count();
        assert_eq!(count("  Name:                    gfx90a"), 2, "{information}");
        assert_eq!(count("  Compute Unit:            104"), 2, "{information}");
    }
}
