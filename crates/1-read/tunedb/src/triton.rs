//! Results of Triton's autotuner: cache files, printed lines, events of tritonparse.
//!
//! The best timing has the smallest median, then the smallest 20th, then 80th percentile; the first one wins
//! a tie; a failed configuration is `Infinity`.

use crate::error::Error;
use crate::format::Format;
use crate::json::{Json, Placed, join_pairs, parse};
use crate::lines::{LineIndex, lines};
use crate::model::{FlawKind, Kind, Row, Said, Shape, Tunings, Version, time};
use std::borrow::Cow;
use std::cmp::Ordering;

const OLD: &str = "Triton autotuning for function ";
const CONFIG: &str = "Autotuning kernel ";
const FAILED: &str = "Autotuning failed with ";
const SELECTED: &str = "best config selected: ";
const KEY: &str = "with key as (";
const FINISHED: &str = "finished after ";

/// Whether a JSON document is a cache file of the autotuner.
pub(crate) fn is_cache(root: &Json<'_>) -> bool {
    root.get("configs_timings").is_some_and(|it| it.array().is_some()) && root.get("key").is_some()
}

/// Reads `<kernel>.autotune.json`.
pub(crate) fn cache<'a>(name: &str, bytes: &'a [u8], root: &Placed<'a>) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::Autotune, bytes);
    let index = LineIndex::new(bytes);
    let kernel = tunings.base_name().trim_end_matches(".json").trim_end_matches(".autotune").to_owned();
    let key = root.value.get("key").and_then(Json::array).unwrap_or_default();
    let key: Vec<String> = key.iter().map(|it| it.value.words()).collect();
    let key = key.join(", ");
    let all = root.value.get("configs_timings").and_then(Json::array).unwrap_or_default();
    for pair in all {
        let line = index.line(pair.span.start);
        let Some([config, timing]) = pair.value.array() else {
            return Err(Error::new(line, "no pair of configuration and timing"));
        };
        let mut row = Row::new(line, pair.span.clone(), Kind::Kernel, Cow::Owned(kernel.clone()));
        row.key = Cow::Owned(key.clone());
        row.shape = Ok(Shape::Text(Cow::Owned(key.clone())));
        row.candidate = Ok(Cow::Owned(config_words(&config.value)));
        row.time_us = median(&timing.value);
        row.types = Err("the key holds the types among its values");
        if row.time_us == Err(time::NAN) {
            tunings.flaw(line, FlawKind::Malformed, "NaN is no timing");
        }
        tunings.rows.push(row);
    }
    if !tunings.rows.is_empty() && tunings.rows.iter().all(|row| row.time_us.is_err()) {
        tunings.flaw(1, FlawKind::Unused, "every configuration failed: there is none to choose");
    }
    Ok(tunings)
}

/// A configuration as Triton prints it; null values are left out.
fn config_words(config: &Json<'_>) -> String {
    let members = config.object().unwrap_or_default();
    let kwargs = config.get("kwargs").and_then(Json::object).unwrap_or_default();
    let rest = members.iter().filter(|it| it.key != "kwargs" && it.value.value != Json::Null);
    join_pairs(kwargs.iter().chain(rest).map(|it| (&*it.key, it.value.value.words())))
}

/// The median, microseconds: Triton's times are milliseconds.
fn median(timing: &Json<'_>) -> Said<f64> {
    let first = match timing {
        Json::Array(items) => items.first().and_then(|it| it.value.number()),
        other => other.number(),
    };
    first.map_or(Err(time::ABSENT), |ms| time::check(ms * 1e3))
}

/// Position of the configuration that Triton takes from a cache file.
pub fn best(tunings: &Tunings<'_>) -> Option<usize> {
    let text = std::str::from_utf8(tunings.bytes).ok()?;
    let root = parse(text).ok()?;
    let all = root.value.get("configs_timings").and_then(Json::array)?;
    let times: Vec<Vec<f64>> = all
        .iter()
        .map(|pair| match pair.value.array().and_then(|it| it.get(1)).map(|it| &it.value) {
            Some(Json::Array(items)) => items.iter().filter_map(|it| it.value.number()).collect(),
            Some(other) => other.number().into_iter().collect(),
            None => Vec::new(),
        })
        .collect();
    let usable = |it: &&usize| times[**it].first().is_some_and(|first| first.is_finite());
    let order = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|it| it.is_ne()).unwrap_or(Ordering::Equal)
    };
    let places: Vec<usize> = (0..times.len()).collect();
    places.iter().filter(usable).min_by(|a, b| order(&times[**a], &times[**b])).copied()
}

/// Whether a text has lines of the autotuner among its first ones.
pub(crate) fn is_log(bytes: &[u8]) -> bool {
    lines(bytes).take(20_000).any(|line| {
        line.text.contains(OLD) || line.text.contains(CONFIG) && line.text.contains(" with config ")
    })
}

