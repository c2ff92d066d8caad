//! From files to kernels: reads inputs one after the other and hands every selected kernel to a function.
//!
//! Results come in file order and a bounded amount of them is held, so output can stream and memory does not
//! grow with the input. All cores work on each batch of a large file; small files are distributed, one per
//! core.

mod batch;
mod build_log;
mod companion;
mod ir;
mod metadata_only;
mod selection;
mod source;
mod stream;

use crate::inputs::{Input, expand, file_error};
use crate::{Contents, hip_source};
use analysis::{KernelEvidence, TextFile};
use anyhow::Result;
use batch::{ALONE, Code, Opened, Task, Waiting, each, groups};
use codeobj::{Found, Kind, ReadError, Wanted};
use companion::Companion;
pub use ir::PassChoice;
use rayon::prelude::*;
pub use selection::Selection;
pub(crate) use selection::target;
use sorting::Sort;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::PathBuf;
use stream::Done;
use view::{FileError, Finding, KernelCard, Listing, NotChecked, Note, NoteKind};

/// Code objects read together, at most.
const BATCH_OBJECTS: usize = 256;
/// Most bytes of code objects read together; a larger one is a batch by itself.
const BATCH_BYTES: usize = 48 << 20;
/// Bytes in which a NUL tells binary data from text.
const HEAD: usize = 64 << 10;
/// Files open at the same time, at most.
const MOST_WAITING: usize = 4096;

/// Hint for a file without GPU code.
const NEEDED: &str =
    "give a code object, a program or library with HIP kernels, a HIP source, assembly text, or Triton's IR";

/// One kernel with its evidence and findings.
pub struct Judged<'a, 'b> {
    /// Name of the file, for people.
    pub file: &'a str,
    /// Evidence about it.
    pub evidence: &'a KernelEvidence<'b>,
    /// Findings of the rules.
    pub findings: Vec<Finding>,
    /// Checks that lacked data.
    pub not_checked: Vec<NotChecked>,
}

impl Judged<'_, '_> {
    /// The kernel's card.
    pub fn card(self) -> KernelCard {
        analysis::card(self.evidence, self.file, self.findings, self.not_checked)
    }

    /// The card without the fields that a comparison leaves out.
    pub fn compared_card(self) -> KernelCard {
        KernelCard {
            arguments: Vec::new(),
            hidden_arguments: Vec::new(),
            not_checked: Vec::new(),
            ..self.card()
        }
    }

    /// The kernel's listing with the findings beside its instructions.
    pub fn listing(&self) -> Listing {
        analysis::listing(self.evidence, &self.findings)
    }
}

/// Errors and notes on the inputs.
#[derive(Clone, Default, Debug)]
pub struct Remarks {
    /// Files that were not read, in whole or in part.
    pub errors: Vec<FileError>,
    /// Where code comes from, and what of its source it lacks.
    pub notes: Vec<Note>,
}

/// Receives progress. All methods may be no-ops.
pub trait Watch {
    /// A line for people: an error of one file, a hint, a note.
    fn say(&mut self, line: &str);
    /// A source is compiled, which takes seconds.
    fn compiles(&mut self, file: &str);
    /// `done` bytes of a file are read.
    fn at(&mut self, file: &str, done: u64, total: u64);
    /// `count` more kernels are done.
    fn kernels(&mut self, count: u64);
    /// The reading is over.
    fn finish(&mut self);
}

/// Lends a watch.
impl<W: Watch> Watch for &mut W {
    fn say(&mut self, line: &str) {
        (**self).say(line);
    }
    fn compiles(&mut self, file: &str) {
        (**self).compiles(file);
    }
    fn at(&mut self, file: &str, done: u64, total: u64) {
        (**self).at(file, done, total);
    }
    fn kernels(&mut self, count: u64) {
        (**self).kernels(count);
    }
    fn finish(&mut self) {
        (**self).finish();
    }
}

/// Reports to nobody; errors are returned all the same.
impl Watch for () {
    fn say(&mut self, _: &str) {}
    fn compiles(&mut self, _: &str) {}
    fn at(&mut self, _: &str, _: u64, _: u64) {}
    fn kernels(&mut self, _: u64) {}
    fn finish(&mut self) {}
}

