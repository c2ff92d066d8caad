//! Streaming JSON scanner.
//!
//! [`Stream::with`] runs a parser on the bytes at hand, and runs it again from the same place with more bytes
//! if it reaches their end. So a record is parsed as slices of one buffer, no document is built, and memory
//! does not grow with the file.

use memchr::memchr2;
use std::borrow::Cow;
use std::io::Read;

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;
/// The longest record: nothing a profiler writes as one value is longer.
const LONGEST: usize = 256 << 20;
/// Maximum nesting depth of values.
const DEEPEST: u32 = 200;

/// Reason why a parser stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The bytes at hand end within the value.
    More,
    /// The bytes are not JSON of this form.
    Bad(&'static str),
}

/// Reason why reading of a file failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The file ends within a value that begins at this byte.
    Cut(u64),
    /// Byte offset and description.
    Bad(u64, String),
}

type Parsed<T> = Result<T, Stop>;

/// Bytes that arrive in pieces.
pub struct Stream<'r> {
    input: &'r mut dyn Read,
    buffer: Vec<u8>,
    at: usize,
    len: usize,
    /// Offset of the buffer in the input.
    base: u64,
    ended: bool,
    failed: Option<String>,
}

impl<'r> Stream<'r> {
    /// A stream at the beginning of an input.
    pub fn new(input: &'r mut dyn Read) -> Self {
        // Zeroed pages cost memory only once they are filled.
        let buffer = vec![0; CHUNK];
        Stream { input, buffer, at: 0, len: 0, base: 0, ended: false, failed: None }
    }

    /// Offset of the next byte in the input.
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    fn fill(&mut self) {
        self.buffer.copy_within(self.at..self.len, 0);
        self.base += self.at as u64;
        self.len -= self.at;
        self.at = 0;
        if self.buffer.len() < self.len + CHUNK {
            // A record longer than the buffer doubles it, so that it is reparsed a few times only.
            let size = (self.len + CHUNK).max(if self.len > CHUNK { 2 * self.len } else { 0 });
            self.buffer.resize(size, 0);
        }
        while self.len < self.buffer.len() {
            match self.input.read(&mut self.buffer[self.len..]) {
                Ok(0) => self.ended = true,
                Ok(n) => {
                    self.len += n;
                    if self.len >= CHUNK {
                        return;
                    }
                    continue;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.failed = Some(error.to_string());
                    self.ended = true;
                }
            }
            return;
        }
    }

    /// Parses the next value. The parser may run several times: it must change nothing before it has all it
    /// needs.
    pub fn with<T>(&mut self, mut parse: impl FnMut(&mut Cursor<'_>) -> Parsed<T>) -> Result<T, Fault> {
        loop {
            let mut cursor = Cursor { bytes: &self.buffer[self.at..self.len], at: 0 };
            match parse(&mut cursor) {
                Ok(value) => {
                    self.at += cursor.at;
                    return Ok(value);
                }
                Err(Stop::Bad(what)) => {
                    let at = self.offset() + cursor.at as u64;
                    return Err(Fault::Bad(at, what.to_owned()));
                }
                Err(Stop::More) if self.len - self.at > LONGEST => {
                    return Err(Fault::Bad(self.offset(), "a value longer than 256 MiB".to_owned()));
                }
                Err(Stop::More) if self.ended => {
                    return Err(match self.failed.take() {
                        Some(error) => Fault::Bad(self.offset(), error),
                        None => Fault::Cut(self.offset()),
                    });
                }
                Err(Stop::More) => self.fill(),
            }
        }
    }

    /// Skips a value of any length.
    pub fn skip(&mut self) -> Result<(), Fault> {
        let first = self.with(|c| c.peek())?;
        match first {
            b'{' | b'[' => {
                let end = if first == b'{' { b'}' } else { b']' };
                self.with(|c| c.take())?;
                let mut depth = 1u32;
                loop {
                    // Parses one token at a time, so that skipped text leaves the buffer.
                    let token = self.with(|c| {
                        let b = c.peek()?;
                        match b {
                            b'"' => c.string().map(|_| b),
                            b'{' | b'[' | b'}' | b']' | b',' | b':' => c.take(),
                            _ => c.scalar().map(|_| b),
                        }
                    })?;
                    match token {
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' if depth == 1 => {
                            return if token == end {
                                Ok(())
                            } else {
                                Err(Fault::Bad(self.offset(), "brackets do not match".to_owned()))
                            };
                        }
                        b'}' | b']' => depth -= 1,
                        _ => {}
                    }
                }
            }
            _ => self.with(|c| c.skip(0)),
        }
    }

