//! The kernel's log: page faults of GPUs, and other events that end or slow GPU work.
//!
//! Events are rows of `data/kernel-events.tsv`; what repeats is counted once per device, and lines of level
//! `err` that no row knows are counted by their first word.
//!
//! Source: the amdgpu driver (`gmc_v9_0.c`, `amdgpu_ras.c`), amd/node-scraper's list of what to look for.

use super::{address, count};
use std::sync::LazyLock;

/// Lines that may follow the head of a page fault.
const BLOCK: usize = 14;
/// Kinds of unknown lines that are counted.
const MOST_UNKNOWN: usize = 200;

/// A page fault that the driver reports.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PageFault {
    /// Line of the head, 1-based.
    pub line: u32,
    /// Seconds or date, as written.
    pub time: String,
    /// GPU.
    pub bdf: String,
    /// `gfxhub0`, `mmhub0`.
    pub hub: String,
    /// Whether the hardware retries: `retry` and `no-retry`; `None` for older drivers, which do not report
    /// it.
    pub retry: Option<bool>,
    /// Process.
    pub process: Option<String>,
    /// Its number.
    pub pid: Option<u64>,
    /// Start of the page.
    pub address: Option<u64>,
    /// Unit that asked: `TCP`, ...
    pub client: Option<String>,
    /// `VM_L2_PROTECTION_FAULT_STATUS`.
    pub status: Option<u64>,
    /// Rights that were missing.
    pub permission_faults: Option<u64>,
    /// The page table could not be walked.
    pub walker_error: Option<u64>,
    /// No mapping.
    pub mapping_error: Option<u64>,
    /// 1 for a store.
    pub rw: Option<u64>,
    /// More faults followed that are not in the log.
    pub more_faults: Option<u64>,
    /// The block is truncated before its fields.
    pub cut: bool,
}

/// An event of the log, with its repeats.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelEvent {
    /// Name of the row, or the first word of lines no row knows.
    pub id: String,
    /// `fail`, `warn`, `info`; `unknown` for lines no row knows.
    pub severity: &'static str,
    /// GPU or other device.
    pub device: Option<String>,
    /// Meaning; empty if no row matches.
    pub meaning: &'static str,
    /// Next step; empty if no row matches.
    pub next: &'static str,
    /// First line, 1-based.
    pub line: u32,
    /// Its text.
    pub text: String,
    /// Number of occurrences.
    pub times: u32,
}

struct Row {
    id: &'static str,
    severity: &'static str,
    words: Vec<&'static str>,
    meaning: &'static str,
    next: &'static str,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let lines = include_str!("../../data/kernel-events.tsv").lines();
    lines
        .filter(|line| !line.starts_with('#') && !line.starts_with("id\t"))
        .filter_map(|line| {
            let fields: Vec<&'static str> = line.split('\t').collect();
            let [id, severity, words, meaning, next] = fields[..] else { return None };
            Some(Row { id, severity, words: words.split('&').collect(), meaning, next })
        })
        .collect()
});

/// A line of the log without its prefix.
struct Line<'a> {
    time: &'a str,
    level: Option<&'a str>,
    text: &'a str,
}

/// Takes `[ 1201.334]` or `kern  :err   : 2026-01-07T10:00:00,1-06:00 ` from the front; a line without is none of the kernel's.
fn line(line: &str) -> Option<Line<'_>> {
    let start = line.trim_start();
    if let Some((time, text)) = start.strip_prefix('[').and_then(|it| it.split_once("] ")) {
        let seconds = time.trim();
        return seconds.parse::<f64>().is_ok().then_some(Line { time: seconds, level: None, text });
    }
    let (facility, rest) = start.split_once(':')?;
    let (level, rest) = rest.split_once(':')?;
    let is_level =
        ["emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"].contains(&level.trim());
    if !is_level || !["kern", "user", "daemon"].contains(&facility.trim()) {
        return None;
    }
    let (time, text) = rest.trim_start().split_once(' ')?;
    Some(Line { time, level: Some(level.trim()), text })
}

/// Page faults and other events of a text.
pub(super) fn read(lines: &[&str]) -> (Vec<PageFault>, Vec<KernelEvent>) {
    let mut faults = Vec::new();
    let mut events: Vec<KernelEvent> = Vec::new();
    let mut skip = 0;
    for at in 0..lines.len() {
        if at < skip {
            continue;
        }
        let Some(it) = line(lines[at]) else { continue };
        if it.text.contains("page fault (") && it.text.contains("amdgpu") {
            let (fault, used) = page_fault(lines, at, &it);
            faults.push(fault);
            skip = at + used;
            continue;
        }
        event(&mut events, &it, count(at + 1));
    }
    (faults, events)
}

