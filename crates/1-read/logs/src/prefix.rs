//! Prefixes of a line as fields: launcher, container, time, level, worker.
//!
//! Prefixes nest: `12: (Worker_TP2 pid=9) ERROR 02-24 02:39:36 [executor.py:246] text`. They are taken off one
//! by one from the left until none is left.

use crate::json_line;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Most prefixes of one line.
const MOST: usize = 10;

/// How serious its logger takes a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// Debugging output.
    Debug,
    /// Normal operation.
    Info,
    /// Something to look at.
    Warning,
    /// Something failed.
    Error,
}

/// Writer of a line, as far as its prefixes tell.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Who {
    /// Rank or task of a parallel job.
    pub rank: Option<u32>,
    /// Worker or actor: `Worker_TP2`, `EngineCore`, `EP3`.
    pub worker: Option<String>,
    /// Process.
    pub pid: Option<u64>,
    /// Host.
    pub host: Option<String>,
    /// Pod, container or service.
    pub unit: Option<String>,
}

impl Who {
    /// True if no prefix names a writer.
    pub fn is_unknown(&self) -> bool {
        *self == Who::default()
    }

    /// Index at the end of the worker's name: 2 of `Worker_TP2` and `VllmWorker-2`.
    pub fn worker_index(&self) -> Option<u32> {
        let name = self.worker.as_deref()?;
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        name[name.len() - digits..].parse().ok()
    }

    /// The writer in words: `rank 3`, `Worker_TP2 (pid 3100)`; empty if unknown.
    pub fn words(&self) -> String {
        let mut words = Vec::new();
        if let Some(worker) = &self.worker {
            words.push(worker.clone());
        }
        if let Some(rank) = self.rank {
            words.push(format!("rank {rank}"));
        }
        if let Some(pid) = self.pid {
            words.push(format!("pid {pid}"));
        }
        if let Some(host) = &self.host {
            words.push(format!("host {host}"));
        }
        if let Some(unit) = &self.unit {
            words.push(unit.clone());
        }
        words.join(", ")
    }
}

/// A line without its prefixes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Entry {
    /// Text after the prefixes.
    pub text: String,
    /// Time as written: seconds since boot, date, both.
    pub time: Option<String>,
    /// Level.
    pub level: Option<Level>,
    /// Writer.
    pub who: Who,
    /// Source file and line of the logger.
    pub source: Option<String>,
    /// True for a line of the kernel's log.
    pub is_kernel: bool,
}

