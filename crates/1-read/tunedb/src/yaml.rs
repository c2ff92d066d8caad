//! YAML as a tree, for hand-written configurations.
//!
//! An alias is replaced by the value of its anchor. Values and depth are bounded after that, so a short text cannot
//! unfold into a long one.

use crate::error::Error;
use saphyr_parser::{Event, Parser};
use std::borrow::Cow;
use std::collections::HashMap;

const DEEPEST: usize = 48;
const MOST_VALUES: usize = 1_000_000;
/// Comments that directly follow a bracket, beyond which a text is refused: each costs one more pass.
const MOST_TOUCHING_COMMENTS: usize = 200;
const TOO_LARGE: &str = "too many values, aliases replaced, or nested too deeply for a configuration";
/// Beginning of the parser's message about such a comment, which PyYAML accepts.
const TOUCHING_COMMENT: &str = "comments must be separated";

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

/// Values in a node, itself among them, and levels below it.
fn extent(node: &Node) -> (usize, usize) {
    let below: Vec<(usize, usize)> = match &node.value {
        Value::Scalar(_) => return (1, 0),
        Value::List(items) => items.iter().map(extent).collect(),
        Value::Map(pairs) => pairs.iter().map(|(_, it)| extent(it)).collect(),
    };
    let values = below.iter().map(|it| it.0).sum::<usize>() + 1;
    (values, below.iter().map(|it| it.1).max().unwrap_or(0) + 1)
}

/// Reads the first document of a text.
pub(crate) fn parse(text: &str) -> Result<Node, Error> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MOST_TOUCHING_COMMENTS {
        let comment = match document(&text) {
            Err(Failure::TouchingComment(at)) => text.char_indices().nth(at).filter(|it| it.1 == '#'),
            Err(Failure::Other(error)) => return Err(error),
            Ok(node) => return Ok(node),
        };
        let Some((at, _)) = comment else { break };
        text.to_mut().insert(at, ' ');
    }
    Err(Error::new(0, "no YAML: comments without a blank before them"))
}

/// Reason why a document cannot be read.
enum Failure {
    /// A `#` at this character directly follows a token.
    TouchingComment(usize),
    /// Any other reason.
    Other(Error),
}

impl Failure {
    fn at(line: u32, message: impl Into<String>) -> Failure {
        Failure::Other(Error::new(line, message))
    }
}

fn document(text: &str) -> Result<Node, Failure> {
    let mut parser = Parser::new_from_str(text);
    // Open values with the number of their anchor, 0 without, and the key that waits for its value.
    let mut open: Vec<(Node, usize, Option<String>)> = Vec::new();
    let mut anchors: HashMap<usize, (Node, (usize, usize))> = HashMap::new();
    let mut values = 0;
    loop {
        let (event, span) = match parser.next_event() {
            None => return Err(Failure::at(0, "no YAML document")),
            Some(Err(error)) if error.info().starts_with(TOUCHING_COMMENT) => {
                return Err(Failure::TouchingComment(error.marker().index()));
            }
            Some(Err(error)) => {
                let line = u32::try_from(error.marker().line()).unwrap_or(u32::MAX);
                return Err(Failure::at(line, format!("no YAML: {}", error.info())));
            }
            Some(Ok(found)) => found,
        };
        let line = u32::try_from(span.start.line()).unwrap_or(u32::MAX);
        values += 1;
        if values > MOST_VALUES || open.len() > DEEPEST {
            return Err(Failure::at(line, TOO_LARGE));
        }
        let (done, anchor) = match event {
            Event::MappingStart(anchor, _) => {
                open.push((Node { line, value: Value::Map(Vec::new()) }, anchor, None));
                continue;
            }
            Event::SequenceStart(anchor, _) => {
                open.push((Node { line, value: Value::List(Vec::new()) }, anchor, None));
                continue;
            }
            Event::Scalar(text, _, anchor, _) => {
                (Node { line, value: Value::Scalar(text.into_owned()) }, anchor)
            }
            Event::MappingEnd | Event::SequenceEnd => match open.pop() {
                Some((node, anchor, _)) => (node, anchor),
                None => return Err(Failure::at(line, "no YAML: an end without a start")),
            },
            Event::Alias(anchor) => {
                let Some((node, (size, depth))) = anchors.get(&anchor) else {
                    return Err(Failure::at(line, "an alias (`*name`) inside its own anchor"));
                };
                values += size;
                if values > MOST_VALUES || open.len() + depth > DEEPEST {
                    return Err(Failure::at(line, TOO_LARGE));
                }
                (Node { line, value: node.value.clone() }, 0)
            }
            Event::StreamEnd => return Err(Failure::at(0, "no YAML document")),
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => continue,
        };
        if anchor > 0 {
            let extent = extent(&done);
            // The copy counts, too: anchors may be nested.
            values += extent.0;
            if values > MOST_VALUES {
                return Err(Failure::at(line, TOO_LARGE));
            }
            anchors.insert(anchor, (done.clone(), extent));
        }
        let Some((parent, _, key)) = open.last_mut() else { return Ok(done) };
        match &mut parent.value {
            Value::List(items) => items.push(done),
            Value::Map(pairs) => match key.take() {
                Some(name) => pairs.push((name, done)),
                None => match done.value {
                    Value::Scalar(text) => *key = Some(text),
                    _ => return Err(Failure::at(line, "a key that is no text")),
                },
            },
            Value::Scalar(_) => return Err(Failure::at(line, "no YAML")),
        }
    }
}
