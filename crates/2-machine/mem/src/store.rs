//! Serialization of batches.
//!
//! Access patterns equal to the previous batch's are not written again. The reader validates all indices.

use crate::access_patterns::AccessPatterns;
use crate::cursor::{Cursor, Event, MOST_DWORDS};
use crate::sample::Sample;
use crate::spill_store::{HeldBytes, SpillStore};
use crate::trace::{Batch, Group};
use crate::unique_access::UniqueAccess;
use crate::wave_stream::WaveStream;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Most waves of a workgroup on any target.
const MOST_WAVES: usize = 16;

/// Most bytes of a workgroup's streams in memory, if they cannot be spilled.
const MOST_READ: usize = 256 << 20;

/// Why a batch cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreadable {
    /// The bytes are damaged.
    Broken,
    /// The streams exceed memory and spill store.
    NoSpace,
}

/// A workgroup as written. By wave: number of spilled pieces, which follow the batch, and the bytes in
/// memory.
#[derive(Serialize, Deserialize)]
struct Row<W, S> {
    waves: Vec<(u32, W)>,
    dropped: u64,
    lookups: u64,
    read: S,
}

impl Group {
    fn row(&self) -> Row<&[u8], &Sample> {
        let waves = self.waves.iter().map(|wave| (wave.pieces() as u32, &wave.held[..])).collect();
        Row { waves, dropped: self.dropped, lookups: self.lookups, read: &self.read }
    }
}

/// Writes batches one after the other.
#[derive(Debug, Default)]
pub struct BatchWriter {
    last: Option<Arc<AccessPatterns>>,
}

impl BatchWriter {
    /// Writes the next batch; `give` gets its pieces in order.
    pub fn write(&mut self, batch: &Batch, mut give: impl FnMut(&[u8])) {
        let same = self.last.as_ref().is_some_and(|last| **last == *batch.patterns);
        let patterns = (!same).then_some(&*batch.patterns);
        let groups: Vec<Row<&[u8], &Sample>> = batch.groups.iter().map(|group| group.row()).collect();
        give(&postcard::to_stdvec(&(patterns, groups)).unwrap_or_default());
        let mut bytes = Vec::new();
        for wave in batch.groups.iter().flat_map(|group| &group.waves) {
            for number in 0..wave.pieces() {
                wave.read(number, &mut bytes);
                give(&bytes);
            }
        }
        self.last = Some(batch.patterns.clone());
    }
}

/// Reads batches in the order of writing.
#[derive(Debug)]
pub struct BatchReader {
    last: Option<Arc<AccessPatterns>>,
    instructions: usize,
    spill_store: Option<Arc<SpillStore>>,
}

impl BatchReader {
    /// A reader for a program with this many instructions; streams beyond the memory budget are spilled.
    pub fn new(instructions: usize, spill_store: Option<&Arc<SpillStore>>) -> BatchReader {
        BatchReader { last: None, instructions, spill_store: spill_store.cloned() }
    }

    /// Reads the next batch from its first piece; `next` yields the other pieces.
    pub fn read(
        &mut self,
        bytes: &[u8],
        mut next: impl FnMut() -> Option<Vec<u8>>,
    ) -> Result<Batch, Unreadable> {
        let (patterns, rows): (Option<AccessPatterns>, Vec<Row<Vec<u8>, Sample>>) =
            postcard::from_bytes(bytes).map_err(|_| Unreadable::Broken)?;
        if let Some(patterns) = patterns {
            self.last = Some(Arc::new(patterns));
        }
        let sound = |patterns: &Arc<AccessPatterns>| patterns.are_valid(self.instructions);
        let patterns = self.last.clone().filter(sound).ok_or(Unreadable::Broken)?;
        let shared = patterns.bytes() / rows.len().max(1);
        let mut groups = Vec::with_capacity(rows.len());
        for Row { waves, dropped, lookups, read } in rows {
            if waves.len() > MOST_WAVES {
                return Err(Unreadable::Broken);
            }
            let mut group = Group { dropped, lookups, read, ..Group::default() };
            for (pieces, held) in waves {
                let stream = self.stream(&patterns, pieces, &held, &mut next)?;
                group.waves.push(stream);
                if group.bytes() > MOST_READ {
                    return Err(Unreadable::NoSpace);
                }
            }
            if let Some(spill_store) =
                self.spill_store.as_ref().filter(|spill_store| spill_store.is_over_budget())
            {
                group.spill(spill_store);
            }
            group.held = HeldBytes::new(self.spill_store.as_ref(), group.bytes() + shared);
            groups.push(Arc::new(group));
        }
        Ok(Batch { groups, patterns })
    }

