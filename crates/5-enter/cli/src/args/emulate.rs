//! Options of the commands that run programs: `run` and `profile`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use std::ffi::OsString;

/// How to emulate.
#[derive(Args, Clone)]
pub(crate) struct Emulate {
    /// GPU to emulate; by default the first one that the program has code for.
    #[arg(long, value_name = "MODEL", ignore_case = true, value_parser = PossibleValuesParser::new(arch::Model::names()))]
    pub(crate) gpu: Option<String>,
    /// Devices the program sees.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) devices: u32,
    /// Threads that run workgroups; 0 stands for one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Stop a kernel when one of its waves has issued so many instructions.
    #[arg(long, value_name = "N")]
    pub(crate) max_instructions: Option<u64>,
}

/// Run a HIP program on an emulated GPU.
///
/// The program is used as it is: it finds Rockhound's HIP runtime in place of the vendor's, and its kernels run on the
/// CPU. Its output and exit code are its own; one ended by a signal gives 128 and the signal's number.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound run -- ./vector_copy 1048576
  rockhound run --gpu mi355x -- ./gemm --size 256
  rockhound run -- python test_kernels.py")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) emulate: Emulate,
    /// Program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}
