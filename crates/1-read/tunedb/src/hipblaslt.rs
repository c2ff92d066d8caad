//! hipBLASLt: output of hipblaslt-bench, its tuning file, the problems it logs.
//!
//! Columns grew from 35 to more than 50 and some come after the time, so values are found by the name in the
//! header line above them, never by position.

use crate::columns::Columns;
use crate::error::Error;
use crate::format::Format;
use crate::lines::{Ending, Line, TextCheck, fields, lines};
use crate::model::{Detail, FlawKind, GemmShape, Kind, Row, Said, Shape, Stated, Tunings, Version, time};
use sorting::Sort;
use std::borrow::Cow;
use std::collections::HashMap;

const HEADER: &str = "transA,transB,";
pub(crate) const COMMAND: &str = "hipblaslt-bench ";
const CACHE: &str = "tuning-cache: ";
const GIT: &str = "Git Version:";
/// `norm_error` above which a result is wrong: 8-bit types with long sums stay below it.
const WRONG_NORM: f64 = 0.1;

/// Columns that a tuning file without a schema version is searched by.
pub(crate) const OLD_LOOKUP: [&str; 10] =
    ["transA", "transB", "batch_count", "m", "n", "k", "a_type", "b_type", "c_type", "compute_type"];
/// Columns that are not part of the problem.
const NOT_KEY: [&str; 12] = [
    "alpha",
    "beta",
    "rotating_buffer",
    "flush",
    "use_gpu_timer",
    "us",
    "norm_error",
    "atol",
    "rtol",
    "solution_index",
    "soulution_index",
    "kernel_name",
];

fn is_key(name: &str) -> bool {
    let measured =
        ["freq", "MCLK", "flops", "GB/s", "CPU-us", "time", "workspace", "search", "finished", "schema"];
    !NOT_KEY.contains(&name) && !measured.iter().any(|part| name.contains(part)) && !name.is_empty()
}

/// Detects which of hipBLASLt's text formats this is.
pub(crate) fn recognize(bytes: &[u8]) -> Option<Format> {
    let mut found = None;
    for line in lines(bytes).take(20_000) {
        let text = line.text.trim_start();
        if text.starts_with(GIT) && line.number == 1 {
            return Some(Format::TuningFile);
        }
        if header(text).is_some() || text.starts_with(CACHE) {
            return Some(Format::BenchOutput);
        }
        if text.contains(COMMAND) && text.contains(" -m ") {
            found = found.or(Some(Format::ProblemLog));
        }
    }
    found
}

/// The header of a table: after `[n]:`, or alone.
fn header(text: &str) -> Option<&str> {
    let text = text.trim();
    let rest = match text.strip_prefix('[') {
        Some(rest) => rest.split_once("]:")?.1,
        None => text,
    };
    rest.starts_with(HEADER).then_some(rest)
}

fn columns(header: &str) -> Columns<'_> {
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    let is_key = names.iter().map(|name| is_key(name)).collect();
    Columns { names, is_key, header, family: "matmul".to_owned() }
}

/// Reads output of hipblaslt-bench among other lines.
pub(crate) fn output<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::BenchOutput, bytes);
    let mut above: Option<(u32, Columns<'a>)> = None;
    let mut tuned: Option<Row<'a>> = None;
    let mut target = None;
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        let text = line.text.trim();
        if text.is_empty() {
            continue;
        }
        if let Some(found) = header(text) {
            if let Some((number, _)) = above.replace((line.number, columns(found))) {
                tunings.flaw(number, FlawKind::CutLine, "a header without its values");
            }
            continue;
        }
        if let Some((_, columns)) = &above
            && (text.starts_with("N,") || text.starts_with("T,"))
        {
            let values = fields(text);
            if values.len() < columns.names.len() {
                let text = format!("{} values under {} columns", values.len(), columns.names.len());
                tunings.bad_row(line.number, FlawKind::CutLine, text);
            } else {
                let mut row = problem(&line, columns, &values, target);
                let norm =
                    columns.value(&values, &["norm_error"]).and_then(|it| it.trim().parse::<f64>().ok());
                if let Some(norm) = norm.filter(|it| it.is_nan() || it.abs() > WRONG_NORM) {
                    row.time_us = Err("the result is wrong");
                    tunings.bad_row(line.number, FlawKind::WrongResult, format!("norm_error is {norm}"));
                }
                tunings.rows.push(row);
            }
            above = None;
            continue;
        }
        if let Some(index) = text.strip_prefix("--Solution index:")
            && let Some(row) = tunings.rows.last_mut()
        {
            row.candidate = Ok(Cow::Borrowed(index.trim()));
        } else if let Some(kernel) = text.strip_prefix("--Solution name:")
            && let Some(row) = tunings.rows.last_mut()
            && let Ok(candidate) = &row.candidate
        {
            row.candidate = Ok(Cow::Owned(format!("{candidate} {}", kernel.trim())));
        } else if let Some(event) = text.strip_prefix(CACHE) {
            cache_event(&line, event, &mut tuned, &mut tunings);
        } else {
            machine(&line, &mut target, &mut tunings);
        }
    }
    if let Some((number, _)) = above {
        tunings.flaw(number, FlawKind::CutLine, "a header without its values");
    }
    Ok(tunings)
}

