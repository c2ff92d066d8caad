//! Atomics whose results depend on the order of workgroups, kept until it is their workgroup's turn.
//!
//! The one idea to keep in mind: sums of floating-point numbers differ with the order of their terms, so a thread writes
//! down what its workgroups add and the notes are worked off in the order of workgroups. A workgroup that looks at
//! memory it has such a note for waits until all before it are done; from then on it needs no notes.

use crate::atomics::{AtomicOp, update};
use crate::lanes::{LANES, active};
use crate::memory::Memory;
use std::fmt::Debug;
use std::ops::Range;

/// Notes after which a workgroup rather waits for its turn.
const MOST: usize = 1 << 18;

/// Knows which workgroups are done.
pub(crate) trait Turns: Sync + Debug {
    /// Returns when all batches of workgroups before this one are done and their notes worked off.
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
            // Checked when the note was taken: in a range and aligned.
            let _ = update(range, at, self.wide, |old| (self.op)(old, first, second));
        }
    }
}

/// Works off notes.
pub(crate) fn apply(notes: &[Note], memory: &Memory) {
    notes.iter().for_each(|note| note.apply(memory));
}

/// The notes of one thread's workgroups.
#[derive(Debug, Default)]
pub(crate) struct DeferredAtomics<'a> {
    notes: Vec<Note>,
    /// Addresses that notes are for lie from here on.
    low: u64,
    /// To here.
    high: u64,
    /// The batch that runs, and whom to ask; `None` when it is its turn.
    turn: Option<(&'a dyn Turns, u64)>,
}

impl<'a> DeferredAtomics<'a> {
    /// Another batch begins.
    pub(crate) fn begin(&mut self, turn: Option<(&'a dyn Turns, u64)>) {
        self.turn = turn;
    }

    /// What is left to do when it is the batch's turn.
    pub(crate) fn end(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// Whether atomics have to be written down.
    #[inline(always)]
    pub(crate) fn is_waiting(&self) -> bool {
        self.turn.is_some()
    }

    /// Writes an atomic down.
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

    /// Whether any note is about a place between two addresses.
    #[inline(always)]
    pub(crate) fn notes_lie_in(&self, addresses: Range<u64>) -> bool {
        !self.notes.is_empty() && addresses.start < self.high && self.low < addresses.end
    }

    /// Before memory is looked at: takes the turn when a lane may see what a note is about; whether it did.
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

    /// Waits for the workgroups before and works off the notes; none are taken any more.
    #[cold]
    #[inline(never)]
    fn take_turn(&mut self, memory: &Memory) {
        if let Some((turns, batch)) = self.turn.take() {
            turns.wait(batch);
        }
        apply(&std::mem::take(&mut self.notes), memory);
    }
}
