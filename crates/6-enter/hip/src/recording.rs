//! What ran, written as a workload folder.
//!
//! The one idea to keep in mind: every finished dispatch is added to the files at once, so whatever becomes of the
//! program, it stays; the files are written anew only when a dispatch brings a new column, which columns run out of.

use crate::message::{say, say_once};
use crate::selection::Selection;
use arch::Model;
use emu::{Fault, Launch, Memory, Program, Summary};
use probe::{Code, Detail, Prediction, Provenance, Recorder, Table};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The recording of this process.
#[derive(Debug)]
pub(crate) struct Recording {
    recorder: Recorder,
    provenance: Provenance,
    folder: PathBuf,
    has_clock: bool,
    /// A process that was forked off has this state too and must not write.
    process: u32,
    selection: Selection,
    tables: BTreeMap<usize, (Arc<Program>, Arc<Table>)>,
    written: usize,
    /// First line of each file that lines are added to.
    headers: BTreeMap<String, Vec<u8>>,
}

impl Recording {
    /// As the environment asks for it: `session` is the private folder of the run.
    pub(crate) fn from_environment(session: &Path, model: &'static Model) -> Option<Recording> {
        let output = PathBuf::from(std::env::var_os("ROCKHOUND_OUTPUT")?);
        let value = |name: &str| std::env::var(name).unwrap_or_default();
        let selection = Selection::from_environment();
        let mut recorder = Recorder::new(model);
        recorder.sample(selection.most_workgroups);
        recorder.predict(predictions(model));
        recorder.put_away(spill::depot());
        if value("ROCKHOUND_CLOCK_DETAIL") != "full" {
            recorder.detail(Detail::Share);
        }
        if std::env::var_os("ROCKHOUND_KEEP_EVENTS").is_some() {
            recorder.keep_events();
        }
        let counts_only = std::env::var_os("ROCKHOUND_COUNTERS_ONLY").is_some();
        if counts_only {
            recorder.count_only();
        }
        Some(Recording {
            recorder,
            provenance: Provenance {
                name: value("ROCKHOUND_NAME"),
                command: value("ROCKHOUND_COMMAND"),
                emulator: format!("rockhound {}", env!("CARGO_PKG_VERSION")),
            },
            folder: claim(session, &output)?,
            has_clock: !counts_only && selection.most_workgroups == 0,
            process: std::process::id(),
            selection,
            tables: BTreeMap::new(),
            written: 0,
            headers: BTreeMap::new(),
        })
    }

    /// Whether the next launch is to be recorded.
    pub(crate) fn wants(&mut self, kernel: &str) -> bool {
        let recorded = self.recorder.dispatches().len() as u64;
        self.process == std::process::id() && self.selection.wants(kernel, self.recorder.next(), recorded)
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
    ) -> Result<Summary, Box<Fault>> {
        // The program is kept with its table, so that its address stays its own.
        let key = Arc::as_ptr(program).addr();
        let entry = self.tables.entry(key);
        let (_, table) =
            entry.or_insert_with(|| (program.clone(), Arc::new(Table::new(program).with_code(code.clone()))));
        let table = table.clone();
        let summary = self.recorder.run(kernel, program, &table, memory, launch)?;
        self.recorder.misfits().iter().for_each(|text| say_once(text));
        if !self.add() {
            self.write();
        }
        self.write_events();
        Ok(summary)
    }

    /// Whether dispatches get a modelled time.
    pub(crate) fn has_clock(&self) -> bool {
        self.has_clock
    }

    /// Nanoseconds of the dispatch that was recorded last, if they are known.
    pub(crate) fn last_time(&self) -> Option<f64> {
        Some(self.recorder.dispatches().last()?.time.as_ref()?.nanoseconds)
    }

