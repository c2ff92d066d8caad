//! What ran, written as a workload folder.
//!
//! The one idea to keep in mind: the folder is complete after every write, so whatever becomes of the program, what was
//! written stays; writing never takes more than a small share of the time.

use crate::message::{say, say_once};
use arch::Model;
use emu::{Fault, Launch, Memory, Program, Summary};
use probe::{Code, Provenance, Recorder, Table};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Dispatches after each of which the folder is written.
const ALWAYS: usize = 32;
/// Later, this much time passes between two writes for each unit of time a write takes.
const REST: u32 = 20;

/// The recording of this process.
#[derive(Debug)]
pub(crate) struct Recording {
    recorder: Recorder,
    provenance: Provenance,
    folder: PathBuf,
    /// A process that was forked off has this state too and must not write.
    process: u32,
    /// Parts of names; none stands for all kernels.
    kernels: Vec<String>,
    limit: u64,
    tables: BTreeMap<usize, (Arc<Program>, Arc<Table>)>,
    written: usize,
    last: Option<(Instant, Duration)>,
}

impl Recording {
    /// As the environment asks for it: `session` is the private folder of the run.
    pub(crate) fn from_environment(session: &Path, model: &'static Model) -> Option<Recording> {
        let output = PathBuf::from(std::env::var_os("ROCKHOUND_OUTPUT")?);
        let value = |name: &str| std::env::var(name).unwrap_or_default();
        Some(Recording {
            recorder: Recorder::new(model),
            provenance: Provenance {
                name: value("ROCKHOUND_NAME"),
                command: value("ROCKHOUND_COMMAND"),
                emulator: format!("rockhound {}", env!("CARGO_PKG_VERSION")),
            },
            folder: claim(session, &output)?,
            process: std::process::id(),
            kernels: value("ROCKHOUND_KERNELS")
                .lines()
                .map(str::to_owned)
                .filter(|it| !it.is_empty())
                .collect(),
            limit: value("ROCKHOUND_DISPATCH_LIMIT").parse().unwrap_or(u64::MAX),
            tables: BTreeMap::new(),
            written: 0,
            last: None,
        })
    }

    /// Whether a dispatch is to be recorded.
    pub(crate) fn wants(&self, kernel: &str) -> bool {
        self.process == std::process::id()
            && (self.recorder.dispatches().len() as u64) < self.limit
            && (self.kernels.is_empty() || self.kernels.iter().any(|part| kernel.contains(part.as_str())))
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
        let due = self.last.is_none_or(|(when, cost)| when.elapsed() >= cost * REST);
        if due || self.recorder.dispatches().len() <= ALWAYS {
            self.write();
        }
        Ok(summary)
    }

    /// Writes the folder, unless it is written already.
    pub(crate) fn write(&mut self) {
        let count = self.recorder.dispatches().len();
        if self.process != std::process::id() || count == self.written {
            return;
        }
        let start = Instant::now();
        let files = self.recorder.files(&self.provenance);
        let files = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice()));
        // Code objects are named by what is in them: one that is there stays.
        let code = self.recorder.code_objects().filter(|(name, _)| !self.folder.join(name).exists());
        for (name, bytes) in code.chain(files) {
            if let Err(error) = replace(&self.folder, &name, bytes) {
                say_once(&format!("cannot write {}: {error}", self.folder.join(&name).display()));
                return;
            }
        }
        self.written = count;
        self.last = Some((Instant::now(), start.elapsed()));
    }
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
    }
}
