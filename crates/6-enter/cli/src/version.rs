//! `rockhound --version --verbose`: build facts of this command, and the tools and devices of this machine.
//!
//! Every line is needed in a bug report; a missing thing is reported as absent.

use host::BUILD_ID;
use host::run::{Libraries, libraries};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Tools of LLVM that people use beside this command.
const TOOLS: [&str; 4] = ["clang", "llvm-objdump", "llvm-mc", "clang-offload-bundler"];

/// Newest version of LLVM whose name is looked for, and the oldest.
const VERSIONS: std::ops::RangeInclusive<u32> = 15..=30;

/// True if `--verbose` is on the command line, also together with the other flag: `-Vv`.
pub(crate) fn is_verbose(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.skip(1).any(|argument| matches!(argument.to_str(), Some("--verbose" | "-v" | "-vV" | "-Vv")))
}

/// Everything about this command.
pub(crate) fn describe() -> String {
    let or = |text: &'static str, otherwise: &'static str| if text.is_empty() { otherwise } else { text };
    let folder = Path::new(env!("ROCKHOUND_BUILD_DIR"));
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let mut text = format!("rockhound {}\n", env!("CARGO_PKG_VERSION"));
    let mut line = |name: &str, value: &str| text.push_str(&format!("{name:<13} {value}\n"));
    line("commit", or(env!("ROCKHOUND_COMMIT"), "not known: neither a release nor a package"));
    line("profile", profile);
    line("target", env!("ROCKHOUND_TARGET"));
    line("features", or(env!("ROCKHOUND_FEATURES"), "none"));
    line("build", BUILD_ID);
    let Libraries { own, others } = libraries();
    match &own {
        Some(path) => line("HIP library", &format!("{} (of this build)", path.display())),
        None => line("HIP library", "none of this build"),
    }
    for other in others {
        line("", &format!("{} (of another build: passed over)", other.display()));
    }
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    for tool in TOOLS {
        line(
            tool,
            &find(tool, &folders).map_or_else(|| "not found".to_owned(), |path| path.display().to_string()),
        );
    }
    text
}

/// A tool by its name, else the newest one that has its version in the name.
fn find(tool: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let names =
        std::iter::once(tool.to_owned()).chain(VERSIONS.rev().map(|version| format!("{tool}-{version}")));
    names.flat_map(|name| folders.iter().map(move |folder| folder.join(&name))).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_in_every_order() {
        for (words, verbose) in [
            (&["rockhound", "--version"][..], false),
            (&["rockhound", "--version", "--verbose"], true),
            (&["rockhound", "-v", "-V"], true),
            (&["rockhound", "-Vv"], true),
            (&["-v", "-V"], false),
        ] {
            assert_eq!(is_verbose(words.iter().map(OsString::from)), verbose, "{words:?}");
        }
    }
}
