//! Flags of the commands that make pages.

use super::recordings::{Pick, Ranks};
use super::{Units, source};
use clap::{Args, ValueHint};
use host::Source;
use std::net::IpAddr;
use std::path::PathBuf;

/// Write the report of a recording, or of traces, as one HTML file: where the time goes, and why.
///
/// The file needs nothing else: no network, no other files. Tables are readable without scripts; with them
/// choosing a kernel filters everything, code is shown with what every instruction did, and the timeline can
/// be walked through.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound report workloads/app/MI300X                     writes report.html
  rockhound report after --base before -o change.html       what changed
  rockhound report DIR -k 'gemm.*f16' -d '>10' -o gemm.html one kernel, without warm-up
  rockhound report rank*.pt.trace.json.gz -o run.html       traces of one run: the timeline")]
pub(crate) struct Report {
    /// Recording, a folder or a file; or traces of one run, as `rockhound trace` reads them.
    #[arg(value_name = "DIR", required = true, value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<Source>,
    /// Recording or trace to compare with, from before a change.
    #[arg(long, value_name = "DIR", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) base: Option<Source>,
    #[command(flatten)]
    pub(crate) pick: Pick,
    /// File to write; `-` is standard output.
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// Compare a kernel of the base with one of another name.
    #[arg(long = "match", value_name = "OLD=NEW")]
    pub(crate) matches: Vec<String>,
    #[command(flatten)]
    pub(crate) units: Units,
}

impl Report {
    /// True if an option for recordings only was given.
    pub(crate) fn asks_for_recording(&self) -> bool {
        let Pick { part, arch, ranks, runs, specs_correction } = &self.pick;
        let part =
            !part.dispatch.is_empty() || !part.gpu_id.is_empty() || !part.kernel_iteration_range.is_empty();
        part || arch.is_some()
            || ranks.is_some()
            || runs.is_some()
            || specs_correction.is_some()
            || !self.matches.is_empty()
    }
}

/// Show recordings and traces in the browser, with filters, following their folders while they grow.
///
/// Listens on this machine only and answers only who has the token of the address that is printed.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound view workloads/app/MI300X               opens the browser
  rockhound view before after --no-open             choose recording and base on the page
  rockhound view train.pt.trace.json.gz             the timeline of a trace
  rockhound view DIR --no-open --port 8080          for `ssh -L 8080:localhost:8080`")]
pub(crate) struct View {
    /// Recordings: folders or files; or traces, as `rockhound trace` reads them.
    #[arg(value_name = "DIR", required_unless_present = "store", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<Source>,
    /// Show a database in place of folders: its recordings, kernels over time, comparisons. Without ADDRESS the one of
    /// ROCKHOUND_STORE, or `rockhound.db`.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["paths", "base", "ranks", "runs"])]
    pub(crate) store: Option<String>,
    /// Recording or trace that the others are compared with at first.
    #[arg(long, value_name = "DIR", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) base: Option<Source>,
    /// GPU of the recordings, if they do not name it: target or model.
    #[arg(long, value_name = "GPU")]
    pub(crate) arch: Option<String>,
    /// Take all recordings below a folder, of ranks or GPUs: `merged` as one, `each` to choose from.
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "merged")]
    pub(crate) ranks: Option<Ranks>,
    /// Take the runs in one folder, each with the same counters or other kernels: `each` to choose from,
    /// `merged` as one.
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "each", conflicts_with = "ranks")]
    pub(crate) runs: Option<Ranks>,
    /// Facts of the machine in place of recorded ones: `max_sclk: 2400, num_hbm_channels: 64`.
    #[arg(long, value_name = "FACT: VALUE, …")]
    pub(crate) specs_correction: Option<String>,
    /// Port; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// Listen on this address, so that other machines can connect; whoever has the token sees the recordings.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<IpAddr>,
    /// Do not open the browser.
    #[arg(long)]
    pub(crate) no_open: bool,
}
