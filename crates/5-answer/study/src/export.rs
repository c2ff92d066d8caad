//! A recording in a format of AMD's profilers.

use std::collections::BTreeMap;
use view::NoteKind;
use workload::Workload;

/// Formats of recordings that are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExportTo {
    /// SQLite databases of ROCprofiler-SDK, schema 3; a database for each run.
    Rocpd,
    /// Folder of rocprof-compute 3.3 and newer: a row for each dispatch and counter.
    RocprofCompute,
    /// Folder of Omniperf 2 and rocprof-compute 3: a column for each counter.
    Csv,
}

/// A recording as files.
pub struct Exported {
    /// Files by name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Facts of the machine, as a file beside databases.
    pub sysinfo: Vec<u8>,
    /// Data that the format cannot hold.
    pub lost: Option<String>,
    /// Parts of the recording that could not be read.
    pub errors: Vec<String>,
}

/// Exports.
///
/// # Errors
/// A recording without what the format needs.
pub fn export(workload: &Workload, to: ExportTo) -> Result<Exported, String> {
    let errors = workload.problems.iter().filter(|it| it.kind == NoteKind::Error);
    let files = match to {
        ExportTo::Csv => workload::write(workload),
        ExportTo::RocprofCompute => workload::write_long(workload),
        ExportTo::Rocpd => workload::write_rocpd(workload)
            .map_err(|error| format!("{error}\nhint: `--to rocprof-compute` and `--to csv` need no times"))?,
    };
    Ok(Exported {
        files,
        sysinfo: workload::sysinfo(&workload.machine.facts).into_bytes(),
        lost: lost(workload, to),
        errors: errors.map(ToString::to_string).collect(),
    })
}

/// Data of a recording that a format cannot hold.
fn lost(workload: &Workload, to: ExportTo) -> Option<String> {
    let parts = [
        ("samples of the program counter", workload.samples.is_some()),
        ("thread traces", workload.traces.is_some()),
        ("what a program said of its launches", !workload.launches.is_empty()),
        ("predictions", !workload.predictions.is_empty()),
        ("waves over time", !workload.occupancy.is_empty()),
        ("which dispatches were followed on some XCDs", !workload.shares.is_empty()),
        ("marks of what is modelled", workload.marks.is_some() && to == ExportTo::Rocpd),
        ("the spread of repeated runs", !workload.spreads.is_empty() && to == ExportTo::Rocpd),
        ("measured ceilings", !workload.ceilings.is_empty() && to == ExportTo::Rocpd),
    ];
    let lost: Vec<&str> = parts.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect();
    (!lost.is_empty()).then(|| lost.join(", "))
}
