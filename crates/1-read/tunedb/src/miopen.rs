//! MIOpen: FindDb and PerfDb as text, driver commands, logs of a search.
//!
//! A record is one line, `KEY=Solver:values;Solver:values`, and its key is compared as text; each solver is a
//! row here, and rows of one line are one record.

use crate::error::Error;
use crate::format::Format;
use crate::lines::{Line, TextCheck, lines};
use crate::miopen_key::{ConvKey, base_name};
pub use crate::miopen_merge::merge_databases;
use crate::model::{FlawKind, Kind, Row, Said, Shape, Stated, Tunings, Version, time};
use sorting::Sort;
use std::borrow::Cow;
use std::collections::HashMap;

const ALGORITHM: &str = "miopenConvolution";
const DRIVER: &str = "MIOpenDriver conv";
const SEARCH: &str = "MIOpen(HIP):";

/// Entries of one record; MIOpen has fewer solvers.
const MOST_SOLVERS: usize = 1000;
/// Detects which of MIOpen's text formats this is.
pub(crate) fn recognize(bytes: &[u8]) -> Option<Format> {
    for line in lines(bytes).take(2_000) {
        let text = line.text;
        if text.contains(DRIVER) || text.starts_with(SEARCH) {
            return Some(Format::DriverCommands);
        }
        let Some((key, values)) = text.split_once('=') else { continue };
        if ConvKey::parse(key).is_none() {
            continue;
        }
        let timed = values.contains(ALGORITHM);
        return Some(if timed { Format::FindDb } else { Format::PerfDb });
    }
    None
}

/// Facts in the name of a database: target, number of compute units, version.
fn names(tunings: &mut Tunings<'_>) -> (Said<String>, Said<u32>) {
    let name = base_name(tunings.base_name());
    if let Some(version) = name.version {
        let value = Cow::Owned(version);
        tunings.versions.push(Version { key: Cow::Borrowed("MIOpen version"), value, line: 0 });
    }
    (
        name.target.ok_or("the file's name does not begin with a target"),
        name.cu_count.ok_or("the file's name does not end its target with a number of compute units"),
    )
}

/// Reads a FindDb or PerfDb.
pub(crate) fn database<'a>(name: &str, bytes: &'a [u8], format: Format) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, format, bytes);
    let (target, cu_count) = names(&mut tunings);
    let mut check = TextCheck::default();
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        check.see(&line);
        if line.text.is_empty() {
            if line.invalid {
                tunings.bad_row(line.number, FlawKind::Malformed, "bytes that are no UTF-8 text");
            }
            continue;
        }
        let Some((key, values)) = line.text.split_once('=') else {
            tunings.bad_row(line.number, FlawKind::Malformed, "a line without `=`");
            continue;
        };
        let from = tunings.rows.len();
        record(&line, key, values, format, &mut tunings);
        for row in &mut tunings.rows[from..] {
            row.target = target.clone().map(Cow::Owned);
            row.cu_count = cu_count;
        }
    }
    check.note(&mut tunings);
    tunings.flaws.in_order_by_key(|flaw| (flaw.line, flaw.kind));
    Ok(tunings)
}