    /// Reads the stream of a wave: its spilled pieces, and the bytes that were in memory.
    fn stream(
        &self,
        patterns: &AccessPatterns,
        pieces: u32,
        held: &[u8],
        next: &mut impl FnMut() -> Option<Vec<u8>>,
    ) -> Result<WaveStream, Unreadable> {
        let (mut stream, mut cursor) = (WaveStream::default(), Cursor::default());
        for _ in 0..pieces {
            let bytes = next().filter(|bytes| !bytes.is_empty()).ok_or(Unreadable::Broken)?;
            if !is_valid_part(patterns, &mut cursor, &bytes) {
                return Err(Unreadable::Broken);
            }
            let spill_store = self.spill_store.as_ref().filter(|_| stream.held.is_empty());
            if !spill_store.is_some_and(|spill_store| stream.spill_piece(spill_store, &bytes)) {
                // A piece that cannot be spilled stays in memory, with all after it.
                stream.held.extend_from_slice(&bytes);
            }
            if stream.held.len() > MOST_READ {
                return Err(Unreadable::NoSpace);
            }
        }
        if !is_valid_part(patterns, &mut cursor, held) {
            return Err(Unreadable::Broken);
        }
        stream.held.extend_from_slice(held);
        Ok(stream)
    }
}

/// True if a part of a stream holds whole events only, whose patterns exist. The cursor moves to the part.
fn is_valid_part(patterns: &AccessPatterns, cursor: &mut Cursor, stream: &[u8]) -> bool {
    cursor.rewind();
    let mut unique = UniqueAccess::default();
    let mut is_valid = |event: Event| match event {
        Event::Vector(pattern, _) => pattern < patterns.patterns.len(),
        Event::Scalar(_, _, dwords) => dwords <= MOST_DWORDS,
        Event::Run(run) => run < patterns.runs.len(),
        Event::Lds(access) => access < patterns.lds.len(),
        Event::Barrier => true,
        Event::Unique(slot, at, _) => unique.read(stream, slot, at as usize),
    };
    while let Some(event) = cursor.next(stream) {
        if !is_valid(event) {
            return false;
        }
    }
    cursor.ended(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spill_store::tests::spill_store;
    use crate::{AccessKind, Lanes, LdsAccess, Policy, Shape, Trace};
    use arch::Model;

    /// Two workgroups of two waves with accesses of all kinds, `step` apart.
    fn batch(step: u64) -> Batch {
        let mut trace = Trace::new(&Shape::of(Model::by_name("mi300x").unwrap()));
        for group in 0..2u64 {
            trace.begin();
            for wave in 0..2u32 {
                trace.wave();
                trace.run(wave, 3, 4);
                let addresses = std::array::from_fn(|lane| 0x1000 * group + step * lane as u64);
                trace.vector(wave, 0, Policy::plain(AccessKind::Load), &Lanes::new(&addresses, u64::MAX, 4));
                trace.scalar(wave, AccessKind::Load, 0x40 + group, 16);
                trace.lds(wave, LdsAccess { slot: 1, cycles: 64, conflicts: 3 });
            }
            trace.barrier();
        }
        trace.finish()
    }

    /// The bytes of a batch without spilled streams.
    fn written(writer: &mut BatchWriter, batch: &Batch) -> Vec<u8> {
        let mut pieces = Vec::new();
        writer.write(batch, |piece| pieces.push(piece.to_vec()));
        assert_eq!(pieces.len(), 1);
        pieces.remove(0)
    }

    /// A workgroup of random gathers, parts of which are spilled.
    fn gathers(spill_store: Option<&Arc<SpillStore>>) -> Batch {
        let mut trace = Trace::new(&Shape::of(Model::by_name("mi300x").unwrap()));
        trace.spill(spill_store);
        trace.begin();
        (0..2).for_each(|_| trace.wave());
        let mut state = 1u64;
        for step in 0..4000 {
            for wave in 0..2 {
                trace.run(wave, 3, 4);
                let addresses = std::array::from_fn(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    state >> 30 & !3
                });
                trace.vector(wave, 0, Policy::plain(AccessKind::Load), &Lanes::new(&addresses, u64::MAX, 4));
                trace.lds(wave, LdsAccess { slot: 1, cycles: 64, conflicts: step % 3 });
            }
        }
        trace.finish()
    }

    #[test]
    fn spilled_streams_are_written_and_read_too() {
        let spilled = spill_store(1 << 30);
        let batch = gathers(Some(&spilled));
        assert!(batch.groups[0].waves.iter().all(|wave| wave.pieces() > 100), "{batch:?}");
        let mut pieces = Vec::new();
        BatchWriter::default().write(&batch, |piece| pieces.push(piece.to_vec()));
        assert!(pieces.iter().all(|piece| piece.len() < 100 << 10));
        for spill_store in [None, Some(spill_store(1 << 30)), Some(spill_store(1 << 20))] {
            let mut reader = BatchReader::new(7, spill_store.as_ref());
            let mut later = pieces[1..].iter().cloned();
            let found = reader.read(&pieces[0], || later.next()).unwrap();
            assert!((&found.groups, &found.patterns) == (&batch.groups, &batch.patterns));
            // If one is missing or damaged, the batch is unreadable.
            let mut later = pieces[1..pieces.len() - 1].iter().cloned();
            assert_eq!(reader.read(&pieces[0], || later.next()).err(), Some(Unreadable::Broken));
            let mut damaged = pieces.clone();
            damaged[40].truncate(100);
            let mut later = damaged.into_iter().skip(1);
            assert_eq!(reader.read(&pieces[0], || later.next()).err(), Some(Unreadable::Broken));
        }
    }

    #[test]
    fn batches_round_trip_and_equal_patterns_are_stored_once() {
        let (mut writer, mut reader) = (BatchWriter::default(), BatchReader::new(7, None));
        let batches = [batch(4), batch(4), batch(256), batch(4)];
        let lengths = batches.each_ref().map(|batch| {
            let bytes = written(&mut writer, batch);
            let found = reader.read(&bytes, || None).unwrap();
            assert_eq!((&found.groups, &found.patterns), (&batch.groups, &batch.patterns));
            bytes.len()
        });
        assert!(lengths[1] < lengths[0] && lengths[2] > lengths[1], "{lengths:?}");
    }

    #[test]
    fn truncated_batches_are_refused() {
        let bytes = written(&mut BatchWriter::default(), &batch(4));
        for length in 0..bytes.len() {
            let found = BatchReader::new(7, None).read(&bytes[..length], || None);
            assert_eq!(found.err(), Some(Unreadable::Broken), "{length}");
        }
        assert!(
            BatchReader::new(6, None).read(&bytes, || None).is_err(),
            "a run beyond the last instruction"
        );
        let mut writer = BatchWriter::default();
        written(&mut writer, &batch(4));
        let later = written(&mut writer, &batch(4));
        assert!(BatchReader::new(7, None).read(&later, || None).is_err(), "forms that were never read");
        // Whatever the bytes, there is a batch or an error.
        for place in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut other = bytes.clone();
                other[place] = value;
                let _ = BatchReader::new(7, None).read(&other, || None);
            }
        }
    }
}
