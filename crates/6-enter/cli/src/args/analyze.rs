//! Flags of the commands on recordings.

use super::recordings::Pick;
use super::{Cli, Command, source};
use super::{SHORT, formats};
use clap::{Args, Parser, ValueEnum, ValueHint};
use host::Source;
use render::Part;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use view::{Average, Format, Norm, Recordings, TimeUnit};

/// Make a report of a profiler's recording: what costs time, how near the limits the GPU came, every metric.
///
/// Reads folders of Omniperf and rocprof-compute of every version, rocprofv3 and rocprof CSV, and rocpd
/// databases, gzipped or not. Several recordings are compared with the first.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound analyze workloads/vcopy/MI200                what costs time, in one page
  rockhound analyze workloads/vcopy/MI200 -b all         every table
  rockhound analyze DIR -k 0 -b 2 7.1 16.3.4             one kernel, some panels, tables, rows
  rockhound analyze DIR -k 'gemm.*f16' -d '>10'          kernels by expression, without warm-up
  rockhound analyze DIR -b l2.hit_rate --normal-unit per_wave
  rockhound analyze problem solution -b 2 16.1 17.1 --threshold 5
  rockhound analyze main branch --fail-on '0.1.0 > 5%' --fail-on 'l2.hit_rate < -2%'
  rockhound analyze DIR --format csv -o tables/          a file per table")]
pub(crate) struct Analyze {
    /// Recording: a folder or a file. The first of several is the base of a comparison.
    #[arg(value_name = "DIR", required_unless_present = "path", conflicts_with = "path", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) recordings: Vec<Source>,
    /// The same as an option, as rocprof-compute has it.
    #[arg(long, short, value_name = "DIR", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) path: Vec<Source>,
    /// List the kernels by time.
    #[arg(long, group = "list")]
    pub(crate) list_kernels: bool,
    /// List the metrics of the recording's GPU.
    #[arg(long, group = "list")]
    pub(crate) list_metrics: bool,
    /// List the facts of the machine, each with its source.
    #[arg(long, group = "list")]
    pub(crate) specs: bool,
    /// List the panels of the recording's GPU, with the names that `-b` takes for them.
    #[arg(long, group = "list")]
    pub(crate) list_blocks: bool,
    /// List the dispatches.
    #[arg(long, group = "list")]
    pub(crate) list_dispatches: bool,
    #[command(flatten)]
    pub(crate) pick: Pick,
    /// Only these panels `2`, tables `7.1`, rows `2.1.20`, blocks by name `sol`, `l2`, or metrics
    /// `l2.hit_rate`; `all` for everything.
    ///
    /// By default text and markdown show an overview, JSON and CSV everything.
    #[arg(long = "block", short = 'b', visible_alias = "metric", value_name = "BLOCK", num_args = 1..)]
    pub(crate) blocks: Vec<String>,
    /// Only findings, top kernels and speed of light: the overview without charts.
    #[arg(long, conflicts_with = "blocks")]
    pub(crate) short: bool,
    #[command(flatten)]
    pub(crate) units: Units,
    /// Averaging of dispatches: `weighted` adds up before it divides, `dispatches` takes the mean of ratios.
    #[arg(long, value_enum, default_value_t = AverageKind::Weighted, value_name = "KIND")]
    pub(crate) average: AverageKind,
    /// Decimals in text and markdown; other formats are exact.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=15))]
    pub(crate) decimal: u8,
    /// Only these columns of tables: `avg`, `peak`, `percent of peak`, `max`, …
    #[arg(long, value_name = "COLUMN", num_args = 1.., value_delimiter = ',')]
    pub(crate) cols: Vec<String>,
    /// Rows of lists and of the top kernels; by default 10 top kernels and whole lists; 0 shows all.
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Compare a kernel of the base with one of another name.
    #[arg(long = "match", value_name = "OLD=NEW")]
    pub(crate) matches: Vec<String>,
    /// In comparisons, hide rows that change by less.
    #[arg(long, value_name = "PERCENT")]
    pub(crate) threshold: Option<f64>,
    /// Exit with 2 when a row meets a condition: `2.1.20 > 50` its value, `2.1.20 > 5%` its change from the
    /// base.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_on: Vec<String>,
    #[command(flatten)]
    pub(crate) memory: super::Memory,
    /// Further definitions of metrics and tables; see docs/metric-definitions.md.
    #[arg(long = "metrics", value_name = "FILE")]
    pub(crate) definitions: Vec<PathBuf>,
    /// A trace of the same program, as `rockhound trace` reads it: counters are summed by the operators that
    /// launched the kernels.
    #[arg(long, value_name = "TRACE")]
    pub(crate) trace: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(Recordings::FORMATS), default_value = "text")]
    pub(crate) format: Format,
    /// Write into a folder: a file per report, for CSV a file per table; of a database the file.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

