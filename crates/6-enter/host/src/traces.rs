//! Traces of files and folders, each read as it comes.

mod runs;

use crate::Source;
use crate::inputs::file_error;
use crate::recording::{self, recordings_in};
use crate::trace_index;
use anyhow::{Context, Result, anyhow};
use sorting::Sort;
use std::fs::File;
use std::path::{Path, PathBuf};
use trace::{Note, NoteKind, Timeline};
use view::{FileError, counted};
use workload::{Workload, is_pass, is_thread_trace_folder};

/// A trace that was read.
pub struct Trace {
    /// Path as given; of a set of tables their folder.
    pub path: PathBuf,
    /// Its timeline.
    pub timeline: Timeline,
}

/// Files without a timeline that are named.
const NAMED: usize = 3;
/// Endings of files in folders that are looked at; packed ones too.
const ENDINGS: [&str; 8] = ["json", "csv", "db", "pftrace", "proto", "txt", "trace", "hatchet"];

/// Reads a file, or everything in a folder; large files by their index where `indexed`. Files of one run are one
/// timeline. What cannot be read of a folder is returned with its reason.
///
/// # Errors
/// Fails on a folder with several runs, which are not ranks of one.
pub fn read(path: &Path, indexed: bool) -> Result<(Vec<Trace>, Vec<anyhow::Error>)> {
    let (traces, failed) = every(path, indexed)?;
    match runs::refusal(path, &traces) {
        Some(error) => Err(error),
        None => Ok((traces, failed)),
    }
}

/// As [`read`]; several runs are returned side by side.
pub fn every(path: &Path, indexed: bool) -> Result<(Vec<Trace>, Vec<anyhow::Error>)> {
    let mut files = Vec::new();
    let root = if path.is_dir() {
        collect(path, &mut files, 0)?;
        path
    } else {
        files = of_run(path);
        if files.is_empty() {
            let timeline = file(path, indexed)?;
            return Ok((vec![Trace { path: path.to_owned(), timeline }], Vec::new()));
        }
        path.parent().unwrap_or(path)
    };
    let FolderFiles { traces, failed, passed_over } = of_files(files, indexed)?;
    let mut traces = runs::joined(traces, Some(root));
    if let Some(first) = traces.first_mut() {
        first.timeline.problems.extend(passed_over);
    }
    if traces.is_empty() {
        let first = failed.into_iter().next();
        return Err(first.unwrap_or_else(|| anyhow!("`{}` holds no trace", path.display())));
    }
    if let ([only], false) = (&mut traces[..], path.is_dir()) {
        only.path = path.to_owned();
    }
    Ok((traces, failed))
}

/// Files of the run that a path `FOLDER/NAME` names; none if a file is there.
fn of_run(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let mut files = Vec::new();
    if !path.exists() {
        let entries = std::fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        let is_of_run = |it: &PathBuf| {
            it.is_file()
                && wanted(it)
                && it
                    .file_name()
                    .is_some_and(|it| runs::name_of(&it.to_string_lossy()) == *name.to_string_lossy())
        };
        files.extend(entries.into_iter().flatten().flatten().map(|it| it.path()).filter(is_of_run));
        files.in_order();
    }
    files
}

/// The readable traces at all addresses, each selected, and the errors of the others. Addresses of files that one run
/// wrote are one trace. `of_recording` makes the timeline of a recording's dispatches.
pub fn selected<'a>(
    sources: impl IntoIterator<Item = &'a Source>,
    indexed: bool,
    of_recording: &dyn Fn(&Workload) -> Option<Timeline>,
    select: &dyn Fn(Timeline) -> Timeline,
) -> (Vec<Trace>, Vec<FileError>) {
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for source in sources {
        let (read, errors) =
            of_source(source, indexed, of_recording).unwrap_or_else(|error| (Vec::new(), vec![error]));
        let told = |path: &Path| PathBuf::from(source.told(&path.display().to_string()));
        all.extend(read.into_iter().map(|it| Trace { path: told(&it.path), ..it }));
        let failure = |error: &anyhow::Error| {
            let text = source.told(&format!("{error:#}"));
            let (error, hint) = text.split_once("\nhint: ").unwrap_or((&text, ""));
            file_error(source.called(), error, hint)
        };
        failed.extend(errors.iter().map(failure));
    }
    let all = runs::joined(all, None);
    (all.into_iter().map(|it| Trace { timeline: select(it.timeline), ..it }).collect(), failed)
}

/// Traces at an address. For a recording, the trace beside its counters, or else its dispatches.
fn of_source(
    source: &Source,
    indexed: bool,
    of_recording: &dyn Fn(&Workload) -> Option<Timeline>,
) -> Result<(Vec<Trace>, Vec<anyhow::Error>)> {
    let path = source.open()?;
    if path.is_dir() {
        let read = recording::read(source).ok();
        let recorded = read.as_ref().filter(|it| says_more_than_times(it));
        let dispatches = || recorded.and_then(of_recording);
        let beside = || recorded.and_then(|_| beside(source)).map(|(_, timeline)| timeline);
        if let Some(timeline) = beside().or_else(dispatches) {
            return Ok((vec![Trace { path: path.to_owned(), timeline }], Vec::new()));
        }
    }
    read(path, indexed)
}