    /// The next key of an object whose brace was taken, with its colon; `None` at the end of the object.
    pub fn key(&mut self) -> Result<Option<String>, Fault> {
        self.with(|c| {
            if c.peek()? == b',' {
                c.take()?;
            }
            if c.peek()? == b'}' {
                c.take()?;
                return Ok(None);
            }
            let key = String::from_utf8_lossy(&unescape(c.string()?)).into_owned();
            c.expect(b':')?;
            Ok(Some(key))
        })
    }

    /// Whether another element of an array whose bracket was taken follows.
    pub fn element(&mut self) -> Result<bool, Fault> {
        loop {
            // A consumed comma is final, so an input may end after it.
            match self.with(|c| c.peek())? {
                b',' => self.with(|c| c.take())?,
                b']' => return self.with(|c| c.take()).map(|_| false),
                _ => return Ok(true),
            };
        }
    }

    /// Takes a bracket or brace.
    pub fn open(&mut self, what: u8) -> Result<(), Fault> {
        self.with(|c| c.expect(what))
    }

    /// The byte that the next value begins with; `None` at the end of the input.
    pub fn peek(&mut self) -> Result<Option<u8>, Fault> {
        match self.with(|c| c.peek()) {
            Ok(b) => Ok(Some(b)),
            Err(Fault::Cut(_)) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

/// A place in the bytes at hand.
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor over bytes that are all there. A number at their very end needs a space behind it.
    pub fn of(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    /// The byte that the next token begins with.
    #[inline]
    pub fn peek(&mut self) -> Parsed<u8> {
        while let Some(b) = self.bytes.get(self.at) {
            match b {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                b => return Ok(*b),
            }
        }
        Err(Stop::More)
    }

    /// Takes the next byte of punctuation.
    #[inline]
    pub fn take(&mut self) -> Parsed<u8> {
        let b = self.peek()?;
        self.at += 1;
        Ok(b)
    }

    /// Takes the next byte of punctuation, which must be this one.
    #[inline]
    pub fn expect(&mut self, wanted: u8) -> Parsed<()> {
        if self.peek()? != wanted {
            return Err(Stop::Bad(match wanted {
                b'{' => "an object `{` was expected",
                b'[' => "an array `[` was expected",
                b':' => "a colon `:` was expected",
                b'"' => "a string was expected",
                _ => "other punctuation was expected",
            }));
        }
        self.at += 1;
        Ok(())
    }

    /// The inside of a string, escapes as they are.
    #[inline]
    pub fn string(&mut self) -> Parsed<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        let mut at = start;
        loop {
            let Some(found) = self.bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) else {
                return Err(Stop::More);
            };
            at += found;
            if self.bytes[at] == b'"' {
                self.at = at + 1;
                return Ok(&self.bytes[start..at]);
            }
            at += 2;
        }
    }

    /// A number or a word, as written.
    #[inline]
    pub fn scalar(&mut self) -> Parsed<&'a [u8]> {
        self.peek()?;
        let start = self.at;
        let rest = &self.bytes[start..];
        let Some(n) =
            rest.iter().position(|b| matches!(b, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' | b':'))
        else {
            return Err(Stop::More);
        };
        if n == 0 {
            return Err(Stop::Bad("a value was expected"));
        }
        if !matches!(rest[0], b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') {
            return Err(Stop::Bad("a value was expected"));
        }
        self.at += n;
        Ok(&rest[..n])
    }

    /// A string's inside or a number as written; other values are skipped and give nothing.
    #[inline]
    pub fn plain(&mut self) -> Parsed<&'a [u8]> {
        match self.peek()? {
            b'"' => self.string(),
            b'{' | b'[' => {
                self.skip(0)?;
                Ok(b"")
            }
            _ => self.scalar(),
        }
    }

    /// Skips a value and gives it as written.
    pub fn raw(&mut self) -> Parsed<&'a [u8]> {
        self.peek()?;
        let start = self.at;
        self.skip(0)?;
        Ok(&self.bytes[start..self.at])
    }

