//! The JSON document of an answer as tables: everything that it holds, whichever command wrote it.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use view::{Answer, Cell, Column, ColumnKind, FileError, NoteKind, Number, Row, Stored, Table};

/// Fields of every answer, which are shown by other means than the fields of one command.
const COMMON: [&str; 7] = ["schema", "inputs", "findings", "tables", "notes", "errors", "version"];
/// Most values of a list in one cell.
const IN_CELL: usize = 12;
/// Most tables of the fields of one command.
const MOST_TABLES: usize = 60;
/// Fields by which an entry of a list is named, best first.
const NAMES: [&str; 8] = ["name", "kernel", "title", "label", "rule", "metric", "what", "path"];
/// Fields that come first, in this order; others follow by name.
const FIRST: [&str; 17] = [
    "name",
    "kernel",
    "demangled",
    "title",
    "label",
    "rule",
    "metric",
    "what",
    "path",
    "kind",
    "severity",
    "verdict",
    "because",
    "message",
    "advice",
    "gpu",
    "base",
];
/// Ends of names of fields with the unit that each tells.
const UNITS: [(&str, &str); 8] = [
    ("_us", "us"),
    ("_ns", "ns"),
    ("_ms", "ms"),
    ("_seconds", "s"),
    ("_percent", "%"),
    ("_bytes", "B"),
    ("_gbps", "GB/s"),
    ("_mhz", "MHz"),
];

/// Adds the tables and notes of a document, with at most `lines` rows each.
pub(super) fn add(answer: &mut Answer<Stored>, document: &Value, lines: usize) {
    let list = |name: &str| document[name].as_array().map_or(&[][..], Vec::as_slice);
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    for it in list("notes") {
        let kind = match it["kind"].as_str() {
            Some("error") => NoteKind::Error,
            Some("warning") => NoteKind::Warning,
            _ => NoteKind::Info,
        };
        answer.note(kind, text(it, "text"));
    }
    let error = |it: &Value| {
        let hint = it["hint"].as_str().map(str::to_owned);
        FileError { file: text(it, "file"), error: text(it, "error"), hint }
    };
    answer.errors.extend(list("errors").iter().map(error));
    let mut made = Made { lines, tables: Vec::new() };
    if let Value::Object(fields) = document {
        let own: Map<String, Value> = fields
            .iter()
            .filter(|(name, _)| !COMMON.contains(&name.as_str()))
            .map(|(name, it)| (name.clone(), it.clone()))
            .collect();
        made.object("Answer", &own);
    }
    made.list("Findings", list("findings"));
    made.list("Files read", list("inputs"));
    made.tables.truncate(MOST_TABLES);
    made.tables.extend(list("tables").iter().map(|it| table(it, lines)));
    answer.tables.extend(made.tables);
}

/// Tables that are made of a document.
struct Made {
    lines: usize,
    tables: Vec<Table>,
}

/// An entry of a list or an object: its values by name, and the lists in it.
#[derive(Default)]
struct Fields<'a> {
    cells: Vec<(String, Cell)>,
    lists: Vec<(String, &'a [Value])>,
}

impl Made {
    /// An object as a table of two columns; tables of its lists follow.
    fn object(&mut self, title: &str, object: &Map<String, Value>) {
        let mut fields = Fields::default();
        ordered(object).for_each(|(name, it)| fields.add(name, it));
        let row = |(name, cell): &(String, Cell)| {
            let (name, unit) = with_unit(name);
            Row { label: name, unit, cells: vec![cell.clone()], ..Row::default() }
        };
        if !fields.cells.is_empty() {
            let kind = kind(fields.cells.iter().map(|it| &it.1));
            fields.cells.iter_mut().for_each(|it| fit(&mut it.1, kind));
            self.tables.push(Table {
                title: title.to_owned(),
                label: "field".to_owned(),
                columns: vec![Column::new("value", kind, "")],
                rows: fields.cells.iter().map(row).collect(),
                ..Table::default()
            });
        }
        for (name, list) in fields.lists {
            self.list(&titled(&with_unit(&name).0), list);
        }
    }

