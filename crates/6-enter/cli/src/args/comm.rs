//! Flags of `comm`.

use super::formats;
use clap::Args;
use render::Part;
use std::path::PathBuf;
use view::{Format, Plain};

/// Judge communication between GPUs: rccl-tests, NCCL_DEBUG logs, topologies, TransferBench, NPKit.
///
/// Bandwidth is judged at large sizes against the links of the machine, latency at small ones; the printed
/// average over all sizes is not judged. Files are recognised by what they hold. See docs/comm.md.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound comm all_reduce.txt                        one run of all_reduce_perf
  NCCL_DEBUG=INFO mpirun -np 8 all_reduce_perf -g 1 2>&1 | rockhound comm -
  rockhound comm tests/*.txt topo.xml a2a.txt          everything on one machine
  rockhound comm after.txt --base before.txt           two runs, size by size
  rockhound comm all_reduce.txt --fail-on warning      for acceptance tests")]
pub(crate) struct Comm {
    /// Files, and folders that NPKit dumped; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Compare with this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) base: Option<PathBuf>,
    /// Rows of each table; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) top: usize,
    /// Decimals in text and markdown; other formats are exact.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=15))]
    pub(crate) decimal: u8,
    /// Exit with 2 when there is a finding of this rule, or of this severity or worse (info, warning,
    /// severe).
    #[arg(long, value_name = "RULE|SEVERITY")]
    pub(crate) fail_on: Vec<String>,
    #[command(flatten)]
    pub(crate) memory: super::Memory,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(Plain::FORMATS), default_value = "text")]
    pub(crate) format: Format,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
