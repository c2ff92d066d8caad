//! A compiler of this machine that can build code for a GPU, and one run of it.
//!
//! A compiler is chosen by whether it can build the target, not by its name or version. That is tested only
//! after a failure, with an empty kernel, so that a program that compiles pays for one run.

use host::compiler::{OVERRIDE, compilers};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Folders of device libraries that need no variable to be found.
const LIBRARIES: [&str; 3] =
    ["/opt/rocm/amdgcn/bitcode", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/usr/amdgcn/bitcode"];

/// The device libraries: math functions, and calls to the host.
const BITCODE: [&str; 2] = ["ocml.bc", "ockl.bc"];

/// Tools that code for a GPU is built with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Toolchain {
    /// The program `clang++`.
    pub(super) clang: PathBuf,
    /// Folder of the device libraries.
    pub(super) libraries: Option<PathBuf>,
}

/// Output of the compiler: the code, or its messages.
pub(super) struct Built {
    pub(super) success: bool,
    /// Standard error.
    pub(super) log: String,
}

impl Toolchain {
    /// All that may be there, best first.
    fn candidates() -> Vec<Toolchain> {
        let libraries = libraries();
        let mut all = Vec::new();
        for clang in compilers() {
            if libraries.is_some() {
                all.push(Toolchain { clang: clang.clone(), libraries: libraries.clone() });
            }
            all.push(Toolchain { clang, libraries: None });
        }
        all
    }

    /// Options that link the device libraries into the code.
    pub(super) fn library_options(&self, processor: &str) -> Vec<OsString> {
        let Some(folder) = &self.libraries else { return Vec::new() };
        let mut options = vec![
            "-DROCKHOUND_DEVICE_LIBRARIES".into(),
            format!("-DROCKHOUND_ISA_VERSION={}", isa_version(processor)).into(),
        ];
        for file in BITCODE {
            let option = |text: &str| [OsString::from("-Xclang"), text.into()];
            options.extend(option("-mlink-builtin-bitcode"));
            options.extend(["-Xclang".into(), folder.join(file).into_os_string()]);
        }
        options
    }

    /// Runs the compiler.
    pub(super) fn run(&self, arguments: &[OsString]) -> Built {
        let mut command = Command::new(&self.clang);
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
        let built = toolchain.run(&arguments(&toolchain));
        let is_able = built.success || known.contains(&able(&toolchain)) || {
            let probed = toolchain.run(&probe(&toolchain));
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

/// Folder of the device libraries.
fn libraries() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = match std::env::var_os("HIP_DEVICE_LIB_PATH") {
        // As for the vendor's: this one and no other.
        Some(named) => vec![PathBuf::from(named)],
        None => {
            let rocm = std::env::var_os("ROCM_PATH").map(|it| Path::new(&it).join("amdgcn/bitcode"));
            rocm.into_iter().chain(LIBRARIES.map(PathBuf::from)).collect()
        }
    };
    folders.into_iter().find(|folder| BITCODE.iter().all(|file| folder.join(file).exists()))
}

/// The number by which device libraries know a processor: `gfx90a` is 9010.
fn isa_version(processor: &str) -> u32 {
    let digits = processor.trim_start_matches("gfx");
    let (major, rest) = digits.split_at(digits.len().saturating_sub(2));
    let digit = |at: usize| rest.chars().nth(at).and_then(|it| it.to_digit(16)).unwrap_or(0);
    major.parse().unwrap_or(0) * 1000 + digit(0) * 100 + digit(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_have_numbers() {
        for (processor, number) in [
            ("gfx908", 9008),
            ("gfx90a", 9010),
            ("gfx942", 9402),
            ("gfx950", 9500),
            ("gfx1100", 11000),
            ("", 0),
        ] {
            assert_eq!(isa_version(processor), number, "{processor}");
        }
    }
}
