//! Files that are not part of a recording, beside one or in its place: their kind, and the command that reads
//! them.
//!
//! Skipped files are reported, with the kind found from their content. Columns are data, `strangers.tsv`; files that no command reads are
//! told as `trace` tells them.

use crate::Contents;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use view::NoteKind;
use view::{counted, shell_word};
use workload::Problem;

/// Most files examined; the others are only counted.
const LOOKED_INTO: usize = 200;
/// Bytes in which a header line ends.
const HEAD: usize = 1 << 20;
/// Columns of an unknown table that are named.
const COLUMNS: usize = 4;
/// Files of one kind that are named.
const NAMED: usize = 3;

/// Kind of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stranger {
    /// Known by its content: words, and the command that reads it, before its path; empty if no command does.
    Known(&'static str, &'static str),
    /// Of a tool whose files no command reads: words, and what to give in its place.
    Foreign(&'static str, &'static str),
    /// An unknown table, with some of its columns.
    Table(Vec<String>),
}

impl Stranger {
    fn words(&self) -> String {
        match self {
            Stranger::Known(what, _) | Stranger::Foreign(what, _) => (*what).to_owned(),
            Stranger::Table(columns) if columns.is_empty() => "an empty table".to_owned(),
            Stranger::Table(columns) => {
                let more = if columns.len() > COLUMNS { ", …" } else { "" };
                let some = columns[..columns.len().min(COLUMNS)].join("`, `");
                format!("a table of no profiler that is known (`{some}`{more})")
            }
        }
    }

    /// Command that reads it.
    fn command(&self) -> &'static str {
        match self {
            Stranger::Known(_, command) => command,
            Stranger::Foreign(..) | Stranger::Table(_) => "",
        }
    }
}

/// A line of the table.
struct Known {
    columns: Vec<&'static str>,
    what: &'static str,
    command: &'static str,
    /// It holds times of kernels.
    times: bool,
}

fn known() -> impl Iterator<Item = Known> {
    let lines = include_str!("../data/strangers.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut cells = line.split('\t');
        let columns = cells.next()?.split(' ').collect();
        Some(Known { columns, what: cells.next()?, command: cells.next()?, times: cells.next()? == "times" })
    })
}

/// The line of the table that fits a header.
fn kind(columns: &[String]) -> Option<Known> {
    let has = |wanted: &&str| columns.iter().any(|it| it == wanted);
    known().find(|it| it.columns.iter().all(has))
}

/// True if a file is a table of kernel times and nothing else.
pub(crate) fn holds_times(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let is_table = name.strip_suffix(".gz").unwrap_or(&name).ends_with(".csv");
    is_table
        && Contents::open(path).is_ok_and(|contents| {
            let head = head(contents.bytes());
            !workload::has_counters(&head)
                && kind(&columns(&String::from_utf8_lossy(&head))).is_some_and(|it| it.times)
        })
}

/// Columns of a header line, in lower case and without spaces.
fn columns(head: &str) -> Vec<String> {
    let line = head.trim_start_matches('\u{feff}').lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    let separator = [',', ';', '\t'].into_iter().max_by_key(|it| (line.matches(*it).count(), *it == ','));
    let plain =
        |cell: &str| cell.trim().trim_matches('"').trim().to_ascii_lowercase().replace([' ', '-'], "_");
    line.split(separator.unwrap_or(',')).map(plain).collect()
}

/// Kind of a table, from its first bytes.
fn table(head: &str) -> Stranger {
    let columns = columns(head);
    if let Some(Known { what, command, .. }) = kind(&columns) {
        return Stranger::Known(what, command);
    }
    Stranger::Table(columns.into_iter().filter(|it| !it.is_empty()).collect())
}

/// Kind of a file; `None` if nobody would mistake it for a part of a recording.
fn of(name: &str, contents: &[u8]) -> Option<Stranger> {
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let head = &*head(contents);
    let of = |what, command| Some(Stranger::Known(what, command));
    if plain.ends_with(".csv") || plain.ends_with(".tsv") {
        // Its reader says why it is not read, or which file has the same counters.
        if workload::has_counters(head) {
            return None;
        }
        let foreign = trace::foreign(name, head).map(|it| Stranger::Foreign(it.what, it.instead));
        return foreign.or_else(|| Some(table(&String::from_utf8_lossy(head))));
    }
    let is_timeline = [".json", ".db", ".rocpd", ".pftrace", ".proto"].iter().any(|end| plain.ends_with(end));
    if is_timeline && trace::may_be_trace(&mut &*head) {
        return match plain.ends_with(".db") || plain.ends_with(".rocpd") {
            true => of("a database", "rockhound analyze -p"),
            // Settings and results of anything are JSON too.
            false if plain.ends_with(".json") && !has_events(head) => None,
            false => of("a timeline", "rockhound trace"),
        };
    }
    None
}

/// True if JSON begins as a list of events.
fn has_events(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    ["\"traceEvents\"", "\"ph\"", "\"rocprofiler-sdk-tool\""].iter().any(|it| text.contains(it))
}