/// Reads printed lines of both forms from the output of a program.
pub(crate) fn log<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::AutotuneLog, bytes);
    let mut open: Option<Row<'a>> = None;
    let mut tried: Option<(u32, &'a str)> = None;
    for line in lines(bytes) {
        let text = line.text;
        tunings.bounded(line.number)?;
        if let Some(at) = text.find(OLD) {
            give_up(open.take(), &mut tunings);
            let rest = &text[at + OLD.len()..];
            let name = rest.split([' ', ',']).next().unwrap_or_default();
            let mut row = Row::new(line.number, line.span.clone(), Kind::Kernel, name);
            row.time_us = Err("Triton prints no time of the winner");
            row.shape = Err("the line names no key");
            if let Some(config) = rest.split_once(SELECTED).map(|(_, it)| it) {
                row.candidate = Ok(Cow::Borrowed(config.trim_end().trim_end_matches(';')));
                tunings.rows.push(row);
            } else {
                open = Some(row);
            }
        } else if let Some(row) = &mut open {
            if let Some((_, key)) = text.split_once(KEY) {
                let key = key.trim_end_matches(',').trim_end_matches(')');
                row.key = Cow::Borrowed(key);
                row.shape = Ok(Shape::Text(Cow::Borrowed(key)));
            } else if let Some((_, config)) = text.split_once(SELECTED) {
                row.candidate = Ok(Cow::Borrowed(config.trim_end().trim_end_matches(';')));
                row.span.end = line.span.end;
                tunings.rows.extend(open.take());
            } else if !text.contains(FINISHED) && line.number > row.line + 64 {
                give_up(open.take(), &mut tunings);
            }
        } else if let Some((_, config)) = text.split_once(CONFIG) {
            tried = config.split_once(" with config ").map(|(_, it)| (line.number, it));
        } else if let (Some((number, config)), Some((_, why))) = (tried, text.split_once(FAILED)) {
            let text = format!("the configuration `{config}` failed: {why}");
            tunings.flaw(number, FlawKind::Unused, text);
            tried = None;
        }
    }
    give_up(open, &mut tunings);
    Ok(tunings)
}

/// Notes a record without its end.
fn give_up(open: Option<Row<'_>>, tunings: &mut Tunings<'_>) {
    if let Some(row) = open {
        let text = format!("the record of `{}` has no end", row.operation);
        tunings.flaw(row.line, FlawKind::CutLine, text);
    }
}

/// Whether the first line is an event of tritonparse.
pub(crate) fn is_events(bytes: &[u8]) -> bool {
    lines(bytes).next().is_some_and(|it| it.text.starts_with('{') && it.text.contains("\"event_type\""))
}

/// Reads events of tritonparse, one a line.
pub(crate) fn events<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::TritonParse, bytes);
    for line in lines(bytes) {
        if line.text.trim().is_empty() {
            continue;
        }
        tunings.bounded(line.number)?;
        let event = match parse(line.text) {
            Ok(event) => event.value,
            Err(error) => {
                tunings.flaw(line.number, FlawKind::Malformed, error.message);
                continue;
            }
        };
        let word = |key: &str| event.get(key).and_then(Json::text).map(str::to_owned);
        match event.get("event_type").and_then(Json::text) {
            Some("autotune") => {}
            Some("autotune_analysis" | "autotune_summary") => {
                if tunings.version("analysis").is_none() {
                    let value =
                        Cow::Borrowed("made by tritonparse afterwards: hashes of compiled kernels, no times");
                    tunings.versions.push(Version {
                        key: Cow::Borrowed("analysis"),
                        value,
                        line: line.number,
                    });
                }
                continue;
            }
            _ => continue,
        }
        let kernel = word("kernel_name").unwrap_or_default();
        let key = word("autotune_key").unwrap_or_default();
        let new = || {
            let mut row = Row::new(line.number, line.span.clone(), Kind::Kernel, Cow::Owned(kernel.clone()));
            row.key = Cow::Owned(key.clone());
            row.shape = Ok(Shape::Text(Cow::Owned(key.clone())));
            row
        };
        match event.get("configs_timings").and_then(Json::object) {
            Some(all) => {
                for member in all {
                    let mut row = new();
                    row.candidate = Ok(Cow::Owned(member.key.to_string()));
                    row.time_us = median(&member.value.value);
                    tunings.rows.push(row);
                }
            }
            None => {
                let mut row = new();
                row.candidate = word("best_config").map(Cow::Owned).ok_or("the event names no configuration");
                row.time_us = Err("the result came from the cache, so nothing was timed");
                tunings.rows.push(row);
            }
        }
    }
    Ok(tunings)
}
