//! Settings of a program run under `rockhound`: one file that the command writes and the HIP library reads.
//!
//! The folder of a session is private to one run. `session.json` holds a [`Session`]; processes of the
//! program write files beside it: one that they called the library ([`CALLED`]), the folder of their
//! recording (`*.claim`), the findings of checks (`*.checks`) and the messages of stopped kernels (`*.faults`).

use analysis::workload::kernel_pattern;
use anyhow::{Context, Result, bail};
use arch::Model;
use probe::Checks;
use record::Settings;
use regex::Regex;
use serde::{Deserialize, Serialize};
use sorting::Sort;
use std::ffi::OsString;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The variable that names the folder of the session.
pub const VARIABLE: &str = "ROCKHOUND_SESSION";

/// The variable that names the file with the launch to capture on a GPU.
pub const CAPTURE_VARIABLE: &str = "ROCKHOUND_CAPTURE";

/// The variable that is set where results are kept, for Python.
pub const WATCHED: &str = "ROCKHOUND_WATCHED";

/// File that a process leaves which called the HIP library.
pub const CALLED: &str = "called";

/// File that a process leaves in which a kernel would run for ever.
pub const HANGS: &str = "hangs";

/// File that a process leaves which could not write all of its recording.
pub const INCOMPLETE: &str = "incomplete";

/// File that a Python program leaves.
pub const PYTHON: &str = "python-began";

/// Folder of libraries that stand in for absent ones.
pub const LIBRARIES: &str = "libraries";

/// File with the session.
const FILE: &str = "session.json";

/// Most devices a program sees.
pub const MOST_DEVICES: u32 = 64;

/// The GPU of a program that was started without a session.
const DEFAULT_GPU: &str = "mi300x";

/// Settings passed to a program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Session {
    /// GPU to emulate: `mi300x`, `mi300x@1600`.
    pub gpu: String,
    /// Devices the program sees, 1 to [`MOST_DEVICES`].
    pub devices: u32,
    /// Threads that run workgroups; 0: one per core.
    pub threads: usize,
    /// Instructions of one wave after which its kernel is taken for endless.
    pub max_instructions: u64,
    /// Launches that would do what an earlier one did are counted and not run.
    pub repeats: bool,
    /// Clocks of the program move on by modelled time.
    pub virtual_time: bool,
    /// Configurations that an autotuner of Triton tries at most.
    pub autotune_limit: Option<u32>,
    /// Display of the progress of long kernels on standard error.
    pub progress: Progress,
    /// Mistakes to look for instead of recording: `races`, `uninit`.
    pub check: Vec<String>,
    /// File behind the command's standard error: device and number.
    pub stderr: Option<(u64, u64)>,
    /// Recording to make.
    pub record: Option<Record>,
    /// How it is watched for a comparison with another program.
    pub watched: Option<Watched>,
    /// Launch to capture.
    pub capture: Option<Capture>,
}

/// A launch whose code, arguments and memory are written as a launch file.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Capture {
    /// Names or regular expressions of kernels; empty: all.
    pub kernels: Vec<String>,
    /// Which of their launches, counted from 1.
    pub nth: u64,
    /// In place of it the number of the dispatch in its process, from 0.
    pub dispatch: Option<u64>,
    /// Folder to write.
    #[serde(with = "path")]
    pub folder: PathBuf,
    /// Most bytes of memory, before compression.
    pub limit: u64,
    /// GPU of the launch file; empty if a replay chooses.
    pub gpu: String,
    /// Command line of the program.
    pub program: Vec<String>,
}

/// How a program is watched whose results are compared: what it reads back from the GPU is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Watched {
    /// Byte that new memory of the GPU is filled with.
    pub fill: Option<u8>,
    /// Workgroups run from the last to the first.
    pub reversed: bool,
}

/// Bytes that a process read back from the GPU by one copy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptPiece {
    /// Type of the elements, where it is known.
    pub element: Option<String>,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// Bytes of results that a process keeps.
pub const MOST_RESULTS: u64 = 1 << 30;

/// Display of the progress of long kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// Not at all.
    #[default]
    Silent,
    /// A line that is written over again.
    Line,
    /// Lines of a log now and then.
    Log,
}