fn record<'a>(line: &Line<'a>, key: &'a str, values: &'a str, format: Format, tunings: &mut Tunings<'a>) {
    let number = line.number;
    let parsed = ConvKey::parse(key);
    if parsed.is_none() {
        tunings.flaw(number, FlawKind::Malformed, format!("`{key}` is no key of a convolution"));
    }
    let mut at = line.span.start + key.len() + 1;
    let first = tunings.rows.len();
    let mut seen: Vec<&str> = Vec::new();
    for entry in values.split(';') {
        let span = at..at + entry.len();
        at = span.end + 1;
        if entry.is_empty() {
            continue;
        }
        if seen.len() >= MOST_SOLVERS {
            let text = format!("more than {MOST_SOLVERS} entries in one record: those behind are not read");
            tunings.bad_row(number, FlawKind::Malformed, text);
            break;
        }
        let Some((id, rest)) = entry.split_once(':') else {
            let text = format!("the entry `{entry}` has no values: MIOpen skips it");
            tunings.flaw(number, FlawKind::IllFormedEntry, text);
            continue;
        };
        let mut row = Row::new(number, span, Kind::Convolution, "conv");
        let solver = if format == Format::FindDb {
            find_entry(id, rest, &mut row, tunings)
        } else {
            perf_entry(id, rest, &mut row)
        };
        if seen.contains(&solver) {
            tunings.flaw(
                number,
                FlawKind::RepeatedEntry,
                format!("`{solver}` occurs again: MIOpen keeps the first"),
            );
            continue;
        }
        seen.push(solver);
        row.key = Cow::Borrowed(key);
        if let Some(parsed) = &parsed {
            row.operation = Cow::Borrowed(parsed.operation());
            row.types = Ok(Cow::Borrowed(parsed.data_type));
            row.layout = Ok(Cow::Borrowed(parsed.layout));
            // Version 1.0 has the algorithm before the colon, later ones behind it.
            let algorithm = if id.starts_with(ALGORITHM) { id } else { rest };
            if format == Format::FindDb && direction_contradicts(algorithm, parsed.direction) {
                let text = format!("`{solver}` has an algorithm of another direction");
                tunings.flaw(number, FlawKind::Contradiction, text);
            }
        }
        row.shape = Ok(Shape::Text(Cow::Borrowed(key)));
        tunings.rows.push(row);
    }
    let times: Vec<f64> =
        tunings.rows[first..].iter().filter_map(|row| row.time_us.as_ref().ok().copied()).collect();
    if times.windows(2).any(|pair| pair[0] > pair[1]) {
        tunings.flaw(number, FlawKind::NotSorted, "entries are not sorted by time");
    }
}

/// `Solver:ms,workspace,algorithm`, or `algorithm:solver,ms,workspace,…` of version 1.0.
fn find_entry<'a>(id: &'a str, rest: &'a str, row: &mut Row<'a>, tunings: &mut Tunings<'a>) -> &'a str {
    let mut parts = rest.split(',');
    let (solver, ms) = if id.starts_with(ALGORITHM) {
        let solver = parts.next().unwrap_or_default();
        // Flaws of this line are the last ones.
        let mut of_line = tunings.flaws.iter().rev().take_while(|it| it.line == row.line);
        if !of_line.any(|it| it.kind == FlawKind::OldGeneration) {
            tunings.flaw(row.line, FlawKind::OldGeneration, "a record of FindDb 1.0: converted when read");
        }
        (solver, parts.next())
    } else {
        (id, parts.next())
    };
    row.candidate = Ok(Cow::Borrowed(solver));
    row.time_us = ms.map_or(Err(time::ABSENT), |ms| time::parse(ms, 1e3));
    solver
}

/// `Solver:parameters`.
fn perf_entry<'a>(id: &'a str, rest: &'a str, row: &mut Row<'a>) -> &'a str {
    row.candidate = Ok(if rest.is_empty() { Cow::Borrowed(id) } else { Cow::Owned(format!("{id}: {rest}")) });
    row.time_us = Err("PerfDb holds parameters and no times");
    id
}

/// True if an algorithm's name belongs to another direction.
fn direction_contradicts(values: &str, direction: char) -> bool {
    let Some((_, name)) = values.split_once(ALGORITHM) else { return false };
    let own = match () {
        () if name.starts_with("Fwd") => 'F',
        () if name.starts_with("BwdData") => 'B',
        () if name.starts_with("BwdWeights") => 'W',
        () => return false,
    };
    own != direction
}

/// The solver and its values of an entry, in the present form: `Solver`, `ms,workspace,algorithm`. Of a record
/// of FindDb 1.0 the algorithm is the word before the colon, as MIOpen converts it; the values behind the
/// workspace belong to its cache of kernels and are dropped.
pub fn entry<'a>(tunings: &Tunings<'a>, row: &Row<'a>) -> Option<(&'a str, Cow<'a, str>)> {
    let text = std::str::from_utf8(tunings.text(row)).ok()?;
    let (id, rest) = text.split_once(':')?;
    if !id.starts_with(ALGORITHM) {
        return Some((id, Cow::Borrowed(rest)));
    }
    let mut parts = rest.split(',');
    let (solver, ms, workspace) = (parts.next()?, parts.next()?, parts.next()?);
    Some((solver, Cow::Owned(format!("{ms},{workspace},{id}"))))
}

/// The solver of a row of a PerfDb in SQLite, and its parameters.
pub fn solver<'r>(row: &'r Row<'_>) -> Option<(&'r str, &'r str)> {
    let text = row.candidate.as_deref().ok()?;
    Some(text.split_once(": ").unwrap_or((text, "")))
}

