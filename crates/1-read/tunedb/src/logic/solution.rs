//! Solutions of a logic file: their keys as text.

use super::scan::Section;
use crate::error::Error;
use crate::logic_parts::{Pair, Solution};
use sorting::Sort;
use std::collections::HashMap;
use std::ops::Range;

/// Maximum number of solutions, and of their keys together; files with more are rejected. The largest files
/// have some thousands of solutions of 200 keys each.
const MOST_SOLUTIONS: usize = 200_000;
const MOST_KEYS: usize = 8_000_000;
/// Maximum bytes of a value with an anchor: such values are short lists, such as a thread tile.
const LONGEST_ANCHORED: usize = 256;

/// A line of a block, without its end.
struct BlockLine<'a> {
    number: u32,
    start: usize,
    indent: usize,
    text: &'a str,
}

fn block_lines<'a>(section: &Section<'a>, text: &'a str) -> impl Iterator<Item = BlockLine<'a>> {
    let mut at = section.start;
    let mut number = section.line;
    let body = &text[section.start..section.span.end];
    // Text after the dash or key is indented as if the dash or key were spaces.
    let shift = section.start - section.span.start;
    body.split_inclusive('\n').enumerate().map(move |(index, raw)| {
        let start = at;
        at += raw.len();
        let line = number;
        number += 1;
        let text = raw.trim_end_matches(['\n', '\r']);
        let blanks = text.len() - text.trim_start_matches(' ').len();
        let indent = if index == 0 { blanks + shift } else { blanks };
        BlockLine { number: line, start: start + blanks, indent, text: &text[blanks..] }
    })
}

/// The pairs of a map whose keys are indented by `indent`.
pub(crate) fn pairs<'a>(section: &Section<'a>, text: &'a str, indent: usize) -> Result<Vec<Pair<'a>>, Error> {
    let mut reader = Pairs::new(text);
    for line in block_lines(section, text) {
        reader.line(&line, indent)?;
    }
    Ok(reader.finish(section.span.end).pairs)
}

/// The solutions of a list whose dashes are indented by `dash` and keys by `indent`.
pub(crate) fn solutions<'a>(
    section: &Section<'a>,
    text: &'a str,
    dash: usize,
    indent: usize,
) -> Result<Vec<Solution<'a>>, Error> {
    let mut found: Vec<Solution<'a>> = Vec::new();
    let mut keys = 0;
    let mut open: Option<(u32, usize, Pairs<'a>)> = None;
    if matches!(section.text.trim(), "[]" | "null" | "") {
        return Ok(found);
    }
    for line in block_lines(section, text) {
        if line.text.is_empty() {
            continue;
        }
        if line.indent == dash && line.text.starts_with("- ") {
            if let Some((number, from, pairs)) = open.take() {
                keys += pairs.pairs.len();
                if found.len() >= MOST_SOLUTIONS || keys > MOST_KEYS {
                    return Err(Error::new(line.number, "more solutions than a library has"));
                }
                found.push(close(number, from, line.start - dash.min(line.start), pairs));
            }
            let blanks = line.text[1..].len() - line.text[1..].trim_start_matches(' ').len();
            let inner = BlockLine {
                number: line.number,
                start: line.start + 1 + blanks,
                indent: line.indent + 1 + blanks,
                text: &line.text[1 + blanks..],
            };
            let mut pairs = Pairs::new(text);
            pairs.line(&inner, indent)?;
            open = Some((line.number, inner.start, pairs));
            continue;
        }
        match &mut open {
            Some((_, _, pairs)) => pairs.line(&line, indent)?,
            None => return Err(Error::new(line.number, "the list of solutions begins with no solution")),
        }
    }
    if let Some((number, from, pairs)) = open {
        found.push(close(number, from, section.span.end, pairs));
    }
    Ok(found)
}

