//! Reading one line of text from left to right.
//!
//! The cursor never fails and never moves back on its own; each reader takes the text it knows and leaves the
//! rest, so the caller can name the column of unexpected text.

/// A place in one line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// Bytes that continue a symbol name; LLVM allows `.`, `$`, `@` and `?` in them.
fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'@' | b'?') || byte >= 0x80
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Cursor { text, at: 0 }
    }

    /// Byte position in the line.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Goes to a byte position that [`Cursor::at`] gave.
    pub(crate) fn go(&mut self, at: usize) {
        self.at = at;
    }

    /// The text from `from` to here.
    pub(crate) fn since(&self, from: usize) -> &'a str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    /// The text from here on.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Skips blanks and returns the next byte.
    pub(crate) fn next_visible(&mut self) -> Option<u8> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
        self.peek()
    }

    /// Skips blanks, then takes `byte` if it is next.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.next_visible() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Takes `word` if the text continues with it.
    pub(crate) fn take_str(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Takes a name; empty when there is none. Names do not begin with a digit.
    pub(crate) fn name(&mut self) -> &'a str {
        let from = self.at;
        if self.peek() == Some(b'"') {
            return self.quoted().unwrap_or_default();
        }
        if self.peek().is_some_and(|byte| in_name(byte) && !byte.is_ascii_digit()) {
            while self.peek().is_some_and(in_name) {
                self.at += 1;
            }
        }
        self.since(from)
    }

    /// Takes `"text"` and returns the text between the quotes, escapes left as they are.
    pub(crate) fn quoted(&mut self) -> Option<&'a str> {
        let from = self.at;
        if self.peek() != Some(b'"') {
            return None;
        }
        let mut at = from + 1;
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(at) {
            if byte == b'"' {
                self.at = at + 1;
                return self.text.get(from + 1..at);
            }
            at += if byte == b'\\' { 2 } else { 1 };
        }
        None
    }

    /// A decimal number of a register or modifier, without sign or prefix.
    pub(crate) fn decimal(&mut self) -> Option<u32> {
        let from = self.at;
        let mut value: u32 = 0;
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            value = value.checked_mul(10)?.checked_add(u32::from(byte - b'0'))?;
            self.at += 1;
        }
        (self.at > from).then_some(value)
    }

    /// Skips `U`, `L`, `LL`, `UL` or `ULL` behind an integer: they say nothing.
    fn integer_suffix(&mut self) {
        self.at += usize::from(self.peek() == Some(b'U'));
        for _ in 0..2 {
            self.at += usize::from(self.peek() == Some(b'L'));
        }
    }

    /// A number as the assembler reads it, without sign: `12`, `0x1f`, `0b101`, `017`, `1.5`, `2e-3`.
    pub(crate) fn number(&mut self) -> Option<Number> {
        let first = if self.peek()? == b'.' { self.peek_at(1)? } else { self.peek()? };
        if !first.is_ascii_digit() {
            return None;
        }
        let from = self.at;
        let radix = match (self.peek(), self.peek_at(1)) {
            (Some(b'0'), Some(b'x' | b'X')) => 16,
            (Some(b'0'), Some(b'b' | b'B')) if matches!(self.peek_at(2), Some(b'0' | b'1')) => 2,
            _ => 10,
        };
        if radix != 10 {
            self.at += 2;
            let digits = self.at;
            while self.peek().is_some_and(|byte| char::from(byte).is_digit(radix)) {
                self.at += 1;
            }
            let digits = self.since(digits);
            self.integer_suffix();
            return u64::from_str_radix(digits, radix).ok().map(|value| Number::Int(value as i64));
        }
        let digits = |cursor: &mut Self| {
            while cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                cursor.at += 1;
            }
        };
        digits(self);
        let mut real = false;
        if self.peek() == Some(b'.') {
            real = true;
            self.at += 1;
            digits(self);
        }
        let exponent = match (self.peek(), self.peek_at(1), self.peek_at(2)) {
            (Some(b'e' | b'E'), Some(b'0'..=b'9'), _) => 1,
            (Some(b'e' | b'E'), Some(b'+' | b'-'), Some(b'0'..=b'9')) => 2,
            _ => 0,
        };
        if exponent > 0 {
            real = true;
            self.at += exponent;
            digits(self);
        }
        let text = self.since(from);
        if real {
            return text.parse().ok().map(Number::Real);
        }
        let octal = text.len() > 1 && text.starts_with('0');
        let (digits, radix) = if octal { (&text[1..], 8) } else { (text, 10) };
        self.integer_suffix();
        u64::from_str_radix(digits, radix).ok().map(|value| Number::Int(value as i64))
    }
}

/// A number in the text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    Int(i64),
    Real(f64),
}

/// The part of a line before its comment (`;` or `//`), quotes respected.
pub(crate) fn without_comment(line: &str) -> &str {
    let bytes = line.as_bytes();
    let mut quoted = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if quoted => at += 1,
            b';' if !quoted => return &line[..at],
            b'/' if !quoted && bytes.get(at + 1) == Some(&b'/') => return &line[..at],
            _ => {}
        }
        at += 1;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_the_assembler_reads_them() {
        use Number::{Int, Real};
        let cases = [
            ("12,", Some(Int(12)), ","),
            ("0x1F)", Some(Int(31)), ")"),
            ("0b101", Some(Int(5)), ""),
            ("0b", Some(Int(0)), "b"),
            ("0x20L,", Some(Int(32)), ","),
            ("7ULL+1", Some(Int(7)), "+1"),
            ("7LLL", Some(Int(7)), "L"),
            ("017 x", Some(Int(15)), " x"),
            ("0", Some(Int(0)), ""),
            ("0xffffffffffffffff", Some(Int(-1)), ""),
            ("0x1ffffffffffffffff", None, ""),
            ("1.5", Some(Real(1.5)), ""),
            ("0.15915494", Some(Real(0.15915494)), ""),
            ("1e-3,", Some(Real(1e-3)), ","),
            ("2e", Some(Int(2)), "e"),
            (".5", Some(Real(0.5)), ""),
            ("x", None, "x"),
            ("", None, ""),
        ];
        for (text, expected, rest) in cases {
            let mut cursor = Cursor::new(text);
            assert_eq!(cursor.number(), expected, "{text}");
            assert_eq!(cursor.rest(), rest, "{text}");
        }
    }

    #[test]
    fn comments_end_the_line_outside_quotes() {
        let cases = [
            ("s_nop 0 ; wait", "s_nop 0 "),
            ("s_nop 0 // wait", "s_nop 0 "),
            (".ascii \"a;b//c\" ; d", ".ascii \"a;b//c\" "),
            (".ascii \"\\\";\" ; d", ".ascii \"\\\";\" "),
            ("a / b", "a / b"),
            ("", ""),
        ];
        for (line, expected) in cases {
            assert_eq!(without_comment(line), expected);
        }
    }
}