/// Versions and device that the tool prints before its results.
fn machine<'a>(line: &Line<'a>, target: &mut Option<&'a str>, tunings: &mut Tunings<'a>) {
    let text = line.text.trim();
    for (start, key) in
        [("hipBLASLt version:", "hipBLASLt version"), ("hipBLASLt git version:", "Git Version")]
    {
        if let Some(value) = text.strip_prefix(start) {
            let (key, value) = (Cow::Borrowed(key), Cow::Borrowed(value.trim()));
            tunings.versions.push(Version { key, value, line: line.number });
        }
    }
    if let Some((_, device)) = text.strip_prefix("Device ID ").and_then(|it| it.split_once(" : ")) {
        let (key, value) = (Cow::Borrowed("device"), Cow::Borrowed(device));
        tunings.versions.push(Version { key, value, line: line.number });
        *target =
            device.rsplit(' ').next().and_then(|it| it.split(':').next()).filter(|it| it.starts_with("gfx"));
    }
}

/// `tuning-start m=… n=…` and `tuning-done winner=…` of the online tuner.
fn cache_event<'a>(line: &Line<'a>, event: &'a str, open: &mut Option<Row<'a>>, tunings: &mut Tunings<'a>) {
    let event = event.split(';').next().unwrap_or_default();
    let value = |key: &str| event.split(' ').find_map(|part| part.strip_prefix(key));
    let number = |key: &str| value(key).and_then(|it| it.parse::<u64>().ok());
    if event.starts_with("tuning-start") {
        let mut row = Row::new(line.number, line.span.clone(), Kind::Gemm, "matmul");
        row.time_us = Err("the log names the time of the search, not that of the winner");
        row.layout = value("trans=").map(Cow::Borrowed).ok_or("the line names no transposition");
        row.types = value("types=").map(Cow::Borrowed).ok_or("the line names no types");
        row.shape = match (number("m="), number("n="), number("k=")) {
            (Some(m), Some(n), Some(k)) => {
                let batch = number("batch=").unwrap_or(1);
                GemmShape::of_long([m, n, k, batch], None).map(Shape::Gemm)
            }
            _ => Err("the line names no sizes"),
        };
        row.key = Cow::Borrowed(event.strip_prefix("tuning-start ").unwrap_or(event));
        *open = Some(row);
    } else if let (Some(winner), Some(mut row)) = (value("winner="), open.take()) {
        row.candidate = Ok(Cow::Borrowed(winner));
        row.span.end = line.span.end;
        tunings.rows.push(row);
    } else if event.starts_with("mode=") {
        let (key, value) = (Cow::Borrowed("tuning cache"), Cow::Borrowed(event));
        tunings.versions.push(Version { key, value, line: line.number });
    }
}

