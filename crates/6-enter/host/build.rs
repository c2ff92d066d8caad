//! Build id and build folder of the HIP runtime library and the library that captures launches. The id is a hash of all
//! sources of both, including the session protocol through which the command talks to them, so that the command loads only
//! libraries built with it. All depend on this crate.
//!
//! A package from a registry is published without the sources of other crates and never changes, so its
//! version is a sufficient id.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script reads sources and talks to cargo"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files and folders of a crate that decide what it compiles to.
const PARTS: [&str; 7] = ["Cargo.toml", "build.rs", "src", "data", "kernels", "tables", "versions.map"];

/// Sets `ROCKHOUND_BUILD_ID` and `ROCKHOUND_BUILD_DIR` for this crate.
fn main() {
    // `target/release/build/NAME/out`: the folder of the profile is three up. The library is built there when a
    // program first needs it and none is installed.
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    let profile = Path::new(&out).ancestors().nth(3).unwrap_or(Path::new(&out));
    println!("cargo::rustc-env=ROCKHOUND_BUILD_DIR={}", profile.display());
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let Ok(hip) = Path::new(&folder).join("../hip").canonicalize() else {
        println!("cargo::rustc-env=ROCKHOUND_BUILD_ID=package");
        return;
    };
    let hip = &hip;
    let libraries = [hip.to_owned(), hip.with_file_name("capture")];
    let mut folders = BTreeSet::from(libraries.clone());
    let mut waiting = Vec::from(libraries);
    while let Some(folder) = waiting.pop() {
        for needed in needed(&folder, hip) {
            if folders.insert(needed.clone()) {
                waiting.push(needed);
            }
        }
    }
    let mut paths: Vec<PathBuf> = folders.iter().flat_map(|it| PARTS.map(|part| it.join(part))).collect();
    let workspace = hip.ancestors().nth(3).unwrap_or(hip).to_owned();
    paths.push(workspace.join("Cargo.lock"));
    // FNV-1a: short, and nobody has a reason to make two builds that look the same.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for path in paths.iter().filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
        add(path, &workspace, &mut hash);
    }
    println!("cargo::rustc-env=ROCKHOUND_BUILD_ID={hash:016x}");
}

/// Folders of the workspace's crates that a crate depends on.
fn needed(folder: &Path, hip: &Path) -> Vec<PathBuf> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let dependencies = dependencies.split("\n[").next().unwrap_or_default();
    let names = dependencies.lines().filter_map(|line| line.split('=').next()).map(str::trim);
    let layers = hip.ancestors().nth(2).map(entries).unwrap_or_default();
    let place =
        |name: &str| layers.iter().map(|layer| layer.join(name)).find(|it| it.join("Cargo.toml").exists());
    names.filter(|name| !name.is_empty()).filter_map(place).collect()
}

fn add(path: &Path, workspace: &Path, hash: &mut u64) {
    if path.is_dir() {
        return entries(path).iter().for_each(|entry| add(entry, workspace, hash));
    }
    let name = path.strip_prefix(workspace).unwrap_or(path).to_string_lossy();
    let contents = std::fs::read(path).unwrap_or_default();
    for byte in name.bytes().chain([0]).chain(contents) {
        *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

/// Entries of a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
