//! Installs the tools that tests compare with.
//!
//! Everything comes from a package registry by its name; without root the command is printed instead of run.

use crate::run::{self, output, root};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// Debian packages of the tools that tests start, each with one of its programs.
const TOOLS: [(&str, &str); 14] = [
    ("clang-19", "clang-19"),
    ("clang-tools-19", "clang-offload-bundler-19"),
    ("lld-19", "ld.lld-19"),
    ("llvm-19", "llvm-mc-19"),
    ("llvm-15", "llvm-as-15"),
    ("clang-22", "clang-22"),
    ("clang-tools-22", "clang-offload-bundler-22"),
    ("lld-22", "ld.lld-22"),
    ("llvm-22", "llvm-mc-22"),
    ("tmux", "tmux"),
    ("chromium-headless-shell", "chromium-headless-shell"),
    ("nodejs", "node"),
    ("npm", "npm"),
    ("python3-venv", "python3"),
];

/// Debian packages of what HIP programs of the tests and examples are compiled with, and of the servers that tests
/// start, each with something it holds.
const LIBRARIES: [(&str, &str); 6] = [
    ("libamdhip64-dev", "/usr/include/hip/hip_runtime.h"),
    ("rocm-device-libs", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"),
    ("postgresql", "/usr/bin/pg_ctlcluster"),
    ("slurmctld", "/usr/sbin/slurmctld"),
    ("slurmd", "/usr/sbin/slurmd"),
    ("munge", "/usr/sbin/munged"),
];

/// Python packages whose libraries hold real kernels; large, so only on request.
const REAL_WHEELS: &[&str] =
    &["onnxruntime-rocm==1.22.2.post3", "cupy-rocm-7-0==14.2.0", "bitsandbytes==0.50.2"];

/// Debian package of the largest one; unpacked, not installed.
const REAL_PACKAGE: &str = "librocsparse0";

/// Packages for the Triton programs of the tests, and the spelling checker, in a folder of the workspace.
const PYTHON: &str = "python3 -m venv target/python && target/python/bin/pip install --quiet triton==3.6.0 numpy typos==1.52.0";

/// The spelling checker, if it is installed.
pub(crate) fn typos() -> Option<PathBuf> {
    Some(root().join("target/python/bin/typos")).filter(|it| it.is_file())
}

/// The same for programs with torch: the CPU build is not on the package index, and the build there takes
/// gigabytes.
const TORCH: &str = "target/python/bin/pip install --quiet --retries 0 torch==2.10.0 --index-url https://download.pytorch.org/whl/cpu";

/// Installs missing tools.
pub(crate) fn ensure() -> Result<()> {
    if !missing().is_empty() {
        install()?;
    }
    python()
}

/// Installs Triton and torch if missing.
fn python() -> Result<()> {
    let python = root().join("target/python/bin/python");
    let has =
        |module: &str| output(&python.to_string_lossy(), &["-c", &format!("import {module}")]).is_some();
    if !has("triton, numpy") || typos().is_none() {
        run::run("sh", &["-c", PYTHON])?;
    }
    if !has("torch") && run::run("sh", &["-c", TORCH]).is_err() {
        eprintln!("no torch: tests of programs with it skip\nhint: `{TORCH}` needs download.pytorch.org");
    }
    Ok(())
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
        let all: Vec<&str> = TOOLS.iter().chain(&LIBRARIES).map(|(package, _)| *package).collect();
        println!("{}", command(&all));
        println!("{PYTHON}\n{TORCH}");
        if real {
            println!("{}", real_command());
        }
        return Ok(());
    }
    let missing = missing();
    if missing.is_empty() && !real {
        python()?;
        let programs: Vec<&str> = TOOLS.iter().map(|(_, program)| *program).collect();
        println!("all tools are there: {}", programs.join(" "));
        return Ok(());
    }
    if !missing.is_empty() {
        install()?;
    }
    python()?;
    if real { run::run("sh", &["-c", &real_command()]) } else { Ok(()) }
}

/// Packages whose program or file is not found.
fn missing() -> Vec<&'static str> {
    // tmux alone has a short flag.
    let answers = |program| output(program, &[if program == "tmux" { "-V" } else { "--version" }]).is_some();
    let tools = TOOLS.iter().filter(|(_, program)| !answers(program));
    let libraries = LIBRARIES.iter().filter(|(_, file)| !Path::new(file).exists());
    tools.chain(libraries).map(|(package, _)| *package).collect()
}

fn install() -> Result<()> {
    // A tool from elsewhere may exclude the Debian package of another one.
    let command = command(&missing());
    let is_root = output("id", &["-u"]).is_some_and(|id| id.trim() == "0");
    if !is_root || output("apt-get", &["--version"]).is_none() {
        bail!("needs root on a Debian system; missing: {}\nhint: run `{command}`", missing().join(" "));
    }
    run::run("sh", &["-c", &command])
}

fn command(packages: &[&str]) -> String {
    format!(
        "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends {}",
        packages.join(" ")
    )
}

/// Downloads the big inputs into `target/real` and unpacks them there.
fn real_command() -> String {
    format!(
        "mkdir -p '{folder}' && cd '{folder}' && apt-get download {REAL_PACKAGE} && dpkg -x {REAL_PACKAGE}_*.deb {REAL_PACKAGE} \
         && python3 -m pip download --no-deps --dest . {wheels} && for wheel in *.whl; do \
         python3 -m zipfile -e \"$wheel\" \"${{wheel%%-*}}\"; done",
        folder = root().join("target/real").display(),
        wheels = REAL_WHEELS.join(" ")
    )
}
