//! The memory of a gate: findings of an earlier run, exceptions of the project.

use clap::Args;
use std::path::PathBuf;

/// Baseline and exceptions of a gate.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Gate")]
pub(crate) struct Memory {
    /// Compare with the findings of an earlier run: only new and worse ones fail (without --fail-on: of
    /// warning and above).
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the findings of this run, for --baseline of later runs.
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Exceptions, each with a reason; by default the `rockhound.toml` of this folder or the nearest above.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
