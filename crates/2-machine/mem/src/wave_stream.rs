//! Stream of a wave, partly spilled, and the window through which it is read.
//!
//! Spilled pieces end at instruction boundaries, so a reader finds all events of an instruction in one piece.

use crate::cursor::{Cursor, RUN, TAGS};
use crate::spill_store::{BLOCK, SpillStore};
use std::sync::Arc;

/// Events of a wave, encoded.
#[derive(Debug, Default)]
pub struct WaveStream {
    /// Bytes in memory: all, or those after the spilled pieces.
    pub(crate) held: Vec<u8>,
    spilled: Option<Box<Spilled>>,
}

/// Spilled pieces, in order.
#[derive(Debug)]
struct Spilled {
    spill_store: Arc<SpillStore>,
    blocks: Vec<u32>,
    /// By piece: index of its first block, and its bytes.
    pieces: Vec<(u32, u32)>,
}

impl Drop for Spilled {
    fn drop(&mut self) {
        self.spill_store.free_blocks(&mut self.blocks);
    }
}

impl WaveStream {
    /// An empty stream with capacity for bytes.
    pub(crate) fn with_room(bytes: usize) -> WaveStream {
        WaveStream { held: Vec::with_capacity(bytes), spilled: None }
    }

    /// Bytes of the stream, in memory and spilled.
    pub fn len(&self) -> usize {
        let spilled =
            |spilled: &Spilled| spilled.pieces.iter().map(|&(_, bytes)| bytes as usize).sum::<usize>();
        self.held.len() + self.spilled.as_deref().map_or(0, spilled)
    }

    /// True without events.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && self.spilled.is_none()
    }

    /// Memory of the stream, bytes.
    pub(crate) fn bytes(&self) -> usize {
        let spilled = |spilled: &Spilled| {
            size_of::<Spilled>()
                + spilled.blocks.len() * size_of::<u32>()
                + spilled.pieces.len() * size_of::<(u32, u32)>()
        };
        self.held.len() + size_of::<WaveStream>() + self.spilled.as_deref().map_or(0, spilled)
    }

    /// Spills all bytes in memory; false if the store is full.
    pub(crate) fn spill(&mut self, spill_store: &Arc<SpillStore>) -> bool {
        let held = std::mem::take(&mut self.held);
        let mut from = 0;
        while from < held.len() {
            let end = from + piece(&held[from..]);
            if !self.spill_piece(spill_store, &held[from..end]) {
                // The rest stays in memory, after the pieces.
                self.held = if from == 0 { held } else { held[from..].to_vec() };
                return false;
            }
            from = end;
        }
        true
    }

    /// Spills a piece after the others; false if the store is full.
    pub(crate) fn spill_piece(&mut self, spill_store: &Arc<SpillStore>, bytes: &[u8]) -> bool {
        let Some(mut blocks) = spill_store.put(bytes) else { return false };
        let new =
            || Box::new(Spilled { spill_store: spill_store.clone(), blocks: Vec::new(), pieces: Vec::new() });
        let spilled = self.spilled.get_or_insert_with(new);
        spilled.pieces.push((spilled.blocks.len() as u32, bytes.len() as u32));
        spilled.blocks.append(&mut blocks);
        true
    }

    /// Number of spilled pieces.
    pub(crate) fn pieces(&self) -> usize {
        self.spilled.as_deref().map_or(0, |spilled| spilled.pieces.len())
    }

    /// Reads a spilled piece; false on failure.
    pub(crate) fn read(&self, number: usize, bytes: &mut Vec<u8>) -> bool {
        bytes.clear();
        let Some(spilled) = self.spilled.as_deref() else { return false };
        let Some(&(first, length)) = spilled.pieces.get(number) else { return false };
        bytes.resize(length as usize, 0);
        let read = spilled
            .blocks
            .get(first as usize..)
            .is_some_and(|blocks| spilled.spill_store.read(blocks, bytes));
        if !read {
            bytes.clear();
        }
        read
    }

    /// The part of the stream in the window.
    #[inline]
    pub fn resident_part<'a>(&'a self, window: &'a StreamWindow) -> &'a [u8] {
        match &self.spilled {
            Some(spilled) if window.parts_read <= spilled.pieces.len() => &window.bytes,
            _ => &self.held,
        }
    }
}

impl PartialEq for WaveStream {
    fn eq(&self, other: &WaveStream) -> bool {
        let all = |stream: &WaveStream| {
            let (mut all, mut bytes) = (Vec::new(), Vec::new());
            for number in 0..stream.pieces() {
                stream.read(number, &mut bytes);
                all.extend_from_slice(&bytes);
            }
            all.extend_from_slice(&stream.held);
            all
        };
        if self.spilled.is_none() && other.spilled.is_none() {
            self.held == other.held
        } else {
            all(self) == all(other)
        }
    }
}