    /// A list of objects as a table; tables of the lists in them follow.
    fn list(&mut self, title: &str, list: &[Value]) {
        let all: Vec<(String, &Value)> =
            list.iter().enumerate().map(|(at, it)| (name_of(it, at), it)).collect();
        self.named(title, None, &all);
    }

    /// Entries with their names; entries of a list inside of another one have the name of the outer entry in a first column.
    fn named(&mut self, title: &str, outer: Option<&str>, all: &[(String, &Value)]) {
        if all.is_empty() || self.tables.len() > MOST_TABLES {
            return;
        }
        let mut names: Vec<String> = outer.into_iter().map(str::to_owned).collect();
        let mut rows: Vec<BTreeMap<usize, Cell>> = Vec::new();
        let mut inner: Vec<(String, Vec<(String, &Value)>)> = Vec::new();
        for (own, it) in all.iter().take(self.lines) {
            let mut fields = Fields::default();
            match it {
                Value::Object(object) => ordered(object).for_each(|(name, it)| fields.add(name, it)),
                other => fields.add("value", other),
            }
            let mut row: BTreeMap<usize, Cell> = outer.iter().map(|_| (0, Cell::text(own))).collect();
            for (name, cell) in fields.cells {
                let first = usize::from(outer.is_some());
                let at = names.iter().skip(first).position(|it| *it == name).map(|it| it + first);
                row.insert(at.unwrap_or(names.len()), cell);
                if at.is_none() {
                    names.push(name);
                }
            }
            rows.push(row);
            for (name, list) in fields.lists {
                let entries = list.iter().map(|it| (own.clone(), it));
                match inner.iter_mut().find(|it| it.0 == name) {
                    Some((_, all)) => all.extend(entries),
                    None => inner.push((name, entries.collect())),
                }
            }
        }
        let filled = |row: &BTreeMap<usize, Cell>| {
            Row::of((0..names.len()).map(|at| row.get(&at).cloned().unwrap_or(Cell::Empty)).collect())
        };
        let column = |(at, name): (usize, &String)| {
            let (title, unit) = with_unit(name);
            Column::new(title, kind(rows.iter().filter_map(|row| row.get(&at))), unit)
        };
        if !names.is_empty() {
            let columns: Vec<Column> = names.iter().enumerate().map(column).collect();
            for (at, cell) in rows.iter_mut().flatten() {
                fit(cell, columns[*at].kind);
            }
            self.tables.push(Table {
                title: title.to_owned(),
                columns,
                rows: rows.iter().map(filled).collect(),
                more: all.len().saturating_sub(self.lines),
                ..Table::default()
            });
        }
        for (name, entries) in inner {
            self.named(&format!("{title}: {}", with_unit(&name).0), Some("of"), &entries);
        }
    }
}

impl<'a> Fields<'a> {
    /// A field; fields of an object in it are named after both.
    fn add(&mut self, name: &str, value: &'a Value) {
        match value {
            Value::Null => {}
            Value::Object(object) if is_cell(object) => self.cells.push((name.to_owned(), cell(value))),
            Value::Object(object) => {
                ordered(object).for_each(|(inner, it)| self.add(&format!("{name} {inner}"), it));
            }
            Value::Array(list) if list.is_empty() => {}
            Value::Array(list) => {
                let words: Option<Vec<String>> = list.iter().map(words).collect();
                match words.filter(|it| it.len() <= IN_CELL) {
                    Some(words) => self.cells.push((name.to_owned(), Cell::text(words.join(", ")))),
                    None => self.lists.push((name.to_owned(), list.as_slice())),
                }
            }
            _ => self.cells.push((name.to_owned(), cell(value))),
        }
    }
}

