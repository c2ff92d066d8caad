//! Lines as the assembler's preprocessor leaves them: block comments gone, macros, repetitions and conditions
//! carried out.
//!
//! Each line keeps the number of the line it comes from, and the expanded size is bounded; text without
//! directives is returned unchanged.

use super::cursor::{Cursor, without_comment};
use super::expression::{self, Value};
use super::{Problem, TextError};
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

/// Most lines that a text becomes.
const MOST_LINES: usize = 1 << 19;
/// Most lines that are looked at, repeated ones each time.
const MOST_STEPS: usize = 1 << 20;
/// Most bytes that macros and repetitions write.
const MOST_BYTES: usize = 1 << 26;
/// Deepest nesting of macros and repetitions.
const DEEPEST: u32 = 24;

/// A line after the preprocessor and the number of the line it comes from.
pub(crate) type Line<'a> = (u32, Cow<'a, str>);

/// Lines and what is wrong with those that the preprocessor could not carry out.
pub(crate) struct Expanded<'a> {
    pub(crate) lines: Vec<Line<'a>>,
    pub(crate) errors: Vec<TextError>,
}

/// A macro: its parameters, each with a default, and its lines.
struct Macro<'a> {
    parameters: Vec<(String, Option<String>)>,
    lines: Rc<[Line<'a>]>,
}

/// One `.if`.
struct Condition {
    /// Lines are taken now.
    is_taken: bool,
    /// Some branch was taken, so no other is.
    was_taken: bool,
}

#[derive(Default)]
struct Preprocessor<'a> {
    macros: HashMap<String, Macro<'a>>,
    constants: HashMap<String, i64>,
    conditions: Vec<Condition>,
    out: Vec<Line<'a>>,
    errors: Vec<TextError>,
    bytes: usize,
    /// Lines looked at, those that give none too.
    steps: usize,
    calls: u64,
    is_full: bool,
}

/// Runs the preprocessor of the assembler. The lines `before` only define macros and symbols; they are not
/// output.
pub(crate) fn expand<'a>(before: &[&'a str], lines: impl IntoIterator<Item = &'a str>) -> Expanded<'a> {
    let mut of = Preprocessor::default();
    of.run(&uncommented(before.iter().copied()), 0);
    (of.out, of.errors, of.conditions) = Default::default();
    let lines = uncommented(lines);
    let needs = |line: &Line<'_>| {
        let word = first_word(&line.1);
        (word.starts_with('.') && is_preprocessed(word)) || of.macros.contains_key(word)
    };
    if !lines.iter().any(needs) {
        return Expanded { lines, errors: Vec::new() };
    }
    of.run(&lines, 0);
    Expanded { lines: of.out, errors: of.errors }
}

/// Whether a directive is one of the preprocessor's.
fn is_preprocessed(name: &str) -> bool {
    matches!(name, ".macro" | ".rept" | ".irp" | ".altmacro" | ".purgem") || name.starts_with(".if")
}

/// Lines without block comments, which may go over several.
fn uncommented<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<Line<'a>> {
    let mut inside = false;
    let number = |(number, line): (u32, &'a str)| {
        if !inside && !line.contains("/*") {
            return (number, Cow::Borrowed(line));
        }
        let mut kept = String::with_capacity(line.len());
        let mut rest = line;
        loop {
            if inside {
                let Some(end) = rest.find("*/") else { break };
                (inside, rest) = (false, &rest[end + 2..]);
                kept.push(' ');
            }
            let end = without_comment(rest).len();
            match rest[..end].find("/*") {
                Some(start) => {
                    kept.push_str(&rest[..start]);
                    (inside, rest) = (true, &rest[start + 2..]);
                }
                None => {
                    kept.push_str(rest);
                    break;
                }
            }
        }
        (number, Cow::Owned(kept))
    };
    (0u32..).zip(lines).map(number).collect()
}

/// The first word of a line; labels before a statement do not belong to macros and conditions.
fn first_word(line: &str) -> &str {
    let line = line.trim_start();
    let end = line.find(|letter: char| !(letter.is_alphanumeric() || "._$".contains(letter)));
    &line[..end.unwrap_or(line.len())]
}

/// Text after the first word, without comment.
fn rest_of(line: &str) -> &str {
    let line = without_comment(line).trim_start();
    line[first_word(line).len()..].trim()
}

