//! The workspace's folder, and running programs in it.
//!
//! A program that fails ends the task, with the command as one would type it.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask stands in the workspace's folder")
}

/// Folder of what cargo builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The command with all its optional parts: the tested and distributed one.
pub(crate) const FULL: [&str; 2] = ["--features", "rockhound/full"];

/// Runs a program in the workspace's folder, its output passed through.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let line = format!("{program} {}", arguments.join(" "));
    eprintln!("$ {line}");
    let status = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .status()
        .with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed");
    }
    Ok(())
}

/// Runs a program in parallel with others: its output is shown in one piece when it has ended.
pub(crate) fn output_at_end(program: &str, arguments: &[String]) -> Result<()> {
    let line = format!("{program} {}", arguments.join(" "));
    let output = Command::new(program).args(arguments).current_dir(root()).output();
    let output = output.with_context(|| format!("cannot start `{line}`"))?;
    let [out, errors] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    eprintln!("$ {line}\n{errors}");
    println!("{out}");
    if !output.status.success() {
        bail!("`{line}` failed");
    }
    Ok(())
}

/// Standard output of a program, `None` when it is absent or fails.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// All files under a folder whose path below the root `wanted` accepts, sorted; build outputs and hidden
/// folders left out.
pub(crate) fn files(folder: &Path, wanted: fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if !name.starts_with('.') && !name.starts_with("target") {
                    folders.push(path);
                }
            } else if wanted(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A path below the root, with forward slashes.
pub(crate) fn below_root(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}
