//! JSON documents in pieces of a given size, for readers who pay for each byte.
//!
//! A piece shows the first of everything and names an id for whatever it leaves out; [`open`] gives the piece of an id.
//! Ids are `finding:MEM001@3`, `table:2.1`, `table:2` (all tables of panel 2), `kernel:NAME` and, for any other value,
//! `at:/path/in/the/document`.

use serde_json::{Map, Number, Value, json};
use std::collections::HashMap;

/// The id of the document itself.
pub const WHOLE: &str = "at:";

/// Entries of a list, bytes of a text and depth that a piece shows, from the most to the least.
const LEVELS: [(usize, usize, usize); 11] = [
    (1000, 2000, 12),
    (40, 1000, 8),
    (20, 600, 8),
    (12, 400, 8),
    (8, 300, 7),
    (5, 200, 6),
    (3, 140, 6),
    (2, 100, 5),
    (2, 100, 4),
    (1, 80, 3),
    (1, 60, 2),
];

/// Fields of a kernel that an answer shows at once, beside those that are numbers or texts.
const OF_KERNELS: [&str; 4] = ["findings", "occupancy", "resources", "verdict"];

/// An id that is not in a document, and ids near it that are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    /// At most ten ids.
    pub known: Vec<String>,
}

/// A document in at most `limit` bytes of JSON, or as near to it as its field names allow.
pub fn brief(document: &Value, limit: usize) -> Value {
    fit(&Ids::of(document).listed(document, true), "", 0, limit)
}

/// The piece of an id, from entry `from` of a list, line `from` of a text or row `from` of a table.
///
/// # Errors
/// Fails if the document has no such id.
pub fn open(document: &Value, id: &str, from: usize, limit: usize) -> Result<Value, Unknown> {
    let unknown = || Unknown { known: near(document, id) };
    let (kind, name) = id.split_once(':').ok_or_else(unknown)?;
    match kind {
        "finding" => {
            let ids = Ids::of(document);
            let found = findings(document).into_iter().find(|(_, it)| ids.get(it) == Some(id));
            let (place, finding) = found.ok_or_else(unknown)?;
            Ok(fit(&rounded(finding), &place, from, limit))
        }
        "table" => match (table(document, name), &panel(document, name)[..]) {
            (Some(table), _) => Ok(table_piece(table, id, from, limit)),
            (None, [table]) => Ok(table_piece(table, id, from, limit)),
            (None, []) => Err(unknown()),
            (None, tables) => Ok(panel_piece(tables, id, limit)),
        },
        "kernel" => {
            let mut all = kernels(document).into_iter();
            let found = all.find(|(_, it)| it["name"] == name || it["demangled"] == name);
            let (place, kernel) = found.ok_or_else(unknown)?;
            Ok(fit(&Ids::of(document).listed(kernel, false), &place, from, limit))
        }
        "at" => {
            let value = document.pointer(name).ok_or_else(unknown)?;
            Ok(fit(&Ids::of(document).listed(value, false), name, from, limit))
        }
        _ => Err(unknown()),
    }
}

/// Every id of a document's findings, tables and kernels.
pub fn ids(document: &Value) -> Vec<String> {
    let known = Ids::of(document);
    let findings = findings(document).into_iter().filter_map(|(_, it)| Some(known.get(it)?.to_owned()));
    let tables = tables(document).into_iter().filter_map(|(_, it)| table_id(it));
    let kernels = kernels(document).into_iter().filter_map(|(_, it)| kernel_id(it));
    findings.chain(tables).chain(kernels).collect()
}

/// Ids of the same kind, those that share the longest beginning first.
fn near(document: &Value, id: &str) -> Vec<String> {
    let shared = |it: &String| it.bytes().zip(id.bytes()).take_while(|(a, b)| a == b).count();
    let mut all = ids(document);
    all.sort_by_key(|it| std::cmp::Reverse(shared(it)));
    all.truncate(10);
    all
}

/// A value with its place in the document, a JSON pointer.
type Placed<'a> = (String, &'a Value);

/// Entries of all lists of a name, in the order of the document.
fn entries<'a>(value: &'a Value, name: &str, place: &str, all: &mut Vec<Placed<'a>>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let place = inner(place, key);
                if key == name {
                    let own = value.as_array().into_iter().flatten().enumerate();
                    all.extend(own.map(|(at, it)| (format!("{place}/{at}"), it)));
                }
                entries(value, name, &place, all);
            }
        }
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(at, it)| entries(it, name, &format!("{place}/{at}"), all));
        }
        _ => {}
    }
}

