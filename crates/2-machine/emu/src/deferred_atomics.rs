//! Deferred atomics: their results depend on the order of workgroups, so they are applied in that order.
//!
//! The one idea to keep in mind: floating-point sums depend on the order of terms. A thread records the atomics of
//! its workgroups, and the records are applied in workgroup order. A workgroup that reads memory with a recorded
//! atomic first waits for all earlier workgroups, and records no more.

use crate::atomics::{AtomicOp, update};
use crate::lanes::{LANES, active};
use crate::memory::Memory;
use std::fmt::Debug;
use std::ops::Range;

/// Most recorded atomics of a workgroup before it waits for its turn.
const MOST: usize = 1 << 18;

/// Order of batches of workgroups.
pub(crate) trait Turns: Sync + Debug {
    /// Returns when all earlier batches are done and their atomics applied.
    fn wait(&self, batch: u64);
}

/// An atomic without return value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    pub(crate) address: u64,
    pub(crate) op: AtomicOp,
    pub(crate) wide: bool,
    pub(crate) operands: [u64; 2],
}

impl Note {
    fn apply(&self, memory: &Memory) {
        let bytes = if self.wide { 8 } else { 4 };
        let [first, second] = self.operands;
        if let Some((range, at)) = memory.locate(self.address, bytes) {
            // The range and alignment were checked when the atomic was recorded.
            let _ = update(range, at, self.wide, |old| (self.op)(old, first, second));
        }
    }
}

/// Applies recorded atomics.
pub(crate) fn apply(notes: &[Note], memory: &Memory) {
    notes.iter().for_each(|note| note.apply(memory));
}

/// Recorded atomics of one thread's workgroups.
#[derive(Debug, Default)]
pub(crate) struct DeferredAtomics<'a> {
    notes: Vec<Note>,
    /// Lowest recorded address.
    low: u64,
    /// End of the highest recorded address.
    high: u64,
    /// Order and batch of the thread; `None` when the batch has its turn.
    turn: Option<(&'a dyn Turns, u64)>,
}

impl<'a> DeferredAtomics<'a> {
    /// Begins a batch.
    pub(crate) fn begin(&mut self, turn: Option<(&'a dyn Turns, u64)>) {
        self.turn = turn;
    }

    /// Takes the atomics to apply at the batch's turn.
    pub(crate) fn end(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// True if atomics have to be recorded.
    #[inline(always)]
    pub(crate) fn is_waiting(&self) -> bool {
        self.turn.is_some()
    }

    /// Records an atomic.
    pub(crate) fn note(&mut self, note: Note, memory: &Memory) {
        let end = note.address + 8;
        (self.low, self.high) = if self.notes.is_empty() {
            (note.address, end)
        } else {
            (self.low.min(note.address), self.high.max(end))
        };
        self.notes.push(note);
        if self.notes.len() >= MOST {
            self.take_turn(memory);
        }
    }

    /// True if a recorded atomic may be in an address range.
    #[inline(always)]
    pub(crate) fn has_notes_in(&self, addresses: Range<u64>) -> bool {
        !self.notes.is_empty() && addresses.start < self.high && self.low < addresses.end
    }

    /// Before an access: waits for the batch's turn if a lane may see a recorded atomic; true if it waited.
    #[inline(always)]
    pub(crate) fn look(&mut self, addresses: &[u64; LANES], lanes: u64, bytes: u64, memory: &Memory) -> bool {
        if self.notes.is_empty() {
            return false;
        }
        let low = self.low.saturating_sub(bytes - 1);
        let length = self.high - low;
        let mut meets = false;
        if lanes == u64::MAX {
            for &address in addresses {
                meets |= address.wrapping_sub(low) < length;
            }
        } else {
            for lane in active(lanes) {
                meets |= addresses[lane].wrapping_sub(low) < length;
            }
        }
        if meets {
            self.take_turn(memory);
        }
        meets
    }

    /// Waits for the earlier workgroups and applies the records; later atomics are not recorded.
    #[cold]
    #[inline(never)]
    fn take_turn(&mut self, memory: &Memory) {
        if let Some((turns, batch)) = self.turn.take() {
            turns.wait(batch);
        }
        apply(&std::mem::take(&mut self.notes), memory);
    }
}
