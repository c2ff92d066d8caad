//! MessagePack, as the metadata note of code-object versions 3 and later uses it.
//!
//! Element counts are only counted down; nothing is allocated for them. Source: the MessagePack
//! specification.

use crate::ReadError;
use crate::bytes::range;
use crate::events::{Event, Events};
use std::borrow::Cow;

/// Deepest nesting of a valid note; real notes need five levels.
const DEEPEST: usize = 32;

pub(crate) struct Msgpack<'a> {
    data: &'a [u8],
    at: u64,
    base: u64,
    /// Values left in each open map and sequence.
    open: Vec<u64>,
}

impl<'a> Msgpack<'a> {
    /// Reads `data`, which begins `base` bytes into the input.
    pub(crate) fn new(data: &'a [u8], base: u64) -> Self {
        Self { data, at: 0, base, open: Vec::new() }
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], ReadError> {
        let bytes =
            range(self.data, self.at, length, "a metadata value").map_err(|error| error.within(self.base))?;
        self.at += length;
        Ok(bytes)
    }

    fn number(&mut self, width: u64) -> Result<u64, ReadError> {
        Ok(self.take(width)?.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    fn open(&mut self, count: u64, event: Event<'a>) -> Result<Event<'a>, ReadError> {
        if self.open.len() == DEEPEST {
            return Err(ReadError::new(
                self.position(),
                format!("metadata nested deeper than {DEEPEST} levels"),
            ));
        }
        self.open.push(count);
        Ok(event)
    }

    fn text(&mut self, length: u64) -> Result<Event<'a>, ReadError> {
        let bytes = self.take(length)?;
        // `from_utf8` scans by words and is faster than `from_utf8_lossy`.
        let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        Ok(Event::Text(text))
    }

    fn other(&mut self, length: u64) -> Result<Event<'a>, ReadError> {
        self.take(length)?;
        Ok(Event::Other)
    }

    fn signed(&mut self, width: u64) -> Result<Event<'a>, ReadError> {
        let value = self.number(width)?;
        let negative = value >> (width * 8 - 1) & 1 == 1;
        Ok(if negative { Event::Other } else { Event::Int(value) })
    }
}

impl<'a> Events<'a> for Msgpack<'a> {
    fn next(&mut self) -> Result<Event<'a>, ReadError> {
        match self.open.last_mut() {
            Some(0) => {
                self.open.pop();
                return Ok(Event::End);
            }
            Some(left) => *left -= 1,
            None if self.at > 0 => return Err(ReadError::new(self.position(), "metadata ends too early")),
            None => {}
        }
        let head = self.take(1)?[0];
        match head {
            0x00..=0x7f => Ok(Event::Int(u64::from(head))),
            0x80..=0x8f => self.open(2 * u64::from(head & 0xf), Event::Map),
            0x90..=0x9f => self.open(u64::from(head & 0xf), Event::Seq),
            0xa0..=0xbf => self.text(u64::from(head & 0x1f)),
            0xc2 => Ok(Event::Bool(false)),
            0xc3 => Ok(Event::Bool(true)),
            0xc0 | 0xe0..=0xff => Ok(Event::Other),
            0xc4..=0xc6 => {
                let length = self.number(1 << (head - 0xc4))?;
                self.other(length)
            }
            0xc7..=0xc9 => {
                let length = self.number(1 << (head - 0xc7))?;
                self.other(length + 1)
            }
            0xca => self.other(4),
            0xcb => self.other(8),
            0xcc..=0xcf => Ok(Event::Int(self.number(1 << (head - 0xcc))?)),
            0xd0..=0xd3 => self.signed(1 << (head - 0xd0)),
            0xd4..=0xd8 => self.other((1 << (head - 0xd4)) + 1),
            0xd9..=0xdb => {
                let length = self.number(1 << (head - 0xd9))?;
                self.text(length)
            }
            0xdc | 0xdd => {
                let count = self.number(2 << (head - 0xdc))?;
                self.open(count, Event::Seq)
            }
            0xde | 0xdf => {
                let count = self.number(2 << (head - 0xde))?;
                self.open(2 * count, Event::Map)
            }
            0xc1 => Err(ReadError::new(
                self.position() - 1,
                "byte `0xc1`, which is no MessagePack value, in the metadata",
            )
            .hint("the metadata note is damaged or in another notation")),
        }
    }

    fn position(&self) -> u64 {
        self.base.saturating_add(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(data: &[u8]) -> String {
        let mut source = Msgpack::new(data, 0);
        let mut text = String::new();
        loop {
            match source.next() {
                Ok(event) => text += &format!("{event:?} "),
                Err(error) => return text + &error.to_string(),
            }
        }
    }

    #[test]
    fn every_kind_of_value() {
        let done = "metadata ends too early at byte";
        let cases: &[(&[u8], &str)] = &[
            (b"\x07", "Int(7) "),
            (b"\xcd\x01\x02", "Int(258) "),
            (b"\xd1\x01\x02", "Int(258) "),
            (b"\xd0\xff", "Other "),
            (b"\xcf\0\0\0\0\0\0\0\x09", "Int(9) "),
            (b"\x82\xa1a\x01\xa1b\xc3", "Map Text(\"a\") Int(1) Text(\"b\") Bool(true) End "),
            (b"\x92\x90\x80", "Seq Seq End Map End End "),
            (b"\xdc\0\x01\xd9\x02hi", "Seq Text(\"hi\") End "),
            (b"\xa1\xff", "Text(\"\u{fffd}\") "),
            (b"\xc4\x02ab", "Other "),
            (b"\xd4\x01a", "Other "),
            (b"\xc7\x01\x02a", "Other "),
            (b"\xca\0\0\0\0", "Other "),
        ];
        for (data, expected) in cases {
            assert_eq!(events(data), format!("{expected}{done} {:#x}", data.len()));
        }
    }

    #[test]
    fn what_is_no_metadata() {
        for data in [&b""[..], b"\xc1", b"\xdb\xff\xff\xff\xffx", b"\xdf\xff\xff\xff\xff"] {
            testkit::golden(&format!("{data:x?}"), &events(data));
        }
        assert!(events(&[0x91; 99]).ends_with(" at byte 0x21"));
    }
}
