//! Recording of the executed dispatches, written as a workload folder.
//!
//! Every finished dispatch is appended to the files at once, so it survives any end of the program. The files
//! are rewritten only when a dispatch brings a new column; the number of columns is bounded.

use crate::message::{say, say_once};
use crate::repeats::Outcome;
use crate::selection::Selection;
use anyhow::Result;
use arch::Model;
use emu::{Fault, Launch, Memory, Program, Summary};
use host::session::{self, Record, claim};
use probe::{Code, Table};
use record::{Provenance, Recorder};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Files of Triton's cache that are kept beside the code of a kernel: what a launch needs to know, and the IR.
const COMPILED: [&str; 2] = ["json", "ttgir"];

/// Longest time for which launches that repeat others are not written.
const PATIENCE: Duration = Duration::from_millis(50);

/// The recording of this process.
#[derive(Debug)]
pub(crate) struct Recording {
    recorder: Recorder,
    provenance: Provenance,
    folder: PathBuf,
    /// Folder of the session.
    session: PathBuf,
    has_clock: bool,
    /// A process that was forked off has this state too and must not write.
    process: u32,
    selection: Selection,
    tables: BTreeMap<usize, (Arc<Program>, Arc<Table>)>,
    written: usize,
    /// When that was, and lines on repeated launches since then.
    added: Instant,
    repeats: String,
    /// First line of each file that lines are added to.
    headers: BTreeMap<String, Vec<u8>>,
    /// The same files, open: opening one costs more than adding a line.
    open: BTreeMap<String, File>,
    /// Code objects that are written.
    written_code: BTreeSet<String>,
}

impl Recording {
    /// Recording as the session requests; the folder is the session's.
    pub(crate) fn new(record: &Record, session: &Path, model: &'static Model) -> Result<Recording> {
        Ok(Recording {
            recorder: record.settings.recorder(model, Some(host::spill::store()))?,
            provenance: Provenance {
                name: record.name.clone(),
                command: record.command.clone(),
                emulator: format!("rockhound {}", env!("CARGO_PKG_VERSION")),
            },
            folder: claim(session, &record.output)?,
            session: session.to_owned(),
            has_clock: record.settings.has_clock(),
            process: std::process::id(),
            selection: Selection::new(record),
            tables: BTreeMap::new(),
            written: 0,
            added: Instant::now(),
            repeats: String::new(),
            headers: BTreeMap::new(),
            open: BTreeMap::new(),
            written_code: BTreeSet::new(),
        })
    }

    /// Whether the next launch is to be recorded.
    pub(crate) fn wants(&mut self, kernel: &str) -> bool {
        let recorded = self.recorder.dispatches().len() as u64;
        self.process == std::process::id() && self.selection.wants(kernel, self.recorder.next(), recorded)
    }

    /// Number of the GPU of the launches from now on.
    pub(crate) fn set_device(&mut self, device: u32) {
        self.recorder.set_device(device);
    }

    /// Number of the next launch.
    pub(crate) fn next(&self) -> u64 {
        self.recorder.next()
    }

    /// Whether launches that are not recorded must run.
    pub(crate) fn needs_results(&self) -> bool {
        !self.selection.no_results
    }

    /// Counts a launch that is not recorded.
    pub(crate) fn pass_over(&mut self) {
        self.recorder.pass_over();
    }

    /// Runs a kernel and records the dispatch.
    pub(crate) fn run(
        &mut self,
        kernel: &str,
        code: &Arc<Code>,
        program: &Arc<Program>,
        memory: &Memory,
        launch: &Launch<'_>,
    ) -> std::result::Result<Summary, Box<Fault>> {
        // The program is kept with its table, so that its address stays its own.
        let key = Arc::as_ptr(program).addr();
        let entry = self.tables.entry(key);
        let (_, table) =
            entry.or_insert_with(|| (program.clone(), Arc::new(Table::new(program).with_code(code.clone()))));
        let table = table.clone();
        let summary = self.recorder.run(kernel, program, &table, memory, launch)?;
        self.recorder.misfits().iter().for_each(|text| say_once(text));
        self.catch_up();
        self.write_events();
        Ok(summary)
    }

    /// The next launch finds empty caches.
    pub(crate) fn empty_caches(&mut self) {
        self.recorder.empty_caches();
    }

    /// Keeps the program's note on the launch that was recorded last.
    pub(crate) fn note(&self, note: Option<String>) {
        let (Some(note), Some(dispatch)) = (note, self.recorder.dispatches().last()) else { return };
        self.add_note(&workload::launch_note(Some(dispatch.id), &note));
        if let Some(compiled) = workload::compiled_stem(&note).filter(|_| self.process == std::process::id())
        {
            self.keep_compiled(&workload::code_object_file(&dispatch.code), &compiled);
        }
    }

    /// Keeps what Triton wrote beside a code object, under the name that the code has in the folder. `compiled` is the path
    /// of its files without their extensions.
    fn keep_compiled(&self, code: &str, compiled: &str) {
        for extension in COMPILED {
            let to = Path::new(code).with_extension(extension);
            let from = PathBuf::from(format!("{compiled}.{extension}"));
            if self.folder.join(&to).exists() || !from.is_file() {
                continue;
            }
            let name = to.to_string_lossy();
            let kept = std::fs::read(&from).and_then(|bytes| replace(&self.folder, &name, &bytes));
            if let Err(error) = kept {
                say_once(&format!("cannot copy {} into {}: {error}", from.display(), self.folder.display()));
            }
        }
    }

