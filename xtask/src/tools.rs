//! Tools from the Python package index, in a folder of the workspace's own.
//!
//! Every version is fixed here; nothing is installed outside of `target`.

use crate::run::{output, root};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tools that make wheels and check their types.
pub(crate) const WHEEL: [&str; 2] = ["maturin==1.16.0", "mypy==2.4.1"];

/// A tool that judges the metadata of wheels as the package index does.
pub(crate) const METADATA: [&str; 1] = ["twine==7.0.0"];

/// A linker and C compiler that know the symbols of old C libraries.
pub(crate) const PORTABLE: [&str; 2] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.0"];

/// The folder with the programs of some packages; installs those that are missing.
pub(crate) fn folder(packages: &[&str]) -> Result<PathBuf> {
    let home = root().join("target/tools");
    if !home.join("bin/pip").exists() && !succeeds(Command::new("python3").args(["-m", "venv"]).arg(&home)) {
        bail!("`python3 -m venv` cannot make {}\nhint: install python3 and python3-venv", home.display());
    }
    let bin = home.join("bin");
    let installed = output(&bin.join("pip").to_string_lossy(), &["freeze", "--disable-pip-version-check"]);
    let installed = installed.unwrap_or_default();
    let missing: Vec<&str> =
        packages.iter().filter(|package| !installed.lines().any(|line| line == **package)).copied().collect();
    if !missing.is_empty() {
        let mut pip = Command::new(bin.join("pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(&missing);
        if !succeeds(&mut pip) {
            bail!("cannot install {}\nhint: the Python package index must be reachable", missing.join(" "));
        }
    }
    Ok(bin)
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

/// Puts a folder of programs before all others.
pub(crate) fn first_in_path(command: &mut Command, folder: &Path) {
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&others));
    if let Ok(path) = std::env::join_paths(folders) {
        command.env("PATH", path);
    }
}
