//! `code.json`, its table, and `filenames.json` of a thread trace.
//!
//! A row whose instruction starts with `;` names the kernel or function that begins there.

use crate::folder::Files;
use crate::model::plain_kernel_name;
use crate::problem::{Error, Problems};
use crate::sampled::SampledInstruction;
use crate::side::first_line;
use crate::table::{self, Want};
use crate::traced::{TracedCounts, WaveSpan};
use serde_json::Value;
use sorting::Sort;

const LEFT_OUT: &str = "the thread trace of this file is left out";
const HINT: &str = "the file is no output of `rocprofv3 --att`";

/// An instruction and what traced waves did there.
pub(super) struct Line {
    /// Linker name of the kernel or function; empty if the file does not name it.
    pub(super) symbol: String,
    pub(super) instruction: SampledInstruction,
    pub(super) counts: TracedCounts,
}

/// Columns, in the order in which a row uses them, by the names they have in the files.
const COLUMNS: [&[&str]; 7] = [
    &["isa", "instruction"],
    &["vaddr"],
    &["hit", "hitcount"],
    &["latency"],
    &["stall"],
    &["idle"],
    &["source"],
];
/// The first of these must be there.
const NEEDED: usize = 5;

fn column(header: &str) -> Option<usize> {
    let header = header.trim();
    COLUMNS.iter().position(|names| names.iter().any(|name| name.eq_ignore_ascii_case(header)))
}

/// Bytes of a file; reports a problem if they are unreadable.
fn bytes<'a>(files: &Files<'a>, name: &str, problems: &mut Problems) -> Option<std::borrow::Cow<'a, [u8]>> {
    files.bytes(name).map_err(|error| problems.error(name, first_line(&error.to_string()), LEFT_OUT)).ok()
}

fn parse(files: &Files<'_>, name: &str, problems: &mut Problems) -> Option<Value> {
    let bytes = bytes(files, name, problems)?;
    let read = serde_json::from_slice(&bytes);
    read.map_err(|error| problems.error(name, format!("the JSON is damaged: {error}"), LEFT_OUT)).ok()
}

/// The instructions of `code.json`; empty if nothing was traced.
pub(super) fn json(files: &Files<'_>, name: &str, problems: &mut Problems) -> Option<Vec<Line>> {
    let document = parse(files, name, problems)?;
    let rows = match document.get("code") {
        Some(Value::Null) => &[][..],
        Some(Value::Array(rows)) => rows,
        _ => {
            problems.error(name, "it has no `code`", LEFT_OUT);
            return None;
        }
    };
    let header = document.get("header").and_then(Value::as_str).unwrap_or_default();
    let mut places = [None; COLUMNS.len()];
    for (place, word) in header.split(',').enumerate() {
        if let Some(at) = column(word) {
            places[at].get_or_insert(place);
        }
    }
    if let Some(missing) = places.iter().take(NEEDED).position(Option::is_none) {
        problems.error(name, format!("its `header` names no column `{}`", COLUMNS[missing][0]), LEFT_OUT);
        return None;
    }
    let cell = |row: &'_ Value, at: usize| places[at].and_then(|place| row.get(place).cloned());
    let text = |row: &Value, at: usize| match cell(row, at) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let number = |row: &Value, at: usize| cell(row, at).as_ref().and_then(whole);
    let raw = rows.iter().map(|row| Raw {
        text: text(row, 0),
        source: text(row, 6),
        numbers: [1, 2, 3, 4].map(|at| number(row, at)),
        idle: number(row, 5),
    });
    Some(lines(name, raw, problems))
}

/// A number without fraction.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        value.as_f64().filter(|it| it.fract() == 0.0 && (0.0..9e15).contains(it)).map(|it| it as u64)
    })
}