/// True if only traces are at the addresses. A path with counters, samples or instructions of its kernels is a
/// recording, whose page has the timeline too.
pub fn are_traces<'a>(sources: impl IntoIterator<Item = &'a Source>) -> bool {
    let mut any = false;
    for source in sources {
        let path = source.path();
        any = true;
        let first = recording::each(source).swap_remove(0);
        let holds = first.path().is_dir() || recording::holds_dispatches(first.path());
        let says_more = || recording::read(&first).is_ok_and(|it| says_more_than_times(&it));
        if holds && (says_more() || recording::holds_runs(&first)) {
            return false;
        }
        let in_folder = |path: &Path| !path.is_file() && every(path, true).is_ok();
        if !(in_folder(path) || may_be_trace(path) || is_table(path)) {
            return false;
        }
    }
    any
}

/// A table is read whole to find its kind; it is small compared with other traces.
fn is_table(path: &Path) -> bool {
    path.is_file() && file(path, true).is_ok()
}

fn says_more_than_times(it: &Workload) -> bool {
    !it.counters.is_empty()
        || !it.printed.is_empty()
        || it.samples.is_some()
        || it.traces.is_some()
        || it.machine.emulator().is_some()
}

/// Files of a folder as they are read.
struct FolderFiles {
    traces: Vec<Trace>,
    failed: Vec<anyhow::Error>,
    /// Names the files that look like traces and hold no timeline.
    passed_over: Option<Note>,
}

/// Traces among files of a folder, each as it is.
fn of_files(files: Vec<PathBuf>, indexed: bool) -> Result<FolderFiles> {
    let (mut traces, mut failed): (Vec<Trace>, Vec<anyhow::Error>) = (Vec::new(), Vec::new());
    let (mut passed, mut others): (Vec<String>, Vec<anyhow::Error>) = (Vec::new(), Vec::new());
    for path in files {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        match open(&path, indexed)? {
            // A folder holds other files, too.
            Err(trace::Error::Empty) => {}
            Err(trace::Error::Unknown(_)) => {
                if name.trim_end_matches(".gz").ends_with(".json") {
                    passed.push(format!("`{name}`"));
                }
            }
            Err(trace::Error::Foreign(foreign)) => {
                passed.push(format!("`{name}` ({})", foreign.what));
                others.push(anyhow!("`{}`: {foreign}", path.display()));
            }
            Err(error) => failed.push(anyhow!("`{}`: {error}", path.display())),
            Ok(timeline) => traces.push(Trace { path, timeline }),
        }
    }
    if traces.is_empty() {
        failed.extend(others);
    }
    let more = match passed.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {}", counted(more, "more file")),
    };
    let named = passed[..passed.len().min(NAMED)].join(", ");
    let text = format!("passed over, as no timeline: {named}{more}");
    let passed_over = (!passed.is_empty()).then_some(Note { kind: NoteKind::Info, text });
    Ok(FolderFiles { traces, failed, passed_over })
}

/// The trace beside the counters of a recording, with the name of its file; of several, the one with the most
/// spans. Traces of single passes do not count.
pub fn beside(recording: &Source) -> Option<(String, Timeline)> {
    let recording = recording.path();
    if recording.is_file() {
        let timeline = open(recording, true).ok()?.ok().filter(|it| !it.gpu.is_empty())?;
        return Some((recording.file_name()?.to_string_lossy().into_owned(), timeline));
    }
    let folder = match &recordings_in(recording)[..] {
        [one] => one.clone(),
        _ => return None,
    };
    let mut files = Vec::new();
    collect(&folder, &mut files, 0).ok()?;
    files.retain(|path| is_of_run(path.strip_prefix(&folder).unwrap_or(path)));
    let traces = runs::joined(of_files(files, true).ok()?.traces, Some(&folder));
    let spans = |it: &Trace| it.timeline.gpu.len() + it.timeline.host.len();
    let seen = traces.into_iter().filter(|it| !it.timeline.gpu.is_empty());
    let most = seen.reduce(|most, it| if spans(&it) > spans(&most) { it } else { most })?;
    let name = match !most.path.is_file() {
        true => "the tables of the trace".to_owned(),
        false => most.path.file_name()?.to_string_lossy().into_owned(),
    };
    Some((name, most.timeline))
}

/// True if a file of a recording's folder may be a trace of a whole run.
fn is_of_run(below: &Path) -> bool {
    let name = below.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let table = name.ends_with(".csv") && !name.ends_with("_trace.csv");
    let other = |part: &str| part.starts_with('.') || is_pass(part) || is_thread_trace_folder(part);
    let mut folders = below.parent().into_iter().flat_map(Path::components);
    !table && !name.ends_with(".txt") && !folders.any(|part| other(&part.as_os_str().to_string_lossy()))
}

/// True if a file begins like a timeline with events, packed or not.
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
    let mut read = trace::read(&path.to_string_lossy(), &mut input);
    if let Ok(timeline) = &mut read {
        // The profilers' demanglers give up on long names.
        timeline.names.rename(&|name| name.starts_with("_Z").then(|| codeobj::demangle(name)));
    }
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
    entries.in_order();
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

/// Timelines among files, with their names; and the other files, which may be tuning files in JSON or SQLite.
pub fn split(paths: &[PathBuf]) -> (Vec<(String, Timeline)>, Vec<PathBuf>) {
    let (mut timelines, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        match may_be_trace(path).then(|| file(path, true)) {
            Some(Ok(timeline)) => timelines.push((path.display().to_string(), timeline)),
            Some(Err(_)) | None => others.push(path.clone()),
        }
    }
    (timelines, others)
}