/// The place of a field.
fn inner(place: &str, key: &str) -> String {
    format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn findings(document: &Value) -> Vec<Placed<'_>> {
    let mut all = Vec::new();
    entries(document, "findings", "", &mut all);
    all.retain(|(_, it)| it["rule"].is_string() && it["message"].is_string());
    all
}

fn tables(document: &Value) -> Vec<Placed<'_>> {
    let mut all = Vec::new();
    entries(document, "tables", "", &mut all);
    all.retain(|(_, it)| it["rows"].is_array());
    all
}

fn kernels(document: &Value) -> Vec<Placed<'_>> {
    let mut all = Vec::new();
    entries(document, "kernels", "", &mut all);
    all.retain(|(_, it)| it["name"].is_string());
    all
}

fn kernel_id(kernel: &Value) -> Option<String> {
    Some(format!("kernel:{}", kernel["name"].as_str()?))
}

/// Ids of the findings of a document: `finding:MEM001@3` is the third, and is of rule MEM001.
struct Ids(HashMap<*const Value, String>);

impl Ids {
    fn of(document: &Value) -> Ids {
        let rule = |it: &Value| it["rule"].as_str().unwrap_or_default().to_owned();
        let all = findings(document).into_iter().enumerate();
        Ids(all
            .map(|(at, (_, it))| (std::ptr::from_ref(it), format!("finding:{}@{}", rule(it), at + 1)))
            .collect())
    }

    fn get(&self, finding: &Value) -> Option<&str> {
        self.0.get(&std::ptr::from_ref(finding)).map(String::as_str)
    }

    /// A value with its findings in short, its tables by name, and without what is empty; kernels in short if asked.
    fn listed(&self, value: &Value, short_kernels: bool) -> Value {
        match value {
            Value::Object(object) => {
                let mut kept = Map::new();
                for (key, value) in object {
                    let value = match (key.as_str(), value) {
                        ("tables", Value::Array(tables)) => tables.iter().map(table_line).collect(),
                        ("kernels", Value::Array(kernels)) if short_kernels => {
                            kernels.iter().map(|it| short_kernel(&self.listed(it, true), it)).collect()
                        }
                        _ => self.listed(value, short_kernels),
                    };
                    if !is_empty(&value) {
                        kept.insert(key.clone(), value);
                    }
                }
                match self.get(value) {
                    Some(id) => short(&kept, id.to_owned()),
                    None => Value::Object(kept),
                }
            }
            Value::Array(values) => values.iter().map(|it| self.listed(it, short_kernels)).collect(),
            _ => rounded(value),
        }
    }
}

/// A kernel's numbers and findings; its id opens the rest. Registers and the like that it has none of are left out.
fn short_kernel(listed: &Value, kernel: &Value) -> Value {
    let Value::Object(fields) = listed else { return listed.clone() };
    let is_rest = |it: &Value| it.is_object() || it.is_array();
    let keep = |(key, it): &(&String, &Value)| !is_rest(it) || OF_KERNELS.contains(&key.as_str());
    let mut kept: Map<String, Value> =
        fields.iter().filter(keep).map(|(key, it)| (key.clone(), it.clone())).collect();
    for group in kept.values_mut().filter_map(Value::as_object_mut) {
        group.retain(|_, it| !is_rest(it) && it.as_f64() != Some(0.0) && *it != Value::Bool(false));
    }
    kept.retain(|_, it| it.as_f64() != Some(0.0));
    if kept["name"] == kernel["demangled"] {
        kept.remove("demangled");
    }
    if kept.len() < fields.len() {
        kept.extend(kernel_id(kernel).map(|it| ("id".to_owned(), it.into())));
    }
    Value::Object(kept)
}

fn table_id(table: &Value) -> Option<String> {
    let name = table["id"].as_str().filter(|it| !it.is_empty()).or_else(|| table["title"].as_str())?;
    Some(format!("table:{name}"))
}

/// A table by its id or title, perhaps with all or some of what a list of tables says behind its id.
fn table<'a>(document: &'a Value, name: &str) -> Option<&'a Value> {
    let all: Vec<&Value> = tables(document).into_iter().map(|it| it.1).collect();
    let is_listed = |it: &Value| {
        let listed = table_line(it);
        let listed = listed.as_str().and_then(|it| it.strip_prefix("table:")).unwrap_or_default();
        listed == name || listed.rsplit_once(" (").is_some_and(|(id_and_title, _)| id_and_title == name)
    };
    let id = name.split_once(' ').map_or(name, |(id, _)| id);
    let exact = all.iter().find(|it| it["id"] == name || it["title"] == name || is_listed(it));
    exact.or_else(|| all.iter().find(|it| it["id"] == id)).copied()
}