/// Window of a wave into its stream.
#[derive(Debug, Default)]
pub struct StreamWindow {
    bytes: Vec<u8>,
    /// Parts read so far.
    parts_read: usize,
}

impl StreamWindow {
    /// Resets the window for another stream.
    #[inline]
    pub fn begin(&mut self) {
        if self.parts_read > 0 {
            *self = StreamWindow::default();
        }
    }

    /// Advances to the next part of the stream and rewinds the cursor; false at the end.
    #[inline]
    pub fn advance(&mut self, stream: &WaveStream, cursor: &mut Cursor) -> bool {
        stream.spilled.is_some() && self.read_spilled(stream, cursor)
    }

    #[cold]
    fn read_spilled(&mut self, stream: &WaveStream, cursor: &mut Cursor) -> bool {
        let pieces = stream.pieces();
        if self.parts_read > pieces {
            return false;
        }
        let there = self.parts_read == pieces || stream.read(self.parts_read, &mut self.bytes);
        self.parts_read = if there { self.parts_read + 1 } else { pieces + 1 };
        cursor.rewind();
        there
    }
}

/// Bytes of the first piece: the whole instructions that fit in a block.
fn piece(stream: &[u8]) -> usize {
    let (mut cursor, mut end) = (Cursor::default(), 0);
    loop {
        if u64::from(cursor.next_byte(stream)) & TAGS == RUN {
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
    use crate::spill_store::tests::spill_store;

    /// A stream of runs, with `accesses` LDS accesses after each.
    fn stream(runs: u64, accesses: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for run in 0..runs {
            put(&mut bytes, run << TAG | RUN);
            (0..accesses)
                .for_each(|access| put(&mut bytes, (run * accesses + access) << TAG | crate::cursor::LDS));
        }
        bytes
    }

    /// Events of a stream, and the longest part of it that was in memory.
    fn events(stream: &WaveStream) -> (Vec<Event>, usize) {
        let (mut cursor, mut window, mut all, mut longest) =
            (Cursor::default(), StreamWindow::default(), Vec::new(), 0);
        loop {
            let bytes = stream.resident_part(&window);
            longest = longest.max(bytes.len());
            match cursor.next(bytes) {
                Some(event) => all.push(event),
                None if window.advance(stream, &mut cursor) => {}
                None => return (all, longest),
            }
        }
    }

    #[test]
    fn a_stream_reads_the_same_from_memory_and_store() {
        for (runs, accesses) in [(0, 0), (1, 0), (1, 9000), (9000, 0), (300, 100), (3, 9000), (100_000, 2)] {
            let bytes = stream(runs, accesses);
            let held = WaveStream { held: bytes.clone(), spilled: None };
            let (spill_store, mut spilled) =
                (spill_store(1 << 24), WaveStream { held: bytes, spilled: None });
            assert!(spilled.spill(&spill_store) && spilled.held.is_empty());
            let ((all, _), (found, longest)) = (events(&held), events(&spilled));
            assert!(all == found && all.len() as u64 == runs * (accesses + 1));
            // What is in one piece is not cut where an instruction would be.
            let whole = 3 * accesses as usize + 3;
            assert!(longest <= whole.max(BLOCK), "{runs} {accesses}: {longest}");
            assert!(
                held == spilled
                    && held.len() == spilled.len()
                    && spilled.bytes() <= 256.max(held.len() / 100)
            );
            let used = spill_store.used();
            drop(spilled);
            assert!(spill_store.put(&vec![0; used as usize]).is_some() && spill_store.used() == used);
        }
    }

    #[test]
    fn a_stream_without_room_in_the_store_stays_in_memory() {
        let bytes = stream(100_000, 2);
        let mut spilled = WaveStream { held: bytes.clone(), spilled: None };
        assert!(!spilled.spill(&spill_store(5 * BLOCK)));
        assert_eq!(spilled.pieces(), 5);
        assert!(spilled == WaveStream { held: bytes, spilled: None });
    }

    #[test]
    fn a_stream_that_cannot_be_read_ends() {
        let spill_store = spill_store(1 << 20);
        let mut spilled = WaveStream { held: stream(1000, 20), spilled: None };
        assert!(spilled.spill(&spill_store));
        spilled.spilled.as_mut().unwrap().blocks[1] = 999;
        let (found, _) = events(&spilled);
        assert!(!found.is_empty() && found.len() < 21_000 && spill_store.take_unreadable());
    }
}
