//! Flags of `accuracy`.

use super::recordings::Part;
use super::{SHORT, formats, source};
use clap::{Args, ValueHint};
use host::Source;
use std::path::PathBuf;
use view::Format;

/// Compare a recording of a GPU with an emulated one of the same program, and write a file to send.
///
/// The file says which counters are equal, which must be and are not, and how much modelled counters and
/// times differ. It holds numbers of counters, sizes of launches and facts of the GPU; no names of kernels,
/// hosts, users, files or commands. Sent to the project, it becomes part of docs/accuracy.md. See
/// docs/hardware.md.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound profile --on gpu -o gpu -- ./app && rockhound profile --gpu mi300x -o emulated -- ./app
  rockhound accuracy gpu emulated
  rockhound accuracy gpu emulated -k gemm --kernel-names -o mi300x.json")]
pub(crate) struct Accuracy {
    /// Recording of a GPU.
    #[arg(value_name = "DIR_GPU", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) gpu: Source,
    /// Emulated recording; by default the one beside the other whose command is the same.
    #[arg(value_name = "DIR_EMULATED", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) emulated: Option<Source>,
    #[command(flatten)]
    pub(crate) part: Part,
    /// Write the names of kernels too.
    #[arg(long)]
    pub(crate) kernel_names: bool,
    /// File to write; by default `accuracy-GPU.json`.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(SHORT), default_value = "text")]
    pub(crate) format: Format,
}
