//! Arguments of `rockhound store`.

use super::{formats, source};
use clap::{Args, Subcommand, ValueHint};
use host::Source;
use render::Part;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use view::{Format, Stored};

/// Keep recordings over time in a database: add, list, compare, query.
///
/// The database is a file of SQLite or a PostgreSQL server. Commands that read a recording take `store:ID` and
/// `store:label=NAME=VALUE` (the newest with the label) in place of a folder; they look in the database that
/// ROCKHOUND_STORE names, `rockhound.db` by default. See docs/store.md.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound store add workloads/app/MI300X --label branch=main
  rockhound store list
  rockhound analyze -p store:1
  rockhound analyze -p store:label=branch=main -p workloads/app/MI300X
  rockhound store history -k gemm --metric time
  rockhound store query \"SELECT name, count(*) FROM labels GROUP BY name\"")]
pub(crate) struct Store {
    #[command(subcommand)]
    pub(crate) question: StoreQuestion,
}

#[derive(Subcommand)]
pub(crate) enum StoreQuestion {
    Add(StoreAdd),
    List(StoreList),
    Show(StoreShow),
    Label(StoreLabel),
    Remove(StoreRemove),
    Compact(StoreCompact),
    Query(StoreQuery),
    History(StoreHistory),
    Check(StoreCheck),
    Export(StoreExport),
    Import(StoreImport),
    Changes(StoreChanges),
    Grafana(StoreGrafana),
    Bisect(StoreBisect),
    Summary(StoreSummary),
    Schema(StoreSchema),
}

impl StoreQuestion {
    /// Paths of the recordings to read.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        match self {
            StoreQuestion::Add(it) => it.paths.iter().map(Source::path).collect(),
            _ => Vec::new(),
        }
    }
}

/// The database.
#[derive(Args, Clone)]
pub(crate) struct Place {
    /// Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
    #[arg(long, value_name = "ADDRESS", env = "ROCKHOUND_STORE", hide_env_values = true)]
    pub(crate) store: Option<String>,
}

/// Destination of the answer.
#[derive(Args, Clone)]
pub(crate) struct StoreWrite {
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(Stored::FORMATS), default_value = "text")]
    pub(crate) format: Format,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Add recordings to the database.
///
/// A recording with the same files and commit as one in the database is not added again; that one gets the new labels.
/// Labels `commit`, `branch` and `run` come from the variables of the CI, else from git, unless the recording is older
/// than the commit.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound store add workloads/*/MI300X
  rockhound store add out --label commit=1a2b3c --label branch=main --store postgres://ci@db/rockhound")]
pub(crate) struct StoreAdd {
    /// Recordings: folders or files; of a folder of recordings, each of them. Also folders and files of tuners, timelines,
    /// and answers of other commands as JSON.
    #[arg(required = true, value_name = "DIR", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<Source>,
    /// Label of the recordings.
    #[arg(long, short, value_name = "NAME=VALUE", value_parser = label)]
    pub(crate) label: Vec<(String, String)>,
    /// Take no labels from the variables of the CI and from git.
    #[arg(long)]
    pub(crate) no_provenance: bool,
    /// GPU, for recordings that do not say it: a target or a model.
    #[arg(long, value_name = "GPU")]
    pub(crate) arch: Option<String>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) write: StoreWrite,
}

/// List recordings, oldest first.
#[derive(Args)]
pub(crate) struct StoreList {
    /// Only recordings with this label; of several labels, with all.
    #[arg(long, short, value_name = "NAME=VALUE", value_parser = label)]
    pub(crate) label: Vec<(String, String)>,
    /// Newest recordings shown; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) top: u64,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) write: StoreWrite,
}

/// Show a recording: machine, labels, kernels, files.
#[derive(Args)]
pub(crate) struct StoreShow {
    /// Recording: a number, or `label=NAME=VALUE` for the newest with the label.
    #[arg(value_name = "ID", value_parser = stored_id)]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) write: StoreWrite,
}

/// Add or change labels of a recording.
#[derive(Args)]
pub(crate) struct StoreLabel {
    /// Recording: a number, or `label=NAME=VALUE` for the newest with the label.
    #[arg(value_name = "ID", value_parser = stored_id)]
    pub(crate) id: String,
    /// Labels.
    #[arg(required = true, value_name = "NAME=VALUE", value_parser = label)]
    pub(crate) labels: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) write: StoreWrite,
}

/// Remove recordings. `compact` frees the space of their files.
#[derive(Args)]
pub(crate) struct StoreRemove {
    /// Recordings: numbers, or `label=NAME=VALUE` for the newest with the label.
    #[arg(required = true, value_name = "ID", value_parser = stored_id)]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) write: StoreWrite,
}