/// A prefix and what it says.
struct Rule {
    regex: Regex,
    apply: fn(&mut Entry, &Captures<'_>),
}

fn rule(pattern: &str, apply: fn(&mut Entry, &Captures<'_>)) -> Rule {
    let Ok(regex) = Regex::new(pattern) else { unreachable!("patterns of this file are tested") };
    Rule { regex, apply }
}

fn text(captures: &Captures<'_>, name: &str) -> Option<String> {
    captures.name(name).map(|it| it.as_str().trim().to_owned()).filter(|it| !it.is_empty())
}

fn number<T: std::str::FromStr>(captures: &Captures<'_>, name: &str) -> Option<T> {
    captures.name(name)?.as_str().parse().ok()
}

/// Sets a field that no outer prefix has set.
fn set<T>(field: &mut Option<T>, value: Option<T>) {
    if field.is_none() {
        *field = value;
    }
}

fn common(entry: &mut Entry, captures: &Captures<'_>) {
    set(&mut entry.time, text(captures, "time"));
    set(&mut entry.level, text(captures, "level").as_deref().and_then(level));
    set(&mut entry.source, text(captures, "source"));
    set(&mut entry.who.rank, number(captures, "rank"));
    set(&mut entry.who.pid, number(captures, "pid"));
    set(&mut entry.who.host, text(captures, "host"));
    set(&mut entry.who.unit, text(captures, "unit"));
    if let Some(worker) = text(captures, "worker") {
        // An inner prefix is closer to the writer.
        entry.who.worker = Some(worker);
    }
}

fn kernel(entry: &mut Entry, captures: &Captures<'_>) {
    common(entry, captures);
    entry.is_kernel = true;
}

fn level(word: &str) -> Option<Level> {
    Some(match word.to_ascii_lowercase().as_str() {
        "debug" | "trace" | "dbg" | "d" | "7" => Level::Debug,
        "info" | "notice" | "i" | "6" | "5" | "information" => Level::Info,
        "warn" | "warning" | "w" | "4" => Level::Warning,
        "err" | "error" | "fatal" | "critical" | "crit" | "alert" | "emerg" | "severe" | "e" | "f" | "c"
        | "3" | "2" | "1" | "0" => Level::Error,
        _ => return None,
    })
}

/// A date and a time of day, or only the time.
const DATE_TIME: &str =
    r"(?:\d{4}[-/.]\d{2}[-/.]\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,:]\d+)?(?:Z|[+-]\d{2}:?\d{2})?)";

static BRACKETS: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    vec![
        // Seconds since boot, or since the line before (`dmesg -e`, `-d`, `-H`); `dmesg -T`; with `dmesg -x` or a caller's
        // task number.
        rule(r"^\[\s*(?<time>\d+\.\d{3,})(?:\s+<\s*[\d.]+>)?\]\s?(?:\[\s*[TC]\d+\]\s)?", kernel),
        rule(r"^\[\s*<?\s*(?<time>\+\d+\.\d{3,})>?\]\s?", kernel),
        rule(
            r"^\[(?<time>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s?\d{1,2} \d{2}:\d{2})\]\s",
            kernel,
        ),
        rule(r"^\[(?<time>(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3}\s+\d+ [\d:.]+ \d{4})\]\s?", kernel),
        // mpirun --tag-output, also with the time; prterun.
        rule(r"^\[[\w.@-]+,(?<rank>\d+)\]<(?:stdout|stderr|stddiag)>:\s?", common),
        // torchrun.
        rule(r"^(?:\[\d+\]\s+)?\[(?:[Rr]ank|default|RANK)\s?(?<rank>\d+)\]:?\s?", common),
        // kubectl logs --prefix.
        rule(r"^\[(?<unit>pod/[^\]\s]+)\]\s?", common),
        // glog in brackets: PyTorch's C++.
        rule(
            r"^\[(?<level>[IWEFDC])(?<time>\d{3,4} \d{2}:\d{2}:\d{2}[.\d]*)(?:\s+(?<pid>\d+))?\s(?<source>[\w./+-]+:\d+)\]\s?",
            common,
        ),
        rule(
            &format!(
                r"^\[(?<time>{DATE_TIME})(?:\s(?<worker>[A-Z]{{2,3}}\d+(?:[ _][A-Z]{{2,3}}\d+)*))?\]\s?:?"
            ),
            common,
        ),
        rule(
            &format!(r"^\[(?<time>{DATE_TIME})\]\s?\[(?<level>[A-Z]+)\]\s?(?:\[(?<source>[^\]]+)\])?\s?"),
            common,
        ),
        rule(
            r"^\[(?<level>DEBUG|INFO|WARNING|WARN|ERROR|FATAL|CRITICAL|debug|info|warning|warn|error)\]:?\s?",
            common,
        ),
        rule(r"^\[(?<source>[\w./-]+\.(?:py|cpp|cc|cu|h|hpp|rs|go):\d+(?::\w+)?)\]\s?", common),
        rule(r"^\[(?<host>[A-Za-z][\w.-]*):(?<pid>\d{2,})\]\s", common),
    ]
});

