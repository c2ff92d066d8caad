//! Flags of `capture`.

use super::emulate::Emulate;
use super::on::On;
use clap::{Args, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

/// Run a program, and write one of its launches as a launch file with its data.
///
/// The folder gets the code object, all memory that the arguments lead to, before the launch and, where it changed, after it, and
/// the launch file, which `profile`, `judge` and `tune` take. Memory keeps its addresses. It says what it could not capture, such
/// as memory of the host that is not registered.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound capture -k 'gemm.*' -o gemm -- ./app 4096   the first launch of such a kernel
  rockhound capture -k attention --nth 3 -o third -- python model.py
  rockhound capture --on gpu --dispatch 17 -o slow -- ./app   on the GPU of this machine
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
    /// In place of it the dispatch with this number, counted from 0 over all kernels, as in recordings.
    #[arg(long, value_name = "ID", conflicts_with = "nth")]
    pub(crate) dispatch: Option<u64>,
    /// Where the program runs: `auto` takes an AMD GPU if `/dev/kfd` can be opened, unless `--gpu` names one to emulate.
    #[arg(long, value_enum, value_name = "WHERE", default_value_t = On::Auto)]
    pub(crate) on: On,
    /// Most memory, before compression, MiB.
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) limit: u64,
    /// Program with its arguments, after `--`.
    #[arg(last = true, required = true)]
    pub(crate) program: Vec<OsString>,
}
