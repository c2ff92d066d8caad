//! Whole lines of a text that comes in pieces.

use std::borrow::Cow;

/// Longest line that is kept until its end comes, bytes; a longer one is handed on in parts.
const MOST_KEPT: usize = 1 << 20;

/// Cuts a text at ends of lines, whatever the size of its pieces.
#[derive(Default)]
pub(crate) struct Pieces {
    /// Text behind the last end of a line.
    rest: Vec<u8>,
    /// The text so far does not end with a line's end.
    open: bool,
}

/// The end of a text.
pub(crate) struct Last {
    /// Text that was not yet handed on.
    pub(crate) rest: Vec<u8>,
    /// The last line has no end.
    pub(crate) unended: bool,
}

impl Pieces {
    /// The lines that end within a piece, with what earlier ones held of them; `None` if none ends.
    pub(crate) fn lines<'p>(&mut self, piece: &'p [u8]) -> Option<Cow<'p, [u8]>> {
        self.open = *piece.last()? != b'\n';
        let Some(end) = memchr::memrchr(b'\n', piece) else {
            self.rest.extend_from_slice(piece);
            return (self.rest.len() > MOST_KEPT).then(|| Cow::Owned(std::mem::take(&mut self.rest)));
        };
        let (whole, rest) = piece.split_at(end + 1);
        let lines = if self.rest.is_empty() {
            Cow::Borrowed(whole)
        } else {
            let mut lines = std::mem::take(&mut self.rest);
            lines.extend_from_slice(whole);
            Cow::Owned(lines)
        };
        self.rest.extend_from_slice(rest);
        Some(lines)
    }

    /// Ends the text.
    pub(crate) fn end(&mut self) -> Last {
        Last { rest: std::mem::take(&mut self.rest), unended: self.open }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_lines_from_pieces_of_any_size() {
        for (text, unended) in
            [("", false), ("a\nbc\n\nd", true), ("a\n\n", false), ("\n", false), ("a", true)]
        {
            for size in 1..8 {
                let mut pieces = Pieces::default();
                let mut all = Vec::new();
                for piece in text.as_bytes().chunks(size) {
                    if let Some(lines) = pieces.lines(piece) {
                        assert!(lines.ends_with(b"\n"), "{text:?} in pieces of {size}");
                        all.extend_from_slice(&lines);
                    }
                }
                let last = pieces.end();
                all.extend_from_slice(&last.rest);
                assert_eq!((all.as_slice(), last.unended), (text.as_bytes(), unended), "{text:?} by {size}");
            }
        }
    }

    #[test]
    fn a_line_without_end_is_handed_on_in_parts() {
        let mut pieces = Pieces::default();
        let piece = [b'x'; 1 << 14];
        let parts: usize = (0..200).filter_map(|_| pieces.lines(&piece)).map(|it| it.len()).sum();
        let last = pieces.end();
        assert!(last.rest.len() <= MOST_KEPT && last.unended);
        assert_eq!(parts + last.rest.len(), 200 << 14);
    }
}
