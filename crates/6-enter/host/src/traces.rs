//! Traces of files and folders, each read as it comes.

use crate::trace_index;
use anyhow::{Context, Result, anyhow};
use std::fs::File;
use std::path::{Path, PathBuf};
use trace::Timeline;

/// A trace that was read.
pub struct Trace {
    /// Path as given; of a set of tables their folder.
    pub path: PathBuf,
    /// Its timeline.
    pub timeline: Timeline,
}

/// Endings of files in folders that are looked at; packed ones too.
const ENDINGS: [&str; 7] = ["json", "csv", "db", "pftrace", "proto", "txt", "trace"];

/// Reads a file, or everything in a folder; large files by their index where `indexed`. Tables of a folder are one timeline, each other file is one. What cannot be read of a
/// folder is returned with its reason.
pub fn read(path: &Path, indexed: bool) -> Result<(Vec<Trace>, Vec<anyhow::Error>)> {
    if !path.is_dir() {
        let timeline = file(path, indexed)?;
        return Ok((vec![Trace { path: path.to_owned(), timeline }], Vec::new()));
    }
    let mut files = Vec::new();
    collect(path, &mut files, 0)?;
    let (mut traces, mut failed) = (Vec::new(), Vec::new());
    let mut tables: Option<Timeline> = None;
    for path in files {
        match open(&path, indexed)? {
            // A folder holds other files, too.
            Err(trace::Error::Unknown(_) | trace::Error::Empty) => {}
            Err(error) => failed.push(anyhow!("`{}`: {error}", path.display())),
            Ok(timeline) if path.extension().is_some_and(|e| e == "csv") => match &mut tables {
                Some(all) => all.append(&timeline),
                None => tables = Some(timeline),
            },
            Ok(timeline) => traces.push(Trace { path, timeline }),
        }
    }
    traces.extend(tables.map(|timeline| Trace { path: path.to_owned(), timeline }));
    if traces.is_empty() {
        let first = failed.into_iter().next();
        return Err(first.unwrap_or_else(|| anyhow!("`{}` holds no trace", path.display())));
    }
    Ok((traces, failed))
}

/// Whether a file begins as a timeline with events may, packed or not.
pub fn may_be_trace(path: &Path) -> bool {
    !path.is_dir() && File::open(path).is_ok_and(|mut input| trace::may_be_trace(&mut input))
}

/// Reads one file, a large one by its index where `indexed`.
pub fn file(path: &Path, indexed: bool) -> Result<Timeline> {
    open(path, indexed)?.map_err(|error| anyhow!("`{}`: {error}", path.display()))
}

fn open(path: &Path, indexed: bool) -> Result<Result<Timeline, trace::Error>> {
    let place = if indexed { trace_index::place(path) } else { None };
    if let Some(timeline) = place.as_ref().and_then(trace_index::Place::read) {
        return Ok(Ok(timeline));
    }
    let mut input = File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let read = trace::read(&path.to_string_lossy(), &mut input);
    if let (Some(place), Ok(timeline)) = (&place, &read) {
        place.write(timeline);
    }
    Ok(read)
}

/// Files below a folder in the order of their names.
fn collect(folder: &Path, files: &mut Vec<PathBuf>, depth: u32) -> Result<()> {
    let name = folder.display();
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read `{name}`"))? {
        entries.push(entry.with_context(|| format!("cannot read `{name}`"))?.path());
    }
    entries.sort();
    for path in entries {
        if path.is_dir() && depth < 8 {
            collect(&path, files, depth + 1)?;
        } else if wanted(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn wanted(path: &Path) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}
