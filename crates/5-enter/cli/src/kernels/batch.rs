//! Code objects that are read and judged together.
//!
//! The one idea to keep in mind: all cores work on a batch at once; small code objects share one, and the tasks
//! of a batch are shares of its kernels, about equal in work.

use super::Judged;
use crate::contents::Contents;
use analysis::{KernelEvidence, Source, TextFile};
use codeobj::{Body, CodeObject, Found, LineTable, ReadError, Wanted};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Fewer kernels than this are not worth a task of their own.
const TASK_KERNELS: usize = 16;
/// More kernels than this are several tasks, unless debug information would be parsed once for each.
const LARGE_TASK: usize = 64;
/// Fewer bytes than this are read faster than threads start.
pub(super) const ALONE: usize = 256 << 10;
/// Kernels whose results are held at the same time, give or take a task.
pub(super) const HELD_KERNELS: usize = 4096;

/// A file that is one code object.
pub(super) struct Waiting {
    pub(super) name: String,
    /// The user named the file, so that it is an error when it gives nothing.
    pub(super) named: bool,
    pub(super) contents: Contents,
    pub(super) companion: Option<Vec<u8>>,
}

/// The bytes of some files.
pub(super) fn size_of(files: &[Waiting]) -> usize {
    files.iter().map(|file| file.contents.bytes().len()).sum()
}

/// Cuts files into runs of so many bytes, give or take a file.
pub(super) fn batches(files: &[Waiting], most: usize) -> Vec<&[Waiting]> {
    let mut batches = Vec::new();
    let mut rest = files;
    while !rest.is_empty() {
        let mut size = 0;
        let full = rest.iter().position(|file| {
            size += file.contents.bytes().len();
            size >= most
        });
        let (batch, after) = rest.split_at(full.map_or(rest.len(), |last| last + 1));
        batches.push(batch);
        rest = after;
    }
    batches
}

/// A file's code objects, each as it could be read.
pub(super) type ReadFile<'a> = (Scanned<'a>, Vec<Result<CodeObject, ReadError>>);

/// Reads the code objects of some files.
pub(super) fn read_files<'a>(files: &'a [Waiting], wanted: &Wanted) -> Vec<ReadFile<'a>> {
    each(files, size_of(files), |file| {
        let scanned = Scanned::of(file.contents.bytes(), wanted);
        let read = scanned.found.iter().map(Found::read).collect();
        (scanned, read)
    })
}

/// Kernels of one code object that one core works on.
pub(super) type Task<'a> = (&'a Opened<'a>, Vec<&'a codeobj::Kernel>);

/// What the code objects of a file are, before they are read.
pub(super) struct Scanned<'a> {
    pub(super) found: Vec<Found<'a>>,
    pub(super) errors: Vec<ReadError>,
    pub(super) passed_over: BTreeSet<String>,
}

impl<'a> Scanned<'a> {
    fn of(bytes: &'a [u8], wanted: &Wanted) -> Self {
        let mut scanned = Scanned { found: Vec::new(), errors: Vec::new(), passed_over: BTreeSet::new() };
        match codeobj::scan(bytes, wanted) {
            Ok(mut scan) => {
                for found in scan.by_ref() {
                    match found {
                        Ok(found) => scanned.found.push(found),
                        Err(error) => scanned.errors.push(error),
                    }
                }
                scanned.passed_over = scan.passed_over().map(str::to_owned).collect();
            }
            Err(error) => scanned.errors.push(error),
        }
        scanned
    }
}

/// Maps on all cores where that is worth it: the items stand for `size` bytes.
pub(super) fn each<'t, T: Sync, U: Send>(
    items: &'t [T],
    size: usize,
    map: impl Fn(&'t T) -> U + Sync + Send,
) -> Vec<U> {
    if size < ALONE { items.iter().map(map).collect() } else { items.par_iter().map(map).collect() }
}

/// About how much work a kernel is: the bytes or lines of its code.
pub(super) fn weight(kernel: &codeobj::Kernel) -> usize {
    match &kernel.body {
        Body::Code { bytes, .. } => bytes.len(),
        Body::Text { lines } => lines.len(),
        Body::Absent => 0,
    }
}

/// A code object with the bytes or lines its kernels refer to.
pub(super) struct Opened<'a> {
    pub(super) file: &'a str,
    pub(super) object: CodeObject,
    pub(super) code: Code<'a>,
}

pub(super) enum Code<'a> {
    Binary(&'a [u8]),
    Text(&'a TextFile<'a>),
}

impl Opened<'_> {
    fn has_lines(&self) -> bool {
        matches!(self.code, Code::Binary(data) if codeobj::has_lines(data))
    }

    pub(super) fn run<T>(&self, kernels: &[&codeobj::Kernel], work: &impl Fn(Judged<'_, '_>) -> T) -> Vec<T> {
        // Without debug information there is nothing to look up.
        let lines = match self.code {
            Code::Binary(data) => LineTable::read(data).ok().filter(|lines| lines.absent().is_none()),
            Code::Text(_) => None,
        };
        let source = match self.code {
            Code::Binary(data) => Source::Binary { data, lines: lines.as_ref() },
            Code::Text(file) => Source::Text { file },
        };
        kernels
            .iter()
            .map(|kernel| {
                let evidence = KernelEvidence::gather(&self.object, kernel, source);
                let (findings, not_checked) = rules::check(&evidence);
                work(Judged { file: self.file, evidence: &evidence, findings, not_checked })
            })
            .collect()
    }
}

/// Cuts the kernels that `accepts` takes into tasks; the code objects have `size` bytes.
pub(super) fn tasks<'a>(
    objects: &'a [Opened<'a>],
    size: usize,
    accepts: impl Fn(&codeobj::Kernel) -> bool,
) -> Vec<Task<'a>> {
    // Debug information is parsed once per task: with objects enough for all cores a task is a whole object.
    let parts =
        if size < ALONE { 1 } else { (4 * rayon::current_num_threads()).div_ceil(objects.len().max(1)) };
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for opened in objects {
        let mut chosen = opened.object.kernels.iter().filter(|kernel| accepts(kernel)).peekable();
        let most = opened.object.kernels.len().div_ceil(parts);
        let most = match opened.has_lines() {
            true => most.clamp(TASK_KERNELS, HELD_KERNELS),
            false => most.clamp(TASK_KERNELS, LARGE_TASK),
        };
        while chosen.peek().is_some() {
            tasks.push((opened, chosen.by_ref().take(most).collect()));
        }
    }
    tasks
}