    /// Adds the dispatches that are not written to the files; whether that was possible.
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
        let lines = files.iter().filter_map(|(name, bytes)| Some((name, &bytes[header(bytes)?.len()..])));
        let added = self.write_code().and_then(|()| {
            lines.into_iter().try_for_each(|(name, lines)| {
                std::fs::OpenOptions::new().append(true).open(self.folder.join(name))?.write_all(lines)
            })
        });
        self.settle(added);
        true
    }

    /// Writes the folder, unless it is written already.
    pub(crate) fn write(&mut self) {
        if self.process != std::process::id() || self.recorder.dispatches().len() == self.written {
            return;
        }
        let files = self.recorder.files(&self.provenance);
        let written = self
            .write_code()
            .and_then(|()| files.iter().try_for_each(|(name, bytes)| replace(&self.folder, name, bytes)));
        let headers = files.iter().filter_map(|(name, bytes)| Some((name.clone(), header(bytes)?.to_vec())));
        self.headers = headers.collect();
        self.settle(written);
    }

    /// Code objects are named by what is in them: one that is there stays.
    fn write_code(&self) -> std::io::Result<()> {
        let mut code = self.recorder.code_objects().filter(|(name, _)| !self.folder.join(name).exists());
        code.try_for_each(|(name, bytes)| replace(&self.folder, &name, bytes))
    }

    /// What the waves of each dispatch did is a file of its own.
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
            Err(error) => say_once(&format!("cannot write into {}: {error}", self.folder.display())),
        }
    }

    /// Says which kernels there were when none of them was selected, and what was not followed on all XCDs.
    fn explain(&self) {
        if self.process != std::process::id() {
            return;
        }
        if self.recorder.dispatches().is_empty() {
            self.selection.explain(self.recorder.next());
        }
        self.recorder.notes().iter().for_each(|text| say(text));
    }
}

/// What is to be predicted of each dispatch. `rockhound` has looked at what the user wrote.
fn predictions(model: &'static Model) -> Vec<Prediction> {
    let lifts = std::env::var_os("ROCKHOUND_BREAKDOWN").is_some();
    let mut all = if lifts { Prediction::lifts() } else { Vec::new() };
    let changes = std::env::var("ROCKHOUND_WHAT_IF").unwrap_or_default();
    all.extend(changes.lines().filter_map(|text| Prediction::parse(text, model).ok()));
    all
}

/// The first line of a file with a line for each dispatch.
fn header(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    bytes.starts_with(b"Dispatch_ID").then_some(&bytes[..=end])
}

/// Each process that records gets a folder of its own: the first the one asked for, later ones with a number. The claim
/// is a file in the private folder, whose contents tell `rockhound` the place.
fn claim(session: &Path, output: &Path) -> Option<PathBuf> {
    for number in 1..1000 {
        let folder = match number {
            1 => output.to_owned(),
            _ => {
                let mut name = output.as_os_str().to_owned();
                name.push(format!("-{number}"));
                PathBuf::from(name)
            }
        };
        let file = session.join(format!("{number:03}.claim"));
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&file) {
            Ok(mut file) => {
                use std::io::Write as _;
                use std::os::unix::ffi::OsStrExt as _;
                let made = std::fs::create_dir_all(&folder)
                    .and_then(|()| file.write_all(folder.as_os_str().as_bytes()));
                if let Err(error) = made {
                    say(&format!("cannot make {}: {error}; nothing is recorded", folder.display()));
                    return None;
                }
                return Some(folder);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                say(&format!("cannot make {}: {error}; nothing is recorded", file.display()));
                return None;
            }
        }
    }
    None
}

/// Puts a file in place of an older one in one step.
fn replace(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let next = folder.join(format!(".{name}.new"));
    std::fs::write(&next, bytes)?;
    std::fs::rename(next, folder.join(name))
}

/// Writes what is not written yet, when the program ends.
pub(crate) extern "C" fn at_exit() {
    // A thread that ends the program in the middle of a call holds the lock: then the last write has to do.
    if let Some(mut runtime) = crate::runtime::try_lock()
        && let Some(recording) = &mut runtime.recording
    {
        recording.write();
        recording.explain();
    }
}