/// Scope and folder of a recording.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// Folder of the first process that records; others get a number behind its name.
    #[serde(with = "path")]
    pub output: PathBuf,
    /// Name of the workload.
    pub name: String,
    /// Command that made it, for whoever reads the recording.
    pub command: String,
    /// Names or regular expressions of kernels; empty: all.
    pub kernels: Vec<String>,
    /// First and last number of launches; empty: all.
    pub dispatches: Vec<(u64, u64)>,
    /// First and last launch of each kernel, counted from 1; empty: all.
    pub iterations: Vec<(u64, u64)>,
    /// Most dispatches.
    pub limit: Option<u64>,
    /// Dispatches that are not recorded do not run.
    pub no_results: bool,
    /// Settings of recorded dispatches.
    pub settings: Settings,
}

/// Filter of kernels: each entry is a name, or a regular expression. A name such as `f(int [4])` need not be
/// one.
#[derive(Debug, Default)]
pub struct KernelNames(Vec<(String, Option<Regex>)>);

impl KernelNames {
    /// Compiles names and expressions; without any, all kernels match.
    pub fn new(texts: &[String]) -> KernelNames {
        KernelNames(texts.iter().map(|it| (it.clone(), kernel_pattern(it).ok())).collect())
    }

    /// True if a kernel matches.
    pub fn admit(&self, name: &str) -> bool {
        let is = |(text, pattern): &(String, Option<Regex>)| {
            text == name || pattern.as_ref().is_some_and(|it| it.is_match(name))
        };
        self.0.is_empty() || self.0.iter().any(is)
    }

    /// Original texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(text, _)| text.as_str())
    }
}

impl Default for Session {
    fn default() -> Session {
        Session {
            gpu: DEFAULT_GPU.to_owned(),
            devices: 1,
            threads: 0,
            max_instructions: emu::MOST_INSTRUCTIONS,
            repeats: true,
            virtual_time: false,
            autotune_limit: None,
            progress: Progress::default(),
            check: Vec::new(),
            stderr: None,
            record: None,
            watched: None,
            capture: None,
        }
    }
}

impl Session {
    /// Writes it into its folder.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let text = serde_json::to_string_pretty(self).context("a session as JSON")?;
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Reads the one in a folder. Values that mean nothing are errors.
    pub fn read(folder: &Path) -> Result<Session> {
        let path = folder.join(FILE);
        let read = || -> Result<Session> {
            let session: Session = serde_json::from_slice(&std::fs::read(&path)?)?;
            session.model()?;
            session.checks()?;
            if !(1..=MOST_DEVICES).contains(&session.devices) {
                bail!("`devices` is {}, and can be 1 to {MOST_DEVICES}", session.devices);
            }
            Ok(session)
        };
        read().with_context(|| format!("cannot use the session in {}", path.display()))
    }

    /// The GPU.
    pub fn model(&self) -> Result<&'static Model> {
        Model::by_name(&self.gpu).with_context(|| format!("there is no GPU `{}`", self.gpu))
    }

    /// Requested checks.
    pub fn checks(&self) -> Result<Checks> {
        match Checks::parse(&self.check.join(",")) {
            Ok(checks) => Ok(checks),
            Err(name) => bail!("there is no check `{name}`"),
        }
    }

    /// Threads that run workgroups.
    pub fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }
}

/// Claims a folder for the recording of this process: the first one gets the requested folder, later ones
/// append a number to its name. The claim is a file in the session's folder that tells the command the path.
pub fn claim(session: &Path, output: &Path) -> Result<PathBuf> {
    for number in 1..1000 {
        let mut folder = output.to_owned();
        if number > 1 {
            folder.as_mut_os_string().push(format!("-{number}"));
        }
        let file = session.join(format!("{number:03}.claim"));
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&file) {
            Ok(mut file) => {
                use std::io::Write as _;
                std::fs::create_dir_all(&folder)
                    .and_then(|()| file.write_all(folder.as_os_str().as_bytes()))
                    .with_context(|| format!("cannot make {}", folder.display()))?;
                return Ok(folder);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("cannot make {}", file.display())),
        }
    }
    bail!("999 processes of the program record already")
}

/// Folders that processes record into, in the order they began.
pub fn claims(session: &Path) -> Result<Vec<PathBuf>> {
    let mut files = with_extension(session, "claim")?;
    files.in_order();
    files.iter().map(|file| Ok(PathBuf::from(OsString::from_vec(std::fs::read(file)?)))).collect()
}