impl<'a> Preprocessor<'a> {
    fn run(&mut self, lines: &[Line<'a>], depth: u32) {
        let conditions = self.conditions.len();
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            at += 1;
            self.steps += 1;
            if self.steps > MOST_STEPS {
                self.end(line);
                break;
            }
            let word = first_word(&line.1);
            if word.starts_with(".if") || matches!(word, ".else" | ".elseif" | ".endif") {
                self.condition(line, word);
                continue;
            }
            if self.conditions.iter().any(|one| !one.is_taken) {
                continue;
            }
            match word {
                ".macro" | ".rept" | ".irp" => {
                    let closing = if word == ".macro" { [".endm", ".endmacro"] } else { [".endr", ".endr"] };
                    let length = block(&lines[at..], word == ".macro", closing);
                    let body = &lines[at..at + length];
                    at += (length + 1).min(lines.len() - at);
                    match word {
                        ".macro" => self.define(line, body),
                        ".rept" => self.repeat(line, body, depth),
                        _ => self.repeat_for(line, body, depth),
                    }
                }
                ".set" | ".equ" => {
                    if let Some((name, value)) = rest_of(&line.1).split_once(',') {
                        self.assign(name.trim(), value);
                    }
                    self.emit(line.clone());
                }
                ".purgem" => {
                    self.macros.remove(rest_of(&line.1));
                }
                _ if self.macros.contains_key(word) => self.call(line, word.to_owned(), depth),
                _ => {
                    let code = without_comment(&line.1);
                    if let Some((name, value)) = code.split_once('=').filter(|(name, _)| is_name(name.trim()))
                    {
                        self.assign(name.trim(), value);
                    }
                    self.emit(line.clone());
                }
            }
            if self.is_full {
                break;
            }
        }
        self.conditions.truncate(conditions);
    }

    fn emit(&mut self, line: Line<'a>) {
        if self.out.len() >= MOST_LINES {
            return self.end(&line);
        }
        self.out.push(line);
    }

    /// Takes no more lines.
    fn end(&mut self, line: &Line<'a>) {
        if !self.is_full {
            self.fail(line, Problem::TooManyLines);
        }
        self.is_full = true;
    }

    /// The lines of a macro or a repetition with values in them.
    fn filled(
        &mut self,
        number: Option<u32>,
        lines: &[Line<'a>],
        values: &[(String, String)],
    ) -> Vec<Line<'a>> {
        let mut filled = Vec::new();
        for (own, text) in lines {
            let text = substituted(text, values);
            self.bytes += text.len();
            if self.bytes > MOST_BYTES {
                self.end(&(number.unwrap_or(*own), text));
                break;
            }
            filled.push((number.unwrap_or(*own), text));
        }
        filled
    }

    fn fail(&mut self, line: &Line<'a>, problem: Problem) {
        let at = line.1.len() - line.1.trim_start().len();
        let mut error = TextError::new(&line.1, at, problem);
        error.line = line.0;
        self.errors.push(error);
    }

    fn value(&self, text: &str) -> Option<i64> {
        let mut cursor = Cursor::new(text);
        let value = expression::read(&mut cursor, &|name| self.constants.get(name).copied())?;
        match value {
            Value::Known(value) if cursor.next_visible().is_none() => Some(value),
            _ => None,
        }
    }

    fn assign(&mut self, name: &str, value: &str) {
        match self.value(without_comment(value)) {
            Some(value) => self.constants.insert(name.to_owned(), value),
            None => self.constants.remove(name),
        };
    }

    fn condition(&mut self, line: &Line<'a>, word: &str) {
        let rest = rest_of(&line.1).to_owned();
        let outer = self.conditions.iter().all(|one| one.is_taken);
        match word {
            ".endif" => {
                self.conditions.pop();
            }
            ".else" => {
                if let Some(last) = self.conditions.last_mut() {
                    last.is_taken = !last.was_taken;
                    last.was_taken = true;
                }
            }
            ".elseif" => {
                let open = self.conditions.last().is_some_and(|last| !last.was_taken);
                let holds = open && self.holds(line, ".if", &rest);
                if let Some(last) = self.conditions.last_mut() {
                    last.is_taken = holds;
                    last.was_taken |= holds;
                }
            }
            _ => {
                let holds = outer && self.holds(line, word, &rest);
                self.conditions.push(Condition { is_taken: holds, was_taken: holds || !outer });
            }
        }
    }

    fn holds(&mut self, line: &Line<'a>, word: &str, rest: &str) -> bool {
        match word {
            ".ifdef" => return self.constants.contains_key(rest),
            ".ifndef" | ".ifnotdef" => return !self.constants.contains_key(rest),
            ".ifb" => return rest.is_empty(),
            ".ifnb" => return !rest.is_empty(),
            ".ifc" | ".ifeqs" => return sides(rest).is_some_and(|(a, b)| a == b),
            ".ifnc" | ".ifnes" => return sides(rest).is_some_and(|(a, b)| a != b),
            _ => {}
        }
        let Some(value) = self.value(rest) else {
            self.fail(line, Problem::UnknownName);
            return false;
        };
        match word {
            ".ifeq" => value == 0,
            ".ifgt" => value > 0,
            ".ifge" => value >= 0,
            ".iflt" => value < 0,
            ".ifle" => value <= 0,
            _ => value != 0,
        }
    }

