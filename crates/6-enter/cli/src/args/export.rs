//! Flags of `export`.

use super::source;
use clap::{Args, ValueEnum, ValueHint};
use host::Source;
use std::path::PathBuf;

/// Write a recording in a format of AMD's profilers.
///
/// Counters, sizes, times and facts of the machine are kept; what a format cannot hold is named. An emulated
/// recording is marked as such in `sysinfo.csv`, or in the facts of its GPU. See docs/recordings.md.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound export workloads/app/MI300X --to rocpd -o app.db
  rockhound export workloads/app/MI300X --to rocprof-compute -o out && rocprof-compute analyze -p out
  rockhound export traces/ --to csv -o out")]
pub(crate) struct ExportRecording {
    /// Recording, of any profiler and version.
    #[arg(value_name = "DIR", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) path: Source,
    /// Format.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: ExportTo,
    /// Folder to write, which is not there yet; of rocpd a file `.db` where the recording is one run.
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: PathBuf,
}

/// Formats of recordings that are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ExportTo {
    /// SQLite databases of ROCprofiler-SDK, schema 3; a database for each run.
    Rocpd,
    /// Folder of rocprof-compute 3.3 and newer: a row for each dispatch and counter.
    RocprofCompute,
    /// Folder of Omniperf 2 and rocprof-compute 3: a column for each counter.
    Csv,
}

impl From<ExportTo> for study::ExportTo {
    fn from(to: ExportTo) -> Self {
        match to {
            ExportTo::Rocpd => Self::Rocpd,
            ExportTo::RocprofCompute => Self::RocprofCompute,
            ExportTo::Csv => Self::Csv,
        }
    }
}