/// Replaces aliases (`*id001`) by the values of their anchors (`&id001 [8, 2]`): PyYAML writes a list that several
/// solutions share once. Each item is the first line of a map with its pairs. Returns the line of the first map that has
/// an anchor or an alias.
pub(crate) fn resolve<'p, 'a: 'p>(
    maps: impl IntoIterator<Item = (u32, &'p mut Vec<Pair<'a>>)>,
) -> Result<Option<u32>, Error> {
    let mut anchors: HashMap<&str, &'a str> = HashMap::new();
    let mut aliases: Vec<(u32, &mut Pair<'a>)> = Vec::new();
    let mut first = None;
    for (line, pairs) in maps {
        for pair in pairs.iter_mut().filter(|it| it.value.contains(['&', '*'])) {
            first.get_or_insert(line);
            if let Some(anchor) = pair.value.strip_prefix('&') {
                let (name, value) = anchor.split_once(char::is_whitespace).unwrap_or((anchor, ""));
                pair.value = value.trim_start();
                if value.len() > LONGEST_ANCHORED || anchors.insert(name, pair.value).is_some() {
                    let text = format!("the anchor `&{name}` has a long value or is in the file twice");
                    return Err(Error::new(line, text));
                }
            } else if pair.value.starts_with('*') {
                aliases.push((line, pair));
            }
        }
    }
    for (line, pair) in aliases {
        let missing = || Error::new(line, format!("the alias `{}` has no anchor", pair.value));
        pair.value = anchors.get(&pair.value[1..]).ok_or_else(missing)?;
    }
    Ok(first)
}

fn close(line: u32, from: usize, end: usize, pairs: Pairs<'_>) -> Solution<'_> {
    let done = pairs.finish(end);
    let index = done.index.clone().and_then(|it| it.1);
    let mut pairs = done.pairs;
    pairs.shrink_to_fit();
    pairs.in_order_by_key(|it| it.key);
    Solution { line, span: from..end, index_span: done.index.map(|it| it.0), index, pairs }
}

/// Pairs being read.
struct Pairs<'a> {
    text: &'a str,
    pairs: Vec<Pair<'a>>,
    /// Key and begin of the value of the last pair.
    last: Option<(&'a str, usize)>,
    /// End of the last line.
    end: usize,
    index: Option<(Range<usize>, Option<u64>)>,
}

impl<'a> Pairs<'a> {
    fn new(text: &'a str) -> Pairs<'a> {
        Pairs { text, pairs: Vec::new(), last: None, end: 0, index: None }
    }

    fn line(&mut self, line: &BlockLine<'a>, indent: usize) -> Result<(), Error> {
        if line.text.is_empty() || line.text.starts_with('#') {
            return Ok(());
        }
        let end = line.start + line.text.len();
        if line.indent > indent || (line.indent == indent && line.text.starts_with("- ")) {
            if self.last.is_none() {
                return Err(Error::new(line.number, "a value without its key"));
            }
            self.end = end;
            return Ok(());
        }
        if line.indent < indent {
            return Err(Error::new(line.number, "not indented as TensileLite indents logic files"));
        }
        let Some(colon) = line.text.find(':') else {
            return Err(Error::new(line.number, "a line without a key"));
        };
        let after = &line.text[colon + 1..];
        if !after.is_empty() && !after.starts_with(' ') {
            return Err(Error::new(line.number, "a line without a key"));
        }
        if let Some(what @ ('|' | '>' | '!' | '%' | '@')) = after.trim_start().chars().next() {
            return Err(Error::new(line.number, format!("YAML's `{what}` is not supported in logic files")));
        }
        self.push();
        self.last = Some((&line.text[..colon], line.start + colon + 1));
        self.end = end;
        Ok(())
    }

    fn push(&mut self) {
        let Some((key, from)) = self.last.take() else { return };
        let value = self.text[from..self.end.max(from)].trim();
        if key == "SolutionIndex" {
            let blanks = self.text[from..].len() - self.text[from..].trim_start_matches(' ').len();
            self.index = Some((from + blanks..from + blanks + value.len(), value.parse().ok()));
        }
        self.pairs.push(Pair { key, value });
    }

    fn finish(mut self, end: usize) -> Pairs<'a> {
        self.end = self.end.min(end);
        self.push();
        self
    }
}
