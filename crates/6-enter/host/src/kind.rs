//! Kinds of files: what a file or folder is, and the command that reads it.
//!
//! A command that refuses an input names the command that takes it. The readers themselves are asked, so this
//! list and the readers agree; data of other programs are told by their first bytes, `foreign.tsv`.

use crate::code_kind::{self, ASSEMBLY, CODE, SOURCE, head};
use crate::{Contents, Source, comm, hip_source, launch_file::LaunchFile, logs, machine, recording, traces};
use std::path::Path;
use view::{FileError, shell_word};

/// Bytes of a file that is read whole to find its kind.
const MOST_READ: u64 = 1 << 28;

/// First bytes of a database.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// Bytes from which on JSON is a trace, or a recording, or nothing that is read.
const LARGE_JSON: u64 = 8 << 20;

/// What an input is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kind {
    /// Words for it: `a timeline`, `an image`.
    pub what: String,
    /// The command that reads it, as typed before the path; empty if none does.
    pub command: &'static str,
    /// Remedy where no command reads it; may be empty.
    pub remedy: &'static str,
}

impl Kind {
    fn read_by(what: impl Into<String>, command: &'static str) -> Option<Kind> {
        Some(Kind { what: what.into(), command, remedy: "" })
    }

    /// True if this command reads it: `trace`. Some read what others are named for.
    fn is_read_by(&self, command: &str) -> bool {
        let reader = self.command.split(' ').nth(1);
        let reads_too = |(other, what): &(&str, &str)| *other == command && *what == self.what;
        reader == Some(command) || READ_TOO.iter().any(reads_too)
    }

    /// What it is and what to type.
    fn sentence(&self, path: &Path) -> String {
        let typed = shell_word(&path.to_string_lossy()).into_owned();
        match (self.command, self.remedy) {
            ("", "") => format!("`{typed}` is {}, which no command reads", self.what),
            ("", remedy) => format!("`{typed}` is {}; {remedy}", self.what),
            (command, _) => format!("`{typed}` is {}; `{command} {typed}` reads it", self.what),
        }
    }
}

/// Asks every reader, the most particular first.
pub fn of(path: &Path) -> Option<Kind> {
    let is_folder = path.is_dir();
    if !is_folder && std::fs::metadata(path).map_or(true, |it| it.len() == 0 || it.len() > MOST_READ) {
        return None;
    }
    if is_folder {
        return READERS_OF_FOLDERS.iter().find_map(|reader| reader(path));
    }
    let head = head(path)?;
    let size = std::fs::metadata(path).map_or(0, |it| it.len());
    let is_json = head.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|it| b"{[".contains(it));
    // Readers of small documents take large JSON whole into memory.
    let readers = if is_json && size > LARGE_JSON { &READERS_OF_LARGE_JSON[..] } else { &READERS[..] };
    // A log is first what its readers say, whatever it quotes.
    let is_text = [".txt", ".log", ".out"].iter().any(|ending| path.to_string_lossy().ends_with(ending));
    let of_other = |asked: bool| asked.then(|| of_other_tool(path, &head)).flatten();
    code(&head)
        .or_else(|| of_other(!is_text))
        .or_else(|| foreign(&head))
        .or_else(|| readers.iter().find_map(|reader| reader(path)))
        .or_else(|| of_other(is_text))
}

/// Sentence for the input of a command that could not read it; `None` if its kind is not known or the command
/// should have read it.
pub fn hint(path: &Path, command: &str) -> Option<String> {
    let kind = of(path)?;
    let launched = (command == "profile").then(|| launched(path)).flatten();
    (!kind.is_read_by(command)).then(|| launched.unwrap_or_else(|| kind.sentence(path)))
}

/// How to profile kernels of a file of code.
fn launched(path: &Path) -> Option<String> {
    code_kind::of(path)?;
    let typed = shell_word(&path.to_string_lossy()).into_owned();
    Some(if code_kind::is_program(path) {
        let here = if typed.contains('/') { "" } else { "./" };
        format!("`rockhound profile -- {here}{typed}` runs it as a program")
    } else {
        format!(
            "`rockhound launch-template {typed} > LAUNCH.toml` writes a launch file for one of its kernels"
        )
    })
}