/// Remove files that no recording has any more, and free their space.
#[derive(Args)]
pub(crate) struct StoreCompact {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) write: StoreWrite,
}

/// Answer one SQL statement that only reads. docs/store.md lists tables and views.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound store query \"SELECT id, name, dispatches FROM recordings ORDER BY id\"
  rockhound store query \"SELECT recording, value FROM metric_values WHERE name = 'l2.hit_rate'\" --format csv")]
pub(crate) struct StoreQuery {
    /// The statement. In PostgreSQL it need not name the schema `rockhound` of the tables.
    #[arg(value_name = "SQL")]
    pub(crate) sql: String,
    /// Rows shown; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) write: StoreWrite,
}

/// A metric of kernels over time.
#[derive(Args, Clone)]
pub(crate) struct StoreSeries {
    /// Only kernels of these names: a name or a regular expression.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) kernel: Vec<String>,
    /// Metric: `time` (median of the dispatches), a metric of `rockhound metrics`, or a counter.
    #[arg(long, short, value_name = "NAME", default_value = "time")]
    pub(crate) metric: String,
    /// Only recordings with this label; of several labels, with all.
    #[arg(long, short, value_name = "NAME=VALUE", value_parser = label)]
    pub(crate) label: Vec<(String, String)>,
    /// Without --kernel: the N kernels with most time in the newest recording; 0 takes all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) kernels: usize,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Show a metric of kernels over time: changes of level beyond noise, the first commit that shows each, and the
/// counters that moved with it.
///
/// Seeded binary segmentation finds the changes; the noise is estimated from the series. Each GPU has its own series,
/// one of emulated and one of measured recordings. See docs/store.md.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound store history -k gemm --label branch=main
  rockhound store history -k gemm --metric l2.hit_rate --format csv")]
pub(crate) struct StoreHistory {
    #[command(flatten)]
    pub(crate) series: StoreSeries,
    /// Newest values shown of each kernel; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Also write an HTML page with a chart of each kernel.
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) write: StoreWrite,
}

/// Compare the newest commit with the past of its kernels; the exit code is 2 if one is worse.
///
/// Recordings of one commit count together. A kernel is worse if noise alone causes such a difference at most once in
/// 1,000 checks, and the change is at least `--least` percent.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound store add out && rockhound store check --label branch=main
  rockhound store check -k gemm --metric l2.hit_rate --worse down")]
