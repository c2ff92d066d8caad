//! Messages: rows of the TOML files in `data/`, and how a line is one of them.

use crate::prefix::Entry;
use regex::Regex;
use serde::Deserialize;
use std::sync::OnceLock;

/// Effect of a message on the job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The job ended by it.
    Fault,
    /// Something failed; the job may go on.
    Fail,
    /// Something is slower or less safe than it could be.
    Warn,
    /// Normal operation; nothing to do.
    Info,
    /// Activity of the job, shown beside a fault that follows.
    Activity,
}

/// One row of the table.
#[derive(Debug)]
pub struct Message {
    /// Name: `hip-invalid-device-function`.
    pub id: String,
    /// Kind.
    pub kind: Kind,
    /// Texts that must all be in the line, the first letter in either case; the first is the one searched for.
    pub words: Vec<String>,
    /// Pattern whose named groups are fields of the event.
    pub fields: Option<String>,
    /// A line without a match of `fields` is not this message.
    pub strict: bool,
    /// Two fields; a line in which they are equal is not this message.
    pub differ: Option<[String; 2]>,
    /// The pattern, compiled when a line first needs it.
    compiled: OnceLock<Option<Regex>>,
    /// Fields whose values part the events of one message; occurrences that differ in others are counted.
    pub distinct: Vec<String>,
    /// Patterns whose named groups are fields in the lines that follow.
    pub(crate) then: Vec<String>,
    /// The patterns, compiled when a line first needs them.
    compiled_then: OnceLock<Vec<Regex>>,
    /// Lines that may follow.
    pub(crate) then_lines: u32,
    /// No news beside the messages that it follows from, in any order; where it follows from none, beside any fault
    /// of its log: `Aborted (core dumped)`.
    pub ends: bool,
    /// Only in lines of the kernel's log.
    pub kernel: bool,
    /// Meaning and cause.
    pub meaning: String,
    /// Next steps, most useful first.
    pub next: Vec<String>,
    /// Messages that this one follows from.
    pub follows: Vec<String>,
    /// Program or source file that prints it.
    pub source: String,
    /// Lines that are this message, for tests.
    pub test: Vec<String>,
}

/// A value of a message: name and text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Field {
    /// Name: `rank`, `requested`.
    pub name: String,
    /// Text as in the line.
    pub value: String,
}

/// A file of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// Program that prints its messages.
    pub(crate) source: String,
    /// Only in lines of the kernel's log.
    #[serde(default)]
    pub(crate) kernel: bool,
    /// Rows.
    pub(crate) message: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) id: String,
    kind: Kind,
    words: Vec<String>,
    pub(crate) fields: Option<String>,
    #[serde(default)]
    pub(crate) strict: bool,
    differ: Option<[String; 2]>,
    #[serde(default)]
    distinct: Vec<String>,
    #[serde(default)]
    pub(crate) then: Vec<String>,
    #[serde(default = "then_lines")]
    then_lines: u32,
    #[serde(default)]
    ends: bool,
    #[serde(default)]
    pub(crate) meaning: String,
    #[serde(default)]
    pub(crate) next: Vec<String>,
    #[serde(default)]
    follows: Vec<String>,
    source: Option<String>,
    pub(crate) test: Vec<String>,
}

/// Lines that may follow a message, where its row gives no number.
fn then_lines() -> u32 {
    12
}

/// Beginnings of the kernel's lines by which they are known without the prefix of its log.
const OF_KERNEL: &[&str] = &[
    "amdgpu ",
    "[drm",
    "[Hardware Error]",
    "mce: [Hardware Error]",
    "{1}[Hardware Error]",
    "BUG: unable to handle",
];

impl Row {
    /// A row whose lines have a word.
    pub(crate) fn new(id: String, kind: Kind, word: String) -> Row {
        Row {
            id,
            kind,
            words: vec![word],
            fields: None,
            strict: false,
            differ: None,
            distinct: Vec::new(),
            then: Vec::new(),
            then_lines: then_lines(),
            ends: false,
            meaning: String::new(),
            next: Vec::new(),
            follows: Vec::new(),
            source: None,
            test: Vec::new(),
        }
    }
}

impl Message {
    /// A row of a file.
    pub(crate) fn new(row: Row, kernel: bool, source: &str) -> Message {
        Message {
            id: row.id,
            kind: row.kind,
            words: row.words,
            fields: row.fields,
            strict: row.strict,
            differ: row.differ,
            compiled: OnceLock::new(),
            distinct: row.distinct,
            then: row.then,
            compiled_then: OnceLock::new(),
            then_lines: row.then_lines,
            ends: row.ends,
            kernel,
            meaning: row.meaning,
            next: row.next,
            follows: row.follows,
            source: row.source.unwrap_or_else(|| source.to_owned()),
            test: row.test,
        }
    }

    /// Fields of a line that is this message.
    pub fn read(&self, entry: &Entry) -> Option<Vec<Field>> {
        let text = entry.text.as_str();
        let is_kernel = entry.is_kernel || OF_KERNEL.iter().any(|it| text.starts_with(it));
        if self.kernel && !is_kernel {
            return None;
        }
        if !self.words.iter().all(|word| has_word(text, word)) {
            return None;
        }
        let Some(fields) = &self.fields else { return Some(Vec::new()) };
        let regex = self.compiled.get_or_init(|| Regex::new(fields).ok()).as_ref()?;
        let Some(captures) = regex.captures(text) else { return (!self.strict).then(Vec::new) };
        if let Some([one, other]) = &self.differ
            && captures.name(one).map(|it| it.as_str()) == captures.name(other).map(|it| it.as_str())
        {
            return None;
        }
        Some(groups(regex, &captures))
    }

    /// Fields of a line behind one that is this message.
    pub(crate) fn more(&self, text: &str) -> Vec<Field> {
        let compile = || self.then.iter().filter_map(|it| Regex::new(it).ok()).collect();
        let patterns: &Vec<Regex> = self.compiled_then.get_or_init(compile);
        let found = patterns.iter().filter_map(|it| Some(groups(it, &it.captures(text)?)));
        found.flatten().collect()
    }
}

/// Named groups of a match that hold text.
fn groups(regex: &Regex, captures: &regex::Captures<'_>) -> Vec<Field> {
    let fields = regex.capture_names().flatten().filter_map(|name| {
        let value = captures.name(name)?.as_str().trim();
        (!value.is_empty()).then(|| Field { name: name.replace('_', " "), value: value.to_owned() })
    });
    fields.collect()
}

/// Whether a text has a word; at the beginning of a sentence its first letter is a capital.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let mut letters = word.chars();
    let first = letters.next().filter(char::is_ascii_lowercase);
    text.contains(word)
        || first.is_some_and(|it| text.contains(&format!("{}{}", it.to_ascii_uppercase(), letters.as_str())))
}