/// The tables of a panel: 2.1, 2.2 and so on of panel 2.
fn panel<'a>(document: &'a Value, number: &str) -> Vec<&'a Value> {
    let is_inside =
        |it: &Value| it["id"].as_str().and_then(|id| id.split_once('.')).map(|it| it.0) == Some(number);
    tables(document).into_iter().map(|it| it.1).filter(|it| is_inside(it)).collect()
}

/// The tables of a panel with their first rows, and the number of rows that each leaves out.
fn panel_piece(tables: &[&Value], id: &str, limit: usize) -> Value {
    let room = limit.saturating_sub(id.len() + 40) / tables.len();
    let short = |table: &&Value| table_id(table).map(|it| table_piece(table, &it, 0, room.saturating_sub(1)));
    let piece = json!({ "id": id, "tables": tables.iter().filter_map(short).collect::<Vec<_>>() });
    if piece.to_string().len() <= limit {
        return piece;
    }
    let mut left = limit.saturating_sub(id.len() + 50);
    let fits = |line: &Value| {
        let size = line.to_string().len() + 1;
        let is_inside = size <= left;
        left = if is_inside { left - size } else { 0 };
        is_inside
    };
    let names: Vec<Value> = tables.iter().map(|it| table_line(it)).take_while(fits).collect();
    let out = tables.len() - names.len();
    let mut piece = json!({ "id": id, "tables": names });
    if out > 0 {
        piece["more"] = format!("{out} tables").into();
    }
    piece
}

/// A finding without evidence, places and advice, which its id opens.
fn short(finding: &Map<String, Value>, id: String) -> Value {
    let mut kept: Map<String, Value> = finding.clone();
    kept.retain(|key, _| ["kernel", "severity", "message", "cost"].contains(&key.as_str()));
    kept.insert("id".to_owned(), Value::String(id));
    Value::Object(kept)
}

fn table_line(table: &Value) -> Value {
    let (Some(id), Some(rows)) = (table_id(table), table["rows"].as_array()) else { return Value::Null };
    let title = table["title"].as_str().filter(|it| !id.ends_with(it)).unwrap_or_default();
    let rows = match rows.len() {
        1 => "1 row".to_owned(),
        count => format!("{count} rows"),
    };
    Value::String(format!("{id} {title} ({rows})").replace("  ", " "))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(object) => object.is_empty(),
        _ => false,
    }
}

/// A value whose numbers have at most five significant digits.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => {
                let short: Option<f64> = format!("{float:.4e}").parse().ok();
                let whole = short.filter(|it| it.fract() == 0.0 && it.abs() < 9e15);
                match whole {
                    Some(whole) => json!(whole as i64),
                    None => short.and_then(Number::from_f64).map_or_else(|| value.clone(), Value::Number),
                }
            }
            _ => value.clone(),
        },
        Value::Object(object) => object.iter().map(|(key, it)| (key.clone(), rounded(it))).collect(),
        Value::Array(values) => values.iter().map(rounded).collect(),
        _ => value.clone(),
    }
}

/// A table as lines of text: heading, then rows from `from` that fit.
fn table_piece(table: &Value, id: &str, from: usize, limit: usize) -> Value {
    let label = table["label"].as_str().unwrap_or_default();
    let titles = table["columns"].as_array().into_iter().flatten().map(|it| cell(&it["title"]));
    let heading = std::iter::once(label.to_owned()).chain(titles).collect::<Vec<_>>().join(" | ");
    let rows = table["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |row: &Value| {
        let cells = row["cells"].as_array().into_iter().flatten().map(cell);
        std::iter::once(cell(&row["label"])).chain(cells).collect::<Vec<_>>().join(" | ")
    };
    let mut piece = json!({ "id": id, "title": table["title"], "columns": heading, "rows": [] });
    let mut left = limit.saturating_sub(piece.to_string().len() + 60);
    let mut shown = Vec::new();
    for row in rows.iter().skip(from) {
        let line = cut(&line(row), limit / 2);
        let size = Value::String(line.clone()).to_string().len() + 1;
        if size > left && !shown.is_empty() {
            break;
        }
        left = left.saturating_sub(size);
        shown.push(line);
    }
    let next = from + shown.len();
    piece["rows"] = shown.into();
    if next < rows.len() {
        piece["more"] = format!("{} rows, from {next}", rows.len() - next).into();
    }
    piece
}

/// A cell as text.
fn cell(value: &Value) -> String {
    match rounded(value) {
        Value::String(text) => text,
        Value::Null => String::new(),
        Value::Object(object) => match (object.get("missing"), object.get("value")) {
            (Some(reason), _) => format!("not known: {}", cell(reason)),
            (None, Some(value)) => cell(value),
            _ => Value::Object(object).to_string(),
        },
        other => other.to_string(),
    }
}

