//! Recording of the executed dispatches, written as a workload folder.
//!
//! Every finished dispatch is appended to the files at once, so it survives any end of the program, and forgotten, so that a
//! million launches take no memory. The files are rewritten only when a dispatch brings a new column; the number of
//! columns is bounded.

mod files;

use crate::message::{say, say_once};
use crate::repeats::Outcome;
use crate::selection::Selection;
use anyhow::Result;
use arch::Model;
use emu::{Fault, Launch, Memory, Program, Summary};
use host::session::{self, Record, claim};
use probe::{Code, Table};
use record::{Columns, Dispatch, Lines, Provenance, Recorder};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of Triton's cache that are kept beside the code of a kernel: what a launch needs to know, and the IR.
const COMPILED: [&str; 2] = ["json", "ttgir"];

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
    /// Columns of the files as they are.
    columns: Option<Arc<Columns>>,
    /// Lines to be written; the memory is used again.
    lines: Lines,
    /// Files that lines are added to, open: opening one costs more than adding a line.
    open: BTreeMap<String, File>,
    /// Files without lines, as they are.
    about: BTreeMap<String, Vec<u8>>,
    /// Number of dispatches for which these are made again.
    next_about: u64,
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
            columns: None,
            lines: Lines::new(),
            open: BTreeMap::new(),
            about: BTreeMap::new(),
            next_about: 1,
            written_code: BTreeSet::new(),
        })
    }

    /// Whether the next launch is to be recorded.
    pub(crate) fn wants(&mut self, kernel: &str) -> bool {
        let recorded = self.recorder.recorded();
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
        let (Some(note), Some(dispatch)) = (note, self.last_dispatch()) else { return };
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
            let kept = std::fs::read(&from).and_then(|bytes| files::replace(&self.folder, &name, &bytes));
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

    /// The dispatch that was recorded last.
    fn last_dispatch(&self) -> Option<&Dispatch> {
        self.recorder.dispatches().last().or_else(|| self.recorder.last_taken().map(|it| &**it))
    }

    /// The dispatch that was run last, with its time.
    pub(crate) fn last(&self) -> Outcome {
        let dispatch = self.recorder.last_taken().cloned();
        let time = dispatch.as_ref().and_then(|it| it.time.as_ref()).map(|it| it.nanoseconds);
        Outcome { time, dispatch }
    }

    /// Records a launch that would do what a recorded dispatch did.
    pub(crate) fn repeat(&mut self, dispatch: &Dispatch, note: Option<String>) {
        let [from, to] = self.recorder.repeat(dispatch);
        self.note(note);
        self.append(workload::REPEATS_FILE, &workload::repeat_line(from, to));
        self.catch_up();
    }

    /// Writes what is not written yet.
    pub(crate) fn catch_up(&mut self) {
        if self.process == std::process::id() && !self.recorder.dispatches().is_empty() {
            let added = self.add();
            self.settle(added);
        }
    }

    /// Appends the dispatches to the files.
    fn add(&mut self) -> std::io::Result<()> {
        let columns = self.recorder.columns();
        self.lines.values_mut().for_each(String::clear);
        self.recorder.take_lines(&mut self.lines);
        self.write_code()?;
        if self.columns.as_ref().is_none_or(|old| !Arc::ptr_eq(old, &columns)) {
            // Files that are replaced are other files.
            self.open.clear();
            for (name, header) in columns.headers() {
                let old = self.columns.as_ref().and_then(|it| it.headers().get(name));
                files::widen(&self.folder, name, old.map(String::as_str), header)?;
            }
            self.columns = Some(columns);
        }
        for (name, lines) in self.lines.iter().filter(|it| !it.1.is_empty()) {
            if !self.open.contains_key(name) {
                let file = OpenOptions::new().append(true).open(self.folder.join(name))?;
                self.open.insert(name.clone(), file);
            }
            self.open.get_mut(name).map_or(Ok(()), |file| files::add(file, lines.as_bytes()))?;
        }
        if self.recorder.recorded() >= self.next_about { self.write_about() } else { Ok(()) }
    }

    /// Writes the files without lines that have changed.
    fn write_about(&mut self) -> std::io::Result<()> {
        // Facts about all dispatches change ever more seldom.
        self.next_about = self.recorder.recorded().saturating_mul(2);
        for (name, bytes) in self.recorder.about(&self.provenance) {
            if self.about.get(&name) != Some(&bytes) {
                files::replace(&self.folder, &name, &bytes)?;
                self.about.insert(name, bytes);
            }
        }
        Ok(())
    }

    /// Writes what is left to be written at the end.
    pub(crate) fn write(&mut self) {
        self.catch_up();
        if self.process == std::process::id() && self.recorder.recorded() > 0 {
            let written = self.write_about();
            self.settle(written);
        }
    }

    /// Code objects are named by their contents: an existing one is kept.
    fn write_code(&mut self) -> std::io::Result<()> {
        for (name, bytes) in self.recorder.code_objects() {
            if self.written_code.contains(&name) {
                continue;
            }
            if !self.folder.join(&name).exists() {
                files::replace(&self.folder, &name, bytes)?;
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
            if let Err(error) = files::replace(&self.folder, &workload::events_file(dispatch), &bytes) {
                say_once(&format!("cannot write into {}: {error}", self.folder.display()));
            }
        }
    }

    fn settle(&mut self, result: std::io::Result<()>) {
        if let Err(error) = result {
            say_once(&format!("cannot write into {}: {error}", self.folder.display()));
            // The command fails for it. Without room for an empty file too, the message has to do.
            let _ = std::fs::write(self.session.join(session::INCOMPLETE), "");
        }
    }

    /// Lists the kernels if none was selected, and reports incomplete simulation of XCDs.
    pub(crate) fn explain(&self) {
        if self.process != std::process::id() {
            return;
        }
        if self.recorder.recorded() == 0 {
            self.selection.explain(self.recorder.next());
        }
        self.recorder.notes().iter().for_each(|text| say(text));
    }
}
