//! Encoding of stream events.
//!
//! An event is one or two variable-length numbers of seven bits a byte; addresses are deltas from the last
//! one.

use crate::access::AccessKind;

/// Most dwords of a scalar access.
pub(crate) const MOST_DWORDS: u64 = 255;

/// Event tags, in the three low bits.
pub(crate) const VECTOR: u64 = 0;
pub(crate) const SCALAR_LOAD: u64 = 1;
pub(crate) const SCALAR_OTHER: u64 = 2;
pub(crate) const BARRIER: u64 = 3;
pub(crate) const RUN: u64 = 4;
pub(crate) const LDS: u64 = 5;
pub(crate) const UNIQUE: u64 = 6;
/// Bits of a tag.
pub(crate) const TAG: u32 = 3;
pub(crate) const TAGS: u64 = (1 << TAG) - 1;

pub(crate) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

#[inline]
pub(crate) fn zigzagged(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

pub(crate) fn put(stream: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        stream.push(value as u8 | 0x80);
        value >>= 7;
    }
    stream.push(value as u8);
}

/// Position after a damaged event.
const NOWHERE: usize = usize::MAX;

/// Decodes a number and advances past it.
#[inline]
pub(crate) fn value(stream: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let Some(&byte) = stream.get(*at) else { break };
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift.min(63);
        if byte < 0x80 {
            return Some(value);
        }
    }
    *at = NOWHERE;
    None
}

/// Event of a wave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// Vector access: pattern and block.
    Vector(usize, u64),
    /// Scalar access: dword address and dwords.
    Scalar(AccessKind, u64, u64),
    /// Barrier.
    Barrier,
    /// Run of instructions.
    Run(usize),
    /// LDS access.
    Lds(usize),
    /// Vector access with a unique pattern: memory instruction, position of the pattern in the part, and
    /// block.
    Unique(u32, u32, u64),
}

/// Position in a wave's stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    at: usize,
    last: [u64; 2],
}

impl Cursor {
    /// Decodes the next event; `None` at the end.
    #[inline]
    pub fn next(&mut self, stream: &[u8]) -> Option<Event> {
        if self.at >= stream.len() {
            return None;
        }
        let head = value(stream, &mut self.at)?;
        match head & TAGS {
            BARRIER => return Some(Event::Barrier),
            RUN => return Some(Event::Run((head >> TAG) as usize)),
            LDS => return Some(Event::Lds((head >> TAG) as usize)),
            _ => {}
        }
        let step = zigzagged(value(stream, &mut self.at)?);
        let last = &mut self.last[usize::from(!matches!(head & TAGS, VECTOR | UNIQUE))];
        *last = last.wrapping_add_signed(step);
        Some(match head & TAGS {
            VECTOR => Event::Vector((head >> TAG) as usize, *last),
            UNIQUE => {
                let length = value(stream, &mut self.at)?;
                let at = self.at;
                self.at = at.saturating_add(length as usize);
                if self.at > stream.len() {
                    self.at = NOWHERE;
                    return None;
                }
                Event::Unique((head >> TAG) as u32, at as u32, *last)
            }
            SCALAR_LOAD => Event::Scalar(AccessKind::Load, *last, head >> TAG),
            _ if head >> TAG & 1 == 0 => Event::Scalar(AccessKind::Store, *last, head >> (TAG + 1)),
            _ => Event::Scalar(AccessKind::Atomic, *last, head >> (TAG + 1)),
        })
    }

    /// Next byte; 0 at the end.
    #[inline]
    pub fn next_byte(&self, stream: &[u8]) -> u8 {
        stream.get(self.at).copied().unwrap_or(0)
    }

    /// True at the end, if all events were whole.
    pub fn ended(&self, stream: &[u8]) -> bool {
        self.at == stream.len()
    }

    /// Position of the next event in the part.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Moves to the start of the next part.
    pub(crate) fn rewind(&mut self) {
        self.at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_are_read_to_the_end() {
        for bytes in [&[0xff; 40][..], &[0x80], &[0, 0x80], &[0], &[6, 0, 9, 1]] {
            let mut cursor = Cursor::default();
            while cursor.next(bytes).is_some() {}
            assert!(!cursor.ended(bytes), "{bytes:?}");
        }
    }

    #[test]
    fn an_event_that_is_cut_off_is_none() {
        let mut bytes = Vec::new();
        for value in [300 << TAG | VECTOR, 1000, 5 << TAG | UNIQUE, 1, 2, 0, 0, 77 << TAG | RUN] {
            put(&mut bytes, value);
        }
        let ends: Vec<usize> = (0..=bytes.len())
            .filter(|&length| {
                let mut cursor = Cursor::default();
                while cursor.next(&bytes[..length]).is_some() {}
                cursor.ended(&bytes[..length])
            })
            .collect();
        assert_eq!(ends, [0, 4, 9, 11]);
    }
}
