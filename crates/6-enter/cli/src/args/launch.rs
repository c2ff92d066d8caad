//! Options of the command that writes launch files.

use clap::Args;
use std::path::PathBuf;

/// Write a launch file for a kernel, to be filled in.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound launch-template k.hsaco > LAUNCH.toml
  rockhound launch-template kernel.hip > LAUNCH.toml                compiled for the MI300X, or for --arch
  rockhound launch-template app --arch gfx942 --kernel saxpy")]
pub(crate) struct LaunchTemplate {
    /// Code object, program, library or HIP source.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Kernel, by linker name or demangled name.
    #[arg(long, short, value_name = "KERNEL")]
    pub(crate) kernel: Option<String>,
    /// Target or GPU, where the file has code for several.
    #[arg(long, alias = "gpu", value_name = "TARGET")]
    pub(crate) arch: Option<String>,
}
