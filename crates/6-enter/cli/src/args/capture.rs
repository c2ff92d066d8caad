//! Flags of `capture`.

use super::emulate::Emulate;
use clap::{Args, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

/// Run a program on an emulated GPU, and write one of its launches as a launch file.
///
/// The folder gets the code object, each buffer that an argument points to before the launch and, where it changed, after it, and
/// the launch file, which `profile`, `judge` and `tune` take. It says what it could not capture: pointers inside of structures
/// and buffers.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound capture -k 'gemm.*' -o gemm -- ./app 4096   the first launch of such a kernel
  rockhound capture -k attention --nth 3 -o third -- python model.py
  rockhound profile gemm/LAUNCH.toml -o workloads/gemm  it again, with counters")]
pub(crate) struct Capture {
    #[command(flatten)]
    pub(crate) emulate: Emulate,
    /// Kernels: names or regular expressions; by default any.
    #[arg(long, short, value_name = "KERNEL")]
    pub(crate) kernel: Vec<String>,
    /// Which of their launches, counted from 1.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) nth: u64,
    /// Folder to write.
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    /// Most of a buffer, MiB.
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=16384))]
    pub(crate) most: u64,
    /// Program with its arguments, after `--`.
    #[arg(last = true, required = true)]
    pub(crate) program: Vec<OsString>,
}
