//! Lines of a log of any size that hold one of a few words.

use crate::clean::clean;
use crate::pieces::Pieces;
use crate::prefix::entry;
use memchr::memmem::Finder;
use sorting::Sort;

/// Longest line that is looked at, bytes; of a longer one the beginning.
const MOST_LINE: usize = 1 << 16;

/// A line with one of the words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found<'a> {
    /// 1-based.
    pub line: u32,
    /// Its first byte in the log.
    pub start: usize,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl Found<'_> {
    /// Its text without terminal control; of a line of JSON the message. `None` if it is no UTF-8.
    pub fn text(&self) -> Option<String> {
        let plain = clean(self.bytes);
        let text = std::str::from_utf8(&plain).ok()?;
        // A message within JSON is read without its escapes.
        let text = if text.trim_start().starts_with('{') { entry(text).text } else { text.to_owned() };
        Some(text)
    }
}

/// Search of a log that comes in pieces: [`feed`](Search::feed) each, then [`finish`](Search::finish). Most lines
/// have no word and cost a few passes of `memmem`; memory is a piece and a line of at most a mebibyte.
pub struct Search {
    words: Vec<Finder<'static>>,
    pieces: Pieces,
    /// Line ends of the text looked at so far.
    lines: u32,
    /// Bytes of it.
    before: usize,
}

impl Search {
    /// At the beginning of a log.
    pub fn new(words: &[&'static str]) -> Search {
        let words = words.iter().map(|it| Finder::new(it.as_bytes())).collect();
        Search { words, pieces: Pieces::default(), lines: 0, before: 0 }
    }

    /// Reads a piece and hands on its lines with a word.
    pub fn feed(&mut self, piece: &[u8], each: &mut dyn FnMut(&Found<'_>)) {
        if let Some(lines) = self.pieces.lines(piece) {
            self.text(&lines, each);
        }
    }

    /// Hands on the last line, if it has a word and no end. The lines of the log.
    pub fn finish(&mut self, each: &mut dyn FnMut(&Found<'_>)) -> u32 {
        let last = self.pieces.end();
        self.text(&last.rest, each);
        self.lines.saturating_add(u32::from(last.unended))
    }

    fn text(&mut self, text: &[u8], each: &mut dyn FnMut(&Found<'_>)) {
        let mut starts = Vec::new();
        for word in &self.words {
            let begins = |at| memchr::memrchr(b'\n', &text[..at]).map_or(0, |it| it + 1);
            starts.extend(word.find_iter(text).map(begins));
        }
        starts.in_order();
        starts.dedup();
        let mut at = 0;
        for start in starts {
            self.count(&text[at..start]);
            let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |it| start + it);
            let bytes = &text[start..end.min(start + MOST_LINE)];
            each(&Found { line: self.lines.saturating_add(1), start: self.before + start, bytes });
            at = start;
        }
        self.count(&text[at..]);
        self.before += text.len();
    }

    fn count(&mut self, text: &[u8]) {
        let ends = memchr::memchr_iter(b'\n', text).count();
        self.lines = self.lines.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_size_give_the_same() {
        let text = "a\nfirst needle\n\n\u{1b}[1mtwo pins\u{1b}[0m and a needle\nb\n{\"message\": \"a \\\"pin\\\"\"}\nlast needle";
        let expected =
            [(2, "first needle"), (4, "two pins and a needle"), (6, "a \"pin\""), (7, "last needle")];
        for size in [1, 5, 16, 1000] {
            let mut search = Search::new(&["needle", "pin"]);
            let mut found = Vec::new();
            let mut keep = |it: &Found<'_>| {
                assert!(text.as_bytes()[it.start..].starts_with(it.bytes));
                found.push((it.line, it.text().unwrap()));
            };
            text.as_bytes().chunks(size).for_each(|piece| search.feed(piece, &mut keep));
            assert_eq!(search.finish(&mut keep), 7);
            let found: Vec<(u32, &str)> = found.iter().map(|(line, text)| (*line, text.as_str())).collect();
            assert_eq!(found, expected, "{size}");
        }
    }
}
