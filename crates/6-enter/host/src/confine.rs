//! Keeps this process, and all it starts, inside named folders.
//!
//! The kernel enforces it (Landlock, Linux 5.13), so it holds for programs, compilers and scripts too, and for paths in
//! files that nobody looked at. Besides the folders, whatever a system needs to run programs can be read.

use anyhow::{Context, Result};
use landlock::{
    ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, path_beneath_rules,
};
use std::path::PathBuf;

/// Rights asked for; an older kernel knows some of them.
const RIGHTS: ABI = ABI::V5;
/// Read and executed, not written: programs, libraries, settings of the system, facts of the machine.
const SYSTEM: [&str; 10] =
    ["/bin", "/etc", "/lib", "/lib32", "/lib64", "/opt/rocm", "/proc", "/sbin", "/sys", "/usr"];
/// Read and written: devices without content, and memory shared by processes.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/shm",
    "/dev/kfd",
    "/dev/dri",
];

/// Confines this process and its children to folders, which they may read and write. Returns false on a kernel that
/// cannot.
///
/// # Errors
/// Fails if the kernel refuses the rules.
pub fn confine(folders: &[PathBuf]) -> Result<bool> {
    let read = AccessFs::from_read(RIGHTS);
    let all = AccessFs::from_all(RIGHTS);
    // The command and its library, files and no folders: beside them are things of the user. And programs that the user can start by name.
    let command = std::env::current_exe().ok();
    let libraries = crate::run::library_files();
    let environment = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs = std::env::split_paths(&path).filter(|it| it.is_absolute() && it.parent().is_some());
    let readable = command.into_iter().chain(libraries).chain(environment).chain(programs);
    let status = Ruleset::default()
        .handle_access(all)
        .and_then(Ruleset::create)
        .and_then(|it| it.add_rules(path_beneath_rules(SYSTEM, read)))
        .and_then(|it| it.add_rules(path_beneath_rules(readable, read)))
        .and_then(|it| it.add_rules(path_beneath_rules(DEVICES, all)))
        .and_then(|it| it.add_rules(path_beneath_rules(folders, all)))
        .and_then(landlock::RulesetCreated::restrict_self)
        .context("the kernel does not confine this process to folders")?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

/// A temporary folder of this process, removed at its end.
///
/// # Errors
/// Fails if it cannot be made.
pub fn scratch() -> Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix("rockhound-").tempdir().context("cannot make a temporary folder")
}
