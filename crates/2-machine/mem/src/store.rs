//! Streams as bytes, to be kept and read again.
//!
//! The one idea to keep in mind: the forms of a batch are mostly those of the batch before, and then are not written again.
//! What is read is not believed: whatever a stream refers to is there, or there is an error.

use crate::away::Stream;
use crate::cursor::Cursor;
use crate::depot::{Depot, Held};
use crate::forms::Forms;
use crate::sample::Sample;
use crate::stream::{Batch, Group};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Most waves of a workgroup on any target.
const MOST_WAVES: usize = 16;

/// Bytes of a workgroup's stream that are read into memory where they cannot be put away.
const MOST_READ: usize = 256 << 20;

/// Why bytes are no batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreadable {
    /// They are not what was written.
    Broken,
    /// There is no room for the streams.
    Room,
}

/// A workgroup, as it is written: what was put away of its waves' streams is said as the number of pieces that follow.
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
    last: Option<Arc<Forms>>,
}

impl BatchWriter {
    /// The bytes of the next batch, in pieces that are given one after the other.
    pub fn write(&mut self, batch: &Batch, mut give: impl FnMut(&[u8])) {
        let same = self.last.as_ref().is_some_and(|last| **last == *batch.forms);
        let forms = (!same).then_some(&*batch.forms);
        let groups: Vec<Row<&[u8], &Sample>> = batch.groups.iter().map(|group| group.row()).collect();
        give(&postcard::to_stdvec(&(forms, groups)).unwrap_or_default());
        let mut bytes = Vec::new();
        for wave in batch.groups.iter().flat_map(|group| &group.waves) {
            for number in 0..wave.pieces() {
                wave.read(number, &mut bytes);
                give(&bytes);
            }
        }
        self.last = Some(batch.forms.clone());
    }
}

/// Reads them in the same order, for a program of so many instructions.
#[derive(Debug)]
pub struct BatchReader {
    last: Option<Arc<Forms>>,
    instructions: usize,
    depot: Option<Arc<Depot>>,
}

impl BatchReader {
    /// For a program of so many instructions; what memory has no room for is put away.
    pub fn new(instructions: usize, depot: Option<&Arc<Depot>>) -> BatchReader {
        BatchReader { last: None, instructions, depot: depot.cloned() }
    }

    /// The next batch; what follows its first piece is asked for.
    pub fn read(
        &mut self,
        bytes: &[u8],
        mut next: impl FnMut() -> Option<Vec<u8>>,
    ) -> Result<Batch, Unreadable> {
        let (forms, rows): (Option<Forms>, Vec<Row<Vec<u8>, Sample>>) =
            postcard::from_bytes(bytes).map_err(|_| Unreadable::Broken)?;
        if let Some(forms) = forms {
            self.last = Some(Arc::new(forms));
        }
        let sound = |forms: &Arc<Forms>| forms.are_sound(self.instructions);
        let forms = self.last.clone().filter(sound).ok_or(Unreadable::Broken)?;
        let shared = forms.bytes() / rows.len().max(1);
        let mut groups = Vec::with_capacity(rows.len());
        for Row { waves, dropped, lookups, read } in rows {
            if waves.len() > MOST_WAVES {
                return Err(Unreadable::Broken);
            }
            let mut group = Group { dropped, lookups, read, ..Group::default() };
            for (pieces, held) in waves {
                let stream = self.stream(&forms, pieces, &held, &mut next)?;
                group.waves.push(stream);
                if group.bytes() > MOST_READ {
                    return Err(Unreadable::Room);
                }
            }
            if let Some(depot) = self.depot.as_ref().filter(|depot| depot.is_pressed()) {
                group.put_away(depot);
            }
            group.held = Held::new(self.depot.as_ref(), group.bytes() + shared);
            groups.push(Arc::new(group));
        }
        Ok(Batch { groups, forms })
    }