/// File into which a process writes a line for each finding of checks.
pub fn findings_file(session: &Path) -> PathBuf {
    session.join(format!("{}.checks", std::process::id()))
}

/// Findings of checks in all processes.
pub fn findings(session: &Path) -> Result<usize> {
    let files = with_extension(session, "checks")?;
    files.iter().map(|file| Ok(std::fs::read_to_string(file)?.lines().count())).sum()
}

/// Findings of checks in all processes, each once.
pub fn found(session: &Path) -> Result<Vec<String>> {
    let mut files = with_extension(session, "checks")?;
    files.in_order();
    let mut all: Vec<String> = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(file)?.lines() {
            if !all.iter().any(|it| it == line) {
                all.push(line.to_owned());
            }
        }
    }
    Ok(all)
}

/// File into which a process writes what it reads back from the GPU.
pub fn results_file(session: &Path) -> PathBuf {
    // Processes in the order of their numbers.
    session.join(format!("{:010}.results", std::process::id()))
}

/// Adds a piece to a file of results: a line of JSON with its size, then its bytes.
pub fn add_result(file: &Path, piece: &KeptPiece) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
    let line = serde_json::json!({ "bytes": piece.bytes.len(), "element": piece.element });
    let mut whole = format!("{line}\n").into_bytes();
    whole.extend(&piece.bytes);
    file.write_all(&whole)
}

/// Contents that all processes read back from the GPU, in the order of processes and of time.
pub fn results(session: &Path) -> Result<Vec<KeptPiece>> {
    #[derive(Deserialize)]
    struct Line {
        bytes: usize,
        element: Option<String>,
    }
    let mut files = with_extension(session, "results")?;
    files.in_order();
    let mut all = Vec::new();
    for file in files {
        let data = std::fs::read(&file)?;
        let mut rest = &data[..];
        while let Some(end) = rest.iter().position(|it| *it == b'\n') {
            let line: Line = serde_json::from_slice(&rest[..end])
                .with_context(|| format!("`{}` has no results", file.display()))?;
            rest = &rest[end + 1..];
            // A process that was ended in the middle of a piece has part of it.
            let Some((bytes, after)) = rest.split_at_checked(line.bytes) else { break };
            all.push(KeptPiece { element: line.element, bytes: bytes.to_vec() });
            rest = after;
        }
    }
    Ok(all)
}

/// Device and number of the file behind this process's standard error.
pub fn stderr_file() -> Option<(u64, u64)> {
    let file = std::fs::File::from(std::io::stderr().as_fd().try_clone_to_owned().ok()?);
    let facts = file.metadata().ok()?;
    Some((facts.dev(), facts.ino()))
}

/// Adds the message of a stopped kernel that the command is to repeat, as a line of JSON.
pub fn add_fault(session: &Path, message: &str) -> std::io::Result<()> {
    add_line(session, "faults", &serde_json::Value::from(message).to_string())
}

/// Messages of stopped kernels of all processes that the command is to repeat, each once, with how often it came.
pub fn faults(session: &Path) -> Result<Vec<(String, usize)>> {
    let mut files = with_extension(session, "faults")?;
    files.in_order();
    let mut found: Vec<(String, usize)> = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(file)?.lines() {
            // A process that was ended in the middle of a line has half a message.
            let Ok(message) = serde_json::from_str::<String>(line) else { continue };
            match found.iter_mut().find(|(known, _)| *known == message) {
                Some((_, times)) => *times += 1,
                None => found.push((message, 1)),
            }
        }
    }
    Ok(found)
}

/// Something that a run's results or times rely on, which a machine with the GPU has otherwise.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reliance {
    /// A function of a library was answered by kernels of ours.
    StoodIn {
        /// Its name.
        function: String,
    },
    /// A function returned the status for what is not supported.
    NotSupported {
        /// Its name.
        function: String,
        /// Part of the call that is not supported.
        why: String,
    },
    /// Times that the program saw are not a GPU's.
    Times {
        /// Which, and where they come from.
        what: String,
    },
    /// A kernel has instructions whose results may have other bits than the hardware's.
    Approximated {
        /// The kernel.
        kernel: String,
        /// Mnemonic of the instructions.
        opcode: String,
        /// Their number in the code.
        instructions: u64,
    },
    /// A kernel makes accesses that the GPU drops.
    Dropped {
        /// Kernel and instruction.
        what: String,
    },
}