/// The fields of an object as people read them.
fn ordered(object: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let first = FIRST.iter().filter_map(|it| object.get_key_value(*it));
    first.chain(object.iter().filter(|(name, _)| !FIRST.contains(&name.as_str())))
}

/// A table as the command made it.
fn table(value: &Value, lines: usize) -> Table {
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let list = |it: &'_ Value, name: &str| it[name].as_array().cloned().unwrap_or_default();
    let column = |it: &Value| Column::new(text(it, "title"), kind_named(&text(it, "kind")), text(it, "unit"));
    let row = |it: &Value| Row {
        id: text(it, "id"),
        label: text(it, "label"),
        unit: text(it, "unit"),
        cells: list(it, "cells").iter().map(cell).collect(),
        ..Row::default()
    };
    let rows = list(value, "rows");
    let more = value["more"].as_u64().and_then(|it| usize::try_from(it).ok()).unwrap_or(0);
    let note = |it: &Value| it.as_str().map(str::to_owned);
    Table {
        id: text(value, "id"),
        panel: text(value, "panel"),
        title: text(value, "title"),
        label: text(value, "label"),
        columns: list(value, "columns").iter().map(column).collect(),
        rows: rows.iter().take(lines).map(row).collect(),
        more: more + rows.len().saturating_sub(lines),
        notes: list(value, "notes").iter().filter_map(note).collect(),
        ..Table::default()
    }
}

fn kind_named(name: &str) -> ColumnKind {
    match name {
        "word" => ColumnKind::Word,
        "id" => ColumnKind::Id,
        "share" => ColumnKind::Share,
        "trust" => ColumnKind::Trust,
        "meaning" => ColumnKind::Meaning,
        "number" => ColumnKind::Number,
        "percent" => ColumnKind::Percent,
        "quartile" => ColumnKind::Quartile,
        _ => ColumnKind::Text,
    }
}

/// The kind of a column by its cells.
fn kind<'a>(cells: impl Iterator<Item = &'a Cell>) -> ColumnKind {
    let mut kind = ColumnKind::Id;
    for it in cells {
        match it {
            Cell::Text(_) => return ColumnKind::Text,
            Cell::Number(Number::Known(number)) if number.fract() == 0.0 => {}
            Cell::Empty => {}
            _ => kind = ColumnKind::Number,
        }
    }
    kind
}

/// Makes a number a text where others of its column are texts.
fn fit(cell: &mut Cell, kind: ColumnKind) {
    if let (Cell::Number(Number::Known(number)), ColumnKind::Text) = (&*cell, kind) {
        *cell = Cell::text(number.to_string());
    }
}

/// Whether an object is one value: a number with its change, or the reason why there is none.
fn is_cell(object: &Map<String, Value>) -> bool {
    ["value", "missing", "reason"].iter().any(|it| object.contains_key(*it)) && !object.contains_key("name")
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Number(it) => it.as_f64().map_or(Cell::Empty, Cell::from),
        Value::Object(it) if it.contains_key("value") => cell(&it["value"]),
        Value::Object(it) => {
            let reason = ["missing", "reason"].iter().find_map(|name| it.get(*name)?.as_str());
            reason.map_or(Cell::Empty, Cell::missing)
        }
        other => words(other).map_or(Cell::Empty, Cell::text),
    }
}

/// A value that is neither list nor object in words. A fact is its name and its value.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(it) => Some(it.clone()),
        Value::Bool(it) => Some(if *it { "yes" } else { "no" }.to_owned()),
        Value::Number(it) => Some(it.to_string()),
        Value::Object(it) if it.len() == 2 && it.contains_key("value") => {
            let name = NAMES.iter().find_map(|name| it.get(*name)?.as_str())?;
            it.get("value").and_then(words).map(|value| format!("{name}: {value}"))
        }
        _ => None,
    }
}

fn name_of(entry: &Value, at: usize) -> String {
    let named = NAMES.iter().find_map(|name| entry.get(*name)?.as_str());
    named.map_or_else(|| (at + 1).to_string(), str::to_owned)
}

