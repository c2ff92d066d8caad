//! Lines of a text with their place and their end.

use crate::error::Error;
use crate::model::{FlawKind, MOST_FLAWS, MOST_ROWS, Tunings};
use std::cell::Cell;
use std::ops::Range;

/// Lines of a text that has a row per line.
///
/// # Errors
/// Fails if the text has more lines than a tuning database can have, before memory is allocated for them.
pub(crate) fn count_lines(bytes: &[u8]) -> Result<usize, Error> {
    let most = MOST_ROWS + MOST_FLAWS;
    let count = memchr::memchr_iter(b'\n', bytes).take(most + 1).count();
    if count > most {
        let text = format!("more than {MOST_ROWS} rows: no library loads so many");
        return Err(Error::new(u32::try_from(most).unwrap_or(u32::MAX), text)
            .hint("split the file, for instance by operation or by GPU"));
    }
    Ok(count + 1)
}

/// Terminator of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    Lf,
    CrLf,
    /// The file ends here.
    Nothing,
}

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct Line<'a> {
    /// 1-based.
    pub(crate) number: u32,
    /// Bytes of the text.
    pub(crate) span: Range<usize>,
    /// Text without the end of the line; invalid UTF-8 makes it empty, see [`Line::invalid`].
    pub(crate) text: &'a str,
    pub(crate) ending: Ending,
    /// True if the bytes are not valid UTF-8.
    pub(crate) invalid: bool,
}

/// The lines of a text, without its byte-order mark.
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    number: u32,
}

pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

pub(crate) fn lines(bytes: &[u8]) -> Lines<'_> {
    Lines { bytes, at: if bytes.starts_with(MARK) { MARK.len() } else { 0 }, number: 0 }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (length, skip, mut ending) = match memchr::memchr(b'\n', rest) {
            Some(at) => (at, at + 1, Ending::Lf),
            None => (rest.len(), rest.len(), Ending::Nothing),
        };
        let mut text = &rest[..length];
        if ending == Ending::Lf && text.ends_with(b"\r") {
            text = &text[..length - 1];
            ending = Ending::CrLf;
        }
        let start = self.at;
        self.at += skip;
        self.number = self.number.saturating_add(1);
        let valid = std::str::from_utf8(text);
        Some(Line {
            number: self.number,
            span: start..start + text.len(),
            text: valid.unwrap_or_default(),
            ending,
            invalid: valid.is_err(),
        })
    }
}

/// A text in parts between one ASCII character: parts are a few bytes long, which the search of `str::split`
/// is slow for.
pub(crate) struct Parts<'a> {
    /// The remaining text; `None` after the last part.
    pub(crate) rest: Option<&'a str>,
    between: u8,
}

pub(crate) fn parts(text: &str, between: u8) -> Parts<'_> {
    Parts { rest: Some(text), between }
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.rest?;
        match text.bytes().position(|it| it == self.between) {
            Some(at) => {
                self.rest = Some(&text[at + 1..]);
                Some(&text[..at])
            }
            None => self.rest.take(),
        }
    }
}

/// The bytes as UTF-8; the error names the first bad line.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        Error::new(u32::try_from(line).unwrap_or(u32::MAX), "bytes that are no UTF-8 text")
    })
}

/// Line numbers of bytes, for texts read as a whole. It counts on from the last byte requested, so questions
/// in the order of the text cost one pass and no memory.
pub(crate) struct LineIndex<'a> {
    bytes: &'a [u8],
    /// The last byte requested, and the line ends before it.
    last: Cell<(usize, u32)>,
}

impl<'a> LineIndex<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> LineIndex<'a> {
        LineIndex { bytes, last: Cell::new((0, 0)) }
    }

    pub(crate) fn line(&self, at: usize) -> u32 {
        let (from, ends) = self.last.get();
        let (from, ends) = if at < from { (0, 0) } else { (from, ends) };
        let between = self.bytes.get(from..at.min(self.bytes.len())).unwrap_or_default();
        let more = memchr::memchr_iter(b'\n', between).count();
        let ends = ends.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        self.last.set((at.min(self.bytes.len()), ends));
        ends.saturating_add(1)
    }
}

/// Counts line terminators and empty lines, and reports them once per file.
#[derive(Default)]
pub(crate) struct TextCheck {
    carriage: u32,
    first_carriage: u32,
    lines: u32,
    empty: Vec<u32>,
}

impl TextCheck {
    pub(crate) fn see(&mut self, line: &Line<'_>) {
        self.lines = line.number;
        if line.ending == Ending::CrLf {
            self.carriage += 1;
            if self.first_carriage == 0 {
                self.first_carriage = line.number;
            }
        }
        if line.text.trim().is_empty() && !line.invalid && self.empty.len() < 1000 {
            self.empty.push(line.number);
        }
    }

    pub(crate) fn note(self, tunings: &mut Tunings<'_>) {
        if tunings.bytes.starts_with(MARK) {
            tunings.flaw(1, FlawKind::ByteOrderMark, "a byte-order mark precedes the first line");
        }
        if self.carriage > 0 {
            let text = format!("{} of {} lines end in CR LF", self.carriage, self.lines);
            tunings.flaw(self.first_carriage, FlawKind::CarriageReturn, text);
        }
        for line in self.empty {
            tunings.flaw(line, FlawKind::EmptyLine, "the line is empty");
        }
    }
}

/// Fields of a CSV line with their bytes in the line. Quotes around a field are kept out of it.
pub(crate) fn fields(text: &str) -> Vec<&str> {
    let mut out = Vec::with_capacity(24);
    let mut rest = text;
    loop {
        if let Some(quoted) = rest.strip_prefix('"')
            && let Some(end) = quoted.find('"')
        {
            let after = &quoted[end + 1..];
            if after.is_empty() || after.starts_with(',') {
                out.push(&quoted[..end]);
                match after.strip_prefix(',') {
                    Some(more) => rest = more,
                    None => return out,
                }
                continue;
            }
        }
        match memchr::memchr(b',', rest.as_bytes()) {
            Some(at) => {
                out.push(&rest[..at]);
                rest = &rest[at + 1..];
            }
            None => {
                out.push(rest);
                return out;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_their_ends() {
        let found: Vec<_> =
            lines(b"\xef\xbb\xbfa\r\n\nb").map(|it| (it.number, it.span, it.text, it.ending)).collect();
        let expected =
            [(1, 3..4, "a", Ending::CrLf), (2, 6..6, "", Ending::Lf), (3, 7..8, "b", Ending::Nothing)];
        assert_eq!(found, expected);
    }

    #[test]
    fn line_numbers_of_bytes() {
        let index = LineIndex::new(b"a\nbc\n\nd");
        for (at, line) in [(0, 1), (1, 1), (2, 2), (4, 2), (5, 3), (6, 4), (2, 2), (99, 4), (0, 1)] {
            assert_eq!(index.line(at), line, "{at}");
        }
    }

    #[test]
    fn csv_fields() {
        for (text, expected) in [
            ("a,b", &["a", "b"][..]),
            ("", &[""]),
            ("a,", &["a", ""]),
            ("0,\"(1,2)\",x", &["0", "(1,2)", "x"]),
            ("\"open,b", &["\"open", "b"]),
        ] {
            assert_eq!(fields(text), expected, "{text}");
        }
    }
}