impl Analyze {
    /// The recordings that are named, in either way.
    pub(crate) fn sources(&self) -> &[Source] {
        if self.path.is_empty() { &self.recordings } else { &self.path }
    }

    /// The report on a new recording: the short one, unless some blocks are requested.
    pub(crate) fn of_recording(folder: &Path, blocks: &[String]) -> anyhow::Result<Analyze> {
        let mut words = vec![OsStr::new("rockhound"), "analyze".as_ref(), "-p".as_ref(), folder.as_os_str()];
        match blocks {
            [] => words.push("--short".as_ref()),
            some => words.extend(some.iter().flat_map(|block| ["-b".as_ref(), OsStr::new(block)])),
        }
        match Cli::try_parse_from(words)?.command {
            Command::Analyze(analyze) => Ok(analyze),
            _ => anyhow::bail!("the report cannot be made"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NormalUnit {
    #[value(name = "per_kernel")]
    Kernel,
    #[value(name = "per_wave")]
    Wave,
    #[value(name = "per_cycle")]
    Cycle,
    #[value(name = "per_second")]
    Second,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AverageKind {
    Weighted,
    Dispatches,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeUnits {
    Ns,
    Us,
    Ms,
    S,
}

/// Units of values.
#[derive(Args, Clone, Copy)]
pub(crate) struct Units {
    /// Unit by which totals are divided.
    #[arg(long, value_enum, default_value_t = NormalUnit::Kernel, value_name = "UNIT")]
    pub(crate) normal_unit: NormalUnit,
    /// Unit of times.
    #[arg(long, value_enum, default_value_t = TimeUnits::Ns, value_name = "UNIT")]
    pub(crate) time_unit: TimeUnits,
}

impl From<Units> for study::Units {
    fn from(units: Units) -> Self {
        let norm = match units.normal_unit {
            NormalUnit::Kernel => Norm::Kernel,
            NormalUnit::Wave => Norm::Wave,
            NormalUnit::Cycle => Norm::Cycle,
            NormalUnit::Second => Norm::Second,
        };
        let time = match units.time_unit {
            TimeUnits::Ns => TimeUnit::Nanoseconds,
            TimeUnits::Us => TimeUnit::Microseconds,
            TimeUnits::Ms => TimeUnit::Milliseconds,
            TimeUnits::S => TimeUnit::Seconds,
        };
        study::Units { norm, time }
    }
}

impl From<AverageKind> for Average {
    fn from(kind: AverageKind) -> Self {
        match kind {
            AverageKind::Weighted => Average::Weighted,
            AverageKind::Dispatches => Average::Dispatches,
        }
    }
}

/// Explain metrics and counters: formula, counters needed, runs of the application needed; without one, list
/// all.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound metrics                        what there is on each target
  rockhound metrics --arch mi300x          every metric of a GPU
  rockhound metrics 2.1.20 --arch mi300x   one row
  rockhound metrics l2.hit_rate            one metric on all targets
  rockhound metrics 17 --arch gfx90a       a panel, and the runs it needs
  rockhound metrics --set mem_thruput      what one run of the application reads
  rockhound metrics TCC_HIT                a counter, and the metrics that need it")]
pub(crate) struct Metrics {
    /// Panels, tables, rows, blocks, metrics or counters.
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// The metrics of a set that one run of the application reads, with its counters.
    #[arg(long, value_name = "NAME", conflicts_with = "ids")]
    pub(crate) set: Option<String>,
    /// List the sets.
    #[arg(long, conflicts_with_all = ["ids", "set"])]
    pub(crate) list_sets: bool,
    /// Target or GPU, for example `gfx942` or `mi300x`.
    #[arg(long, short, alias = "gpu", value_name = "GPU")]
    pub(crate) arch: Option<String>,
    /// Further definitions of metrics and tables; see docs/metric-definitions.md.
    #[arg(long = "metrics", value_name = "FILE")]
    pub(crate) definitions: Vec<PathBuf>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(SHORT), default_value = "text")]
    pub(crate) format: Format,
}