/// The name of a field in words, and the unit that its end tells.
fn with_unit(name: &str) -> (String, String) {
    let unit = UNITS.iter().find_map(|(end, unit)| Some((name.strip_suffix(end)?, *unit)));
    let (name, unit) = unit.unwrap_or((name, ""));
    (name.replace('_', " "), unit.to_owned())
}

fn titled(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(table: &Table) -> Vec<String> {
        let cell = |it: &Cell| match it {
            Cell::Text(it) => it.clone(),
            Cell::Number(Number::Known(it)) => it.to_string(),
            Cell::Number(Number::Missing(why)) => format!("({why})"),
            _ => String::new(),
        };
        let heading = table.columns.iter().map(|it| format!("{} {}", it.title, it.unit).trim().to_owned());
        let row = |it: &Row| {
            let label = Some(format!("{} {}", it.label, it.unit)).filter(|_| !it.label.is_empty());
            label.into_iter().chain(it.cells.iter().map(cell)).collect::<Vec<_>>().join("|").trim().to_owned()
        };
        let heading = heading.collect::<Vec<_>>().join("|");
        [table.title.clone(), heading].into_iter().chain(table.rows.iter().map(row)).collect()
    }

    #[test]
    fn nothing_of_a_document_is_lost() {
        let document = json!({
            "schema": "rockhound.judge/1",
            "inputs": [{"name": "base.hip", "kind": "HIP source", "facts": []}],
            "gpu": "MI300X",
            "base_us": 2.5,
            "guide": {"verdict": {"kernel": "copy", "share": {"missing": "no time"}}},
            "candidates": [
                {"name": "a", "verdict": "faster", "time_us": 2, "bound_by": ["latency", "HBM"],
                 "changes": [{"name": "L2", "before": 4, "after": 3}, {"name": "LDS", "before": 0, "after": 7.5}],
                 "facts": [{"name": "order", "value": "as the base's"}]},
                {"name": "b", "verdict": "wrong", "inputs": "seed 1"},
            ],
            "findings": [{"rule": "JDG001", "message": "b is wrong"}],
            "tables": [{"id": "1", "title": "Shapes", "label": "shape", "columns": [{"title": "time", "kind": "number", "unit": "us"}],
                        "rows": [{"label": "N=1", "cells": [{"value": 4, "change": 1}]}, {"label": "N=2", "cells": [{"missing": "wrong"}]}]}],
            "notes": [{"kind": "warning", "text": "few"}],
            "errors": [{"file": "c", "error": "cut"}],
        });
        let mut answer = super::super::answer("show", "db");
        add(&mut answer, &document, 50);
        let all: Vec<Vec<String>> = answer.tables.iter().map(shown).collect();
        let expected = [
            &[
                "Answer",
                "value",
                "gpu |MI300X",
                "base us|2.5",
                "guide verdict kernel |copy",
                "guide verdict share |(no time)",
            ][..],
            &[
                "Candidates",
                "name|verdict|bound by|facts|time us|inputs",
                "a|faster|latency, HBM|order: as the base's|2|",
                "b|wrong||||seed 1",
            ],
            &["Candidates: changes", "of|name|after|before", "a|L2|3|4", "a|LDS|7.5|0"],
            &["Findings", "rule|message", "JDG001|b is wrong"],
            &["Files read", "name|kind", "base.hip|HIP source"],
            &["Shapes", "time us", "N=1 |4", "N=2 |(wrong)"],
        ];
        assert_eq!(all, expected);
        assert_eq!((answer.notes.len(), answer.errors.len()), (1, 1));
        // Long lists are cut, and say so.
        let long = json!({"points": (0..90).map(|it| json!([it, it])).collect::<Vec<_>>()});
        let mut answer = super::super::answer("show", "db");
        add(&mut answer, &long, 50);
        assert_eq!((answer.tables[0].rows.len(), answer.tables[0].more), (50, 40));
    }
}
