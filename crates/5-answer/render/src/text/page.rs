//! Lines of text with roles, wrapped to a width.
//!
//! Widths are counted before colours are written, and characters that could steer a terminal are made
//! visible, because names come from untrusted files.

use crate::{Role, Style};
use std::borrow::Cow;

/// A piece of text with its role.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) role: Role,
    pub(crate) text: String,
}

/// Makes a span; control characters become visible.
pub(crate) fn span(role: Role, text: impl AsRef<str>) -> Span {
    Span { role, text: visible(text.as_ref()).into_owned() }
}

/// Ordinary text.
pub(crate) fn plain(text: impl AsRef<str>) -> Span {
    span(Role::Plain, text)
}

/// Secondary text.
pub(crate) fn dim(text: impl AsRef<str>) -> Span {
    span(Role::Dim, text)
}

/// Replaces control characters (escape codes, line ends, direction overrides) by their escapes.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let steers = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    // Nearly all text is printable ASCII, and one look over its bytes says so.
    let printable = text.bytes().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'));
    if printable || !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if c == '\t' {
            out.push(' ');
        } else if steers(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// Text being written.
pub(crate) struct Page {
    pub(crate) style: Style,
    out: String,
    lines: usize,
}

impl Page {
    pub(crate) fn new(style: &Style) -> Self {
        Page { style: *style, out: String::new(), lines: 0 }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Lines written.
    pub(crate) fn lines(&self) -> usize {
        self.lines
    }

    pub(crate) fn blank(&mut self) {
        self.out.push('\n');
        self.lines += 1;
    }

    /// Writes one line unchanged and uncut.
    pub(crate) fn raw(&mut self, spans: &[Span]) {
        for span in spans {
            self.style.paint(&mut self.out, span.role, &span.text);
        }
        self.end_line();
    }

    /// Writes spans after `indent` spaces and wraps at spaces; following lines start after `hang` spaces.
    pub(crate) fn wrapped(&mut self, indent: usize, hang: usize, spans: &[Span]) {
        self.prefixed(&[plain(" ".repeat(indent))], &[plain(" ".repeat(hang))], spans);
    }

    /// Writes spans after `first`, wrapped; following lines start with `rest`.
    pub(crate) fn prefixed(&mut self, first: &[Span], rest: &[Span], spans: &[Span]) {
        let prefix_width = |prefix: &[Span]| prefix.iter().map(|span| width(&span.text)).sum::<usize>();
        let total = self.style.width.max(24);
        let mut column = prefix_width(first);
        for span in first {
            self.style.paint(&mut self.out, span.role, &span.text);
        }
        let mut empty = true;
        // A word may run over several spans ("shed " "4" " VGPRs,"): pieces without a space between stay
        // together.
        let mut word: Vec<(Role, &str)> = Vec::new();
        let mut gap = 0;
        let mut pending_gap = 0;
        let mut pieces: Vec<(usize, Vec<(Role, &str)>)> = Vec::new();
        for span in spans {
            for (index, part) in span.text.split(' ').enumerate() {
                if index > 0 {
                    if !word.is_empty() {
                        pieces.push((gap, std::mem::take(&mut word)));
                        pending_gap = 0;
                    }
                    pending_gap += 1;
                }
                if !part.is_empty() {
                    if word.is_empty() {
                        gap = pending_gap;
                        pending_gap = 0;
                    }
                    word.push((span.role, part));
                }
            }
        }
        if !word.is_empty() {
            pieces.push((gap, word));
        }
        for (gap, word) in pieces {
            let word_width: usize = word.iter().map(|(_, part)| width(part)).sum();
            let gap = if empty { 0 } else { gap };
            if !empty && column + gap + word_width > total {
                self.end_line();
                for span in rest {
                    self.style.paint(&mut self.out, span.role, &span.text);
                }
                column = prefix_width(rest);
            } else {
                self.out.extend(std::iter::repeat_n(' ', gap));
                column += gap;
            }
            for (role, part) in word {
                let mut part = part;
                // A word longer than a whole line is cut where the line ends.
                while column + width(part) > total && total > prefix_width(rest) + 8 {
                    let room = total.saturating_sub(column);
                    let cut = part.char_indices().nth(room).map_or(part.len(), |(at, _)| at);
                    self.style.paint(&mut self.out, role, &part[..cut]);
                    part = &part[cut..];
                    self.end_line();
                    for span in rest {
                        self.style.paint(&mut self.out, span.role, &span.text);
                    }
                    column = prefix_width(rest);
                }
                self.style.paint(&mut self.out, role, part);
                column += width(part);
            }
            empty = false;
        }
        self.end_line();
    }

    /// Writes a piece of a line that [`Page::end_line`] ends.
    pub(crate) fn put(&mut self, role: Role, text: &str) {
        self.style.paint(&mut self.out, role, &visible(text));
    }

    /// Reserves space for `bytes` more bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.out.reserve(bytes);
    }

    /// Ends a line of pieces.
    pub(crate) fn end_line(&mut self) {
        while self.out.ends_with(' ') {
            self.out.pop();
        }
        self.out.push('\n');
        self.lines += 1;
    }
}

/// Plain text, wrapped line by line.
#[cfg(feature = "tui")]
pub(crate) fn wrapped(text: &str, style: &Style) -> String {
    let mut page = Page::new(style);
    text.lines().for_each(|line| page.wrapped(0, 2, &[plain(line)]));
    page.finish()
}

/// Joins groups of spans with a separator.
pub(crate) fn join(groups: Vec<Vec<Span>>, separator: &str) -> Vec<Span> {
    let mut out = Vec::new();
    for (index, group) in groups.into_iter().enumerate() {
        if index > 0 {
            out.push(dim(separator));
        }
        out.extend(group);
    }
    out
}

/// Column at which the values of a card start.
pub(super) const VALUES: usize = 12;

/// A line of a card: the label, then its value.
pub(super) fn field(page: &mut Page, name: &str, spans: &[Span]) {
    let first = [dim(format!("  {name:<width$}", width = VALUES - 2))];
    page.prefixed(&first, &[plain(" ".repeat(VALUES))], spans);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(width: usize, spans: &[Span], expected: &str) {
        let mut page = Page::new(&Style { width, ..Style::default() });
        page.wrapped(2, 4, spans);
        assert_eq!(page.finish(), expected);
    }

    #[test]
    fn wraps_at_spaces_and_hangs() {
        check(80, &[plain("one two")], "  one two\n");
        check(24, &[plain("alpha beta gamma delta epsilon")], "  alpha beta gamma delta\n    epsilon\n");
        check(
            24,
            &[plain("shed "), span(Role::Strong, "4"), plain(" VGPRs, then shed "), plain("1"), plain("0")],
            "  shed 4 VGPRs, then\n    shed 10\n",
        );
        check(24, &[plain("a  b")], "  a  b\n");
        check(24, &[plain("x".repeat(40))], &format!("  {}\n    {}\n", "x".repeat(22), "x".repeat(18)));
        check(24, &[], "\n");
    }

    #[test]
    fn terminal_controls_are_made_visible() {
        assert_eq!(visible("a\x1b[31mb\n\u{202e}"), "a\\u{1b}[31mb\\n\\u{202e}");
        assert_eq!(visible("v_add_f32 v0,\tv1"), "v_add_f32 v0,\\tv1".replace("\\t", " "));
    }

    #[test]
    fn colour_does_not_count_as_width() {
        let mut page = Page::new(&Style { width: 24, color: true, ..Style::default() });
        page.wrapped(0, 0, &[span(Role::Severe, "twelve chars"), plain(" and 11 more")]);
        assert_eq!(page.finish(), "\x1b[1;38;5;160mtwelve\x1b[0m \x1b[1;38;5;160mchars\x1b[0m and 11 more\n");
    }
}