/// Names in an error the command that reads the file.
pub fn name_nearest(error: &mut FileError, command: &str) {
    let hint = hint(Path::new(&error.file), command);
    // An error may give the same advice.
    let is_new =
        |hint: &String| hint.split_once("; ").is_none_or(|(_, advice)| !error.error.contains(advice));
    if let Some(hint) = hint.filter(is_new) {
        error.hint = Some(hint);
    }
}

const LAUNCH_FILE: &str = "a launch file";
const CAPTURE: &str = "a capture";
/// Commands, and kinds that these read besides what they are named for.
const READ_TOO: [(&str, &str); 8] = [
    ("judge", CODE),
    ("judge", SOURCE),
    ("launch-template", SOURCE),
    ("judge", LAUNCH_FILE),
    ("judge", CAPTURE),
    ("launch-template", CODE),
    ("diff", CODE),
    ("diff", ASSEMBLY),
];

type Reader = fn(&Path) -> Option<Kind>;
const READERS: [Reader; 10] =
    [source, report, counters, timeline, tunings, communication, launch, a_machine, log, remarks];
const READERS_OF_LARGE_JSON: [Reader; 2] = [timeline, counters];
const READERS_OF_FOLDERS: [Reader; 6] =
    [capture, counters, timeline, communication, a_machine, folder_of_code];

fn source(path: &Path) -> Option<Kind> {
    hip_source::is_source(path).then(|| Kind::read_by(SOURCE, "rockhound inspect")).flatten()
}

fn code(head: &[u8]) -> Option<Kind> {
    Kind::read_by(code_kind::of_head(head)?, "rockhound inspect")
}

/// A file of a tool that no command reads, told as `trace` tells it.
fn of_other_tool(path: &Path, head: &[u8]) -> Option<Kind> {
    let name = path.to_string_lossy();
    let in_database = || match ::trace::read(&name, &mut std::fs::File::open(path).ok()?) {
        Err(::trace::Error::Foreign(it)) => Some(it),
        _ => None,
    };
    let known = ::trace::foreign(&name, head);
    let ::trace::Foreign { what, instead } = if head.starts_with(SQLITE) { in_database() } else { known }?;
    Some(Kind { what: what.to_owned(), command: "", remedy: instead })
}

/// A line of `foreign.tsv`.
fn foreign(head: &[u8]) -> Option<Kind> {
    include_str!("../data/foreign.tsv").lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut cells = line.split('\t');
        let magic = bytes(cells.next()?);
        let kind = Kind { what: cells.next()?.to_owned(), command: "", remedy: cells.next().unwrap_or("") };
        head.starts_with(&magic).then_some(kind)
    })
}

/// Bytes of a cell: two hexadecimal digits each, or text in quotes.
fn bytes(cell: &str) -> Vec<u8> {
    if let Some(text) = cell.strip_prefix('"') {
        return text.trim_end_matches('"').as_bytes().to_vec();
    }
    cell.split(' ').filter_map(|it| u8::from_str_radix(it, 16).ok()).collect()
}

/// A text with several documents in it, whatever each of them is.
fn report(path: &Path) -> Option<Kind> {
    let is_report = matches!(machine::read_input(path), Ok(machine::Input::Report(_)));
    is_report.then(|| log(path)).flatten()
}

fn counters(path: &Path) -> Option<Kind> {
    let read = recording::read(&Source::from(path.to_owned())).ok()?;
    let says = !read.counters.is_empty()
        || !read.printed.is_empty()
        || read.samples.is_some()
        || read.traces.is_some();
    // A table of times is a timeline too.
    says.then(|| Kind::read_by("a recording of counters", "rockhound analyze -p")).flatten()
}

fn timeline(path: &Path) -> Option<Kind> {
    let (read, _) = traces::every(path, false).ok()?;
    let spans = read.iter().any(|it| {
        !it.timeline.gpu.is_empty() || !it.timeline.host.is_empty() || !it.timeline.calls.is_empty()
    });
    spans.then(|| Kind::read_by("a timeline", "rockhound trace")).flatten()
}

