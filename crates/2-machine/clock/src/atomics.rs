//! Atomics done behind the L2s of a GPU with several XCDs.
//!
//! L2s share no lines, so an atomic of device scope is done at the memory channel, which all XCDs share. Two
//! times are measured: the time of a channel for the lanes of a wave that update one block, and the time between
//! two updates of one address.

use crate::rates::{AtomicTimes, TICKS};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Fewest blocks that are kept before some are dropped.
const FEWEST_KEPT: usize = 1 << 20;

/// Atomic units of all memory channels.
#[derive(Debug)]
pub(crate) struct AtomicUnits {
    /// By channel: tick at which it is free.
    free: Vec<u64>,
    /// Last request by block of a line.
    blocks: HashMap<u64, Block>,
    /// Number of blocks at which blocks without an update in progress are dropped.
    most: usize,
    /// XCDs that the simulated one represents, itself included: each updates the same addresses.
    represented: u64,
    /// Instruction of the last request, and the number of its requests before it.
    current: (u64, u32),
}

/// Last request of a block.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Number of the wave's instruction.
    access: u64,
    /// Number of the instruction's requests before it.
    number: u32,
    /// Tick at which it began.
    start: u64,
    /// Largest number of earlier lanes that update the address of a lane.
    repeats: u32,
}

/// A request for a block of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtomicRequest {
    /// Number of the wave's instruction. A request for the block of one of the few requests of the
    /// instruction before it is served with that one.
    pub(crate) access: u64,
    pub(crate) channel: usize,
    pub(crate) block: u64,
    /// Largest number of earlier lanes that update the address of a lane.
    pub(crate) repeats: u32,
}

impl AtomicUnits {
    /// Units of this number of channels, for a simulated XCD that represents a number of XCDs.
    pub(crate) fn new(channels: usize, represented: usize) -> AtomicUnits {
        AtomicUnits {
            free: vec![0; channels],
            blocks: HashMap::new(),
            most: FEWEST_KEPT,
            represented: represented as u64,
            current: (u64::MAX, 0),
        }
    }

    /// Begins a dispatch at cycle 0.
    pub(crate) fn begin(&mut self) {
        self.free.fill(0);
        self.blocks.clear();
        self.most = FEWEST_KEPT;
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
        let represented = self.represented;
        let ready = |last: &Block| {
            let each = times.request.min(times.address) + times.address * u64::from(last.repeats);
            last.start + each * represented
        };
        if self.blocks.len() >= self.most {
            self.blocks.retain(|_, last| ready(last) > ticks);
            self.most = (2 * self.blocks.len()).max(FEWEST_KEPT);
        }
        let number = if self.current.0 == access { self.current.1 + 1 } else { 0 };
        self.current = (access, number);
        // While a block waits for its last update, the channel serves others.
        let mut begin = || {
            let start = ticks.max(self.free[channel]);
            self.free[channel] = start + (times.request as f64 * weight) as u64;
            start
        };
        let mut begun = 0;
        let last = match self.blocks.entry(block) {
            Entry::Vacant(vacant) => vacant.insert(Block { access, number, start: begin(), repeats }),
            Entry::Occupied(occupied) => {
                let last = occupied.into_mut();
                if last.access != access {
                    *last = Block { access, number, start: begin().max(ready(last)), repeats };
                } else {
                    // Updates of one address by an instruction follow each other from its first request on.
                    if number.abs_diff(last.number) > times.joined {
                        begun = begin();
                    }
                    (last.number, last.repeats) = (number, last.repeats.max(repeats));
                }
                last
            }
        };
        begun.max(last.start + times.address * u64::from(last.repeats)) / TICKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_and_addresses_take_their_times() {
        let times = AtomicTimes { request: 3 * TICKS, address: 9 * TICKS, latency: 300, joined: 4 };
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
        // A block again, after four requests of the instruction and after five.
        for (others, expected) in [(4, 0), (5, 3)] {
            let mut units = AtomicUnits::new(2, 1);
            let blocks = std::iter::once((0, 7)).chain((0..others - 1).map(|it| (1, it))).chain([(0, 7)]);
            let ends = blocks.map(|(channel, block)| {
                units.serve(&times, (0, 1.0), AtomicRequest { channel, block, ..PLAIN })
            });
            assert_eq!(ends.last(), Some(expected), "{others}");
        }
        // One of eight XCDs is simulated: the others update the address in between.
        let mut units = AtomicUnits::new(4, 8);
        let same = (0..3).map(|it| units.serve(&times, (0, 1.0), AtomicRequest { access: it + 1, ..PLAIN }));
        assert_eq!(same.last(), Some(2 * 8 * 3));
        // While the block waits for its next update, the channel serves another one.
        let other = AtomicRequest { access: 9, block: 8, ..PLAIN };
        assert_eq!(units.serve(&times, (0, 1.0), other), 3 * 3);
    }

    #[test]
    fn blocks_without_an_update_in_progress_are_dropped() {
        let times = AtomicTimes { request: 3 * TICKS, address: 9 * TICKS, latency: 300, joined: 4 };
        let mut units = AtomicUnits::new(1 << 10, 1);
        for it in 0..3 * FEWEST_KEPT as u64 {
            let request = AtomicRequest { access: it, channel: it as usize % 1024, block: it, repeats: 0 };
            assert_eq!(units.serve(&times, (it * TICKS, 1.0), request), it);
        }
        assert!(units.blocks.len() <= FEWEST_KEPT);
    }
}
