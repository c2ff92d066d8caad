//! `rockhound export`: a recording in a format of AMD's profilers.

use crate::args::{ExportRecording, ExportTo};
use crate::exit::{Outcome, usage};
use anyhow::{Context, Result, anyhow};
use std::collections::BTreeMap;
use std::path::Path;
use workload::Workload;

/// Writes.
pub(crate) fn run(args: &ExportRecording) -> Result<Outcome> {
    let output = &args.output;
    if output.exists() {
        return Err(usage(format!("`{}` is there already", output.display()), "give another path with `-o`"));
    }
    let workload = host::recording::read(&args.path)?;
    let errors = workload.problems.iter().filter(|it| it.kind == view::NoteKind::Error);
    let failed = errors.inspect(|it| eprintln!("error: {it}")).count() > 0;
    if let Some(lost) = lost(&workload, args.to) {
        eprintln!("note: left out, since the format has no place for them: {lost}");
    }
    let files = match args.to {
        ExportTo::Csv => workload::write(&workload),
        ExportTo::RocprofCompute => workload::write_long(&workload),
        ExportTo::Rocpd => {
            let files = databases(&workload, output)?;
            if is_database(output) {
                let bytes = files.into_values().next().unwrap_or_default();
                write(output, &bytes)?;
                eprintln!("wrote {}", output.display());
                return Ok(Outcome::of(failed, false));
            }
            files
        }
    };
    std::fs::create_dir_all(output).with_context(|| format!("cannot make `{}`", output.display()))?;
    for (name, bytes) in &files {
        write(&output.join(name), bytes)?;
    }
    eprintln!("wrote {}", output.display());
    Ok(Outcome::of(failed, false))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}

fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "db")
}

/// Databases, and facts of the machine beside them.
fn databases(workload: &Workload, output: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = workload::write_rocpd(workload)
        .map_err(|error| anyhow!("{error}\nhint: `--to rocprof-compute` and `--to csv` need no times"))?;
    if !is_database(output) {
        files.insert("sysinfo.csv".to_owned(), workload::sysinfo(&workload.machine.facts).into_bytes());
    } else if files.len() > 1 {
        return Err(usage(
            format!("the recording is of {} runs, and a database is of one", files.len()),
            "give a folder with `-o`",
        ));
    }
    Ok(files)
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
        ("how far repeated runs lie apart", !workload.spreads.is_empty() && to == ExportTo::Rocpd),
        ("measured ceilings", !workload.ceilings.is_empty() && to == ExportTo::Rocpd),
    ];
    let lost: Vec<&str> = parts.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect();
    (!lost.is_empty()).then(|| lost.join(", "))
}
