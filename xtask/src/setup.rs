//! Installs what the tests compare with.
//!
//! The one idea to keep in mind: everything comes from a package registry by its name; without root the
//! command is printed instead of run.

use crate::run::{self, output, root};
use anyhow::{Result, bail};

/// Debian packages of the tools that tests start.
pub(crate) const PACKAGES: &[&str] = &["clang-19", "lld-19", "llvm-19", "clang-22", "lld-22", "llvm-22"];

/// One program of each package, to see whether it is there.
const PROGRAMS: &[&str] = &["clang-19", "ld.lld-19", "llvm-mc-19", "clang-22", "ld.lld-22", "llvm-mc-22"];

/// Python packages whose libraries hold real kernels; large, so only on request.
const REAL_WHEELS: &[&str] =
    &["onnxruntime-rocm==1.22.2.post3", "cupy-rocm-7-0==14.2.0", "bitsandbytes==0.50.2"];

/// Debian package of the largest one.
const REAL_PACKAGES: &[&str] = &["librocsparse0"];

/// Installs what is missing.
pub(crate) fn ensure() -> Result<()> {
    if missing().is_empty() { Ok(()) } else { install(&[]) }
}

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut print_only = false;
    let mut real = false;
    for argument in arguments {
        match argument.as_str() {
            "--print" => print_only = true,
            "--real" => real = true,
            other => bail!("no option `{other}`; there are `--print` and `--real`"),
        }
    }
    if print_only {
        println!("{}", command(if real { REAL_PACKAGES } else { &[] }));
        if real {
            println!("{}", wheels_command());
        }
        return Ok(());
    }
    let missing = missing();
    if missing.is_empty() && !real {
        println!("all tools are there: {}", PROGRAMS.join(" "));
        return Ok(());
    }
    install(if real { REAL_PACKAGES } else { &[] })?;
    if real {
        run::run("sh", &["-c", &wheels_command()])?;
    }
    Ok(())
}

/// Programs that are not found.
fn missing() -> Vec<&'static str> {
    PROGRAMS.iter().copied().filter(|program| output(program, &["--version"]).is_none()).collect()
}

fn install(more: &[&str]) -> Result<()> {
    let command = command(more);
    let is_root = output("id", &["-u"]).is_some_and(|id| id.trim() == "0");
    if !is_root || output("apt-get", &["--version"]).is_none() {
        bail!("needs root on a Debian system; missing: {}\nhint: run `{command}`", missing().join(" "));
    }
    run::run("sh", &["-c", &command])
}

fn command(more: &[&str]) -> String {
    let packages: Vec<&str> = PACKAGES.iter().chain(more).copied().collect();
    format!(
        "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends {}",
        packages.join(" ")
    )
}

/// Downloads the wheels, which are not installed, into `target/real`.
fn wheels_command() -> String {
    let folder = root().join("target/real");
    format!("python3 -m pip download --no-deps --dest '{}' {}", folder.display(), REAL_WHEELS.join(" "))
}