/// The largest piece of a value that fits.
fn fit(value: &Value, place: &str, from: usize, limit: usize) -> Value {
    let value = match value {
        Value::Array(values) if from > 0 => Value::Array(values.iter().skip(from).cloned().collect()),
        Value::String(text) if from > 0 => text.lines().skip(from).collect::<Vec<_>>().join("\n").into(),
        _ => value.clone(),
    };
    if value.to_string().len() <= limit {
        return value;
    }
    if let Value::String(text) = &value {
        return page(text, from, limit);
    }
    let pieces = LEVELS.iter().map(|level| shrunk(&value, &Here { place: place.to_owned(), from }, level));
    let mut least = Value::Null;
    for piece in pieces {
        if piece.to_string().len() <= limit {
            return piece;
        }
        least = piece;
    }
    fields_that_fit(&least, limit)
}

/// Whole lines of a text from its beginning, and the line that follows.
fn page(text: &str, from: usize, limit: usize) -> Value {
    let mut shown = String::new();
    let mut lines = 0;
    for line in text.lines() {
        let line = cut(line, limit / 2);
        if Value::String(format!("{shown}{line}\n")).to_string().len() + 40 > limit {
            break;
        }
        shown = format!("{shown}{line}\n");
        lines += 1;
    }
    json!({ "text": shown, "more": format!("from {}", from + lines) })
}

/// The fields of an object that fit, and the names of the others.
fn fields_that_fit(value: &Value, limit: usize) -> Value {
    let Value::Object(object) = value else { return Value::String(cut(&value.to_string(), limit)) };
    let mut by_size: Vec<_> =
        object.iter().map(|(key, it)| (it.to_string().len() + key.len() + 4, key, it)).collect();
    by_size.sort_by_key(|it| it.0);
    let mut left = limit.saturating_sub(100);
    let (mut kept, mut out) = (Map::new(), Vec::new());
    for (size, key, value) in by_size {
        if size <= left {
            left -= size;
            kept.insert(key.clone(), value.clone());
        } else {
            out.push(key.as_str());
        }
    }
    kept.insert("more".to_owned(), cut(&out.join(" "), 90).into());
    Value::Object(kept)
}

/// Where a value is: its id without `at:`, and the entry of the original list that is the first one here.
struct Here {
    place: String,
    from: usize,
}

impl Here {
    fn field(&self, key: &str) -> Here {
        Here { place: inner(&self.place, key), from: 0 }
    }

    fn id(&self) -> String {
        format!("{WHOLE}{}", self.place)
    }
}

fn shrunk(value: &Value, here: &Here, level: &(usize, usize, usize)) -> Value {
    let &(entries, bytes, depth) = level;
    match value {
        Value::Object(_) if depth == 0 => format!("open {}", here.id()).into(),
        Value::Array(values) if depth == 0 => format!("{} entries: open {}", values.len(), here.id()).into(),
        Value::Object(object) => {
            let inner = |(key, it): (&String, &Value)| {
                (key.clone(), shrunk(it, &here.field(key), &(entries, bytes, depth - 1)))
            };
            object.iter().map(inner).collect()
        }
        Value::Array(values) => {
            let inner = |(at, it): (usize, &Value)| {
                shrunk(it, &here.field(&(here.from + at).to_string()), &(entries, bytes, depth - 1))
            };
            let mut kept: Vec<Value> = values.iter().take(entries).enumerate().map(inner).collect();
            if values.len() > entries {
                let left = values.len() - entries;
                kept.push(format!("{left} more: open {} from {}", here.id(), here.from + entries).into());
            }
            kept.into()
        }
        Value::String(text) => cut(text, bytes).into(),
        _ => value.clone(),
    }
}