    /// Skips a value.
    pub fn skip(&mut self, depth: u32) -> Parsed<()> {
        if depth > DEEPEST {
            return Err(Stop::Bad("values nest more than 200 deep"));
        }
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'{' => self.object(|_, c| c.skip(depth + 1)),
            b'[' => self.array(|c| c.skip(depth + 1)),
            _ => self.scalar().map(|_| ()),
        }
    }

    /// Visits the members of an object.
    #[inline]
    pub fn object(&mut self, mut member: impl FnMut(&'a [u8], &mut Cursor<'a>) -> Parsed<()>) -> Parsed<()> {
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            member(key, self)?;
            match self.take()? {
                b',' => {}
                b'}' => return Ok(()),
                _ => return Err(Stop::Bad("`,` or `}` was expected")),
            }
        }
    }

    /// Visits the elements of an array.
    #[inline]
    pub fn array(&mut self, mut element: impl FnMut(&mut Cursor<'a>) -> Parsed<()>) -> Parsed<()> {
        self.expect(b'[')?;
        if self.peek()? == b']' {
            self.at += 1;
            return Ok(());
        }
        loop {
            element(self)?;
            match self.take()? {
                b',' => {}
                b']' => return Ok(()),
                _ => return Err(Stop::Bad("`,` or `]` was expected")),
            }
        }
    }

    /// An unsigned number, written plainly or as a string; `None` for anything else.
    #[inline]
    pub fn number(&mut self) -> Parsed<Option<u64>> {
        Ok(whole(self.plain()?))
    }

    /// Up to three unsigned numbers: `[1024, 1, 1]` or `{"x": 1024, "y": 1, "z": 1}`.
    pub fn triple(&mut self) -> Parsed<Option<[u32; 3]>> {
        let mut out = [0u32; 3];
        let mut seen = 0usize;
        let number = |c: &mut Cursor<'a>| -> Parsed<u32> {
            Ok(c.number()?.and_then(|n| u32::try_from(n).ok()).unwrap_or(0))
        };
        match self.peek()? {
            b'[' => self.array(|c| {
                let n = number(c)?;
                if let Some(slot) = out.get_mut(seen) {
                    *slot = n;
                }
                seen += 1;
                Ok(())
            })?,
            b'{' => self.object(|key, c| {
                let n = number(c)?;
                match key {
                    b"x" => out[0] = n,
                    b"y" => out[1] = n,
                    b"z" => out[2] = n,
                    _ => return Ok(()),
                }
                seen += 1;
                Ok(())
            })?,
            _ => self.skip(0)?,
        }
        Ok((seen == 3).then_some(out))
    }
}

