//! Timing of scalar memory accesses.
//!
//! A line in flight arrives at the same cycle for all who wait for it. A line from memory takes the measured
//! latency of a cold scalar load.

use crate::memory::Memory;
use mem::{L2Answer, Timing};

/// Timing of an access to a scalar cache.
pub(crate) struct ScalarTiming<'a> {
    pub(crate) memory: &'a mut Memory,
    pub(crate) ready: &'a mut [u64],
    pub(crate) xcd: usize,
    pub(crate) now: u64,
    pub(crate) done: u64,
    pub(crate) place: Option<usize>,
}

impl Timing for ScalarTiming<'_> {
    fn scalar_lookup(&mut self, place: Option<usize>, hit: bool) {
        self.place = place;
        if let Some(place) = place.filter(|_| hit) {
            self.done = self.done.max(self.now + self.memory.rates.scalar).max(self.ready[place]);
        }
    }

    fn l2_request(&mut self, answer: &L2Answer) -> Option<u64> {
        let rates = &self.memory.rates;
        let (there, far, near) = (rates.l2 / 2, rates.scalar_cold, rates.l2);
        let (leaves, from_memory) = self.memory.serve(self.xcd, self.now + there, answer);
        // A load from memory takes the measured cold latency, and the time in queues beyond it.
        let back = match from_memory {
            true => (leaves + near - there).max(self.now + far),
            false => leaves + near - there,
        };
        self.done = self.done.max(back);
        if let Some(place) = self.place.take() {
            self.ready[place] = back;
        }
        // Later requests for the line get it at the same cycle.
        from_memory.then_some(back - (near - there))
    }
}
