//! The parts of a logic file and its table of sizes.
//!
//! The files are written by a program in one style, so lines and their indent are enough; text in any other
//! style is rejected with its line number.

use crate::error::Error;
use crate::logic_parts::{Form, Size};
use crate::model::MOST_ROWS;
use crate::yaml;
use std::ops::Range;

/// Parts of a file beyond which it is none; a list has 12.
const MOST_PARTS: usize = 64;

/// One part of a file: an item of the list, or a key of the map with its value.
#[derive(Clone, Debug)]
pub(crate) struct Section<'a> {
    pub(crate) key: Option<&'a str>,
    /// Text of the value, from behind `- ` or `Key:` to the end of the last line.
    pub(crate) text: &'a str,
    /// Bytes from the begin of the first line to the end of the last, with its line end.
    pub(crate) span: Range<usize>,
    /// Bytes at which `text` begins.
    pub(crate) start: usize,
    /// Line.
    pub(crate) line: u32,
}

impl<'a> Section<'a> {
    /// The value of a part that is one line. Blanks at its end are kept: one real file has one, and it
    /// matters.
    pub(crate) fn one_line(&self) -> &'a str {
        self.text.trim_end_matches(['\n', '\r']).trim_start()
    }
}

/// Cuts a file into its parts.
pub(crate) fn sections(text: &str, form: Form) -> Result<Vec<Section<'_>>, Error> {
    let mut found: Vec<Section<'_>> = Vec::with_capacity(16);
    let mut at = 0;
    let mut line = 0;
    for raw in text.split_inclusive('\n') {
        line += 1;
        if found.len() > MOST_PARTS {
            return Err(Error::new(line, format!("more than {MOST_PARTS} parts: no logic file")));
        }
        let start = at;
        at += raw.len();
        let bytes = raw.as_bytes();
        match bytes.first() {
            Some(b' ' | b'\n' | b'\r' | b'#') => {}
            Some(b'-') if form == Form::List && (raw.starts_with("- ") || raw.trim_end() == "-") => {
                found.push(Section {
                    key: None,
                    text: &text[start + 1..],
                    span: start..start,
                    start: start + 1,
                    line,
                });
            }
            // In a map, items of a list may begin in the first column.
            Some(b'-') if form == Form::Map && !found.is_empty() => {}
            Some(_) if form == Form::Map && raw.contains(':') => {
                let colon = raw.find(':').unwrap_or_default();
                let key = Some(&raw[..colon]);
                let from = start + colon + 1;
                found.push(Section { key, text: &text[from..], span: start..start, start: from, line });
            }
            Some(b'\t') => return Err(Error::new(line, "a tab in the indent")),
            Some(_) => return Err(Error::new(line, "not written as TensileLite writes logic files")),
            None => {}
        }
    }
    let ends: Vec<usize> = found.iter().skip(1).map(|it| it.span.start).chain([text.len()]).collect();
    for (section, end) in found.iter_mut().zip(ends) {
        section.span.end = end;
        section.text = &text[section.start..end];
    }
    Ok(found)
}

/// The table of sizes, in the text of the file.
pub(crate) fn sizes(section: &Section<'_>, text: &str) -> Result<Vec<Size>, Error> {
    let body = section.text.trim();
    if body.is_empty() || matches!(body, "null" | "~" | "[]") {
        return Ok(Vec::new());
    }
    // Old releases of Tensile write a line for each number.
    let number = body.trim_start_matches(['-', ' ', '\r', '\n']);
    if section.key.is_none() && number.starts_with(|it: char| it.is_ascii_digit()) {
        return sizes_by_line(section, text);
    }
    let mut reader = Numbers { text: section.text.as_bytes(), at: 0, line: section.line };
    let mut sizes = Vec::new();
    while reader.next_list()? {
        let line = reader.line;
        if sizes.len() >= MOST_ROWS {
            return Err(Error::new(line, format!("more than {MOST_ROWS} sizes")));
        }
        let numbers = reader.whole_numbers()?;
        if !reader.next_list()? {
            return Err(Error::new(line, "a size without its solution"));
        }
        let (solution, written) = reader.solution()?;
        let efficiency = written
            .parse()
            .map_err(|_| Error::new(line, format!("the efficiency `{written}` is no number")))?;
        sizes.push(Size { numbers, solution, efficiency, written, line });
    }
    Ok(sizes)
}

