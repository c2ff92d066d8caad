//! `rockhound trace` of a real PyTorch trace of 61 MB, of a gigabyte made of it, and of a real rocprofv3 JSON
//! of 37 MB.
//!
//! The gigabyte is the events of the real trace again and again, each time later and under other
//! correlations, so that links between kernels, calls and operators are as many and as far apart as they
//! would be.

use super::Line;
use super::libraries::{Measured, measure, seconds};
use crate::run::root;
use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A file below `../shared/traces`, repetitions of its events, and the bounds: time, memory (MiB).
const INPUTS: [(&str, &str, usize, Duration, u64); 3] = [
    ("Chrome trace", "torch/mi300x-owlv2-large.json.gz", 1, Duration::from_millis(300), 150),
    ("rocprofv3 JSON", "rocprofv3/mi350x-training_results.json.gz", 1, Duration::from_millis(300), u64::MAX),
    ("Chrome trace, repeated", "torch/mi300x-owlv2-large.json.gz", 17, Duration::from_secs(6), 1000),
];
/// A second look at the largest, from its index.
const AGAIN: Duration = Duration::from_secs(1);

pub(crate) fn run() -> Result<Vec<Line>> {
    let shared = root().join("../shared/traces");
    if !shared.is_dir() {
        let text = format!("skipped: needs {}", shared.display());
        return Ok(vec![Line::plain(text, String::new())]);
    }
    let program = super::build_rockhound()?;
    let folder = std::env::temp_dir().join(format!("rockhound-bench-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let lines =
        INPUTS.iter().map(|input| of_input(&program, &shared, &folder, input)).collect::<Result<Vec<_>>>();
    fs::remove_dir_all(&folder)?;
    Ok(lines?.into_iter().flatten().collect())
}

fn of_input(
    program: &Path,
    shared: &Path,
    folder: &Path,
    (what, file, times, time, memory): &(&str, &str, usize, Duration, u64),
) -> Result<Vec<Line>> {
    let text = Command::new("gzip").arg("-dc").arg(shared.join(file)).output().context("gzip")?;
    ensure!(text.status.success(), "`gzip -dc {file}` failed");
    let path = folder.join("trace.json");
    repeat(&text.stdout, *times, &path)?;
    let megabytes = path.metadata()?.len() / 1_000_000;
    let look = || {
        let mut command = Command::new(program);
        measure(command.arg("trace").arg(&path).env("XDG_CACHE_HOME", folder.join("cache")))
    };
    let mut lines = Vec::new();
    let Measured { time: took, peak_kib } = look()?;
    let mut line = |what: String, value: String, asked: String, kept: bool| {
        lines.push(Line { what, value, asked: Some((asked, kept)) });
    };
    let what = format!("{what}, {megabytes} MB");
    line(format!("{what}: wall"), seconds(took), format!("at most {}", seconds(*time)), took <= *time);
    if *memory < u64::MAX {
        let mib = peak_kib / 1024;
        line(
            format!("{what}: peak resident"),
            format!("{mib} MiB"),
            format!("at most {memory} MiB"),
            mib <= *memory,
        );
    }
    if *times > 1 {
        let again = look()?.time;
        line(
            format!("{what}: again, from its index"),
            seconds(again),
            format!("at most {}", seconds(AGAIN)),
            again <= AGAIN,
        );
    }
    Ok(lines)
}

/// Writes a Chrome trace with its events several times; once it is written as it is.
fn repeat(text: &[u8], times: usize, path: &Path) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    if times == 1 {
        out.write_all(text)?;
        return Ok(out.flush()?);
    }
    let text = std::str::from_utf8(text)?;
    let begin = text.find("\"traceEvents\": [").context("a list of events")? + "\"traceEvents\": [".len();
    let end = begin + text[begin..].find("\n  ],").context("the end of the list of events")?;
    out.write_all(&text.as_bytes()[..begin])?;
    for at in 0..times {
        if at > 0 {
            out.write_all(b",")?;
        }
        shifted(&text[begin..end], at as u64, &mut out)?;
    }
    out.write_all(&text.as_bytes()[end..])?;
    Ok(out.flush()?)
}

/// Numbers that differ from one copy of the events to the next: by how much.
const SHIFTED: [(&str, u64); 4] = [
    ("\"ts\": ", 2_000_000),
    ("\"correlation\": ", 10_000_000),
    ("\"External id\": ", 10_000_000),
    ("\"id\": ", 10_000_000),
];

fn shifted(events: &str, copy: u64, out: &mut impl Write) -> Result<()> {
    let mut rest = events;
    while let Some(quote) = rest.find('"') {
        let (before, found) = rest.split_at(quote);
        out.write_all(before.as_bytes())?;
        let Some((key, by)) = SHIFTED.iter().find(|(key, _)| found.starts_with(key)) else {
            // The rest of this string, whatever it holds.
            let end = found[1..].find('"').map_or(found.len(), |it| it + 2);
            out.write_all(&found.as_bytes()[..end])?;
            rest = &found[end..];
            continue;
        };
        let number = &found[key.len()..];
        let digits = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        match number[..digits].parse::<u64>() {
            Ok(value) => write!(out, "{key}{}", value + copy * by)?,
            Err(_) => write!(out, "{key}{}", &number[..digits])?,
        }
        rest = &number[digits..];
    }
    Ok(out.write_all(rest.as_bytes())?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn copies_are_later() {
        let mut out = Vec::new();
        let events = r#"{"name": "a", "ts": 5.25, "args": {"correlation": 7, "x": "y"}}"#;
        super::shifted(events, 2, &mut out).unwrap();
        let wanted = r#"{"name": "a", "ts": 4000005.25, "args": {"correlation": 20000007, "x": "y"}}"#;
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }
}
