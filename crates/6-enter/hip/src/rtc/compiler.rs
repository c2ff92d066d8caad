//! A compiler of this machine that can build code for a GPU, and one run of it.
//!
//! A compiler is chosen by whether it can build the target, not by its name or version. That is tested only
//! after a failure, with an empty kernel, so that a program that compiles pays for one run.

use host::compiler::{OVERRIDE, Toolchain};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Output of the compiler: the code, or its messages.
pub(super) struct Built {
    pub(super) success: bool,
    /// Standard error.
    pub(super) log: String,
}

/// Runs the compiler.
fn run(toolchain: &Toolchain, arguments: &[OsString]) -> Built {
    let mut command = Command::new(&toolchain.clang);
    // The program's other libraries do not concern the compiler.
    command.args(arguments).env_remove("LD_PRELOAD").stdin(std::process::Stdio::null());
    match command.output() {
        Ok(output) => Built {
            success: output.status.success(),
            log: String::from_utf8_lossy(&output.stderr).into_owned(),
        },
        Err(error) => Built { success: false, log: format!("error: it cannot be started: {error}\n") },
    }
}

/// Builds with the first toolchain that can build for a target. `arguments` gives what to run for a
/// toolchain, `probe` the same for an empty kernel. The error names every compiler that was tried.
pub(super) fn build(
    target: &str,
    arguments: impl Fn(&Toolchain) -> Vec<OsString>,
    probe: impl Fn(&Toolchain) -> Vec<OsString>,
) -> Result<Built, String> {
    /// Toolchains that have built something for a target.
    static ABLE: Mutex<BTreeSet<(String, Toolchain)>> = Mutex::new(BTreeSet::new());
    let able = |toolchain: &Toolchain| (target.to_string(), toolchain.clone());
    let known = ABLE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut candidates = Toolchain::candidates();
    if let Some(first) = candidates.iter().position(|it| known.contains(&able(it))) {
        candidates.drain(..first);
    }
    let mut tried = String::new();
    for toolchain in candidates {
        let built = run(&toolchain, &arguments(&toolchain));
        let is_able = built.success || known.contains(&able(&toolchain)) || {
            let probed = run(&toolchain, &probe(&toolchain));
            if !probed.success {
                let why = probed.log.lines().find(|line| line.contains("error")).unwrap_or("it fails");
                let line = format!("  {}: {}\n", toolchain.clang.display(), why.trim());
                // It fails the same way with and without device libraries.
                if !tried.ends_with(&line) {
                    tried += &line;
                }
            }
            probed.success
        };
        if is_able {
            ABLE.lock().unwrap_or_else(PoisonError::into_inner).insert(able(&toolchain));
            return Ok(built);
        }
    }
    let hint =
        format!("hint: install one (`apt-get install clang-22 lld-22`, or ROCm), or name one in {OVERRIDE}");
    Err(match tried.as_str() {
        "" => format!("no clang was found to compile for {target}\n{hint}\n"),
        tried => format!("no compiler of this machine can build for {target}:\n{tried}{hint}\n"),
    })
}
