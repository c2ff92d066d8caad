//! Options of `triage`.

use super::formats;
use clap::Args;
use render::Part;
use std::path::PathBuf;
use view::{Format, Incidents};

/// Say what broke: which kernel, instruction, lane and address, what the reason means, and what to run next.
///
/// FILE is the log of a program, server or launcher, a dump of the ROCr debug agent, `dmesg`, a log of the HIP
/// runtime, a report of `rockhound run`, or a bug report with all of these in it; logs of one job are read together. Code
/// objects and programs among the files, and folders of code objects that the debug agent saved, give the
/// disassembly around the place.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound triage train.log
  rockhound triage train.log dmesg.txt                 ties the driver's page fault to the runtime's message
  rockhound triage debug-agent.txt code-objects/       with the code objects that the agent saved
  rockhound triage report.md                           a bug report: environment, command and logs
  dmesg | rockhound triage -")]
pub(crate) struct Triage {
    /// Logs, dumps, code objects, folders of code objects; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(Incidents::FORMATS), default_value = "text")]
    pub(crate) format: Format,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Exit with 2 when a fault is found.
    #[arg(long)]
    pub(crate) fail_on_fault: bool,
}
