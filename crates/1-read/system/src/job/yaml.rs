//! YAML of jobs as JSON values: several documents, anchors and merge keys.
//!
//! Scalars stay texts. The number of values, with those that aliases repeat, is bounded.

use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};
use std::collections::HashMap;

const DEEPEST: usize = 64;
const MOST_VALUES: usize = 200_000;

/// A value under construction: a list, or a map with the key that waits for its value.
enum Open {
    List(Vec<Value>, usize),
    Map(Map<String, Value>, Option<String>, usize),
}

/// All documents of a text.
///
/// # Errors
/// The text is not YAML, is nested too deeply, or has too many values.
pub(crate) fn documents(text: &str) -> Result<Vec<Value>, String> {
    let mut documents = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: HashMap<usize, Value> = HashMap::new();
    let mut values = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| format!("no YAML at line {}: {}", error.marker().line(), error.info()))?;
        let (value, anchor) = match event {
            Event::SequenceStart(anchor, _) => {
                open.push(Open::List(Vec::new(), anchor));
                if open.len() > DEEPEST {
                    return Err(format!("line {}: nested too deeply", span.start.line()));
                }
                continue;
            }
            Event::MappingStart(anchor, _) => {
                open.push(Open::Map(Map::new(), None, anchor));
                if open.len() > DEEPEST {
                    return Err(format!("line {}: nested too deeply", span.start.line()));
                }
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items, anchor)) => (Value::Array(items), anchor),
                Some(Open::Map(map, _, anchor)) => (Value::Object(map), anchor),
                None => continue,
            },
            Event::Scalar(text, _, anchor, _) => (Value::String(text.into_owned()), anchor),
            Event::Alias(anchor) => (anchors.get(&anchor).cloned().unwrap_or(Value::Null), 0),
            _ => continue,
        };
        values += count(&value);
        if values > MOST_VALUES {
            return Err("more values than a file of a job has".to_owned());
        }
        if anchor > 0 {
            anchors.insert(anchor, value.clone());
        }
        match open.last_mut() {
            None => documents.push(value),
            Some(Open::List(items, _)) => items.push(value),
            Some(Open::Map(map, key, _)) => match (key.take(), value) {
                (None, Value::String(name)) => *key = Some(name),
                (None, _) => return Err(format!("line {}: a key that is no text", span.start.line())),
                (Some(name), value) if name == "<<" => merge(map, value),
                (Some(name), value) => drop(map.insert(name, value)),
            },
        }
    }
    Ok(documents)
}

/// Values of a tree; a copy of an alias counts whole, other values once since their parts were counted.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

/// `<<`: keys of other maps that this one lacks.
fn merge(map: &mut Map<String, Value>, value: Value) {
    match value {
        Value::Object(other) => other.into_iter().for_each(|(key, value)| {
            map.entry(key).or_insert(value);
        }),
        Value::Array(items) => items.into_iter().for_each(|it| merge(map, it)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents_anchors_and_merges() {
        for (text, expected) in [
            ("a: 1\n---\nb: [x, 'y z']\n", json!([{"a": "1"}, {"b": ["x", "y z"]}])),
            ("x: &c\n  k: v\ny:\n  <<: *c\n  m: n\n", json!([{"x": {"k": "v"}, "y": {"k": "v", "m": "n"}}])),
            ("", json!([])),
        ] {
            assert_eq!(documents(text).map(Value::Array), Ok(expected), "{text}");
        }
        assert!(documents("a: [1").is_err());
        assert!(documents(&"- ".repeat(10_000)).is_err());
        // Each alias doubles what it repeats.
        let mut text = String::from("a0: &a0 [x, x]\n");
        for at in 1..40 {
            text.push_str(&format!("a{at}: &a{at} [*a{}, *a{}]\n", at - 1, at - 1));
        }
        assert!(documents(&text).is_err());
    }
}
