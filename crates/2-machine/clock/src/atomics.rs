//! Atomics done behind the L2s of a GPU with several XCDs.
//!
//! L2s share no lines, so an atomic of device scope is done where all XCDs meet: at the memory channel. A
//! channel takes a measured time for the lanes of a wave that update one block, and updates of one address follow
//! each other by another.

use crate::rates::{AtomicTimes, TICKS};
use std::collections::HashMap;

/// Atomic units of all memory channels.
#[derive(Debug)]
pub(crate) struct AtomicUnits {
    /// By channel: tick at which it is free.
    free: Vec<u64>,
    /// By block of a line.
    blocks: HashMap<u64, Block>,
    /// XCDs for which the simulated one stands: as many update each address.
    stands_for: u64,
}

/// Last request of a block.
#[derive(Clone, Copy, Default, Debug)]
struct Block {
    /// Instruction of a wave that it came from.
    access: u64,
    /// Tick at which it began.
    start: u64,
    /// Most earlier lanes that update the address of a lane.
    repeats: u32,
}

/// A request for a block of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtomicRequest {
    /// Number of the wave's instruction: its requests for one block are one.
    pub(crate) access: u64,
    pub(crate) channel: usize,
    pub(crate) block: u64,
    /// Most earlier lanes that update the address of a lane.
    pub(crate) repeats: u32,
}

impl AtomicUnits {
    /// Units of this number of channels, for a simulated XCD that stands for some.
    pub(crate) fn new(channels: usize, stands_for: usize) -> AtomicUnits {
        AtomicUnits { free: vec![0; channels], blocks: HashMap::new(), stands_for: stands_for.max(1) as u64 }
    }

    /// Begins a dispatch at cycle 0.
    pub(crate) fn begin(&mut self) {
        self.free.fill(0);
        self.blocks.clear();
    }

    /// Serves a request at a tick; returns the cycle of its last update. `weight` is the cost factor of a
    /// request.
    pub(crate) fn serve(
        &mut self,
        times: &AtomicTimes,
        (ticks, weight): (u64, f64),
        request: AtomicRequest,
    ) -> u64 {
        let AtomicRequest { access, channel, block, repeats } = request;
        let last = self.blocks.entry(block).or_default();
        if last.access == access {
            last.repeats = last.repeats.max(repeats);
        } else {
            let each = times.request.min(times.address) + times.address * u64::from(last.repeats);
            let done = last.start + each * self.stands_for;
            let ready = if last.access == 0 { 0 } else { done };
            let start = ticks.max(self.free[channel]).max(ready);
            self.free[channel] = start + (times.request as f64 * weight) as u64;
            *last = Block { access, start, repeats };
        }
        (last.start + times.address * u64::from(last.repeats)) / TICKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_and_addresses_take_their_times() {
        let times = AtomicTimes { request: 3 * TICKS, address: 9 * TICKS, latency: 300 };
        let last = |of: fn(u64) -> AtomicRequest| {
            let mut units = AtomicUnits::new(4, 1);
            (0..101).map(|it| units.serve(&times, (0, 1.0), of(it))).last()
        };
        const PLAIN: AtomicRequest = AtomicRequest { access: 1, channel: 0, block: 7, repeats: 0 };
        // Blocks of one channel and of four; waves whose lanes update one address; requests of one wave.
        for (of, expected) in [
            ((|it| AtomicRequest { access: it + 1, block: it, ..PLAIN }) as fn(u64) -> AtomicRequest, 300),
            (|it| AtomicRequest { access: it + 1, block: it, channel: it as usize % 4, ..PLAIN }, 75),
            (|it| AtomicRequest { access: it + 1, repeats: 63, ..PLAIN }, 100 * (3 + 9 * 63) + 9 * 63),
            (|it| AtomicRequest { repeats: it as u32 % 64, ..PLAIN }, 9 * 63),
        ] {
            assert_eq!(last(of), Some(expected));
        }
        // Of eight XCDs one is simulated: the others update the address in between.
        let mut units = AtomicUnits::new(4, 8);
        let same = (0..3).map(|it| units.serve(&times, (0, 1.0), AtomicRequest { access: it + 1, ..PLAIN }));
        assert_eq!(same.last(), Some(2 * 8 * 3));
    }
}
