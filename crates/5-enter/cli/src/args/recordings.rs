//! Flags of the commands that show recordings in other ways than `analyze`.

use super::ShortFormat;
use clap::Args;
use std::path::PathBuf;

/// Say what stops a recorded program, what to change first, and which command comes next.
///
/// Measure, find what stops the kernel of most time, change one thing, measure again: each call is one turn of that loop.
/// With `--base` it starts with what the change brought.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound guide workloads/vcopy/MI200                      what to do first
  rockhound guide workloads/vcopy-2/MI200 --base workloads/vcopy/MI200   what the change brought
  rockhound guide DIR -k 'gemm.*f16' --format json           for programs")]
pub(crate) struct Guide {
    /// Recording: a folder or a file.
    #[arg(value_name = "DIR")]
    pub(crate) path: PathBuf,
    /// Recording from before the change.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) base: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pick: Pick,
    /// Compare a kernel of the base with one of another name.
    #[arg(long = "match", value_name = "OLD=NEW", requires = "base")]
    pub(crate) matches: Vec<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = ShortFormat::Text)]
    pub(crate) format: ShortFormat,
}

/// Walk through a recording on the terminal: kernels, panels, roofline, memory, and code with what each instruction did.
///
/// Keys are shown in the last line, `?` lists them all. Works over ssh and from 80 columns and 24 lines on; code needs an
/// emulated recording.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tui workloads/vector_copy/MI300X
  rockhound tui solution --base problem
  rockhound tui DIR -k 'gemm.*f16'")]
pub(crate) struct Tui {
    /// Recording: a folder or a file.
    #[arg(value_name = "DIR")]
    pub(crate) path: PathBuf,
    /// Recording to compare with.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) base: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pick: Pick,
}

/// Which part of recordings.
#[derive(Args, Clone)]
pub(crate) struct Pick {
    /// Only these kernels: number in the list of kernels, name, or regular expression.
    #[arg(long, short, value_name = "KERNEL", num_args = 1..)]
    pub(crate) kernel: Vec<String>,
    /// Only these dispatches: IDs, ranges `1-5`, bounds `>10`.
    #[arg(long, short, value_name = "ID", num_args = 1..)]
    pub(crate) dispatch: Vec<String>,
    /// Only dispatches on these GPUs.
    #[arg(long, value_name = "GPU", num_args = 1.., value_delimiter = ',')]
    pub(crate) gpu_id: Vec<u32>,
    /// GPU of the recording, where it does not say: target or model.
    #[arg(long, value_name = "GPU")]
    pub(crate) arch: Option<String>,
}

impl Pick {
    /// The selection as the reader of recordings takes it.
    pub(crate) fn wanted(&self) -> analysis::workload::Wanted {
        analysis::workload::Wanted {
            kernels: self.kernel.clone(),
            dispatches: self.dispatch.clone(),
            gpus: self.gpu_id.clone(),
        }
    }
}