/// Reads driver commands, their measured time if it follows, and results of a search.
pub(crate) fn log<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::DriverCommands, bytes);
    let mut seen: HashMap<&'a str, usize> = HashMap::new();
    let mut solver: Option<&'a str> = None;
    // The last line was the command as it was typed; the driver repeats it.
    let mut typed: Option<&str> = None;
    for line in lines(bytes) {
        let text = line.text;
        tunings.bounded(line.number)?;
        if let Some(at) = text.find(DRIVER) {
            let command = text[at..].trim_end();
            if typed.take() == Some(command) && at == 0 {
                continue;
            }
            typed = text[..at].ends_with('/').then_some(command);
            match seen.get(command) {
                Some(row) => tunings.rows[*row].calls += 1,
                None => {
                    seen.insert(command, tunings.rows.len());
                    let mut row = Row::new(line.number, line.span.clone(), Kind::Convolution, "conv");
                    row.key = Cow::Borrowed(command);
                    let (operation, arguments) =
                        command["MIOpenDriver ".len()..].split_once(' ').unwrap_or_default();
                    row.operation = Cow::Borrowed(operation);
                    row.types = Ok(Cow::Borrowed(match operation {
                        "convfp16" => "FP16",
                        "convbfp16" => "BF16",
                        "convint8" => "INT8",
                        _ => "FP32",
                    }));
                    row.shape = Ok(Shape::Text(Cow::Borrowed(arguments)));
                    row.candidate = Err("a command names no solver");
                    row.time_us = Err("a command has no time");
                    tunings.rows.push(row);
                }
            }
        } else if let Some((_, rest)) = text.split_once("GPU Kernel Time ") {
            let ms = rest.split_once("Elapsed: ").and_then(|(_, it)| it.split(' ').next());
            if let (Some(ms), Some(row)) = (ms, tunings.rows.last_mut()) {
                row.time_us = time::parse(ms, 1e3);
            }
        } else if let Some((_, bound)) =
            text.split_once(" FAILED: ").filter(|(what, _)| what.contains("Convolution"))
        {
            if let Some(row) = tunings.rows.last_mut() {
                row.time_us = Err("the result is wrong");
            }
            tunings.bad_row(line.number, FlawKind::WrongResult, format!("error {bound}"));
        } else if let Some(rate) = text.strip_prefix("stats: ").and_then(stated_rate) {
            if let Some(row) = tunings.rows.last_mut() {
                row.stated = Stated::rate(Ok(rate));
            }
        } else if let Some((_, rest)) = text.split_once(", Solution: ") {
            if let Some(row) = tunings.rows.last_mut() {
                row.candidate = Ok(Cow::Borrowed(rest.trim()));
            }
        } else if let Some((_, rest)) = text.split_once("[GetAllConfigs] ") {
            solver = rest.split(':').next();
        } else if let Some((_, rest)) = text.split_once("[GenericSearch] Done: ") {
            tunings.rows.push(search_row(&line, rest, solver.take()));
        }
    }
    Ok(tunings)
}

/// The rate of a line of values, `name, ..., GFLOPs, GB/s, ms`, in 10^12 operations per second.
fn stated_rate(values: &str) -> Option<f64> {
    let values: Vec<&str> = values.rsplit(',').map(str::trim).take(3).collect();
    let [_, _, rate] = values[..] else { return None };
    rate.parse::<f64>().ok().filter(|it| *it > 0.0 && it.is_finite()).map(|it| it / 1e3)
}

/// `390/0/390, best #92 0.0129282 1,8,2,…`: tried, failed, all; best number, milliseconds, parameters.
fn search_row<'a>(line: &Line<'a>, rest: &'a str, solver: Option<&'a str>) -> Row<'a> {
    let mut row = Row::new(line.number, line.span.clone(), Kind::Convolution, solver.unwrap_or("search"));
    let words: Vec<&'a str> = rest.split([' ', '#']).filter(|it| !it.is_empty()).collect();
    let tried = words.first().and_then(|it| it.split('/').next()).unwrap_or_default();
    row.key = Cow::Borrowed(rest);
    row.shape = Err("the search names no problem");
    let from = words.iter().position(|it| *it == "best").map_or(words.len(), |at| at + 1);
    let [_, ms, parameters, ..] = words.get(from..).unwrap_or_default() else { return row };
    row.candidate = Ok(Cow::Borrowed(parameters));
    row.time_us = if tried == "0" { Err("nothing was tried") } else { time::parse(ms, 1e3) };
    row
}
