//! Options of `doctor`.

use super::formats;
use clap::{Args, ValueEnum};
use render::Part;
use std::path::PathBuf;
use view::{Format, Machines};

/// Check whether a machine, an environment and a command are set up to be fast.
///
/// Without FILE this machine is examined. FILE is a bundle of `--capture`, a folder with a copy of `/proc`
/// and `/sys`, or output of amd-smi, rocm-smi, rocminfo, `lspci -vvv`, `docker inspect` or `env`; outputs
/// given together must be of one machine. An unreadable fact is UNKNOWN, with a way to find out.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound doctor                                     this machine and this shell's environment
  rockhound doctor --profile benchmark --fail-on warn
  rockhound doctor static.json metric.json lspci.txt   outputs of another machine
  rockhound doctor --capture node7.tar.zst             a bundle without secrets, to be sent
  rockhound doctor nodes/*.tar.zst --compare           the odd one of a fleet
  rockhound doctor --env -- vllm serve deepseek-ai/DeepSeek-R1 -tp 8
  rockhound doctor --pid 4711                          the environment of a running job
  rockhound doctor --fix > fix.sh                      a script to read and run; --fix --apply, --reset
  rockhound doctor --emit docker --profile inference   the variables to set")]
pub(crate) struct Doctor {
    /// Bundles, folders, or outputs of tools; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// For which work: leaves out what does not matter for it.
    #[arg(long, value_enum, value_name = "WORK")]
    pub(crate) profile: Option<Work>,
    /// Check only the environment of this shell, of FILE, or of --pid.
    #[arg(long)]
    pub(crate) env: bool,
    /// Check the environment and the command of a running process.
    #[arg(long, value_name = "PID", conflicts_with = "files")]
    pub(crate) pid: Option<u32>,
    /// Name how the machines given differ.
    #[arg(long)]
    pub(crate) compare: bool,
    /// Write the facts of this machine into a bundle.
    #[arg(long, value_name = "FILE.tar.zst", conflicts_with_all = ["files", "pid", "env", "compare"])]
    pub(crate) capture: Option<PathBuf>,
    /// Keep the name of the host in the bundle; otherwise a hash replaces it.
    #[arg(long, requires = "capture")]
    pub(crate) names: bool,
    /// Print a script that corrects failed checks.
    #[arg(long, conflicts_with_all = ["pid", "capture", "compare"])]
    pub(crate) fix: bool,
    /// Run it (needs root), save the old values, and read every change back.
    #[arg(long, requires = "fix", conflicts_with = "files")]
    pub(crate) apply: bool,
    /// Put back what --apply changed.
    #[arg(long, conflicts_with_all = ["fix", "files", "pid", "capture", "compare"])]
    pub(crate) reset: bool,
    /// Print the recommended variables as lines of a shell, of docker, or of a batch script.
    #[arg(long, value_enum, value_name = "FORM", conflicts_with_all = ["fix", "reset", "capture", "compare"])]
    pub(crate) emit: Option<EmitForm>,
    /// Take `/proc`, `/sys` and the rest from a copy below this folder.
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub(crate) root: PathBuf,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(Machines::FORMATS), default_value = "text")]
    pub(crate) format: Format,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Exit with 2 when a check has this verdict or a worse one (unknown, warn, fail), or when this check or
    /// rule fails.
    #[arg(long, value_name = "VERDICT|CHECK|RULE")]
    pub(crate) fail_on: Vec<String>,
    #[command(flatten)]
    pub(crate) memory: super::Memory,
    /// The command that is to run: its variables and arguments are checked too.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Work {
    /// Times that can be compared.
    Benchmark,
    /// Training.
    Training,
    /// Serving models.
    Inference,
    /// Looking for faults.
    Debug,
    /// Several nodes.
    Distributed,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmitForm {
    Sh,
    Docker,
    Slurm,
}