pub(crate) struct StoreCheck {
    #[command(flatten)]
    pub(crate) series: StoreSeries,
    /// Direction in which the metric gets worse; by default `up` for `time`, `any` for others.
    #[arg(long, value_enum, value_name = "DIRECTION")]
    pub(crate) worse: Option<WorseDirection>,
    /// Least change that counts, percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    pub(crate) least: f64,
    #[command(flatten)]
    pub(crate) write: StoreWrite,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum WorseDirection {
    /// Larger values are worse.
    Up,
    /// Smaller values are worse.
    Down,
    /// Every change is worse.
    Any,
}

/// Write recordings as the folders that were added, to another database, or as Parquet.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound store export 7 -o out                 the files of recording 7 in the folder out
  rockhound store export 7 8 --to part.db         both in a database of SQLite
  rockhound store export --to parquet -o tables   a Parquet file per table, for DuckDB, Spark, pandas")]
pub(crate) struct StoreExport {
    /// Recordings: numbers, or `label=NAME=VALUE` for the newest with the label; all by default.
    #[arg(value_name = "ID", value_parser = stored_id)]
    pub(crate) ids: Vec<String>,
    /// New folder to write; several recordings get a folder each in it.
    #[arg(long, short, value_name = "DIR", required_unless_present = "to")]
    pub(crate) output: Option<PathBuf>,
    /// Database to add them to, instead of a folder; `parquet` writes tables into the folder of `-o`.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Add the recordings of another database, with their labels.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound store import laptop.db --store postgres://ci@db/rockhound")]
pub(crate) struct StoreImport {
    /// The other database.
    #[arg(value_name = "ADDRESS")]
    pub(crate) from: String,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Write the changes of level of every kernel into the database, for dashboards.
///
/// A change that is not found any more is removed.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound store add out && rockhound store changes --label branch=main
  rockhound store changes --metric l2.hit_rate")]
pub(crate) struct StoreChanges {
    /// Metric: `time`, a metric of `rockhound metrics`, or a counter.
    #[arg(long, short, value_name = "NAME", default_value = "time")]
    pub(crate) metric: String,
    /// Only recordings with this label; of several labels, with all.
    #[arg(long, short, value_name = "NAME=VALUE", value_parser = label)]
    pub(crate) label: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) write: StoreWrite,
}

/// Write dashboards for Grafana, its provisioning, and a compose file.
///
/// Dashboards: fleet, workload, comparison, history, tuning. Without a database, the compose file starts PostgreSQL and
/// Grafana; with one, Grafana alone, which reads that database (SQLite by the plugin `frser-sqlite-datasource`). See
/// docs/store.md.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound store grafana -o grafana
  rockhound store grafana -o grafana --store postgres://reader@db/rockhound")]
pub(crate) struct StoreGrafana {
    /// New folder to write.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Print the tables as SQL for a large PostgreSQL database: with partitions by time, also distributed by Citus.
///
/// The script makes an empty database; `store import` copies recordings into it. See docs/store.md.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound store schema --for partitions | psql -1 -v ON_ERROR_STOP=1 runs
  rockhound store import runs.db --store postgres://ci@db/runs")]
pub(crate) struct StoreSchema {
    /// Form of the database.
    #[arg(long = "for", value_enum, value_name = "FORM")]
    pub(crate) scale: StoreScale,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum StoreScale {
    /// Partitions of PostgreSQL.
    Partitions,
    /// The same, distributed by Citus.
    Citus,
}

#[cfg(feature = "postgres")]
impl From<StoreScale> for host::store::Scale {
    fn from(it: StoreScale) -> Self {
        match it {
            StoreScale::Partitions => host::store::Scale::Partitions,
            StoreScale::Citus => host::store::Scale::Citus,
        }
    }
}

/// Say whether the commit that is checked out is on the good or the bad side of a change, for `git bisect run`.
///
/// COMMAND builds the program and writes a recording into the folder that the variable ROCKHOUND_RECORDING names. The
/// exit code is 0 if the kernel's metric is nearer to the good level, 1 if nearer to the bad one, 125 if this commit has
/// no value (COMMAND fails, the kernel is not there), and 128, which ends the bisection, if the database has no change.
/// A counter of an emulated recording is exact, so no GPU is needed where the change shows in it.
#[derive(Args)]
#[command(after_help = "Examples:
  git bisect start BAD GOOD
  git bisect run rockhound store bisect -k gemm -- sh -c 'make && rockhound profile -o $ROCKHOUND_RECORDING -- ./app'
  git bisect run rockhound store bisect -k gemm -m SQ_INSTS_VALU --good 7 --bad 9 -- ./record.sh")]
pub(crate) struct StoreBisect {
    #[command(flatten)]
    pub(crate) series: StoreSeries,
    /// Recording with the good level; without it, the levels before and after the newest change of the kernel count.
    #[arg(long, value_name = "ID", value_parser = stored_id, requires = "bad")]
    pub(crate) good: Option<String>,
    /// Recording with the bad level.
    #[arg(long, value_name = "ID", value_parser = stored_id, requires = "good")]
    pub(crate) bad: Option<String>,
    /// GPU, if the recording does not say it.
    #[arg(long, value_name = "GPU")]
    pub(crate) arch: Option<String>,
    #[command(flatten)]
    pub(crate) write: StoreWrite,
    /// Command, with its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Sum up the recordings and changes of level of the last days, as Markdown.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound store summary --since 7d --label branch=main > week.md")]
pub(crate) struct StoreSummary {
    /// Time to sum up: days `7d`, weeks `2w`, or hours `12h` before now.
    #[arg(long, value_name = "TIME", value_parser = hours, default_value = "7d")]
    pub(crate) since: u32,
    #[command(flatten)]
    pub(crate) series: StoreSeries,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(Stored::FORMATS), default_value = "markdown")]
    pub(crate) format: Format,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Hours of `7d`, `2w`, `12h`.
fn hours(text: &str) -> Result<u32, String> {
    let (number, unit) = text.split_at(text.len() - text.chars().last().map_or(0, char::len_utf8));
    let each = match unit {
        "h" => 1,
        "d" => 24,
        "w" => 168,
        _ => 0,
    };
    let hours = number.parse::<u32>().ok().and_then(|it| it.checked_mul(each)).filter(|it| *it > 0);
    hours.ok_or_else(|| "a time is a number with `h`, `d` or `w`: `7d`".to_owned())
}

/// `NAME=VALUE`.
fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a label is `NAME=VALUE`".to_owned()),
    }
}

/// `7`, `store:7`, `label=NAME=VALUE`.
fn stored_id(text: &str) -> Result<String, String> {
    let id = text.strip_prefix("store:").unwrap_or(text);
    let is_label = id.strip_prefix("label=").is_some_and(|it| label(it).is_ok());
    if is_label || id.parse::<i64>().is_ok_and(|it| it > 0) {
        return Ok(id.to_owned());
    }
    Err("a recording is a number that `store list` shows, or `label=NAME=VALUE`".to_owned())
}
