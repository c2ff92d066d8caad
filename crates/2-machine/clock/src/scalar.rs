//! Scalar memory accesses of a compute unit.
//!
//! The one idea to keep in mind: a line on its way is there at one moment for all who wait for it, and what comes from memory
//! takes what a cold scalar load was measured to take.

use crate::memory::Memory;
use mem::{Answer, Follow};

/// Follows an access of a scalar cache.
pub(crate) struct ScalarPort<'a> {
    pub(crate) memory: &'a mut Memory,
    pub(crate) ready: &'a mut [u64],
    pub(crate) xcd: usize,
    pub(crate) now: u64,
    pub(crate) done: u64,
    pub(crate) place: Option<usize>,
}

impl Follow for ScalarPort<'_> {
    fn scalar(&mut self, place: Option<usize>, hit: bool) {
        self.place = place;
        if let Some(place) = place.filter(|_| hit) {
            self.done = self.done.max(self.now + self.memory.rates.scalar).max(self.ready[place]);
        }
    }

    fn request(&mut self, answer: &Answer) -> Option<u64> {
        let rates = &self.memory.rates;
        let (there, far, near) = (rates.l2 / 2, rates.scalar_cold, rates.l2);
        let (leaves, from_memory) = self.memory.serve(self.xcd, self.now + there, answer);
        // What comes from memory is what a cold scalar load was measured to take, and what it queues for.
        let back = match from_memory {
            true => (leaves + near - there).max(self.now + far),
            false => leaves + near - there,
        };
        self.done = self.done.max(back);
        if let Some(place) = self.place.take() {
            self.ready[place] = back;
        }
        // Who asks for the line meanwhile gets it when this one does.
        from_memory.then_some(back - (near - there))
    }
}
