//! Answers of commands as JSON, to be added to a database: their tables in long form.

use super::{entry, target_of};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;
use store::recordings::NewRecording;
use view::{StoredCell, StoredSort};

/// Bytes by which the document of an answer is told.
const HEAD: usize = 64;
/// Begin of the name of each schema.
const SCHEMA: &str = "rockhound.";
/// Most cells kept of the tables of one answer; the document itself is kept whole.
const MOST_CELLS: usize = 200_000;
/// Table of the findings, in front of the others.
const FINDINGS: &str = "findings";

/// True if bytes begin as the JSON of an answer does.
pub(super) fn is_answer(bytes: &[u8]) -> bool {
    let head: String = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).split_whitespace().collect();
    head.starts_with(&format!("{{\"schema\":\"{SCHEMA}"))
}

/// An answer in a file.
pub(super) fn read(path: &Path, bytes: Vec<u8>) -> Result<NewRecording> {
    of(StoredSort::Answer, path, bytes)
}

/// The answer of `trace`, as a timeline.
///
/// # Errors
/// If the text is not an answer.
pub fn timeline(path: &Path, answer: String) -> Result<NewRecording> {
    let mut made = of(StoredSort::Timeline, path, answer.into_bytes())?;
    if let Some((_, bytes)) = made.files.pop_first() {
        made.files.insert("trace.json".to_owned(), bytes);
    }
    Ok(made)
}

fn of(sort: StoredSort, path: &Path, bytes: Vec<u8>) -> Result<NewRecording> {
    let document: Value =
        serde_json::from_slice(&bytes).with_context(|| format!("`{}`: no whole answer", path.display()))?;
    let Some(schema) = document["schema"].as_str() else {
        bail!("`{}`: an answer without a schema", path.display());
    };
    let inputs = list(&document["inputs"]);
    let facts = || inputs.iter().flat_map(|it| list(&it["facts"]));
    let gpu = facts().filter(|it| text(it, "name") == "GPU").find_map(|it| target_of(&text(it, "value")));
    let mut made = entry(sort, path)?;
    made.kind = schema.to_owned();
    made.gpu = gpu;
    made.cells = cells(&document);
    made.facts = inputs.first().map_or_else(Default::default, |it| {
        let pair = |it: &Value| (text(it, "name"), text(it, "value"));
        list(&it["facts"]).iter().map(pair).collect()
    });
    made.files.insert(file_name(path), bytes);
    Ok(made)
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| "answer.json".to_owned(), |it| it.to_string_lossy().into_owned())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// Findings and tables as cells.
fn cells(document: &Value) -> Vec<StoredCell> {
    let mut all = Vec::new();
    for (line, finding) in (0..).zip(list(&document["findings"])) {
        for (name, unit) in
            [("rule", ""), ("severity", ""), ("kernel", ""), ("message", ""), ("time_lost_ns", "ns")]
        {
            let (number, words) = value_of(&finding[name]);
            if number.is_some() || words.is_some() {
                let (table, column, unit) = (FINDINGS.to_owned(), name.to_owned(), unit.to_owned());
                all.push(StoredCell { table, line, column, unit, number, text: words });
            }
        }
    }
    for table in list(&document["tables"]) {
        let title = format!("{} {}", text(table, "id"), text(table, "title")).trim().to_owned();
        for (line, row) in (0..).zip(list(&table["rows"])) {
            of_row(&mut all, &title, table, (line, row));
            if all.len() > MOST_CELLS {
                all.truncate(MOST_CELLS);
                return all;
            }
        }
    }
    all
}

fn of_row(all: &mut Vec<StoredCell>, title: &str, table: &Value, (line, row): (i64, &Value)) {
    let mut push = |column: String, unit: String, number, text| {
        all.push(StoredCell { table: title.to_owned(), line, column, unit, number, text });
    };
    let label = text(row, "label");
    if !label.is_empty() {
        let heading = Some(text(table, "label")).filter(|it| !it.is_empty());
        push(heading.unwrap_or_else(|| "label".to_owned()), String::new(), None, Some(label));
    }
    for (column, cell) in list(&table["columns"]).iter().zip(list(&row["cells"])) {
        let (number, words) = value_of(cell);
        if number.is_none() && words.is_none() {
            continue;
        }
        let unit = if number.is_none() { String::new() } else { text(column, "unit") };
        let unit = if unit.is_empty() && number.is_some() { text(row, "unit") } else { unit };
        push(text(column, "title"), unit, number, words);
    }
}

/// Number and words of a cell: an object is a number with its change, or the reason why there is none.
fn value_of(cell: &Value) -> (Option<f64>, Option<String>) {
    match cell {
        Value::Number(it) => (it.as_f64(), None),
        Value::String(it) => (None, Some(it.clone())),
        Value::Object(it) if it.contains_key("value") => value_of(&it["value"]),
        Value::Object(it) => {
            let reason = ["missing", "reason"].iter().find_map(|name| it.get(*name)?.as_str());
            (None, reason.map(str::to_owned))
        }
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_have_numbers_words_and_reasons() {
        let document = json!({
            "findings": [{"rule": "CTR001", "severity": "severe", "message": "m", "time_lost_ns": 5.0}],
            "tables": [{
                "id": "1.1", "title": "Time", "label": "kernel",
                "columns": [{"title": "total", "unit": "us"}, {"title": "why"}, {"title": "n"}, {"title": "d"}],
                "rows": [
                    {"label": "copy", "cells": [2.5, "words", null, {"value": 7, "change": 1}]},
                    {"unit": "GB/s", "cells": [{"missing": "not recorded"}, null, 3]},
                ],
            }],
        });
        let found: Vec<String> = cells(&document)
            .into_iter()
            .map(|it| {
                let number = it.number.map(|it| it.to_string());
                let value = number.or(it.text).unwrap_or_default();
                format!("{} {} {}={value} {}", it.table, it.line, it.column, it.unit)
            })
            .collect();
        let expected = [
            "findings 0 rule=CTR001 ",
            "findings 0 severity=severe ",
            "findings 0 message=m ",
            "findings 0 time_lost_ns=5 ns",
            "1.1 Time 0 kernel=copy ",
            "1.1 Time 0 total=2.5 us",
            "1.1 Time 0 why=words ",
            "1.1 Time 0 d=7 ",
            "1.1 Time 1 total=not recorded ",
            "1.1 Time 1 n=3 GB/s",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn answers_are_told_by_their_schema() {
        for (text, expected) in [
            ("{\"schema\":\"rockhound.guide/1\",", true),
            ("{\n  \"schema\": \"rockhound.judge/1\",\n", true),
            ("{\"schema\":\"other/1\"}", false),
            ("{\"traceEvents\":[]}", false),
            ("", false),
        ] {
            assert_eq!(is_answer(text.as_bytes()), expected, "{text}");
        }
        assert!(read(Path::new("Cargo.toml"), b"{\"schema\":\"rockhound.guide/1\"".to_vec()).is_err());
    }
}