/// The table of sizes of a list whose numbers have a line each.
fn sizes_by_line(section: &Section<'_>, text: &str) -> Result<Vec<Size>, Error> {
    let in_file = |line: u32| line.saturating_add(section.line - 1);
    let root = yaml::parse(&text[section.span.clone()])
        .map_err(|error| Error { line: in_file(error.line), ..error })?;
    let one = |node: &yaml::Node| {
        let wrong = || Error::new(in_file(node.line), "no size with its solution and efficiency");
        let [size, solution] = node.list() else { return Err(wrong()) };
        let numbers: Option<Vec<u64>> = size.list().iter().map(yaml::Node::number).collect();
        let [index, efficiency] = solution.list() else { return Err(wrong()) };
        let written = efficiency.text().ok_or_else(wrong)?.to_owned();
        Ok(Size {
            numbers: numbers.ok_or_else(wrong)?,
            solution: index.number().and_then(|it| usize::try_from(it).ok()).ok_or_else(wrong)?,
            efficiency: written.parse().map_err(|_| wrong())?,
            written,
            line: in_file(node.line),
        })
    };
    root.list().iter().flat_map(yaml::Node::list).map(one).collect()
}

/// Bytes of each line of the table of sizes, the size and its solution together.
pub(crate) fn size_spans(section: &Section<'_>, text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut open = None;
    let mut comment = false;
    for (at, byte) in text.as_bytes()[section.start..section.span.end].iter().enumerate() {
        match byte {
            b'\n' => comment = false,
            b'#' => comment = true,
            _ if comment => {}
            b'[' if open.is_none() => open = Some((section.start + at, 0)),
            b']' => match &mut open {
                Some((_, lists)) if *lists == 0 => *lists = 1,
                Some((from, _)) => {
                    spans.push(*from..section.start + at + 1);
                    open = None;
                }
                None => {}
            },
            _ => {}
        }
    }
    spans
}

/// Reads `[…]` after `[…]` in a text of dashes, blanks and numbers.
struct Numbers<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
}

impl Numbers<'_> {
    /// Goes behind the next `[`; false at the end.
    fn next_list(&mut self) -> Result<bool, Error> {
        while let Some(byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b'[' => return Ok(true),
                b'\n' => self.line += 1,
                b' ' | b'-' | b'\r' => {}
                b'#' => self.skip_comment(),
                _ => return Err(Error::new(self.line, "the table of sizes holds more than sizes")),
            }
        }
        Ok(false)
    }

    /// Goes to the end of the line.
    fn skip_comment(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// Text up to the next `,` or `]`, and whether the list ends.
    fn item(&mut self) -> Result<(String, bool), Error> {
        let mut item = String::new();
        while let Some(byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b',' => return Ok((item, false)),
                b']' => return Ok((item, true)),
                b'\n' => self.line += 1,
                b' ' | b'\r' => {}
                b'#' => self.skip_comment(),
                b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b'n' | b'a' | b'i' | b'f' | b'N' => {
                    item.push(char::from(*byte));
                }
                _ => return Err(Error::new(self.line, "the table of sizes holds more than numbers")),
            }
        }
        Err(Error::new(self.line, "the table of sizes ends in a list"))
    }

    fn whole_numbers(&mut self) -> Result<Vec<u64>, Error> {
        let mut numbers = Vec::with_capacity(8);
        loop {
            let (item, last) = self.item()?;
            let number =
                item.parse().map_err(|_| Error::new(self.line, format!("the size `{item}` is no number")))?;
            numbers.push(number);
            if last {
                return Ok(numbers);
            }
            if numbers.len() > 16 {
                return Err(Error::new(self.line, "a size of more than 16 numbers"));
            }
        }
    }

    fn solution(&mut self) -> Result<(usize, String), Error> {
        let (index, last) = self.item()?;
        let (efficiency, end) = if last { (String::new(), true) } else { self.item()? };
        let index = index
            .parse()
            .map_err(|_| Error::new(self.line, format!("the solution `{index}` is no position")))?;
        if !end {
            return Err(Error::new(self.line, "a solution of more than position and efficiency"));
        }
        Ok((index, if efficiency.is_empty() { "0".to_owned() } else { efficiency }))
    }
}
