//! `rockhound export`: a recording in a format of AMD's profilers.

use crate::args::{ExportRecording, ExportTo};
use crate::exit::{Outcome, usage};
use anyhow::{Context, Result, anyhow};
use std::path::Path;
use study::Exported;

/// Writes.
pub(crate) fn run(args: &ExportRecording) -> Result<Outcome> {
    let output = &args.output;
    if output.exists() {
        return Err(usage(format!("`{}` is there already", output.display()), "give another path with `-o`"));
    }
    let workload = host::recording::read(&args.path)?;
    let exported = study::export(&workload, args.to.into());
    let Exported { mut files, sysinfo, lost, errors } = exported.map_err(|error| anyhow!(error))?;
    errors.iter().for_each(|error| eprintln!("error: {error}"));
    if let Some(lost) = lost {
        eprintln!("note: left out, since the format has no place for them: {lost}");
    }
    let outcome = Outcome::of(!errors.is_empty(), false);
    if args.to == ExportTo::Rocpd && is_database(output) {
        if files.len() > 1 {
            return Err(usage(
                format!("the recording is of {} runs, and a database is of one", files.len()),
                "give a folder with `-o`",
            ));
        }
        write(output, &files.into_values().next().unwrap_or_default())?;
        eprintln!("wrote {}", output.display());
        return Ok(outcome);
    }
    if args.to == ExportTo::Rocpd {
        files.insert("sysinfo.csv".to_owned(), sysinfo);
    }
    std::fs::create_dir_all(output).with_context(|| format!("cannot make `{}`", output.display()))?;
    for (name, bytes) in &files {
        write(&output.join(name), bytes)?;
    }
    eprintln!("wrote {}", output.display());
    Ok(outcome)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}

fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "db")
}
