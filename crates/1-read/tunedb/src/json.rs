//! JSON parser that keeps the byte range of every value and accepts Python's `Infinity`.
//!
//! Depth is bounded, and keys that occur twice are both kept, since a tuning file that names a size twice is
//! one of the mistakes to report.

use crate::error::Error;
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

/// Maximum nesting depth; deeper texts are rejected.
const DEEPEST: usize = 48;
/// Maximum number of values; texts with more are rejected. A value of two bytes takes fifty times its size in
/// memory.
const MOST_VALUES: usize = 1_000_000;

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    /// The number and its text.
    Number(f64, &'a str),
    Text(Cow<'a, str>),
    Array(Vec<Placed<'a>>),
    Object(Vec<Member<'a>>),
}

/// A value with its bytes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Placed<'a> {
    pub(crate) value: Json<'a>,
    pub(crate) span: Range<usize>,
}

/// A member of an object.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Member<'a> {
    pub(crate) key: Cow<'a, str>,
    /// Bytes from the key to the end of the value.
    pub(crate) span: Range<usize>,
    pub(crate) value: Placed<'a>,
}

impl Member<'_> {
    /// A remark such as `"_note": "…"`, which no loader asks for.
    pub(crate) fn is_note(&self) -> bool {
        self.key.starts_with('_') && self.value.value.is_scalar()
    }
}

impl<'a> Json<'a> {
    pub(crate) fn object(&self) -> Option<&[Member<'a>]> {
        if let Json::Object(members) = self { Some(members) } else { None }
    }

    pub(crate) fn array(&self) -> Option<&[Placed<'a>]> {
        if let Json::Array(items) = self { Some(items) } else { None }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        if let Json::Number(value, _) = self { Some(*value) } else { None }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Json<'a>> {
        self.object()?.iter().find(|it| it.key == key).map(|it| &it.value.value)
    }

    /// Whether nothing is inside.
    pub(crate) fn is_scalar(&self) -> bool {
        !matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// The value as Python prints it.
    pub(crate) fn words(&self) -> String {
        match self {
            Json::Null => "None".to_owned(),
            Json::Bool(true) => "True".to_owned(),
            Json::Bool(false) => "False".to_owned(),
            Json::Number(_, text) => (*text).to_owned(),
            Json::Text(text) => text.to_string(),
            Json::Array(items) => {
                let items: Vec<String> = items.iter().map(|it| it.value.words()).collect();
                format!("[{}]", items.join(", "))
            }
            Json::Object(members) => {
                format!("{{{}}}", join_pairs(members.iter().map(|it| (&*it.key, it.value.value.words()))))
            }
        }
    }
}

/// Reads a document; nothing but blanks may follow it.
pub(crate) fn parse(text: &str) -> Result<Placed<'_>, Error> {
    let mut parser = Parser { text, at: 0, depth: 0, values: 0 };
    let value = parser.value()?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.fail("text after the end of the document"));
    }
    Ok(value)
}

/// Reads the value of a member, with its key and the place of the member.
pub(crate) type ReadMember<'r, 'a> =
    &'r mut dyn FnMut(&mut Reader<'a>, Cow<'a, str>, usize) -> Result<(), Error>;

