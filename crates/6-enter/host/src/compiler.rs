//! Compilers of this machine that may build code for a GPU.

use std::path::PathBuf;

/// Names the compiler to use; no other is tried then.
pub const OVERRIDE: &str = "ROCKHOUND_CLANG";

/// Major versions of clang whose names are looked for in `PATH`, newest first.
const VERSIONS: std::ops::RangeInclusive<u32> = 15..=30;

/// Compilers, ROCm's first, then the newest.
pub fn compilers() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os(OVERRIDE) {
        return vec![PathBuf::from(path)];
    }
    let folder = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let rocm = folder("ROCM_PATH").unwrap_or_else(|| PathBuf::from("/opt/rocm"));
    let mut all: Vec<PathBuf> = folder("HIP_CLANG_PATH").into_iter().map(|it| it.join("clang++")).collect();
    all.extend(["llvm/bin/clang++", "lib/llvm/bin/clang++"].map(|it| rocm.join(it)));
    let names = std::iter::once("amdclang++".to_string())
        .chain(VERSIONS.rev().map(|version| format!("clang++-{version}")))
        .chain(["clang++".to_string()]);
    let search = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&search).collect();
    all.extend(names.filter_map(|name| folders.iter().map(|it| it.join(&name)).find(|it| it.exists())));
    all.retain(|path| path.exists());
    all
}