fn event(events: &mut Vec<KernelEvent>, line: &Line<'_>, number: u32) {
    let row = ROWS.iter().find(|row| row.words.iter().all(|word| line.text.contains(word)));
    let device = device(line.text);
    let (id, severity, meaning, next) = match row {
        // The parts of a block say nothing without its head.
        Some(row) if row.severity == "info" => return,
        Some(row) => (row.id.to_owned(), row.severity, row.meaning, row.next),
        None if line.level == Some("err") || line.level == Some("crit") => {
            let word = line.text.split([':', ' ']).next().unwrap_or_default();
            (word.to_owned(), "unknown", "", "")
        }
        None => return,
    };
    let kinds = events.len();
    match events.iter_mut().find(|it| it.id == id && it.device == device && it.severity == severity) {
        Some(event) => event.times += 1,
        None if severity == "unknown" && kinds > MOST_UNKNOWN => {}
        None => events.push(KernelEvent {
            id,
            severity,
            device,
            meaning,
            next,
            line: number,
            text: line.text.trim().to_owned(),
            times: 1,
        }),
    }
}

/// The first PCI address of a line.
fn device(text: &str) -> Option<String> {
    text.split([' ', '=', '[', ']']).find_map(|word| {
        let word = word.trim_end_matches([':', ',']);
        word.contains(':').then(|| crate::values::bdf(word)).flatten()
    })
}

fn page_fault(lines: &[&str], at: usize, head: &Line<'_>) -> (PageFault, usize) {
    let mut fault = PageFault {
        line: count(at + 1),
        time: head.time.to_owned(),
        bdf: device(head.text).unwrap_or_default(),
        hub: head
            .text
            .split_once('[')
            .and_then(|(_, it)| it.split_once(']'))
            .map_or_else(String::new, |(hub, _)| hub.to_owned()),
        retry: if head.text.contains("no-retry") {
            Some(false)
        } else if head.text.contains("retry") {
            Some(true)
        } else {
            None
        },
        ..PageFault::default()
    };
    process(&mut fault, head.text);
    let mut used = 1;
    for text in lines.iter().skip(at + 1).take(BLOCK) {
        let Some(it) = line(text) else { break };
        if !it.text.contains(&fault.bdf) || !it.text.contains("amdgpu") || it.text.contains("page fault (") {
            break;
        }
        used += 1;
        field(&mut fault, it.text);
        if fault.rw.is_some() {
            break;
        }
    }
    fault.cut = fault.status.is_none();
    (fault, used)
}

/// `for process python3 pid 30911 thread ...`.
fn process(fault: &mut PageFault, text: &str) {
    let Some((_, rest)) = text.split_once("for process ") else { return };
    // A process that has ended has no name any more.
    let (name, rest) = rest
        .strip_prefix("pid ")
        .map(|it| ("", it))
        .or_else(|| rest.split_once(" pid "))
        .unwrap_or((rest, ""));
    let name = name.trim();
    if !name.is_empty() && name != "pid" {
        fault.process = Some(name.to_owned());
    }
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    fault.pid = rest[..digits].parse().ok().filter(|pid| *pid != 0).or(fault.pid);
}

fn field(fault: &mut PageFault, text: &str) {
    process(fault, text);
    let hex = |name: &str| text.split_once(name).and_then(|(_, it)| address(it));
    if let Some((_, rest)) = text.split_once("starting at address ") {
        fault.address = address(rest);
    }
    if let Some((_, rest)) = text.split_once("client ID: ") {
        fault.client = Some(rest.split(" (").next().unwrap_or(rest).trim().to_owned());
    }
    fault.status = fault.status.or(hex("VM_L2_PROTECTION_FAULT_STATUS:"));
    fault.more_faults = fault.more_faults.or(hex("MORE_FAULTS: "));
    fault.walker_error = fault.walker_error.or(hex("WALKER_ERROR: "));
    fault.permission_faults = fault.permission_faults.or(hex("PERMISSION_FAULTS: "));
    fault.mapping_error = fault.mapping_error.or(hex("MAPPING_ERROR: "));
    fault.rw = fault.rw.or(hex(" RW: ")).or(hex("\tRW: ")).or(hex("\t RW: "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_events_is_whole() {
        let lines = include_str!("../../data/kernel-events.tsv").lines().filter(|it| !it.starts_with('#'));
        assert_eq!(ROWS.len() + 1, lines.count());
        for row in ROWS.iter() {
            assert!(
                ["fail", "warn", "info"].contains(&row.severity)
                    && !row.meaning.is_empty()
                    && !row.next.is_empty(),
                "{}",
                row.id
            );
        }
    }

    #[test]
    fn prefixes() {
        for (text, expected) in [
            ("[ 1201.334012] amdgpu x", Some(("1201.334012", None, "amdgpu x"))),
            (
                "kern  :err   : 2026-01-07T10:00:00,1-06:00 text",
                Some(("2026-01-07T10:00:00,1-06:00", Some("err"), "text")),
            ),
            ("[rank0] oom_kill", None),
            ("step: 1: 2", None),
        ] {
            let found = line(text).map(|it| (it.time, it.level, it.text));
            assert_eq!(found, expected, "{text}");
        }
    }
}
