//! Peak memory of this process while something runs.
//!
//! Freed memory may stay with the process, so a run whose memory counts has a separate process.

use anyhow::{Context, Result};

/// Runs something and reports the memory before and during it.
pub(super) fn during(run: impl FnOnce() -> Result<()>) -> Result<String> {
    let before = megabytes("VmRSS:").context("the system does not say what a process holds")?;
    run()?;
    let most = megabytes("VmHWM:").context("the system does not say what a process held at most")?;
    Ok(format!("at most {most} MB, {before} MB before it ran"))
}

fn megabytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024 / 1_000_000)
}
