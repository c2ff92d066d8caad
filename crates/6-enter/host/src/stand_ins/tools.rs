//! Programs by which others ask what GPUs there are: `rocminfo` and `rocm_agent_enumerator`.
//!
//! They are scripts that print the emulated GPUs. Their folder is the last of `PATH`, so the machine's own come first.

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
