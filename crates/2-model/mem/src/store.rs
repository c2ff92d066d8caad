//! Streams as bytes, to be kept and read again.
//!
//! The one idea to keep in mind: the forms of a batch are mostly those of the batch before, and then are not written again.
//! What is read is not believed: whatever a stream refers to is there, or there is an error.

use crate::stream::{Batch, Forms, Group};
use std::sync::Arc;

/// Most waves of a workgroup on any target.
const MOST_WAVES: usize = 16;

/// Why bytes are no batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unreadable;

/// Writes batches one after the other.
#[derive(Debug, Default)]
pub struct BatchWriter {
    last: Option<Arc<Forms>>,
}

impl BatchWriter {
    /// The bytes of the next batch.
    pub fn write(&mut self, batch: &Batch) -> Vec<u8> {
        let same = self.last.as_ref().is_some_and(|last| **last == *batch.forms);
        let forms = (!same).then_some(&*batch.forms);
        let groups: Vec<&Group> = batch.groups.iter().map(|group| &**group).collect();
        let bytes = postcard::to_stdvec(&(forms, groups)).unwrap_or_default();
        self.last = Some(batch.forms.clone());
        bytes
    }
}

/// Reads them in the same order, for a program of so many instructions.
#[derive(Debug)]
pub struct BatchReader {
    last: Option<Arc<Forms>>,
    instructions: usize,
}

impl BatchReader {
    /// For a program of so many instructions.
    pub fn new(instructions: usize) -> BatchReader {
        BatchReader { last: None, instructions }
    }

    /// The next batch.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Batch, Unreadable> {
        let (forms, groups): (Option<Forms>, Vec<Group>) =
            postcard::from_bytes(bytes).map_err(|_| Unreadable)?;
        if let Some(forms) = forms {
            self.last = Some(Arc::new(forms));
        }
        let forms = self.last.clone().filter(|forms| forms.are_sound(self.instructions)).ok_or(Unreadable)?;
        let sound = |group: &Group| {
            group.waves.len() <= MOST_WAVES && group.waves.iter().all(|stream| forms.fit(stream))
        };
        if !groups.iter().all(sound) {
            return Err(Unreadable);
        }
        Ok(Batch { groups: groups.into_iter().map(Arc::new).collect(), forms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn what_is_written_is_read_and_equal_forms_stand_once() {
        let (mut writer, mut reader) = (BatchWriter::default(), BatchReader::new(7));
        let batches = [batch(4), batch(4), batch(256), batch(4)];
        let lengths = batches.each_ref().map(|batch| {
            let bytes = writer.write(batch);
            let found = reader.read(&bytes).unwrap();
            assert_eq!((&found.groups, &found.forms), (&batch.groups, &batch.forms));
            bytes.len()
        });
        assert!(lengths[1] < lengths[0] && lengths[2] > lengths[1], "{lengths:?}");
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        let bytes = BatchWriter::default().write(&batch(4));
        for length in 0..bytes.len() {
            assert_eq!(BatchReader::new(7).read(&bytes[..length]).err(), Some(Unreadable), "{length}");
        }
        assert!(BatchReader::new(6).read(&bytes).is_err(), "a run beyond the last instruction");
        let mut writer = BatchWriter::default();
        writer.write(&batch(4));
        let later = writer.write(&batch(4));
        assert!(BatchReader::new(7).read(&later).is_err(), "forms that were never read");
        // Whatever the bytes, there is a batch or an error.
        for place in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut other = bytes.clone();
                other[place] = value;
                let _ = BatchReader::new(7).read(&other);
            }
        }
    }
}
