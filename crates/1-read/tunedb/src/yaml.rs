//! YAML as a tree, for hand-written configurations.
//!
//! Aliases are refused and the number of values is bounded, so a short text cannot unfold into a long one.

use crate::error::Error;
use saphyr_parser::{Event, Parser};

const DEEPEST: usize = 48;
const MOST_VALUES: usize = 1_000_000;

/// A value with its line.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node {
    pub(crate) line: u32,
    pub(crate) value: Value,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        if let Value::Map(pairs) = &self.value {
            pairs.iter().find(|(it, _)| it == key).map(|(_, it)| it)
        } else {
            None
        }
    }

    pub(crate) fn list(&self) -> &[Node] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    pub(crate) fn map(&self) -> &[(String, Node)] {
        if let Value::Map(pairs) = &self.value { pairs } else { &[] }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Value::Scalar(text) = &self.value { Some(text) } else { None }
    }

    pub(crate) fn number(&self) -> Option<u64> {
        self.text()?.parse().ok()
    }

    /// `True`, `true` and `1` alike.
    pub(crate) fn is_true(&self) -> bool {
        self.text().is_some_and(|it| it.eq_ignore_ascii_case("true") || it == "1")
    }
}

/// Reads the first document of a text.
pub(crate) fn parse(text: &str) -> Result<Node, Error> {
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<(Node, Option<String>)> = Vec::new();
    let mut values = 0;
    loop {
        let (event, span) = match parser.next_event() {
            None => return Err(Error::new(0, "no YAML document")),
            Some(Err(error)) => {
                let line = u32::try_from(error.marker().line()).unwrap_or(u32::MAX);
                return Err(Error::new(line, format!("no YAML: {}", error.info())));
            }
            Some(Ok(found)) => found,
        };
        let line = u32::try_from(span.start.line()).unwrap_or(u32::MAX);
        values += 1;
        if values > MOST_VALUES || open.len() > DEEPEST {
            return Err(Error::new(line, "too many values or nested too deeply for a configuration"));
        }
        let done = match event {
            Event::MappingStart(..) => {
                open.push((Node { line, value: Value::Map(Vec::new()) }, None));
                continue;
            }
            Event::SequenceStart(..) => {
                open.push((Node { line, value: Value::List(Vec::new()) }, None));
                continue;
            }
            Event::Scalar(text, ..) => Node { line, value: Value::Scalar(text.into_owned()) },
            Event::MappingEnd | Event::SequenceEnd => match open.pop() {
                Some((node, _)) => node,
                None => return Err(Error::new(line, "no YAML: an end without a start")),
            },
            Event::Alias(_) => {
                return Err(Error::new(
                    line,
                    "an alias (`*name`): not supported, since it can unfold without bound",
                )
                .hint("write the value in its place"));
            }
            Event::StreamEnd => return Err(Error::new(0, "no YAML document")),
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => continue,
        };
        let Some((parent, key)) = open.last_mut() else { return Ok(done) };
        match &mut parent.value {
            Value::List(items) => items.push(done),
            Value::Map(pairs) => match key.take() {
                Some(name) => pairs.push((name, done)),
                None => match done.value {
                    Value::Scalar(text) => *key = Some(text),
                    _ => return Err(Error::new(line, "a key that is no text")),
                },
            },
            Value::Scalar(_) => return Err(Error::new(line, "no YAML")),
        }
    }
}