    /// The stream of a wave: so many pieces, and what was in memory.
    fn stream(
        &self,
        forms: &Forms,
        pieces: u32,
        held: &[u8],
        next: &mut impl FnMut() -> Option<Vec<u8>>,
    ) -> Result<Stream, Unreadable> {
        let (mut stream, mut cursor) = (Stream::default(), Cursor::default());
        for _ in 0..pieces {
            let bytes = next().filter(|bytes| !bytes.is_empty()).ok_or(Unreadable::Broken)?;
            if !forms.fit(&mut cursor, &bytes) {
                return Err(Unreadable::Broken);
            }
            let depot = self.depot.as_ref().filter(|_| stream.held.is_empty());
            if !depot.is_some_and(|depot| stream.put_piece(depot, &bytes)) {
                // What cannot be put away stays, and all after it.
                stream.held.extend_from_slice(&bytes);
            }
            if stream.held.len() > MOST_READ {
                return Err(Unreadable::Room);
            }
        }
        if !forms.fit(&mut cursor, held) {
            return Err(Unreadable::Broken);
        }
        stream.held.extend_from_slice(held);
        Ok(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::depot::tests::depot;
    use crate::{Kind, Lanes, LdsAccess, Policy, Shape, Trace};
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
                trace.vector(wave, 0, Policy::plain(Kind::Load), &Lanes::new(&addresses, u64::MAX, 4));
                trace.scalar(wave, Kind::Load, 0x40 + group, 16);
                trace.lds(wave, LdsAccess { slot: 1, cycles: 64, conflicts: 3 });
            }
            trace.barrier();
        }
        trace.finish()
    }

    /// The bytes of a batch of which nothing was put away.
    fn written(writer: &mut BatchWriter, batch: &Batch) -> Vec<u8> {
        let mut pieces = Vec::new();
        writer.write(batch, |piece| pieces.push(piece.to_vec()));
        assert_eq!(pieces.len(), 1);
        pieces.remove(0)
    }

    /// A workgroup of random gathers, of which parts are put away.
    fn gathers(depot: Option<&Arc<Depot>>) -> Batch {
        let mut trace = Trace::new(&Shape::of(Model::by_name("mi300x").unwrap()));
        trace.put_away(depot);
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
                trace.vector(wave, 0, Policy::plain(Kind::Load), &Lanes::new(&addresses, u64::MAX, 4));
                trace.lds(wave, LdsAccess { slot: 1, cycles: 64, conflicts: step % 3 });
            }
        }
        trace.finish()
    }

    #[test]
    fn what_was_put_away_is_written_and_read_too() {
        let away = depot(1 << 30);
        let batch = gathers(Some(&away));
        assert!(batch.groups[0].waves.iter().all(|wave| wave.pieces() > 100), "{batch:?}");
        let mut pieces = Vec::new();
        BatchWriter::default().write(&batch, |piece| pieces.push(piece.to_vec()));
        assert!(pieces.iter().all(|piece| piece.len() < 100 << 10));
        for depot in [None, Some(depot(1 << 30)), Some(depot(1 << 20))] {
            let mut reader = BatchReader::new(7, depot.as_ref());
            let mut later = pieces[1..].iter().cloned();
            let found = reader.read(&pieces[0], || later.next()).unwrap();
            assert!((&found.groups, &found.forms) == (&batch.groups, &batch.forms));
            // Where one is missing, or damaged, there is no batch.
            let mut later = pieces[1..pieces.len() - 1].iter().cloned();
            assert_eq!(reader.read(&pieces[0], || later.next()).err(), Some(Unreadable::Broken));
            let mut damaged = pieces.clone();
            damaged[40].truncate(100);
            let mut later = damaged.into_iter().skip(1);
            assert_eq!(reader.read(&pieces[0], || later.next()).err(), Some(Unreadable::Broken));
        }
    }

    #[test]
    fn what_is_written_is_read_and_equal_forms_stand_once() {
        let (mut writer, mut reader) = (BatchWriter::default(), BatchReader::new(7, None));
        let batches = [batch(4), batch(4), batch(256), batch(4)];
        let lengths = batches.each_ref().map(|batch| {
            let bytes = written(&mut writer, batch);
            let found = reader.read(&bytes, || None).unwrap();
            assert_eq!((&found.groups, &found.forms), (&batch.groups, &batch.forms));
            bytes.len()
        });
        assert!(lengths[1] < lengths[0] && lengths[2] > lengths[1], "{lengths:?}");
    }

    #[test]
    fn what_is_not_whole_is_refused() {
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
