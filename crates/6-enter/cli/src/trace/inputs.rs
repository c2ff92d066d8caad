//! Traces of a command line: read, selected and named, for every command that shows them.

use crate::answer;
use crate::exit::usage;
use analysis::workload::kernel_pattern;
use anyhow::Result;
use host::{recording, traces};
use regex::Regex;
use std::path::{Path, PathBuf};
use study::trace::{Input, Options, survey};
use timeline::{Selection, select};
use trace::Timeline;
use view::{FileError, TimelinePage};

/// Part of traces.
#[derive(Default)]
pub(crate) struct Wanted {
    /// Only kernels whose name one of these matches; empty: all.
    pub(crate) kernels: Vec<Regex>,
    /// From and to, ns after the trace's begin.
    pub(crate) time: (Option<i64>, Option<i64>),
    /// Only what these steps of the profiler launched.
    pub(crate) steps: Vec<u64>,
}

impl Wanted {
    /// Kernels as regular expressions.
    pub(crate) fn kernels<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<Vec<Regex>> {
        let one = |text: &String| {
            kernel_pattern(text).map_err(|error| {
                usage(format!("`--kernel {text}`: {error}"), "give a regular expression such as `gemm.*f16`")
            })
        };
        texts.into_iter().map(one).collect()
    }

    fn select(&self, timeline: Timeline) -> Timeline {
        let begin = timeline.range().map_or(0, |(begin, _)| begin);
        let at = |ns: i64| begin.saturating_add(ns);
        let (from, to) = self.time;
        let admits = |name: &str| self.kernels.iter().any(|regex| regex.is_match(name));
        let selection = Selection {
            kernel: (!self.kernels.is_empty()).then_some(&admits as &dyn Fn(&str) -> bool),
            time: (from.is_some() || to.is_some()).then(|| (at(from.unwrap_or(0)), to.map_or(i64::MAX, at))),
            steps: self.steps.clone(),
        };
        if selection.is_all() { timeline } else { select(&timeline, &selection) }
    }
}

/// The selected part of a trace of the command line.
pub(crate) struct Selected {
    pub(crate) path: PathBuf,
    pub(crate) timeline: Timeline,
}

/// The readable traces of all paths, and the errors of the others.
pub(crate) fn read<'a>(
    paths: impl IntoIterator<Item = &'a PathBuf>,
    wanted: &Wanted,
    indexed: bool,
) -> (Vec<Selected>, Vec<FileError>) {
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for path in paths {
        let (read, errors) = of_path(path, indexed).unwrap_or_else(|error| (Vec::new(), vec![error]));
        let select = |it: traces::Trace| Selected { path: it.path, timeline: wanted.select(it.timeline) };
        all.extend(read.into_iter().map(select));
        failed.extend(errors.iter().map(|error| answer::unread(path, error)));
    }
    (all, failed)
}

/// Traces of a path. For a recording, the trace beside its counters, or else its dispatches.
fn of_path(path: &Path, indexed: bool) -> Result<(Vec<traces::Trace>, Vec<anyhow::Error>)> {
    if path.is_dir() {
        let read = recording::read(path).ok();
        let recorded = read.as_ref().filter(|it| says_more_than_times(it));
        let dispatches = || recorded.and_then(study::trace::of_recording);
        let beside = || recorded.and_then(|_| traces::beside(path)).map(|(_, timeline)| timeline);
        if let Some(timeline) = beside().or_else(dispatches) {
            return Ok((vec![traces::Trace { path: path.to_owned(), timeline }], Vec::new()));
        }
    }
    traces::read(path, indexed)
}

/// True if paths are traces only. A path with counters, samples or instructions of its kernels is a
/// recording, whose page has the timeline too.
pub(crate) fn are_traces<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> bool {
    let mut any = false;
    for path in paths {
        any = true;
        let first = recording::recordings_in(path).into_iter().next().unwrap_or_else(|| path.clone());
        let holds = first.is_dir() || recording::holds_dispatches(&first);
        let says_more = || recording::read(&first).is_ok_and(|it| says_more_than_times(&it));
        if holds && (says_more() || recording::holds_runs(&first)) {
            return false;
        }
        if !(path.is_dir() && traces::read(path, true).is_ok()
            || traces::may_be_trace(path)
            || is_table(path))
        {
            return false;
        }
    }
    any
}

/// A table is read whole to find its kind; it is small compared with other traces.
fn is_table(path: &Path) -> bool {
    path.is_file() && traces::file(path, true).is_ok()
}

fn says_more_than_times(it: &workload::Workload) -> bool {
    !it.counters.is_empty() || it.samples.is_some() || it.traces.is_some() || it.machine.emulator().is_some()
}

/// Names that distinguish traces: their paths without the common parts.
pub(crate) fn names(all: &[Selected]) -> Vec<String> {
    let file = |it: &Selected| {
        it.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    };
    let files: Vec<String> = all.iter().map(file).collect();
    let same = files.iter().enumerate().any(|(at, name)| files[..at].contains(name));
    if !same {
        return files;
    }
    all.iter().map(|it| it.path.display().to_string()).collect()
}

/// Traces as inputs of the report.
pub(crate) fn inputs(all: &[Selected]) -> Vec<Input<'_>> {
    all.iter()
        .zip(names(all))
        .map(|(it, name)| Input { name, path: it.path.display().to_string(), timeline: &it.timeline })
        .collect()
}

/// The page of traces; with `compared` the first is the base of the second.
pub(crate) fn page(all: &[Selected], compared: bool) -> Result<TimelinePage> {
    if compared && all.len() != 2 {
        return Err(not_two(all.len()));
    }
    let inputs = inputs(all);
    let every = ["all".to_owned()];
    let survey = survey(&inputs, &Options { top: ROWS, blocks: &every, tunings: &[], compared });
    Ok(study::trace::page(&inputs, survey))
}

/// Rows of each table of a page.
pub(crate) const ROWS: usize = 1000;

/// A comparison is of one trace with one base.
pub(crate) fn not_two(found: usize) -> anyhow::Error {
    usage(format!("`--base` compares two traces, found {found}"), "give one trace beside the base")
}