/// A document that is read member by member, so that memory does not grow with it.
pub(crate) struct Reader<'a> {
    parser: Parser<'a>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Reader<'a> {
        Reader { parser: Parser { text, at: 0, depth: 0, values: 0 } }
    }

    /// The place of the next byte.
    pub(crate) fn at(&self) -> usize {
        self.parser.at
    }

    /// The next value as a whole.
    pub(crate) fn value(&mut self) -> Result<Placed<'a>, Error> {
        self.parser.values = 0;
        self.parser.value()
    }

    /// Members of the object that begins here; the function reads each value. False if the text ends between
    /// two members.
    pub(crate) fn members(&mut self, each: ReadMember<'_, 'a>) -> Result<bool, Error> {
        self.parser.expect(b'{')?;
        self.sequence(b'}', &mut |reader| {
            let start = reader.at();
            if reader.parser.peek() != Some(b'"') {
                return Err(reader.parser.fail("a key is missing"));
            }
            let key = reader.parser.string()?;
            reader.parser.expect(b':')?;
            reader.parser.blanks();
            each(reader, key, start)
        })
    }

    /// Items of the array that begins here; the function reads each. False if the text ends between two items.
    pub(crate) fn items(
        &mut self,
        each: &mut dyn FnMut(&mut Reader<'a>) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        self.parser.expect(b'[')?;
        self.sequence(b']', each)
    }

    fn sequence(
        &mut self,
        end: u8,
        each: &mut dyn FnMut(&mut Reader<'a>) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        loop {
            self.parser.blanks();
            match self.parser.peek() {
                None => return Ok(false),
                Some(byte) if byte == end => {
                    self.parser.at += 1;
                    return Ok(true);
                }
                Some(_) => each(self)?,
            }
            self.parser.blanks();
            match self.parser.peek() {
                Some(b',') => self.parser.at += 1,
                Some(byte) if byte == end => {}
                None => return Ok(false),
                Some(_) => return Err(self.parser.fail("`,` is missing")),
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    values: usize,
}

impl<'a> Parser<'a> {
    fn fail(&self, message: &str) -> Error {
        let before = self.text.as_bytes().get(..self.at).unwrap_or_default();
        let line = u32::try_from(memchr::memchr_iter(b'\n', before).count() + 1).unwrap_or(u32::MAX);
        Error::new(line, format!("no JSON: {message}"))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|it| matches!(it, b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Error> {
        self.blanks();
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(match self.peek() {
            None => self.fail("the text ends too early"),
            Some(_) => self.fail(&format!("`{}` is missing", char::from(byte))),
        })
    }

    fn value(&mut self) -> Result<Placed<'a>, Error> {
        self.blanks();
        self.values += 1;
        if self.values > MOST_VALUES {
            return Err(self.fail("more values than a tuning file has"));
        }
        let start = self.at;
        let value = match self.peek() {
            None => return Err(self.fail("the text ends too early")),
            Some(b'{') => self.nested(Parser::members)?,
            Some(b'[') => self.nested(Parser::items)?,
            Some(b'"') => Json::Text(self.string()?),
            Some(_) => self.word()?,
        };
        Ok(Placed { value, span: start..self.at })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Json<'a>, Error>) -> Result<Json<'a>, Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fail("nested too deeply for a tuning file"));
        }
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn members(&mut self) -> Result<Json<'a>, Error> {
        let mut members = Vec::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            self.blanks();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.fail("a key is missing"));
            }
            let key = self.string()?;
            self.expect(b':')?;
            let value = self.value()?;
            members.push(Member { key, span: start..self.at, value });
            self.blanks();
            if self.peek() == Some(b',') {
                self.at += 1;
                continue;
            }
            self.expect(b'}')?;
            return Ok(Json::Object(members));
        }
    }

    fn items(&mut self) -> Result<Json<'a>, Error> {
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.blanks();
            if self.peek() == Some(b',') {
                self.at += 1;
                continue;
            }
            self.expect(b']')?;
            return Ok(Json::Array(items));
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        let start = self.at + 1;
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        let Some(end) = memchr::memchr2(b'"', b'\\', rest) else {
            return Err(self.fail("a text is not closed"));
        };
        if rest[end] == b'"' {
            self.at = start + end + 1;
            return Ok(Cow::Borrowed(&self.text[start..start + end]));
        }
        self.escaped(start)
    }

    fn escaped(&mut self, start: usize) -> Result<Cow<'a, str>, Error> {
        let mut out = String::new();
        let mut chars = self.text[start..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + at + 1;
                    return Ok(Cow::Owned(out));
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some('r') => out.push('\r'),
                    Some('b') => out.push('\u{8}'),
                    Some('f') => out.push('\u{c}'),
                    Some('u') => {
                        let code: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&code, 16).map_err(|_| self.fail("a wrong escape"))?;
                        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                    }
                    Some(c @ ('"' | '\\' | '/')) => out.push(c),
                    _ => return Err(self.fail("a wrong escape")),
                },
                c => out.push(c),
            }
        }
        Err(self.fail("a text is not closed"))
    }

    fn word(&mut self) -> Result<Json<'a>, Error> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| matches!(c, ',' | ']' | '}' | ':') || c.is_whitespace())
            .unwrap_or(rest.len());
        let word = &rest[..end];
        let value = match word {
            "null" => Json::Null,
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            "Infinity" => Json::Number(f64::INFINITY, word),
            "-Infinity" => Json::Number(f64::NEG_INFINITY, word),
            "NaN" => Json::Number(f64::NAN, word),
            _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => match word.parse() {
                Ok(value) => Json::Number(value, word),
                Err(_) => return Err(self.fail(&format!("`{word}` is no number"))),
            },
            _ => {
                let shown: String = word.chars().take(20).collect();
                return Err(self.fail(&format!("`{shown}` is no value")));
            }
        };
        self.at += end;
        Ok(value)
    }
}

/// Joins `key: value` pairs as candidates show them.
pub(crate) fn join_pairs<'p>(pairs: impl Iterator<Item = (&'p str, String)>) -> String {
    let mut out = String::new();
    for (key, value) in pairs {
        if !out.is_empty() {
            out.push_str(", ");
        }
        let _ = write!(out, "{key}: {value}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_what_is_none() {
        for (text, expected) in [
            ("{\"a\": [1, 2.5, Infinity], \"b\": null}", Ok("{a: [1, 2.5, Infinity], b: None}")),
            ("{\"a\": 1, \"a\": true}", Ok("{a: 1, a: True}")),
            ("\"\\u0041\\n\"", Ok("A\n")),
            ("[]", Ok("[]")),
            ("{\n\"a\": [1,", Err("line 2: no JSON: the text ends too early")),
            ("[1] x", Err("line 1: no JSON: text after the end of the document")),
            ("{a: 1}", Err("line 1: no JSON: a key is missing")),
            ("nan", Err("line 1: no JSON: `nan` is no value")),
            ("\"open", Err("line 1: no JSON: a text is not closed")),
        ] {
            let found = parse(text).map(|it| it.value.words()).map_err(|error| error.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(parse(&deep).unwrap_err().message.contains("too deeply"));
        let many = format!("[{}0]", "0,".repeat(MOST_VALUES));
        assert!(parse(&many).unwrap_err().message.contains("more values"));
    }
}