static PARENTHESES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    vec![
        // vLLM's and Ray's workers.
        rule(
            r"^\((?:(?<worker>[A-Za-z_][\w.:-]*)\s+)?(?:rank=(?<rank>\d+)[,\s]*)?pid=(?<pid>\d+)(?:,\s*ip=(?<host>[\w.:-]+))?\)\s?",
            common,
        ),
        rule(r"^\((?<worker>[A-Za-z_][\w.:-]*)\s+rank=(?<rank>\d+)\)\s?", common),
        rule(r"^\((?<worker>raylet|autoscaler[^)]*|driver)(?:,\s*ip=(?<host>[\w.:-]+))?\)\s?", common),
    ]
});

static DIGITS: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    vec![
        // srun --label.
        rule(r"^(?<rank>\d{1,6}):\s", common),
        // Kubernetes' container runtime; docker logs -t.
        rule(
            r"^(?<time>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6,9}(?:Z|[+-]\d{2}:\d{2}))\s(?:(?:stdout|stderr)\s[FP]\s)?",
            common,
        ),
        // journalctl -o short-iso, rsyslog: time, host, program.
        rule(
            r"^(?<time>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2}))\s(?<host>[\w.-]+)\skernel:\s(?:\[\s*[\d.]+\]\s)?",
            kernel,
        ),
        rule(
            r"^(?<time>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2}))\s(?<host>[\w.-]+)\s(?<unit>[\w./@-]+)\[(?<pid>\d+)\]:\s",
            common,
        ),
        // Python's loggers: `time - name - LEVEL - `, `time LEVEL `, `time,ms | LEVEL | `.
        rule(
            &format!(
                r"^(?<time>{DATE_TIME})\s*(?:[-|]\s*[\w.]+\s*)?[-|:]?\s*\[?(?<level>DEBUG|INFO|WARNING|WARN|ERROR|FATAL|CRITICAL)\]?\s*[-|:]*\s?"
            ),
            common,
        ),
        rule(
            &format!(
                r"^(?<time>{DATE_TIME})[:\s|]\s*(?:\d+:\s)?(?<level>[IWEF])?\s?(?:(?<source>[\w./]+\.\w+:\d+)\]\s)?"
            ),
            common,
        ),
        rule(
            r"^(?<time>\d{2}:\d{2}:\d{2}(?:[.,]\d+)?)\s+(?<level>DEBUG|INFO|WARNING|WARN|ERROR|FATAL|CRITICAL)?\s?[-|:]?\s?",
            common,
        ),
    ]
});

static LETTERS: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    vec![
        // `dmesg -x --time-format iso`, `dmesg -x`.
        rule(r"^(?:kern|user|daemon)\s*:(?<level>\w+)\s*:\s(?<time>\d{4}-\S+)\s", kernel),
        rule(r"^(?:kern|user|daemon)\s*:(?<level>\w+)\s*:\s\[\s*(?<time>[\d.]+)\]\s", kernel),
        // syslog and journalctl.
        rule(
            r"^(?<time>[A-Z][a-z]{2}\s+\d{1,2} \d{2}:\d{2}:\d{2}(?:\.\d+)?)\s(?<host>[\w.-]+)\skernel:\s(?:\[\s*[\d.]+\]\s)?",
            kernel,
        ),
        rule(
            r"^(?<time>[A-Z][a-z]{2}\s+\d{1,2} \d{2}:\d{2}:\d{2}(?:\.\d+)?)\s(?<host>[\w.-]+)\s(?<unit>[\w./@-]+)\[(?<pid>\d+)\]:\s",
            common,
        ),
        // vLLM's logger.
        rule(
            r"^(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL)\s+(?<time>\d{2}-\d{2} \d{2}:\d{2}:\d{2})\s+\[(?<source>[^\]]+)\]\s?",
            common,
        ),
        rule(
            r"^(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL)\s+(?<time>\d{2}-\d{2} \d{2}:\d{2}:\d{2})\s+(?<source>[\w./-]+:\d+)\]\s?",
            common,
        ),
        // glog and absl: XLA, TensorFlow, old PyTorch.
        rule(
            r"^(?<level>[IWEF])(?<time>\d{4} \d{2}:\d{2}:[\d.:]+)\s+(?<pid>\d+)\s(?<source>[\w./+-]+:\d+)\]\s?",
            common,
        ),
        // Uvicorn, Python's basic logger.
        rule(r"^(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):(?:\s+|[\w.]+:)", common),
        rule(r"^(?<level>WARNING|WARN|ERROR|FATAL|CRITICAL)\s+(?:-\s)?", common),
        // Docker compose.
        rule(r"^(?<unit>[a-z0-9][\w.-]*-\d+)\s+\|\s", common),
        rule(r"^(?<unit>[a-z0-9][\w.-]*)\s{1,}\|\s", common),
        // logger's plain `host: ` of parallel shells is left: too many texts begin like it.
    ]
});

