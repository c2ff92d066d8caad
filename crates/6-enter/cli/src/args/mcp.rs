//! Flags of `mcp`.

use clap::Args;
use std::path::PathBuf;

/// Answer the questions of an agent: a server of the Model Context Protocol on standard input and output.
///
/// Every answer is short and names ids, which the tool `open` opens. Nothing outside of the folders is read or written.
/// Launch files run on an emulated GPU; programs, scripts and searches are started with `--allow-run` only.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound mcp                                 files below the current folder
  rockhound mcp --folder ~/kernels --allow-run  programs may be started too

Settings of a client: {\"mcpServers\": {\"rockhound\": {\"command\": \"rockhound\", \"args\": [\"mcp\", \"--folder\", \"/path\"]}}}")]
pub(crate) struct Mcp {
    /// Folders that are read and written; relative paths begin at the first.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) folder: Vec<PathBuf>,
    /// Print a page for agents that read skills, and end.
    #[arg(long)]
    pub(crate) skill: bool,
    /// Start programs, scripts and searches that a client names.
    #[arg(long)]
    pub(crate) allow_run: bool,
    /// Wall time of one question, seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) time: u32,
    /// Memory of one question, MiB.
    #[arg(long, value_name = "MIB", default_value_t = 8192, value_parser = clap::value_parser!(u64).range(64..))]
    pub(crate) memory: u64,
    /// Bytes of an answer.
    #[arg(long, value_name = "BYTES", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(500..))]
    pub(crate) answer: u32,
}