/// Adds what a process relies on, as a line of JSON.
pub fn add_reliance(session: &Path, reliance: &Reliance) -> std::io::Result<()> {
    add_line(session, "relied", &serde_json::to_string(reliance)?)
}

/// Everything that the processes relied on, each once, in order.
pub fn reliances(session: &Path) -> Result<Vec<Reliance>> {
    let mut found = std::collections::BTreeSet::new();
    for file in with_extension(session, "relied")? {
        // A process that was ended in the middle of a line has half of one.
        found.extend(std::fs::read_to_string(file)?.lines().filter_map(|it| serde_json::from_str(it).ok()));
    }
    Ok(found.into_iter().collect())
}

/// Appends a line to this process's file of a kind.
fn add_line(session: &Path, extension: &str, line: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let path = session.join(format!("{}.{extension}", std::process::id()));
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}

fn with_extension(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == extension) {
            files.push(path);
        }
    }
    Ok(files)
}

/// A path as text, or as bytes if it is not UTF-8.
mod path {
    use super::{OsStrExt, OsString, OsStringExt, Path, PathBuf};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match path.to_str() {
            Some(text) => Written::Text(text.to_owned()),
            None => Written::Bytes(path.as_os_str().as_bytes().to_vec()),
        };
        written.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::Text(text) => PathBuf::from(text),
            Written::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(output: PathBuf) -> Session {
        Session {
            gpu: "mi355x".into(),
            devices: 3,
            record: Some(Record {
                output,
                kernels: vec!["a\nb".into()],
                dispatches: vec![(3, u64::MAX)],
                settings: Settings { what_if: vec!["vgpr=96".into()], ..Settings::default() },
                ..Record::default()
            }),
            ..Session::default()
        }
    }

    #[test]
    fn a_session_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        for output in [PathBuf::from("/tmp/a b"), PathBuf::from(OsString::from_vec(vec![b'/', 0xff]))] {
            let session = session(output);
            session.write(folder.path()).unwrap();
            assert_eq!(Session::read(folder.path()).unwrap(), session);
        }
    }

    #[test]
    fn messages_of_stopped_kernels_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        for message in ["a\nb", "c", "a\nb"] {
            add_fault(folder.path(), message).unwrap();
        }
        std::fs::write(folder.path().join("1.faults"), "\"half").unwrap();
        let found = faults(folder.path()).unwrap();
        assert_eq!(found, [("a\nb".to_string(), 2), ("c".to_string(), 1)]);
    }

    #[test]
    fn results_are_read_as_they_were_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = results_file(folder.path());
        let pieces = [(None, &b"\n{"[..]), (Some("f32".to_owned()), &[0; 8]), (None, &[])];
        let pieces = pieces.map(|(element, bytes)| KeptPiece { element, bytes: bytes.to_vec() });
        pieces.iter().for_each(|it| add_result(&file, it).unwrap());
        assert_eq!(results(folder.path()).unwrap(), pieces);
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, &whole[..whole.len() - 30]).unwrap();
        assert_eq!(results(folder.path()).unwrap(), pieces[..1]);
        std::fs::write(&file, "nonsense\n").unwrap();
        assert!(results(folder.path()).is_err());
    }

    #[test]
    fn what_means_nothing_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for (text, expected) in [
            ("{}", ""),
            ("{\"gpu\": \"mi355x\"}", ""),
            ("{", "EOF"),
            ("{\"gpus\": 1}", "unknown field `gpus`"),
            ("{\"gpu\": \"mi999\"}", "there is no GPU `mi999`"),
            ("{\"devices\": 0}", "`devices` is 0"),
            ("{\"devices\": -1}", "invalid value"),
            ("{\"threads\": \"many\"}", "invalid type"),
            ("{\"check\": [\"all\"]}", "there is no check `all`"),
            ("{\"record\": {\"settings\": {\"detail\": 1}}}", "unknown field `detail`"),
        ] {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            let said = Session::read(folder.path()).err().map(|it| format!("{it:#}")).unwrap_or_default();
            assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{text}: {said}");
        }
    }

    #[test]
    fn each_process_claims_a_folder_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out");
        let claimed: Vec<_> = (0..3).map(|_| claim(folder.path(), &output).unwrap()).collect();
        let expected = ["out", "out-2", "out-3"].map(|name| folder.path().join(name));
        assert_eq!(claimed, expected);
        assert_eq!(claims(folder.path()).unwrap(), expected);
    }
}
