//! How events of a stream are written, and read again.
//!
//! The one idea to keep in mind: an event is a number or two, seven bits a byte, and places are said as the distance from the
//! last.

use crate::access::Kind;

/// Most dwords of a scalar access.
pub(crate) const MOST_DWORDS: u64 = 255;

/// Tags of an event, its three low bits.
pub(crate) const VECTOR: u64 = 0;
pub(crate) const SCALAR_LOAD: u64 = 1;
pub(crate) const SCALAR_OTHER: u64 = 2;
pub(crate) const BARRIER: u64 = 3;
pub(crate) const RUN: u64 = 4;
pub(crate) const LDS: u64 = 5;
pub(crate) const OWN: u64 = 6;
/// How many bits they take.
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

/// No place: where what is not whole was read.
const NOWHERE: usize = usize::MAX;

/// The number at a place, which then is the one behind it.
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

/// What a wave does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// Number of the form, and block.
    Vector(usize, u64),
    /// Dword address and dwords.
    Scalar(Kind, u64, u64),
    /// All waves of the workgroup meet.
    Barrier,
    /// Number of the run of instructions.
    Run(usize),
    /// Number of the LDS access.
    Lds(usize),
    /// An access that repeats no other: its memory instruction, where in the part at hand the rest of it is, and its block.
    Own(u32, u32, u64),
}

/// How far a wave's stream has been read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    at: usize,
    last: [u64; 2],
}

impl Cursor {
    /// The next event; none at the end.
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
        let last = &mut self.last[usize::from(!matches!(head & TAGS, VECTOR | OWN))];
        *last = last.wrapping_add_signed(step);
        Some(match head & TAGS {
            VECTOR => Event::Vector((head >> TAG) as usize, *last),
            OWN => {
                let length = value(stream, &mut self.at)?;
                let at = self.at;
                self.at = at.saturating_add(length as usize);
                if self.at > stream.len() {
                    self.at = NOWHERE;
                    return None;
                }
                Event::Own((head >> TAG) as u32, at as u32, *last)
            }
            SCALAR_LOAD => Event::Scalar(Kind::Load, *last, head >> TAG),
            _ if head >> TAG & 1 == 0 => Event::Scalar(Kind::Store, *last, head >> (TAG + 1)),
            _ => Event::Scalar(Kind::Atomic, *last, head >> (TAG + 1)),
        })
    }

    /// The byte that is read next; 0 at the end.
    #[inline]
    pub fn soon(&self, stream: &[u8]) -> u8 {
        stream.get(self.at).copied().unwrap_or(0)
    }

    /// Whether nothing is left, and all was whole.
    pub fn ended(&self, stream: &[u8]) -> bool {
        self.at == stream.len()
    }

    /// Where in the part at hand the next event begins.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The next part of the stream is at hand.
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
        for value in [300 << TAG | VECTOR, 1000, 5 << TAG | OWN, 1, 2, 0, 0, 77 << TAG | RUN] {
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