/// The mark of a quoted line.
static QUOTES: LazyLock<Vec<Rule>> = LazyLock::new(|| vec![rule(r"^>\s+", |_, _| {})]);

static HIP_LOG: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    vec![rule(
        r"^:(?<level>[0-7]):(?<source>[\w.]+\s*:\d+)\s*:\s*(?<time>\d+\s?us)\s*:\s*(?:\[pid:(?<pid>\d+)\s*tid:\s*\w+\])?\s?",
        |entry, captures| {
            common(entry, captures);
            // AMD_LOG_LEVEL counts from 1, errors, to 7; 0 is printed in any case.
            entry.level = number::<u8>(captures, "level").map(|it| match it {
                0 | 1 => Level::Error,
                2 => Level::Warning,
                3 => Level::Info,
                _ => Level::Debug,
            });
        },
    )]
});

/// Percent, bar, and rate of `tqdm`, with the words before it.
static BAR: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^[^|%]{0,120}?\d{1,3}%\|[^|]*\|(?:\s*[\d.]+\w*/[\d.]+\w*)?(?:\s*\[[^\]]*(?:it/s|s/it|B/s|\?|<)[^\]]*\])?";
    let Ok(regex) = Regex::new(pattern) else { unreachable!("the pattern is tested") };
    regex
});

/// Takes the prefixes off a line.
pub fn entry(line: &str) -> Entry {
    let mut entry = Entry::default();
    if let Some(it) = json_line::read(line) {
        entry.time = it.time;
        entry.level = it.level.as_deref().and_then(level);
        entry.who = Who { rank: it.rank, worker: None, pid: it.pid, host: it.host, unit: it.unit };
        let inner = self::entry(&it.text);
        set(&mut entry.level, inner.level);
        set(&mut entry.time, inner.time);
        entry.source = inner.source;
        entry.is_kernel = inner.is_kernel;
        entry.who = merged(entry.who, inner.who);
        entry.text = inner.text;
        return entry;
    }
    let mut rest = line;
    for _ in 0..MOST {
        let start = rest.trim_start();
        match strip(&mut entry, start) {
            Some(next) => rest = next,
            None => break,
        }
    }
    entry.text = rest.trim().to_owned();
    entry
}

fn merged(outer: Who, inner: Who) -> Who {
    Who {
        rank: inner.rank.or(outer.rank),
        worker: inner.worker.or(outer.worker),
        pid: inner.pid.or(outer.pid),
        host: outer.host.or(inner.host),
        unit: outer.unit.or(inner.unit),
    }
}

