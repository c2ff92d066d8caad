//! A position in the text.

use crate::error::ReadError;
use crate::split;

/// A text and how far it is read.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Line of `at`, from 1.
    pub(super) line: u32,
}

impl<'a> Cursor<'a> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Unread text.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// One byte on.
    pub(super) fn bump(&mut self) {
        if self.peek() == Some(b'\n') {
            self.line += 1;
        }
        self.at += 1;
    }

    /// Bytes on, over lines.
    pub(super) fn skip(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.text.len());
        let passed = self.text.as_bytes().get(self.at..end).unwrap_or_default();
        self.line += u32::try_from(memchr::memchr_iter(b'\n', passed).count()).unwrap_or(u32::MAX);
        self.at = end;
    }

    /// Spaces, within the line.
    pub(super) fn spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Spaces, ends of lines and comments.
    pub(super) fn blank(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.bump(),
                Some(b'/') if self.peek_at(1) == Some(b'/') => self.skip_line(),
                _ => return,
            }
        }
    }

    /// Skips to the end of the line, before its `\n`.
    pub(super) fn skip_line(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// A word of letters, digits, `_`, `.`, `$` and `-`; may be empty.
    pub(super) fn word(&mut self) -> &'a str {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.' | b'$' | b'-'))
        {
            // The arrow after a name is none of it.
            if self.peek() == Some(b'-') && self.peek_at(1) == Some(b'>') {
                break;
            }
            self.at += 1;
        }
        self.slice(start, self.at)
    }

    /// Takes `what` if it is next.
    pub(super) fn take(&mut self, what: &str) -> bool {
        let is = self.rest().starts_with(what);
        if is {
            self.at += what.len();
        }
        is
    }

    /// A bracketed text with its brackets.
    pub(super) fn bracket(&mut self) -> Result<&'a str, ReadError> {
        let length = split::closing(self.rest()).ok_or_else(|| self.error("a bracket is not closed"))?;
        let text = self.slice(self.at, self.at + length);
        self.skip(length);
        Ok(text)
    }

    /// A quoted string with its quotes.
    pub(super) fn string(&mut self) -> Result<&'a str, ReadError> {
        let length = split::string(self.rest()).ok_or_else(|| self.error("a string is not closed"))?;
        let text = self.slice(self.at, self.at + length);
        self.skip(length);
        Ok(text)
    }

    /// The next thing but spaces is the end of the line.
    pub(super) fn at_line_end(&self) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        match rest.iter().find(|it| !matches!(it, b' ' | b'\t' | b'\r')) {
            None | Some(b'\n') => true,
            Some(b'/') => {
                rest.iter().skip_while(|it| matches!(it, b' ' | b'\t' | b'\r')).nth(1) == Some(&b'/')
            }
            Some(_) => false,
        }
    }

    pub(super) fn error(&self, what: impl Into<String>) -> ReadError {
        ReadError::new(self.line, what)
    }
}