/// A text in at most so many bytes.
fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = bytes.saturating_sub(3);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Value {
        let finding = |rule: &str| {
            json!({ "rule": rule, "severity": "warning", "message": "x".repeat(300), "advice": "do",
                    "evidence": [{ "what": "VGPRs", "value": "170" }], "places": [] })
        };
        let rows: Vec<Value> =
            (0..200).map(|it| json!({ "id": it.to_string(), "label": format!("row {it}"), "cells": [it, { "missing": "none" }] })).collect();
        json!({
            "schema": "rockhound.x/1", "errors": [], "time": 1.234_567_89,
            "findings": [finding("MEM001"), finding("LDS002")],
            "kernels": [{ "name": "k<float>/2", "findings": [finding("RES003")], "loops": (0..500).collect::<Vec<_>>() }],
            "tables": [{ "id": "2.1", "title": "Speed of light", "label": "metric",
                         "columns": [{ "title": "value" }, { "title": "mean" }], "rows": rows }],
            "text": (0..400).map(|it| format!("line {it}\n")).collect::<String>(),
        })
    }

    #[test]
    fn every_piece_keeps_its_limit_and_every_id_opens() {
        let document = document();
        for limit in [400, 1000, 2000, 20_000] {
            let whole = brief(&document, limit);
            assert!(whole.to_string().len() <= limit, "{limit}: {}", whole.to_string().len());
            for id in
                ids(&document).iter().chain(["at:/kernels/0/loops".to_owned(), "at:/text".to_owned()].iter())
            {
                for from in [0, 100, 10_000] {
                    let piece = open(&document, id, from, limit).unwrap_or(Value::Null);
                    let size = piece.to_string().len();
                    assert!(size <= limit && !piece.is_null(), "{id} from {from}: {size} of {limit}");
                }
            }
        }
    }

    #[test]
    fn ids_name_findings_tables_and_kernels() {
        let expected =
            ["finding:MEM001@1", "finding:LDS002@2", "finding:RES003@3", "table:2.1", "kernel:k<float>/2"];
        assert_eq!(ids(&document()), expected);
        let whole = brief(&document(), 2000);
        assert_eq!(whole["findings"][1]["id"], "finding:LDS002@2");
        assert_eq!(whole["tables"][0], "table:2.1 Speed of light (200 rows)");
        assert_eq!(whole["time"], json!(1.2346));
        for name in [
            "2.1 Speed of light (200 rows)",
            "2.1 Speed of light",
            "2.1 Speed of…",
            "2.1",
            "Speed of light",
            "2",
        ] {
            let listed = open(&document(), &format!("table:{name}"), 0, 2000);
            assert_eq!(listed.map(|it| it["title"].clone()), Ok(json!("Speed of light")), "{name}");
        }
        let finding =
            open(&document(), "finding:RES003@3", 0, 2000).map(|it| it["evidence"][0]["value"].clone());
        assert_eq!(finding, Ok(json!("170")));
        let wrong = open(&document(), "finding:MEM009@1", 0, 2000);
        assert_eq!(wrong.map_err(|it| it.known[0].clone()), Err("finding:MEM001@1".to_owned()));
    }

    #[test]
    fn a_panel_opens_as_the_first_rows_of_its_tables() {
        let mut document = document();
        let second = json!({ "id": "2.2", "title": "Rates", "columns": [], "rows": [{ "label": "reads", "cells": [1] }] });
        let other = json!({ "id": "22.1", "title": "Others", "columns": [], "rows": [] });
        document["tables"].as_array_mut().unwrap().extend([second, other]);
        for limit in [200, 400, 1000, 2000] {
            let piece = open(&document, "table:2", 0, limit).unwrap();
            assert!(piece.to_string().len() <= limit, "{limit}: {piece}");
        }
        let piece = open(&document, "table:2", 0, 2000).unwrap();
        assert_eq!(piece["tables"][0]["id"], "table:2.1");
        assert!(piece["tables"][0]["more"].as_str().unwrap().ends_with("174 rows, from 26"), "{piece}");
        assert_eq!(piece["tables"][1]["rows"][0], "reads | 1");
        assert_eq!(piece["tables"].as_array().unwrap().len(), 2);
        assert!(open(&document, "table:3", 0, 2000).is_err());
    }

    #[test]
    fn pieces_of_a_list_a_text_and_a_table_make_the_whole() {
        let document = document();
        let (mut rows, mut from) = (0, 0);
        loop {
            let piece = open(&document, "table:2.1", from, 700).unwrap_or_default();
            rows += piece["rows"].as_array().map_or(0, Vec::len);
            let Some(more) = piece["more"].as_str() else { break };
            from = more.rsplit(' ').next().and_then(|it| it.parse().ok()).unwrap_or(usize::MAX);
        }
        assert_eq!(rows, 200);
        let (mut text, mut from) = (String::new(), 0);
        loop {
            let piece = open(&document, "at:/text", from, 700).unwrap_or_default();
            let Some(more) = piece["more"].as_str() else {
                text.push_str(piece.as_str().unwrap_or_default());
                break;
            };
            text.push_str(piece["text"].as_str().unwrap_or_default());
            from = more.rsplit(' ').next().and_then(|it| it.parse().ok()).unwrap_or(usize::MAX);
        }
        assert_eq!(text.trim_end(), document["text"].as_str().unwrap_or_default().trim_end());
    }
}