/// The begin of a file, unpacked.
fn head(contents: &[u8]) -> Cow<'_, [u8]> {
    if !contents.starts_with(&[0x1f, 0x8b]) {
        return Cow::Borrowed(&contents[..contents.len().min(HEAD)]);
    }
    let mut bytes = Vec::new();
    // A truncated file is read up to its end.
    let _ = flate2::read::MultiGzDecoder::new(contents).take(HEAD as u64).read_to_end(&mut bytes);
    Cow::Owned(bytes)
}

/// Kind of a file and the command to type, if it contains no recording.
pub(crate) fn instead(path: &Path) -> Option<String> {
    let contents = Contents::open(path).ok()?;
    let name = path.file_name()?.to_string_lossy();
    let it = of(&name, contents.bytes())?;
    let hint = match (&it, it.command()) {
        (Stranger::Foreign(_, instead), _) => (*instead).to_owned(),
        (_, "" | "rockhound analyze -p") => {
            "expected a table with a row for each dispatch, or for each dispatch and counter".to_owned()
        }
        (_, command) => format!("`{command} {}` reads it", shell_word(&path.to_string_lossy())),
    };
    Some(format!("{}, and no recording of counters\nhint: {hint}", it.words()))
}

/// Notes on unread files, with the consequences; `files` gives their names in the folder and their paths.
pub(crate) fn notes<'a>(files: impl Iterator<Item = (&'a str, &'a Path)>, consequence: &str) -> Vec<Problem> {
    let mut kinds: BTreeMap<Stranger, Vec<(&str, &Path)>> = BTreeMap::new();
    for (name, path) in files.take(LOOKED_INTO) {
        let Ok(contents) = Contents::open(path) else { continue };
        if let Some(it) = of(name, contents.bytes()) {
            kinds.entry(it).or_default().push((name, path));
        }
    }
    let (tables, known): (Vec<_>, Vec<_>) =
        kinds.into_iter().partition(|it| matches!(it.0, Stranger::Table(_)));
    let mut notes: Vec<Problem> =
        known.iter().map(|(it, files)| note(it.words(), files, it.command(), consequence)).collect();
    match &tables[..] {
        [] => {}
        [(it, files)] => notes.push(note(it.words(), files, "", consequence)),
        several => {
            // Unknown files are not distinguished.
            let files: Vec<_> = several.iter().flat_map(|it| it.1.iter().copied()).collect();
            notes.push(note("tables of no profiler that is known".to_owned(), &files, "", consequence));
        }
    }
    notes
}

/// A note on files of one kind.
fn note(what: String, files: &[(&str, &Path)], command: &str, consequence: &str) -> Problem {
    let named: Vec<&str> = files.iter().take(NAMED).map(|file| file.0).collect();
    let more = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {}", counted(more, "more file")),
    };
    let typed = match (command, files.first()) {
        ("", _) | (_, None) => String::new(),
        (command, Some((_, path))) => {
            format!("; `{command} {}` reads it", shell_word(&path.to_string_lossy()))
        }
    };
    Problem {
        kind: NoteKind::Info,
        file: format!("{}{more}", named.join(", ")),
        line: None,
        column: None,
        rows: 0,
        message: what,
        consequence: format!("{consequence}{typed}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_what_they_hold() {
        for (name, head, what, command) in [
            (
                "results.stats.csv",
                "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n",
                "sums of times by name, as `--stats` writes them",
                "rockhound trace",
            ),
            (
                "a_hip_api_trace.csv",
                "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"",
                "calls of a runtime with their times",
                "rockhound trace",
            ),
            (
                "tunableop_results0.csv",
                "Validator,PT_VERSION,2.3.0\nGemmTunableOp_float_NT,nt_1_2_3,Default,0.1\n",
                "tunings of TunableOp",
                "rockhound tunedb lint",
            ),
            (
                "ncu.csv",
                "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n",
                "counters of Nsight Compute, of NVIDIA GPUs",
                "",
            ),
            (
                "power.csv",
                "\u{feff}time;power w;Temp;a;b\r\n1;2;3;4;5\r\n",
                "a table of no profiler that is known (`time`, `power_w`, `temp`, `a`, …)",
                "",
            ),
            ("x.csv", "\n\n", "an empty table", ""),
            ("t.json", "{\"traceEvents\": [{\"ph\": \"X\"}]}", "a timeline", "rockhound trace"),
        ] {
            let found = of(name, head.as_bytes()).map(|it| (it.words(), it.command()));
            assert_eq!(found, Some((what.to_owned(), command)), "{name}");
        }
        for (name, head) in
            [("log.txt", "time,power\n"), ("settings.json", "{\"a\": 1}"), ("app", "\u{7f}ELF")]
        {
            assert_eq!(of(name, head.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn every_line_of_the_table_is_whole() {
        let lines =
            include_str!("../data/strangers.tsv").lines().filter(|line| !line.starts_with('#')).count();
        assert!(lines == known().count() && lines > 10);
        for Known { columns, what, command, .. } in known() {
            assert!(!columns.is_empty() && !what.is_empty(), "{columns:?}");
            assert!(command.is_empty() || command.starts_with("rockhound "), "{command}");
        }
    }
}