/// Reads all inputs. `work` turns a kernel into a result, on any core; `take` gets the results in order.
///
/// Errors and notes on files are reported as they occur and returned; only an error of `take` stops the reading.
pub fn each_kernel<T: Send>(
    paths: &[PathBuf],
    selection: &Selection,
    watch: impl Watch,
    work: impl Fn(Judged<'_, '_>) -> T + Sync,
    take: impl FnMut(T) -> Result<()>,
) -> Result<Remarks> {
    let (inputs, errors) = expand(paths);
    let mut run = Run {
        selection,
        work: &work,
        take,
        watch,
        remarks: Remarks::default(),
        passed_over: BTreeSet::new(),
        seen: 0,
        taken: 0,
        objects: 0,
        judged: Vec::new(),
        waiting: Vec::new(),
    };
    for error in errors {
        run.report(error);
    }
    for input in &inputs {
        run.input(input)?;
    }
    run.together()?;
    run.hand_on()?;
    run.conclude(paths);
    Ok(run.remarks)
}

struct Run<'a, T, W, K, P> {
    selection: &'a Selection,
    work: &'a W,
    take: K,
    watch: P,
    remarks: Remarks,
    /// Targets found but not wanted.
    passed_over: BTreeSet<String>,
    /// Kernels in the code objects read, before `--kernel`.
    seen: u64,
    /// Kernels handed on.
    taken: u64,
    /// Code objects read.
    objects: u64,
    /// Results not yet handed on, which happens while the other cores judge the next kernels.
    judged: Vec<T>,
    /// Bare code objects that are to be judged together.
    waiting: Vec<Waiting>,
}