    /// Keeps the program's note on a configuration that cannot be launched.
    pub(crate) fn note_failed(&self, note: &str) {
        self.add_note(&workload::launch_note(None, note));
    }

    fn add_note(&self, line: &str) {
        self.append(workload::LAUNCHES_FILE, line);
    }

    /// Adds a line to a file that is not one of the recorder's.
    fn append(&self, name: &str, line: &str) {
        if self.process != std::process::id() {
            return;
        }
        let file = self.folder.join(name);
        let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
        if let Err(error) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
            say_once(&format!("cannot write into {}: {error}", self.folder.display()));
        }
    }

    /// Whether dispatches get a modelled time.
    pub(crate) fn has_clock(&self) -> bool {
        self.has_clock
    }

    /// Place and time of the dispatch that was recorded last.
    pub(crate) fn last(&self) -> Outcome {
        let all = self.recorder.dispatches();
        let time = all.last().and_then(|it| it.time.as_ref()).map(|it| it.nanoseconds);
        Outcome { time, dispatch: all.len().checked_sub(1) }
    }

    /// Records a launch that would do what a recorded dispatch did.
    pub(crate) fn repeat(&mut self, dispatch: usize, note: Option<String>) {
        let Some([from, to]) = self.recorder.repeat(dispatch) else { return };
        self.note(note);
        self.repeats.push_str(&workload::repeat_line(from, to));
        if self.added.elapsed() > PATIENCE {
            self.catch_up();
        }
    }

    /// Writes what is not written yet.
    pub(crate) fn catch_up(&mut self) {
        let repeats = std::mem::take(&mut self.repeats);
        if !repeats.is_empty() {
            self.append(workload::REPEATS_FILE, &repeats);
        }
        if self.process == std::process::id()
            && self.recorder.dispatches().len() > self.written
            && !self.add()
        {
            self.write();
        }
        self.added = Instant::now();
    }

    /// Appends the unwritten dispatches to the files; returns whether that was possible.
    fn add(&mut self) -> bool {
        if self.written == 0 {
            return false;
        }
        let files = self.recorder.since(self.written).files(&self.provenance);
        let same = |(name, bytes): (&String, &Vec<u8>)| {
            header(bytes).is_none_or(|header| self.headers.get(name).is_some_and(|it| it == header))
        };
        if !files.iter().all(same) {
            return false;
        }
        let mut lines = files.iter().filter_map(|(name, bytes)| Some((name, &bytes[header(bytes)?.len()..])));
        let added =
            self.write_code().and_then(|()| lines.try_for_each(|(name, lines)| self.add_lines(name, lines)));
        self.settle(added);
        true
    }

    /// Adds lines to a file of the folder.
    fn add_lines(&mut self, name: &str, lines: &[u8]) -> std::io::Result<()> {
        if !self.open.contains_key(name) {
            let file = OpenOptions::new().append(true).open(self.folder.join(name))?;
            self.open.insert(name.to_owned(), file);
        }
        self.open.get_mut(name).map_or(Ok(()), |file| file.write_all(lines))
    }

    /// Writes the folder, unless it is written already.
    pub(crate) fn write(&mut self) {
        if self.process != std::process::id() || self.recorder.dispatches().len() == self.written {
            return;
        }
        // Files that are replaced are other files.
        self.open.clear();
        let files = self.recorder.files(&self.provenance);
        let written = self
            .write_code()
            .and_then(|()| files.iter().try_for_each(|(name, bytes)| replace(&self.folder, name, bytes)));
        let headers = files.iter().filter_map(|(name, bytes)| Some((name.clone(), header(bytes)?.to_vec())));
        self.headers = headers.collect();
        self.settle(written);
    }

    /// Code objects are named by their contents: an existing one is kept.
    fn write_code(&mut self) -> std::io::Result<()> {
        for (name, bytes) in self.recorder.code_objects() {
            if self.written_code.contains(&name) {
                continue;
            }
            if !self.folder.join(&name).exists() {
                replace(&self.folder, &name, bytes)?;
            }
            self.written_code.insert(name);
        }
        Ok(())
    }

    /// Events of each dispatch's waves go to a separate file.
    fn write_events(&mut self) {
        for (dispatch, bytes) in self.recorder.take_events() {
            let Some(bytes) = bytes else {
                say(&format!("what the waves of dispatch {dispatch} did is too much to keep"));
                continue;
            };
            if let Err(error) = replace(&self.folder, &workload::events_file(dispatch), &bytes) {
                say_once(&format!("cannot write into {}: {error}", self.folder.display()));
            }
        }
    }

    fn settle(&mut self, result: std::io::Result<()>) {
        match result {
            Ok(()) => self.written = self.recorder.dispatches().len(),
            Err(error) => {
                say_once(&format!("cannot write into {}: {error}", self.folder.display()));
                // The command fails for it. Without room for an empty file too, the message has to do.
                let _ = std::fs::write(self.session.join(session::INCOMPLETE), "");
            }
        }
    }

    /// Lists the kernels if none was selected, and reports incomplete simulation of XCDs.
    pub(crate) fn explain(&self) {
        if self.process != std::process::id() {
            return;
        }
        if self.recorder.dispatches().is_empty() {
            self.selection.explain(self.recorder.next());
        }
        self.recorder.notes().iter().for_each(|text| say(text));
    }
}

/// The first line of a file with a line for each dispatch.
fn header(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    bytes.starts_with(b"Dispatch_ID").then_some(&bytes[..=end])
}

/// Puts a file in place of an older one in one step.
fn replace(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let next = folder.join(format!(".{name}.new"));
    std::fs::write(&next, bytes)?;
    std::fs::rename(next, folder.join(name))
}