/// Text after the first prefix of a line, if it has one.
fn strip<'a>(entry: &mut Entry, line: &'a str) -> Option<&'a str> {
    let rules: &[Rule] = match line.as_bytes().first()? {
        b'[' => &BRACKETS,
        b'(' => &PARENTHESES,
        b':' => &HIP_LOG,
        b'>' => &QUOTES,
        b'0'..=b'9' => &DIGITS,
        b'A'..=b'Z' | b'a'..=b'z' => &LETTERS,
        _ => &[],
    };
    for rule in rules {
        if let Some(captures) = rule.regex.captures(line) {
            (rule.apply)(entry, &captures);
            return line.get(captures.get(0)?.end()..);
        }
    }
    // A bar with nothing after it is the message itself.
    if !line.as_bytes().iter().take(160).any(|byte| *byte == b'%') {
        return None;
    }
    let end = BAR.find(line)?.end();
    let rest = &line[end..];
    (!rest.trim().is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writer, time, level and text of a line.
    type Parts<'a> = (&'a str, Option<&'a str>, Option<Level>, &'a str);

    #[test]
    fn prefixes_become_fields() {
        use Level::{Debug, Error, Info, Warning};
        let cases: &[(&str, Parts<'_>)] = &[
            ("plain text: 1: 2", ("", None, None, "plain text: 1: 2")),
            (" 3: text", ("rank 3", None, None, "text")),
            ("12: [1,4]<stderr>: text", ("rank 12", None, None, "text")),
            ("[1,4]<stdout>:text", ("rank 4", None, None, "text")),
            ("[prterun-node7-123@1,4]<stdout>: text", ("rank 4", None, None, "text")),
            ("[rank3]: text", ("rank 3", None, None, "text")),
            ("[default5]:text", ("rank 5", None, None, "text")),
            ("(Worker_TP2 pid=3100) text", ("Worker_TP2, pid 3100", None, None, "text")),
            (
                "(EngineCore_DP0 pid=9) ERROR 02-24 02:39:36 [a/b.py:246] text",
                ("EngineCore_DP0, pid 9", Some("02-24 02:39:36"), Some(Error), "text"),
            ),
            (
                "(RayWorkerWrapper pid=77, ip=10.0.0.2) text",
                ("RayWorkerWrapper, pid 77, host 10.0.0.2", None, None, "text"),
            ),
            ("(VllmWorker rank=3 pid=9) text", ("VllmWorker, rank 3, pid 9", None, None, "text")),
            ("(raylet) text", ("raylet", None, None, "text")),
            ("(see below) text", ("", None, None, "(see below) text")),
            ("[2025-09-09 02:30:20 TP3] text", ("TP3", Some("2025-09-09 02:30:20"), None, "text")),
            (
                "[2025-09-09 02:30:20 DP1 TP3 EP3] text",
                ("DP1 TP3 EP3", Some("2025-09-09 02:30:20"), None, "text"),
            ),
            (
                "[2025-09-09 02:30:20,123] [ERROR] [launch.py:3] text",
                ("", Some("2025-09-09 02:30:20,123"), Some(Error), "text"),
            ),
            ("[Tue Sep  9 02:30:28 2025] text", ("", Some("Tue Sep  9 02:30:28 2025"), None, "text")),
            ("[ 8123.100001] text", ("", Some("8123.100001"), None, "text")),
            ("[  +0.000006] text", ("", Some("+0.000006"), None, "text")),
            ("[Apr10 21:21] text", ("", Some("Apr10 21:21"), None, "text")),
            ("[80746] [rank4]:text", ("rank 4", None, None, "text")),
            ("[100] text", ("", None, None, "[100] text")),
            (
                "> 2025-09-09T02:30:20.1234567Z stderr F text",
                ("", Some("2025-09-09T02:30:20.1234567Z"), None, "text"),
            ),
            ("[    5.000001] [T1234] text", ("", Some("5.000001"), None, "text")),
            (
                "kern  :err   : 2026-01-07T10:00:00,1-06:00 text",
                ("", Some("2026-01-07T10:00:00,1-06:00"), Some(Error), "text"),
            ),
            ("kern  :warn  : [ 12.000001] text", ("", Some("12.000001"), Some(Warning), "text")),
            (
                "Sep  9 02:30:28 node7 kernel: [ 8123.1] text",
                ("host node7", Some("Sep  9 02:30:28"), None, "text"),
            ),
            (
                "Sep  9 02:30:28 node7 slurmd[55]: text",
                ("pid 55, host node7, slurmd", Some("Sep  9 02:30:28"), None, "text"),
            ),
            (
                "2025-09-09T02:30:28+0200 node7 kernel: text",
                ("host node7", Some("2025-09-09T02:30:28+0200"), None, "text"),
            ),
            (
                "2025-09-09T02:30:20.123456789Z stdout F text",
                ("", Some("2025-09-09T02:30:20.123456789Z"), None, "text"),
            ),
            (
                "2025-09-09 02:30:20,123 - trainer - WARNING - text",
                ("", Some("2025-09-09 02:30:20,123"), Some(Warning), "text"),
            ),
            ("2025-09-09 02:30:20.123 INFO text", ("", Some("2025-09-09 02:30:20.123"), Some(Info), "text")),
            (
                "[rank1]:[E826 11:02:33.100 ProcessGroupNCCL.cpp:616] text",
                ("rank 1", Some("826 11:02:33.100"), Some(Error), "text"),
            ),
            (
                "I0000 00:00:1764849271.079538 2923925 amdgpu_backend.cc:447] text",
                ("pid 2923925", Some("0000 00:00:1764849271.079538"), Some(Info), "text"),
            ),
            ("[pod/trainer-0/main] text", ("pod/trainer-0/main", None, None, "text")),
            ("worker-1  | text", ("worker-1", None, None, "text")),
            ("INFO:     text", ("", None, Some(Info), "text")),
            (
                ":3:hip_memory.cpp :578 : 123 us: [pid:9 tid:0x2] text",
                ("pid 9", Some("123 us"), Some(Info), "text"),
            ),
            (" 41%|####  | 3/10 [00:05<00:00,  9.32it/s]text", ("", None, None, "text")),
            (
                "Capturing CUDA graphs (decode, FULL):  88%|######### | 45/51 [00:05<00:00,  9.32it/s](Worker_TP0 pid=3098) DEBUG 02-24 02:39:34 [a.py:1] text",
                ("Worker_TP0, pid 3098", Some("02-24 02:39:34"), Some(Debug), "text"),
            ),
            (
                " 41%|####  | 3/10 [00:05<00:00,  9.32it/s]",
                ("", None, None, "41%|####  | 3/10 [00:05<00:00,  9.32it/s]"),
            ),
            (
                r#"{"log":"text\n","stream":"stderr","time":"2025-09-09T02:30:20.1Z"}"#,
                ("", Some("2025-09-09T02:30:20.1Z"), None, "text"),
            ),
            (
                r#"{"level":"error","message":"(Worker_TP2 pid=3100) text","rank":4,"host":"n1"}"#,
                ("Worker_TP2, rank 4, pid 3100, host n1", None, Some(Error), "text"),
            ),
            (r#"{"a": 1}"#, ("", None, None, r#"{"a": 1}"#)),
        ];
        for (line, expected) in cases {
            let it = entry(line);
            let words = it.who.words();
            let found: Parts<'_> = (&words, it.time.as_deref(), it.level, &it.text);
            assert_eq!(found, *expected, "{line}");
        }
    }

    #[test]
    fn the_kernel_is_known_by_its_prefix() {
        for (line, expected) in [
            ("[ 8123.100001] x", true),
            ("[Tue Sep  9 02:30:28 2025] x", true),
            ("Sep  9 02:30:28 node7 kernel: x", true),
            ("kern  :err   : 2026-01-07T10:00:00,1-06:00 x", true),
            ("12: [ 8123.100001] x", true),
            ("[  +9.002235] x", true),
            ("[Apr10 21:21] x", true),
            ("[2025-09-09 02:30:20] x", false),
            ("[rank0] x", false),
        ] {
            assert_eq!(entry(line).is_kernel, expected, "{line}");
        }
    }

    #[test]
    fn an_index_at_the_end_of_a_name() {
        for (name, expected) in [("Worker_TP2", Some(2)), ("VllmWorker-3", Some(3)), ("EngineCore", None)] {
            let who = Who { worker: Some(name.to_owned()), ..Who::default() };
            assert_eq!(who.worker_index(), expected, "{name}");
        }
    }
}
