//! Where the HIP runtime library is.
//!
//! The one idea to keep in mind: only a file with the mark of this very version is used; any other is named and passed
//! over.

use crate::contents::Contents;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// File name.
const NAME: &str = "libamdhip64.so";

/// What the library of this version has inside.
const MARK: &str = concat!("rockhound-hip-", env!("CARGO_PKG_VERSION"), "-session-1\0");

/// The library of this version.
pub(crate) fn find() -> Result<PathBuf> {
    let mut others = Vec::new();
    for folder in folders() {
        let path = folder.join(NAME);
        if !path.is_file() {
            continue;
        }
        if is_ours(&path) {
            return Ok(path.canonicalize().unwrap_or(path));
        }
        others.push(path);
    }
    let mut message =
        format!("the HIP runtime library of rockhound {} is not installed", env!("CARGO_PKG_VERSION"));
    for other in others {
        message += &format!("\n  {} is of another version", other.display());
    }
    message += "\nhint: put `libamdhip64.so` beside the `rockhound` program or into ../lib; in the workspace, `cargo build --release -p rockhound-hip` makes it";
    Err(anyhow::anyhow!(message))
}

/// Beside the program, in `../lib`, and in the workspace it was built from.
fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(own) = std::env::current_exe().ok().and_then(|it| it.canonicalize().ok()) {
        let beside = own.parent().map(Path::to_owned).unwrap_or_default();
        folders.push(beside.clone());
        folders.push(beside.join("../lib"));
        folders.push(beside.join("../lib/rockhound"));
        // Test programs lie one folder deeper.
        folders.push(beside.join(".."));
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).map(|it| it.join("target"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).or(workspace);
    if let Some(target) = target {
        folders.push(target.join("release"));
        folders.push(target.join("debug"));
    }
    folders
}

/// Whether a file has the mark.
fn is_ours(path: &Path) -> bool {
    let Ok(contents) = Contents::open(path) else { return false };
    memchr::memmem::find(contents.bytes(), MARK.as_bytes()).is_some()
}