impl<T: Send, W: Fn(Judged<'_, '_>) -> T + Sync, K: FnMut(T) -> Result<()>, P: Watch> Run<'_, T, W, K, P> {
    fn report(&mut self, mut error: FileError) {
        crate::kind::name_nearest(&mut error, "inspect");
        self.watch.say(&format!("error: {}: {}", error.file, error.error));
        if let Some(hint) = &error.hint {
            self.watch.say(&format!("hint: {hint}"));
        }
        self.remarks.errors.push(error);
    }

    fn note(&mut self, kind: NoteKind, text: String) {
        self.watch.say(&format!("note: {text}"));
        self.remarks.notes.push(Note { kind, text });
    }

    fn input(&mut self, input: &Input) -> Result<()> {
        let name = input.name();
        let read = if input.is_standard_input() {
            self.standard_input(input)
        } else if input.named && hip_source::is_source(&input.path) && input.path.is_file() {
            self.source(input)
        } else {
            Contents::open(&input.path).map(|contents| self.contents(input, contents, Companion::of(input)))
        };
        read.unwrap_or_else(|error| {
            let hint = if error.kind() == std::io::ErrorKind::NotFound { "check the path" } else { "" };
            self.report(FileError { file: name, ..file_error(&input.path, plain(&error), hint) });
            Ok(())
        })
    }

    /// Reads a file by what it holds.
    fn contents(&mut self, input: &Input, contents: Contents, companion: Companion) -> Result<()> {
        let name = input.name();
        let kind = codeobj::recognise(contents.bytes());
        if kind == Some(Kind::CodeObject) {
            self.waiting.push(Waiting { name, named: input.named, contents, companion });
            if self.waiting.len() >= MOST_WAITING {
                self.together()?;
            }
            return Ok(());
        }
        self.together()?;
        // Folders hold anything.
        let is_ir = kind.is_none() && tritonir::recognise(contents.bytes());
        if !input.named && !is_ir && matches!(kind, None | Some(Kind::Json)) {
            return Ok(());
        }
        if is_ir {
            return self.ir(&name, contents.bytes(), &companion);
        }
        let objects_before = self.objects;
        let passed_elsewhere = std::mem::take(&mut self.passed_over);
        let result = match kind {
            Some(Kind::Assembly) => self.text(&name, contents.bytes(), &companion, &self.selection.wanted)?,
            Some(Kind::Json) => Err(ReadError {
                position: 0,
                what: "JSON without the code object it belongs to".to_owned(),
                hint: "Triton writes `.hsaco` and `.json` side by side: keep them together".to_owned(),
            }),
            None if contents.bytes().is_empty() => {
                Err(ReadError { position: 0, what: "the file is empty".to_owned(), hint: String::new() })
            }
            None if memchr::memchr(0, contents.bytes().get(..HEAD).unwrap_or(contents.bytes())).is_none() => {
                self.build_log(&name, &contents)?
            }
            _ => self.binary(&name, &contents, &companion, &self.selection.wanted)?,
        };
        let mut objects = self.objects - objects_before;
        let mut passed = std::mem::take(&mut self.passed_over);
        if input.named {
            objects += self.metadata_only(&name, &contents, &companion, objects, &mut passed)?;
        }
        self.passed_over = passed_elsewhere;
        self.read_file(&name, input.named, objects, &passed, result);
        self.passed_over.extend(passed);
        Ok(())
    }

    /// Reports the error of a file, possibly that it contains nothing.
    fn read_file(
        &mut self,
        name: &str,
        named: bool,
        objects: u64,
        passed: &BTreeSet<String>,
        result: Result<(), ReadError>,
    ) {
        if let Err(error) = result {
            self.report(as_file_error(name, &error));
        } else if named && objects == 0 {
            let (error, hint) = self.nothing_found("no GPU code in it", passed);
            self.report(FileError { file: name.to_owned(), error: error.to_owned(), hint: Some(hint) });
        }
    }

    /// Reason why no code object was read, with a hint; `passed` are the targets of the skipped ones.
    fn nothing_found(&self, none: &'static str, passed: &BTreeSet<String>) -> (&'static str, String) {
        let Some(first) = passed.first() else { return (none, NEEDED.to_owned()) };
        if self.selection.explicit {
            return ("no code for the targets asked for", format!("it holds code for {}", some(passed)));
        }
        let hint =
            format!("it holds code for {}; `--arch {first}` shows what its metadata says", some(passed));
        ("no code for a supported GPU", hint)
    }

    /// Reads and judges the files that wait.
    fn together(&mut self) -> Result<()> {
        let files = std::mem::take(&mut self.waiting);
        let (selection, work) = (self.selection, self.work);
        for run in files.chunk_by(|a, b| a.is_large() == b.is_large()) {
            if run.iter().any(Waiting::is_large) {
                for file in run {
                    self.large(file)?;
                }
            } else {
                stream::each_file(run, selection, work, |file, done| self.take_file(file, done))?;
            }
        }
        Ok(())
    }

    /// Hands on the results of a file.
    fn take_file(&mut self, file: &Waiting, mut done: Done<T>) -> Result<()> {
        let size = file.contents.bytes().len() as u64;
        self.watch.at(&file.name, size, size);
        self.objects += done.objects;
        self.seen += done.kernels;
        self.judged.extend(done.results);
        self.hand_on()?;
        if file.named {
            let (contents, companion) = (&file.contents, &file.companion);
            let passed = &mut done.passed_over;
            done.objects += self.metadata_only(&file.name, contents, companion, done.objects, passed)?;
        }
        let errors = done.errors.len() as u64;
        let result = first_of(done.errors.into_iter().next(), errors);
        self.read_file(&file.name, file.named, done.objects, &done.passed_over, result);
        self.passed_over.extend(done.passed_over);
        Ok(())
    }

    /// Reads a bare code object that is too large to be held beside others.
    fn large(&mut self, file: &Waiting) -> Result<()> {
        let before = self.objects;
        let passed_elsewhere = std::mem::take(&mut self.passed_over);
        let result = self.binary(&file.name, &file.contents, &file.companion, &self.selection.wanted)?;
        let passed = std::mem::replace(&mut self.passed_over, passed_elsewhere);
        self.read_file(&file.name, file.named, self.objects - before, &passed, result);
        self.passed_over.extend(passed);
        Ok(())
    }

    /// Reads assembly text.
    fn text(
        &mut self,
        name: &str,
        bytes: &[u8],
        companion: &Companion,
        wanted: &Wanted,
    ) -> Result<Result<(), ReadError>> {
        let text = String::from_utf8_lossy(bytes);
        let mut objects = match codeobj::read_text(&text) {
            Ok(objects) => objects,
            Err(error) => return Ok(Err(error)),
        };
        let file = TextFile::new(&text);
        for object in &objects {
            if !wanted.accepts(&object.target) {
                self.passed_over.insert(object.target.to_string());
            }
        }
        objects.retain(|object| wanted.accepts(&object.target));
        let opened: Vec<Opened<'_>> = objects
            .into_iter()
            .map(|mut object| {
                let ir = companion.apply(&mut object);
                Opened { file: name, object, code: Code::Text(&file), ir, built: None }
            })
            .collect();
        self.judge(&opened, bytes.len())?;
        Ok(Ok(()))
    }

    /// Reads a file of any binary kind, batch by batch.
    fn binary(
        &mut self,
        name: &str,
        contents: &Contents,
        companion: &Companion,
        wanted: &Wanted,
    ) -> Result<Result<(), ReadError>> {
        let bytes = contents.bytes();
        let mut scan = match codeobj::scan(bytes, wanted) {
            Ok(scan) => scan,
            Err(error) => return Ok(Err(error)),
        };
        let mut first_error: Option<ReadError> = None;
        let mut errors = 0u64;
        let mut note = |error: ReadError| {
            errors += 1;
            first_error.get_or_insert(error);
        };
        loop {
            let mut batch: Vec<Found<'_>> = Vec::new();
            let mut size = 0;
            let mut at_end = true;
            for found in scan.by_ref() {
                match found {
                    Ok(found) => {
                        size += found.data.len();
                        batch.push(found);
                    }
                    Err(error) => note(error),
                }
                if batch.len() >= BATCH_OBJECTS || size >= BATCH_BYTES {
                    at_end = false;
                    break;
                }
            }
            if let Some(last) = batch.last() {
                self.watch.at(name, last.position, bytes.len() as u64);
            }
            let read = each(&batch, size, Found::read);
            let mut opened = Vec::with_capacity(read.len());
            for (object, found) in read.into_iter().zip(&batch) {
                match object {
                    Ok(mut object) => {
                        let ir = companion.apply(&mut object);
                        opened.push(Opened {
                            file: name,
                            object,
                            code: Code::Binary(&found.data),
                            ir,
                            built: None,
                        });
                    }
                    Err(error) => note(error),
                }
            }
            self.judge(&opened, size)?;
            drop(opened);
            drop(batch);
            contents.release();
            if at_end {
                break;
            }
        }
        self.passed_over.extend(scan.passed_over().map(str::to_owned));
        Ok(first_of(first_error, errors))
    }

    /// Judges all selected kernels of some code objects.
    fn judge(&mut self, objects: &[Opened<'_>], size: usize) -> Result<()> {
        let selection = self.selection;
        let work = self.work;
        self.objects += objects.len() as u64;
        self.seen += objects.iter().map(|opened| opened.object.kernels.len() as u64).sum::<u64>();
        for group in groups(objects, size, |kernel| selection.accepts(kernel)) {
            let mut results: Vec<(usize, T)> = Vec::new();
            if size < ALONE {
                results.extend(group.iter().flat_map(|task| task.run(work)));
                self.hand_on()?;
            } else {
                // The longest first, so that no core is left alone with one at the end.
                let mut order: Vec<&Task<'_>> = group.iter().collect();
                order.sort_by_cached_key(|task| Reverse(task.weight()));
                rayon::in_place_scope(|scope| {
                    scope.spawn(|_| {
                        let tasks = order.into_iter().par_bridge();
                        results = tasks.flat_map_iter(|task| task.run(work)).collect();
                    });
                    self.hand_on()
                })?;
            }
            results.in_order_by_key(|(position, _)| *position);
            self.judged.extend(results.into_iter().map(|(_, result)| result));
        }
        Ok(())
    }

    /// Hands on the judged kernels.
    fn hand_on(&mut self) -> Result<()> {
        for result in std::mem::take(&mut self.judged) {
            self.taken += 1;
            self.watch.kernels(1);
            (self.take)(result)?;
        }
        Ok(())
    }

    /// Reports final notes to the user.
    fn conclude(&mut self, paths: &[PathBuf]) {
        self.watch.finish();
        if self.objects > 0 && !self.selection.explicit && !self.passed_over.is_empty() {
            let targets = some(&self.passed_over);
            self.watch.say(&format!("note: code for unsupported targets is passed over: {targets}"));
        }
        if self.taken == 0 && self.remarks.errors.is_empty() {
            let file = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
            let (error, hint) = if self.objects == 0 {
                let (error, hint) = self.nothing_found("no GPU code found", &self.passed_over);
                (error.to_owned(), hint)
            } else if self.seen == 0 {
                let is_source = paths.iter().all(|path| hip_source::is_source(path));
                let what =
                    if is_source { "no kernel is defined in it" } else { "the code objects hold no kernels" };
                (what.to_owned(), String::new())
            } else if let Some(names) = &self.selection.recorded {
                let hint = format!("the recording has {}", some(names));
                ("no kernel of the recording is in it, or none matches `--kernel`".to_owned(), hint)
            } else {
                (
                    "no kernel matches `--kernel`".to_owned(),
                    format!("{} kernels were looked at, by linker name and demangled name", self.seen),
                )
            };
            self.report(FileError { file, error, hint: (!hint.is_empty()).then_some(hint) });
        }
    }
}

/// The result of reading a file that gave `errors` errors.
fn first_of(first: Option<ReadError>, errors: u64) -> Result<(), ReadError> {
    match first {
        None => Ok(()),
        Some(error) if errors == 1 => Err(error),
        Some(error) => Err(ReadError {
            what: format!("{} (and {} more errors in this file; the first is)", error.what, errors - 1),
            ..error
        }),
    }
}

/// The first few targets, and the number of others.
fn some(targets: &BTreeSet<String>) -> String {
    const SHOWN: usize = 6;
    let mut text = targets.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if targets.len() > SHOWN {
        text.push_str(&format!(" and {} more", targets.len() - SHOWN));
    }
    text
}

fn as_file_error(name: &str, error: &ReadError) -> FileError {
    FileError {
        file: name.to_owned(),
        error: error.to_string(),
        hint: (!error.hint.is_empty()).then(|| error.hint.clone()),
    }
}

/// The system's words without the number: "no such file or directory".
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
