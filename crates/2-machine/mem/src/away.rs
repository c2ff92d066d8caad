//! The stream of a wave, of which parts may have been put away, and the part that is being read.
//!
//! The one idea to keep in mind: pieces end where instructions begin, so whoever reads finds all of an instruction in one, and
//! turns to the next where the one at hand has ended.

use crate::cursor::{Cursor, RUN, TAGS};
use crate::depot::{BLOCK, Depot};
use std::sync::Arc;

/// What a wave did.
#[derive(Debug, Default)]
pub struct Stream {
    /// In memory: all, or what comes after the pieces that were put away.
    pub(crate) held: Vec<u8>,
    away: Option<Box<Away>>,
}

/// Pieces that were put away, in order.
#[derive(Debug)]
struct Away {
    depot: Arc<Depot>,
    blocks: Vec<u32>,
    /// Of each, its first block and its bytes.
    pieces: Vec<(u32, u32)>,
}

impl Drop for Away {
    fn drop(&mut self) {
        self.depot.give_back(&mut self.blocks);
    }
}

impl Stream {
    /// An empty one, with room for so many bytes.
    pub(crate) fn with_room(bytes: usize) -> Stream {
        Stream { held: Vec::with_capacity(bytes), away: None }
    }

    /// Bytes of it, wherever they are.
    pub fn len(&self) -> usize {
        let away = |away: &Away| away.pieces.iter().map(|&(_, bytes)| bytes as usize).sum::<usize>();
        self.held.len() + self.away.as_deref().map_or(0, away)
    }

    /// Whether the wave did nothing.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && self.away.is_none()
    }

    /// Bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let away = |away: &Away| {
            size_of::<Away>()
                + away.blocks.len() * size_of::<u32>()
                + away.pieces.len() * size_of::<(u32, u32)>()
        };
        self.held.len() + size_of::<Stream>() + self.away.as_deref().map_or(0, away)
    }

    /// Puts all away that is in memory; whether that was possible.
    pub(crate) fn put_away(&mut self, depot: &Arc<Depot>) -> bool {
        let held = std::mem::take(&mut self.held);
        let mut from = 0;
        while from < held.len() {
            let end = from + piece(&held[from..]);
            if !self.put_piece(depot, &held[from..end]) {
                // What is left stays, after the pieces.
                self.held = if from == 0 { held } else { held[from..].to_vec() };
                return false;
            }
            from = end;
        }
        true
    }

    /// Puts a piece away, after those that are; whether that was possible.
    pub(crate) fn put_piece(&mut self, depot: &Arc<Depot>, bytes: &[u8]) -> bool {
        let Some(mut blocks) = depot.put(bytes) else { return false };
        let new = || Box::new(Away { depot: depot.clone(), blocks: Vec::new(), pieces: Vec::new() });
        let away = self.away.get_or_insert_with(new);
        away.pieces.push((away.blocks.len() as u32, bytes.len() as u32));
        away.blocks.append(&mut blocks);
        true
    }

    /// How many pieces were put away.
    pub(crate) fn pieces(&self) -> usize {
        self.away.as_deref().map_or(0, |away| away.pieces.len())
    }

    /// Reads a piece that was put away; whether it could be read.
    pub(crate) fn read(&self, number: usize, bytes: &mut Vec<u8>) -> bool {
        bytes.clear();
        let Some(away) = self.away.as_deref() else { return false };
        let Some(&(first, length)) = away.pieces.get(number) else { return false };
        bytes.resize(length as usize, 0);
        let read = away.blocks.get(first as usize..).is_some_and(|blocks| away.depot.read(blocks, bytes));
        if !read {
            bytes.clear();
        }
        read
    }

    /// The part that is at hand.
    #[inline]
    pub fn at_hand<'a>(&'a self, window: &'a Window) -> &'a [u8] {
        match &self.away {
            Some(away) if window.turned <= away.pieces.len() => &window.bytes,
            _ => &self.held,
        }
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Stream) -> bool {
        let all = |stream: &Stream| {
            let (mut all, mut bytes) = (Vec::new(), Vec::new());
            for number in 0..stream.pieces() {
                stream.read(number, &mut bytes);
                all.extend_from_slice(&bytes);
            }
            all.extend_from_slice(&stream.held);
            all
        };
        if self.away.is_none() && other.away.is_none() {
            self.held == other.held
        } else {
            all(self) == all(other)
        }
    }
}