/// A row of values under its columns.
fn problem<'a>(
    line: &Line<'a>,
    columns: &Columns<'_>,
    values: &[&'a str],
    target: Option<&'a str>,
) -> Row<'a> {
    let value = |name: &str| columns.value(values, &[name]);
    let size = |name: &str| value(name).and_then(|it| it.parse::<u64>().ok());
    let mut row = Row::new(line.number, line.span.clone(), Kind::Gemm, "matmul");
    let keys = columns.names.iter().zip(values).zip(&columns.is_key);
    let key: Vec<&str> = keys.filter(|(_, is_key)| **is_key).map(|((_, value), _)| value.trim()).collect();
    row.key = Cow::Owned(key.join(","));
    row.layout = match (value("transA"), value("transB")) {
        (Some(a), Some(b)) => Ok(Cow::Owned(format!("{a}{b}"))),
        _ => Err("the header has no `transA` and `transB`"),
    };
    row.types = match (value("a_type"), value("b_type"), value("compute_type")) {
        (Some(a), Some(b), Some(compute)) => {
            // An xf32 product has f32 inputs; the type of the arithmetic sets the rate.
            let xf32 = compute.trim_start_matches("c_") == "xf32_r";
            let (a, b) = if xf32 { ("xf32_r", "xf32_r") } else { (a, b) };
            Ok(if a == b { Cow::Borrowed(a) } else { Cow::Owned(format!("{a}/{b}")) })
        }
        _ => Err("the header has no types"),
    };
    row.shape = match (size("m"), size("n"), size("k")) {
        (Some(m), Some(n), Some(k)) => {
            let leading = match (size("lda"), size("ldb"), size("ldc"), size("ldd")) {
                (Some(a), Some(b), Some(c), Some(d)) => Some([a, b, c, d]),
                _ => None,
            };
            let batch = size("batch_count").unwrap_or(1);
            GemmShape::of_long([m, n, k, batch], leading).map(Shape::Gemm)
        }
        _ => Err("a size is no number"),
    };
    row.target = match value("gcnArchName").and_then(|it| it.split(':').next()).or(target) {
        Some(it) => Ok(Cow::Borrowed(it)),
        None => Err("neither a column nor a line above names the device"),
    };
    row.cu_count = value("CUs").and_then(|it| it.parse().ok()).ok_or("no column `CUs`");
    row.time_us = value("us").map_or(Err(time::ABSENT), |it| time::parse(it, 1.0));
    let rate = columns.names.iter().find(|name| name.to_ascii_lowercase().ends_with("lt-gflops"));
    let tera_flops = match rate.and_then(|name| value(name)).and_then(|it| it.parse::<f64>().ok()) {
        Some(rate) if rate > 0.0 && rate.is_finite() => Ok(rate / 1e3),
        Some(_) => Err("the rate is 0: not stated"),
        None => Err("no column of the rate"),
    };
    row.stated = Stated::rate(tera_flops);
    let index = value("solution_index").or_else(|| value("soulution_index"));
    row.candidate = match (index, value("kernel_name")) {
        (Some(index), Some(kernel)) if !kernel.is_empty() => Ok(Cow::Owned(format!("{index} {kernel}"))),
        (Some(index), _) => Ok(Cow::Borrowed(index)),
        (None, _) => Err("the output names no solution: use --print_kernel_info"),
    };
    row
}

/// Reads a tuning file.
pub(crate) fn tuning_file<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::TuningFile, bytes);
    let mut check = TextCheck::default();
    let mut first: Option<Columns<'a>> = None;
    let mut above: Option<Columns<'a>> = None;
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        check.see(&line);
        let text = line.text.trim();
        if text.is_empty() {
            continue;
        }
        if let Some(value) = text.strip_prefix(GIT) {
            let (key, value) = (Cow::Borrowed("Git Version"), Cow::Borrowed(value.trim()));
            tunings.versions.push(Version { key, value, line: line.number });
            continue;
        }
        if let Some(found) = header(text) {
            above = Some(columns(found));
            first = first.or_else(|| above.clone());
            continue;
        }
        let Some(columns) = &above else {
            return Err(Error::new(line.number, "a row before the header"));
        };
        let values = fields(text);
        if values.len() < columns.names.len() {
            let cut = if line.ending == Ending::Nothing { "the last line is cut" } else { "the row is cut" };
            let text = format!("{cut}: {} values under {} columns", values.len(), columns.names.len());
            tunings.bad_row(line.number, FlawKind::CutLine, text);
            continue;
        }
        let mut row = problem(&line, columns, &values, None);
        if row.candidate.is_err() {
            row.candidate = Err("the row names no solution");
        }
        tunings.rows.push(row);
        if first.as_ref().is_some_and(|first| first.names != columns.names) {
            let text = "the columns above it are not those of the first header";
            tunings.bad_row(line.number, FlawKind::Contradiction, text);
        }
    }
    check.note(&mut tunings);
    tunings.flaws.in_order_by_key(|flaw| (flaw.line, flaw.kind));
    tunings.detail = first.map_or(Detail::None, Detail::Columns);
    Ok(tunings)
}