fn tunings(path: &Path) -> Option<Kind> {
    let contents = Contents::open(path).ok()?;
    let read = tunedb::read(&path.to_string_lossy(), contents.bytes()).ok()?;
    // A log that misses entries is a log first.
    let is_log = read.format == tunedb::Format::ServerLog;
    (!is_log)
        .then(|| {
            Kind::read_by(format!("a file of tunings ({})", read.format.name()), "rockhound tunedb show")
        })
        .flatten()
}

fn communication(path: &Path) -> Option<Kind> {
    comm::read(path, |_| Err(::trace::Error::Empty)).ok()?;
    Kind::read_by("a measurement or log of communication", "rockhound comm")
}

fn launch(path: &Path) -> Option<Kind> {
    LaunchFile::read(path).ok()?;
    Kind::read_by(LAUNCH_FILE, "rockhound profile")
}

fn capture(path: &Path) -> Option<Kind> {
    path.join(crate::capture::NAME).is_file().then(|| Kind::read_by(CAPTURE, "rockhound profile"))?
}

fn a_machine(path: &Path) -> Option<Kind> {
    match machine::read_input(path).ok()? {
        machine::Input::Machine(..) => Kind::read_by("files of a machine", "rockhound doctor"),
        machine::Input::Document(it) => Kind::read_by(format!("output of {}", it.kind), "rockhound doctor"),
        machine::Input::Report(_) => Kind::read_by("a report", "rockhound triage"),
        machine::Input::Jobs(jobs) => {
            Kind::read_by(jobs.first().map_or("a file of jobs", |it| it.kind), "rockhound doctor")
        }
    }
}

fn log(path: &Path) -> Option<Kind> {
    match logs::read(path).ok()? {
        logs::Content::Code => None,
        logs::Content::Log(_) => Kind::read_by("a log", "rockhound triage"),
        logs::Content::Report(..) => Kind::read_by("a report", "rockhound triage"),
    }
}

/// The log of a build without messages: only what the compiler prints of kernels' resources.
fn remarks(path: &Path) -> Option<Kind> {
    let contents = Contents::open(path).ok()?;
    let mut log = ::logs::BuildLog::default();
    log.feed(contents.bytes());
    let (_, counts) = log.finish();
    (counts.used > 0)
        .then(|| Kind::read_by("a compiler's remarks on resources", "rockhound inspect"))
        .flatten()
}

/// A folder with code in one of its first files.
fn folder_of_code(path: &Path) -> Option<Kind> {
    const LOOKED_AT: usize = 200;
    let files = std::fs::read_dir(path).ok()?.flatten().map(|it| it.path()).filter(|it| it.is_file());
    files
        .take(LOOKED_AT)
        .find_map(|file| code(&head(&file)?))
        .map(|it| Kind { what: "a folder with code".to_owned(), ..it })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_prints_errors_is_no_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("main.hip");
        std::fs::write(&path, "// HIP error: invalid device function\nint main() { return hipFree(0); }\n")
            .unwrap();
        assert_eq!(of(&path).unwrap().command, "rockhound inspect");
        let remarks = folder.path().join("build.log");
        std::fs::write(
            &remarks,
            "a.hip:3:1: remark: Function Name: scale [-Rpass-analysis=kernel-resource-usage]\n\
            a.hip:3:1: remark:     VGPRs: 63 [-Rpass-analysis=kernel-resource-usage]\n",
        )
        .unwrap();
        assert_eq!(of(&remarks).unwrap().command, "rockhound inspect");
        let hints =
            ["inspect", "judge", "launch-template", "triage"].map(|command| hint(&path, command).is_some());
        assert_eq!(hints, [false, false, false, true]);
        let program = folder.path().join("app");
        std::fs::write(&program, [b"\x7fELF".as_slice(), &[0; 60]].concat()).unwrap();
        for (path, text) in [(path, "rockhound launch-template "), (program, "rockhound profile -- ")] {
            assert!(hint(&path, "profile").unwrap().starts_with(&format!("`{text}")));
        }
    }
}