/// The part of a stream that a wave reads, where its stream was put away.
#[derive(Debug, Default)]
pub struct Window {
    bytes: Vec<u8>,
    /// How often it was turned to the next.
    turned: usize,
}

impl Window {
    /// Another stream is read.
    #[inline]
    pub fn begin(&mut self) {
        if self.turned > 0 {
            *self = Window::default();
        }
    }

    /// Turns to the next part of a stream, at whose beginning the cursor then is; whether there is one.
    #[inline]
    pub fn turn(&mut self, stream: &Stream, cursor: &mut Cursor) -> bool {
        stream.away.is_some() && self.turn_away(stream, cursor)
    }

    #[cold]
    fn turn_away(&mut self, stream: &Stream, cursor: &mut Cursor) -> bool {
        let pieces = stream.pieces();
        if self.turned > pieces {
            return false;
        }
        let there = self.turned == pieces || stream.read(self.turned, &mut self.bytes);
        self.turned = if there { self.turned + 1 } else { pieces + 1 };
        cursor.rewind();
        there
    }
}

/// Bytes of the first piece of a stream: as many whole instructions as a block holds.
fn piece(stream: &[u8]) -> usize {
    let (mut cursor, mut end) = (Cursor::default(), 0);
    loop {
        if u64::from(cursor.soon(stream)) & TAGS == RUN {
            match cursor.at() {
                at if at > BLOCK && end > 0 => return end,
                at => end = at,
            }
        }
        if cursor.next(stream).is_none() {
            break;
        }
    }
    if stream.len() > BLOCK && end > 0 { end } else { stream.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::{Event, TAG, put};
    use crate::depot::tests::depot;

    /// A stream of runs, with so many accesses of the LDS after each.
    fn stream(runs: u64, accesses: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for run in 0..runs {
            put(&mut bytes, run << TAG | RUN);
            (0..accesses)
                .for_each(|access| put(&mut bytes, (run * accesses + access) << TAG | crate::cursor::LDS));
        }
        bytes
    }

    /// Events of a stream, and the longest part of it that was at hand.
    fn events(stream: &Stream) -> (Vec<Event>, usize) {
        let (mut cursor, mut window, mut all, mut longest) =
            (Cursor::default(), Window::default(), Vec::new(), 0);
        loop {
            let bytes = stream.at_hand(&window);
            longest = longest.max(bytes.len());
            match cursor.next(bytes) {
                Some(event) => all.push(event),
                None if window.turn(stream, &mut cursor) => {}
                None => return (all, longest),
            }
        }
    }

    #[test]
    fn a_stream_reads_the_same_wherever_it_is() {
        for (runs, accesses) in [(0, 0), (1, 0), (1, 9000), (9000, 0), (300, 100), (3, 9000), (100_000, 2)] {
            let bytes = stream(runs, accesses);
            let held = Stream { held: bytes.clone(), away: None };
            let (depot, mut away) = (depot(1 << 24), Stream { held: bytes, away: None });
            assert!(away.put_away(&depot) && away.held.is_empty());
            let ((all, _), (found, longest)) = (events(&held), events(&away));
            assert!(all == found && all.len() as u64 == runs * (accesses + 1));
            // What is in one piece is not cut where an instruction would be.
            let whole = 3 * accesses as usize + 3;
            assert!(longest <= whole.max(BLOCK), "{runs} {accesses}: {longest}");
            assert!(held == away && held.len() == away.len() && away.bytes() <= 256.max(held.len() / 100));
            let used = depot.used();
            drop(away);
            assert!(depot.put(&vec![0; used as usize]).is_some() && depot.used() == used);
        }
    }

    #[test]
    fn what_finds_no_room_stays() {
        let bytes = stream(100_000, 2);
        let mut away = Stream { held: bytes.clone(), away: None };
        assert!(!away.put_away(&depot(5 * BLOCK)));
        assert_eq!(away.pieces(), 5);
        assert!(away == Stream { held: bytes, away: None });
    }

    #[test]
    fn a_stream_that_cannot_be_read_ends() {
        let depot = depot(1 << 20);
        let mut away = Stream { held: stream(1000, 20), away: None };
        assert!(away.put_away(&depot));
        away.away.as_mut().unwrap().blocks[1] = 999;
        let (found, _) = events(&away);
        assert!(!found.is_empty() && found.len() < 21_000 && depot.take_lost());
    }
}