/// The instructions of `stats_….csv`.
pub(super) fn csv(files: &Files<'_>, name: &str, problems: &mut Problems) -> Option<Vec<Line>> {
    let bytes = bytes(files, name, problems)?;
    let rename =
        |header: &str| column(header).map_or_else(|| header.to_string(), |at| COLUMNS[at][0].to_string());
    let choose = |header: &str, _: &[u8]| match column(header) {
        Some(0 | 6) => Want::Text,
        Some(_) => Want::Number,
        None => Want::Skip,
    };
    let table = match table::read(name, &bytes, &rename, &choose, problems) {
        Ok(table) => table,
        Err(error) => {
            problems.error(name, first_line(&error.to_string()), LEFT_OUT);
            return None;
        }
    };
    let absent = COLUMNS.iter().take(NEEDED).find(|names| table.position(names[0]).is_none());
    if let Some(names) = absent {
        let error =
            Error::NoColumn { file: name.to_string(), column: names[0].to_string(), hint: HINT.to_string() };
        problems.error(name, first_line(&error.to_string()), LEFT_OUT);
        return None;
    }
    let text = |at: usize, row: usize| table.text(COLUMNS[at][0]).map(|texts| texts.get(row).to_string());
    let number = |at: usize, row: usize| {
        let value = table.number(COLUMNS[at][0])?.get(row)?;
        (value.fract() == 0.0 && (0.0..9e15).contains(&value)).then_some(value as u64)
    };
    let raw = (0..table.rows).map(|row| Raw {
        text: text(0, row),
        source: text(6, row),
        numbers: [1, 2, 3, 4].map(|at| number(at, row)),
        idle: number(5, row),
    });
    Some(lines(name, raw, problems))
}

/// A row as parsed.
struct Raw {
    text: Option<String>,
    source: Option<String>,
    /// Address, hits, latency, stall.
    numbers: [Option<u64>; 4],
    idle: Option<u64>,
}

fn lines(name: &str, rows: impl Iterator<Item = Raw>, problems: &mut Problems) -> Vec<Line> {
    let mut out = Vec::new();
    let mut symbol = String::new();
    let (mut damaged, mut longer) = (0, 0);
    for row in rows {
        let text = row.text.as_deref().unwrap_or_default().trim();
        if let Some(named) = text.strip_prefix(';') {
            plain_kernel_name(named.trim()).clone_into(&mut symbol);
            continue;
        }
        let [Some(address), Some(hits), Some(latency), Some(stall)] = row.numbers else {
            damaged += 1;
            continue;
        };
        if text.is_empty() {
            damaged += 1;
            continue;
        }
        longer += u64::from(stall > latency);
        out.push(Line {
            symbol: symbol.clone(),
            instruction: SampledInstruction {
                address: Some(address),
                text: text.to_string(),
                source: row.source.unwrap_or_default().trim().to_string(),
            },
            counts: TracedCounts { hits, latency, stall, idle: row.idle.unwrap_or(0) },
        });
    }
    if damaged > 0 {
        problems.warn(
            name,
            damaged,
            "instructions without text, address, hits, latency or stall",
            "they are left out",
        );
    }
    if longer > 0 {
        problems.warn(name, longer, "instructions stall longer than they take", "shown as recorded");
    }
    out
}

/// Content of `filenames.json`.
pub(super) struct Names {
    pub(super) target: Option<String>,
    pub(super) waves: u64,
    pub(super) spans: Vec<WaveSpan>,
}

/// GPU target and the waves: number, place and time. A wave without them is counted and has no span.
pub(super) fn names(files: &Files<'_>, name: &str, problems: &mut Problems) -> Option<Names> {
    let document = parse(files, name, problems)?;
    // Some profilers write the name of a family, `vega`, which is not a target.
    let target = document.get("gfxv").and_then(Value::as_str);
    let target = target.filter(|it| it.starts_with("gfx")).map(str::to_string);
    let mut out = Names { target: target.filter(|it| !it.is_empty()), waves: 0, spans: Vec::new() };
    if let Some(engines) = document.get("wave_filenames") {
        below(engines, &mut Vec::new(), &mut out);
    }
    out.spans.in_order();
    Some(out)
}

/// Waves below shader engine, SIMD, slot and number.
fn below(value: &Value, path: &mut Vec<u32>, out: &mut Names) {
    /// Levels of keys.
    const LEVELS: usize = 4;
    let Some(object) = value.as_object() else { return };
    for (key, value) in object {
        path.push(key.parse().unwrap_or(u32::MAX));
        if path.len() < LEVELS {
            below(value, path, out);
        } else {
            out.waves += 1;
            let time = |at: usize| value.get(at).and_then(whole);
            if let (Some(begin), Some(end)) = (time(1), time(2))
                && begin <= end
                && !path.contains(&u32::MAX)
            {
                out.spans.push(WaveSpan { place: [path[0], path[1], path[2]], begin, end });
            }
        }
        path.pop();
    }
}