/// Whether the rows of a tuning file name their kernels and a schema version.
pub fn has_schema(tunings: &Tunings<'_>) -> bool {
    matches!(&tunings.detail, Detail::Columns(columns) if columns.names.iter().any(|it| it.contains("schema")))
}

/// The key that a tuning file's loader compares: the whole problem, or, without a schema version, some
/// columns only.
pub fn lookup_key(tunings: &Tunings<'_>, row: &Row<'_>) -> String {
    let Detail::Columns(columns) = &tunings.detail else { return row.key.to_string() };
    if has_schema(tunings) {
        return row.key.to_string();
    }
    let text = std::str::from_utf8(tunings.text(row)).unwrap_or_default().trim();
    let values = fields(text);
    let found: Vec<&str> =
        OLD_LOOKUP.iter().map(|it| columns.value(&values, &[it]).unwrap_or_default()).collect();
    found.join(",")
}

const NO_SIZES: &str = "the command names no sizes";

/// Reads logged commands. Equal ones are one row with their number of calls.
pub(crate) fn problem_log<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::ProblemLog, bytes);
    let mut seen: HashMap<&'a str, usize> = HashMap::new();
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        let Some(at) = line.text.find(COMMAND) else { continue };
        let command = line.text[at..].trim_end();
        if let Some(row) = seen.get(command) {
            tunings.rows[*row].calls += 1;
            continue;
        }
        let row = command_row(&line, command);
        if row.shape == Err(NO_SIZES) {
            tunings.bad_row(line.number, FlawKind::CutLine, NO_SIZES);
            continue;
        }
        seen.insert(command, tunings.rows.len());
        tunings.rows.push(row);
    }
    Ok(tunings)
}

/// The problem of a command in a line, if it names one.
pub(crate) fn command_in<'a>(line: &Line<'a>) -> Option<Row<'a>> {
    let at = line.text.find(COMMAND)?;
    Some(command_row(line, line.text[at..].trim_end())).filter(|row| row.shape != Err(NO_SIZES))
}

/// A logged command as a row.
fn command_row<'a>(line: &Line<'a>, command: &'a str) -> Row<'a> {
    let words: Vec<&str> = command.split_ascii_whitespace().collect();
    let value = |name: &str| {
        let at = words.iter().position(|it| *it == name)?;
        words.get(at + 1).copied().filter(|it| !it.starts_with("--"))
    };
    let size = |name: &str| value(name).and_then(|it| it.parse::<u64>().ok());
    let mut row = Row::new(line.number, line.span.clone(), Kind::Gemm, "matmul");
    row.key = Cow::Borrowed(command);
    row.layout = match (value("--transA"), value("--transB")) {
        (Some(a), Some(b)) => Ok(Cow::Owned(format!("{a}{b}"))),
        _ => Err("the command names no transposition"),
    };
    let compute = value("--compute_type").map(|it| it.trim_start_matches("c_"));
    row.types = match (value("--a_type"), value("--b_type")) {
        (Some(_), Some(_)) if compute == Some("xf32_r") => Ok(Cow::Borrowed("xf32_r")),
        (Some(a), Some(b)) if a != b => Ok(Cow::Owned(format!("{a}/{b}"))),
        (Some(a), _) => Ok(Cow::Borrowed(a)),
        _ => Err("the command names no types"),
    };
    row.shape = sizes(&size);
    row.candidate = match value("--solution_index") {
        Some(index) => Ok(Cow::Borrowed(index)),
        None => Err("the command leaves the choice to the heuristic"),
    };
    row.time_us = Err("a logged problem has no time");
    row
}

fn sizes<'a>(size: &dyn Fn(&str) -> Option<u64>) -> Said<Shape<'a>> {
    let (Some(m), Some(n), Some(k)) = (size("-m"), size("-n"), size("-k")) else {
        return Err(NO_SIZES);
    };
    let leading = match (size("--lda"), size("--ldb"), size("--ldc"), size("--ldd")) {
        (Some(a), Some(b), Some(c), Some(d)) => Some([a, b, c, d]),
        _ => None,
    };
    let batch = size("--batch_count").unwrap_or(1);
    GemmShape::of_long([m, n, k, batch], leading).map(Shape::Gemm)
}