/// The text of a string's inside.
pub fn unescape(raw: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', raw).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        let b = raw[at];
        at += 1;
        if b != b'\\' {
            out.push(b);
            continue;
        }
        let Some(&escaped) = raw.get(at) else { break };
        at += 1;
        match escaped {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'u' => {
                let mut code = hex4(raw, at).unwrap_or(0xfffd);
                at += 4;
                if (0xd800..0xdc00).contains(&code)
                    && raw.get(at..at + 2) == Some(b"\\u")
                    && let Some(low) = hex4(raw, at + 2).filter(|low| (0xdc00..0xe000).contains(low))
                {
                    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    at += 6;
                }
                let c = char::from_u32(code).unwrap_or('\u{fffd}');
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// The text of a string's inside as UTF-8; bytes that are not are replaced.
pub fn text(raw: &[u8]) -> Cow<'_, str> {
    match unescape(raw) {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

fn hex4(raw: &[u8], at: usize) -> Option<u32> {
    let text = std::str::from_utf8(raw.get(at..at + 4)?).ok()?;
    u32::from_str_radix(text, 16).ok()
}

/// A whole unsigned number; also of a number with a fraction of zeros.
#[inline]
pub fn whole(text: &[u8]) -> Option<u64> {
    let mut value = 0u64;
    if text.is_empty() {
        return None;
    }
    for (at, b) in text.iter().enumerate() {
        match b {
            b'0'..=b'9' => value = value.checked_mul(10)?.checked_add(u64::from(b - b'0'))?,
            _ if at > 0 => {
                let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
                return (0.0..1.8e19).contains(&number).then_some(number as u64);
            }
            _ => return None,
        }
    }
    Some(value)
}

/// Nanoseconds of a number of microseconds, exactly to three decimals; further decimals round.
#[inline]
pub fn nanoseconds(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    let mut value = 0i64;
    let mut decimals = None;
    let mut any = false;
    for b in digits {
        match b {
            b'0'..=b'9' => {
                let digit = i64::from(b - b'0');
                any = true;
                match decimals {
                    Some(3) => {
                        value += i64::from(digit >= 5);
                        decimals = Some(4);
                        continue;
                    }
                    Some(4) => continue,
                    Some(n) => decimals = Some(n + 1),
                    None => {}
                }
                value = value.checked_mul(10)?.checked_add(digit)?;
            }
            b'.' if decimals.is_none() => decimals = Some(0),
            _ => {
                let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
                let ns = number * 1e3;
                return (ns.abs() < 9e18).then_some(ns.round() as i64);
            }
        }
    }
    if !any {
        return None;
    }
    for _ in decimals.unwrap_or(0)..3 {
        value = value.checked_mul(10)?;
    }
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_keep_their_nanoseconds() {
        for (text, expected) in [
            ("3743411230047.485", Some(3_743_411_230_047_485)),
            ("6520618853487.683", Some(6_520_618_853_487_683)),
            ("67.32", Some(67_320)),
            ("8", Some(8_000)),
            ("-1.5", Some(-1_500)),
            ("0.0005", Some(1)),
            ("1.00049999", Some(1_000)),
            ("1e3", Some(1_000_000)),
            ("", None),
            ("-", None),
            ("null", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(nanoseconds(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn escapes() {
        for (raw, text) in [
            ("a\\nb", "a\nb"),
            ("\\u00e9\\ud83d\\ude00", "é😀"),
            ("\\ud83d", "\u{fffd}"),
            ("\\\\\\\"", "\\\""),
        ] {
            assert_eq!(unescape(raw.as_bytes()), text.as_bytes(), "{raw}");
        }
    }

    #[test]
    fn values_are_skipped_whole_or_not_at_all() {
        let text = br#"{"a":[1,{"b":"\"}]"},null],"c":{}} "#;
        for end in 0..text.len() - 2 {
            assert_eq!(Cursor::of(&text[..end]).skip(0), Err(Stop::More), "{end}");
        }
        assert_eq!(Cursor::of(text).skip(0), Ok(()));
        let deep = [b'['; 1000];
        assert!(matches!(Cursor::of(&deep).skip(0), Err(Stop::Bad(_))));
    }

    #[test]
    fn a_stream_gives_what_one_piece_gives() {
        struct Bytes<'a>(&'a [u8]);
        impl Read for Bytes<'_> {
            fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
                let n = usize::from(!self.0.is_empty());
                out[..n].copy_from_slice(&self.0[..n]);
                self.0 = &self.0[n..];
                Ok(n)
            }
        }
        let text = br#"{"skip": [1, {"x": "]"}], "list": ["a", "b"]}"#;
        let mut input = Bytes(text);
        let mut stream = Stream::new(&mut input);
        stream.open(b'{').unwrap();
        let mut found = Vec::new();
        while let Some(key) = stream.key().unwrap() {
            if key == "list" {
                stream.open(b'[').unwrap();
                while stream.element().unwrap() {
                    found.push(stream.with(|c| c.string().map(<[u8]>::to_vec)).unwrap());
                }
            } else {
                stream.skip().unwrap();
            }
        }
        assert_eq!(found, [b"a".to_vec(), b"b".to_vec()]);
        assert_eq!(stream.peek(), Ok(None));
    }
}