    fn define(&mut self, line: &Line<'a>, body: &[Line<'a>]) {
        let rest = rest_of(&line.1);
        let name = first_word(rest);
        let parameters = arguments(rest[name.len()..].trim_start_matches([' ', '\t', ',']));
        let parameters = parameters.iter().map(|text| {
            let (text, default) = match text.split_once('=') {
                Some((text, default)) => (text, Some(default.trim().to_owned())),
                None => (text.as_str(), None),
            };
            let name = text.split(':').next().unwrap_or_default().trim();
            (name.to_owned(), default)
        });
        if name.is_empty() {
            return self.fail(line, Problem::MissingOperand);
        }
        let parameters = parameters.collect();
        self.macros.insert(name.to_owned(), Macro { parameters, lines: body.into() });
    }

    fn call(&mut self, line: &Line<'a>, name: String, depth: u32) {
        if depth >= DEEPEST {
            return self.fail(line, Problem::TooManyLines);
        }
        let Some(of) = self.macros.get(&name) else { return };
        let given = arguments(rest_of(&line.1));
        let mut values: Vec<(String, String)> = of
            .parameters
            .iter()
            .map(|(name, default)| (name.clone(), default.clone().unwrap_or_default()))
            .collect();
        let mut next = 0;
        for text in given {
            let named = text.split_once('=').and_then(|(name, value)| {
                let at = values.iter().position(|(known, _)| known == name.trim())?;
                Some((at, value.trim().to_owned()))
            });
            let (at, value) = named.unwrap_or((next, text));
            next = at + 1;
            if let Some(slot) = values.get_mut(at) {
                slot.1 = value;
            }
        }
        self.calls += 1;
        values.push(("@".to_owned(), self.calls.to_string()));
        let body = Rc::clone(&of.lines);
        let lines = self.filled(Some(line.0), &body, &values);
        self.run(&lines, depth + 1);
    }

    fn repeat(&mut self, line: &Line<'a>, body: &[Line<'a>], depth: u32) {
        let count = self.value(rest_of(&line.1)).and_then(|count| u32::try_from(count).ok());
        let Some(count) = count.filter(|_| depth < DEEPEST) else {
            return self.fail(line, Problem::BadNumber);
        };
        for _ in 0..count {
            if self.is_full || body.is_empty() {
                break;
            }
            self.run(body, depth + 1);
        }
    }

    fn repeat_for(&mut self, line: &Line<'a>, body: &[Line<'a>], depth: u32) {
        let rest = rest_of(&line.1).to_owned();
        let name = first_word(&rest).to_owned();
        if depth >= DEEPEST {
            return self.fail(line, Problem::TooManyLines);
        }
        for value in arguments(rest[name.len()..].trim_start_matches([' ', '\t', ','])) {
            let values = [(name.clone(), value)];
            let lines = self.filled(None, body, &values);
            self.run(&lines, depth + 1);
            if self.is_full {
                break;
            }
        }
    }
}

/// Lines up to the one that closes a block.
fn block(lines: &[Line<'_>], is_macro: bool, closing: [&str; 2]) -> usize {
    let mut nested = 0u32;
    for (line, at) in lines.iter().zip(0..) {
        let word = first_word(&line.1);
        if (is_macro && word == ".macro") || (!is_macro && matches!(word, ".rept" | ".irp" | ".irpc")) {
            nested += 1;
        } else if closing.contains(&word) {
            if nested == 0 {
                return at;
            }
            nested -= 1;
        }
    }
    lines.len()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && first_word(text) == text && !text.starts_with(|letter: char| letter.is_ascii_digit())
}

/// Two texts with a comma between them.
fn sides(rest: &str) -> Option<(&str, &str)> {
    let (a, b) = rest.split_once(',')?;
    Some((a.trim(), b.trim()))
}

/// Arguments of a macro: separated by commas outside of brackets and quotes, or else by blanks.
fn arguments(rest: &str) -> Vec<String> {
    let split = |is_end: fn(char) -> bool| {
        let (mut all, mut one, mut depth, mut quoted) = (Vec::new(), String::new(), 0i32, false);
        for letter in rest.chars() {
            match letter {
                '"' => quoted = !quoted,
                '(' | '[' if !quoted => depth += 1,
                ')' | ']' if !quoted => depth -= 1,
                _ => {}
            }
            if depth <= 0 && !quoted && is_end(letter) {
                all.push(std::mem::take(&mut one));
            } else {
                one.push(letter);
            }
        }
        all.push(one);
        all
    };
    let by_comma = split(|letter| letter == ',');
    let mut all = if by_comma.len() > 1 { by_comma } else { split(char::is_whitespace) };
    for one in &mut all {
        let trimmed = one.trim();
        let unquoted = trimmed.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        *one = unquoted.unwrap_or(trimmed).to_owned();
    }
    if all.len() > 1 || rest.trim().is_empty() {
        all.retain(|one| !one.is_empty() || rest.contains(','));
    }
    if rest.trim().is_empty() {
        all.clear();
    }
    all
}

/// A line of a macro with `\name` replaced by the value, and `\()` by nothing.
fn substituted<'a>(text: &str, values: &[(String, String)]) -> Cow<'a, str> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix("()") {
            rest = after;
            continue;
        }
        let word = if rest.starts_with('@') {
            "@"
        } else {
            let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            &rest[..end.unwrap_or(rest.len())]
        };
        match values.iter().find(|(name, _)| name == word) {
            Some((_, value)) => {
                out.push_str(value);
                rest = &rest[word.len()..];
            }
            None => out.push('\\'),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests;
