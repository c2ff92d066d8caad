//! Channels, banks and queues of device memory.
//!
//! A channel reorders the requests in its queue by free banks. Requests beyond the queue wait in order,
//! whatever their bank, so one busy bank delays all.

use crate::rates::{Rates, TICKS};
use std::collections::VecDeque;

/// Memory channels of a GPU or of a share.
#[derive(Debug)]
pub(crate) struct DramChannels {
    /// By channel: tick at which the data bus is free.
    free: Vec<u64>,
    /// By bank of a channel: open row plus one, and tick of the next possible activation.
    banks: Vec<(u64, u64)>,
    /// By channel.
    queues: Vec<Queue>,
    /// By channel: banks or queue were used since the dispatch began.
    used: Vec<bool>,
}

/// Requests of a channel that have not begun.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// Ticks at which they begin, in order.
    begin: VecDeque<u64>,
    /// Tick at which the newest entered the queue.
    came: u64,
}

impl Queue {
    /// Enters a request at a tick; returns the tick at which it, and all before it, had a slot.
    fn admit(&mut self, ticks: u64, most: usize) -> u64 {
        self.came = self.came.max(ticks);
        if self.begin.back().is_none_or(|&last| last <= self.came) {
            self.begin.clear();
        } else if self.begin.len() >= most
            && let Some(first) = self.begin.pop_front()
        {
            self.came = self.came.max(first);
        }
        self.came
    }

    /// Records the tick at which the newest request begins.
    fn record_begin(&mut self, ticks: u64) {
        // Most requests begin last.
        let before = self.begin.iter().rposition(|&it| it <= ticks);
        self.begin.insert(before.map_or(0, |it| it + 1), ticks);
    }
}

/// Serves bytes in order on a bus that is busy until `free`; returns the tick of service.
pub(crate) fn serve(free: &mut u64, ticks: u64, byte: f64, bytes: u32) -> u64 {
    let start = ticks.max(*free);
    *free = start + (byte * f64::from(bytes)) as u64;
    start
}

impl DramChannels {
    pub(crate) fn new(channels: usize, rates: &Rates) -> DramChannels {
        let banks = rates.dram_map.as_ref().map_or(0, |map| channels * map.banks());
        DramChannels {
            free: vec![0; channels],
            banks: vec![(0, 0); banks],
            queues: vec![Queue::default(); channels],
            used: vec![false; channels],
        }
    }

    /// A dispatch begins at cycle 0.
    pub(crate) fn begin(&mut self) {
        self.free.fill(0);
        let banks = self.banks.len() / self.used.len().max(1);
        for (channel, used) in self.used.iter_mut().enumerate().filter(|it| *it.1) {
            *used = false;
            self.banks[channel * banks..][..banks].fill((0, 0));
            self.queues[channel] = Queue::default();
        }
    }

    pub(crate) fn channels(&self) -> usize {
        self.free.len()
    }

    /// Occupies a channel for a write that nothing waits for.
    pub(crate) fn takes(&mut self, channel: usize, ticks: u64, byte: f64, bytes: u32) {
        serve(&mut self.free[channel], ticks, byte, bytes);
    }

    /// Serves a request at a channel that takes `byte` ticks a byte; returns the cycle of service and the
    /// latency.
    pub(crate) fn request(
        &mut self,
        rates: &Rates,
        (ticks, byte): (u64, f64),
        (channel, line, bytes): (usize, u64, u32),
    ) -> (u64, u64) {
        let free = &mut self.free[channel];
        let Some(map) = &rates.dram_map else {
            return (serve(free, ticks, byte, bytes) / TICKS, rates.hbm);
        };
        let (bank, row) = map.bank(line);
        self.used[channel] = true;
        let (open, ready) = &mut self.banks[channel * map.banks() + bank];
        let (opened, latency) = match *open == row + 1 {
            true => (true, rates.hbm.saturating_sub(map.opening).max(rates.l2)),
            false => (false, rates.hbm),
        };
        if byte == 0.0 {
            // Without a bandwidth limit nothing waits for bus or banks; rows still open.
            *open = row + 1;
            return (ticks / TICKS, latency);
        }
        let queue = &mut self.queues[channel];
        let start = serve(free, queue.admit(ticks, map.queue), byte, bytes);
        if opened {
            queue.record_begin(start);
            return (start / TICKS, latency);
        }
        let start = start.max(*ready);
        (*open, *ready) = (row + 1, start + map.row);
        queue.record_begin(start);
        (start / TICKS, latency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_at_a_full_queue_waits_for_the_first_to_begin() {
        let mut queue = Queue::default();
        for begins in [300, 100, 200] {
            assert_eq!(queue.admit(10, 3), 10);
            queue.record_begin(begins);
        }
        assert_eq!(queue.admit(20, 3), 100);
        queue.record_begin(400);
        // In order, also where there would have been room for it before.
        assert_eq!(queue.admit(50, 4), 100);
        queue.record_begin(110);
        assert_eq!(queue.admit(105, 4), 110);
        queue.record_begin(500);
        // All have begun.
        assert_eq!(queue.admit(500, 1), 500);
        queue.record_begin(500);
        assert_eq!(queue.admit(501, 1), 501);
        assert!(queue.begin.is_empty());
    }

    #[test]
    fn without_a_limit_of_bandwidth_nothing_waits_and_open_rows_answer_sooner() {
        let rates = Rates::of(arch::Model::by_name("mi210").unwrap());
        let map = rates.dram_map.as_ref().unwrap();
        let mut device = DramChannels::new(32, &rates);
        let mut asks = |row: u64| device.request(&rates, (7 * TICKS, 0.0), (0, row << 13, 64));
        let short = rates.hbm - map.opening;
        assert!(short < rates.hbm);
        assert_eq!([1, 1, 2, 1].map(&mut asks), [(7, rates.hbm), (7, short), (7, rates.hbm), (7, rates.hbm)]);
    }

    #[test]
    fn a_busy_bank_blocks_all_requests_behind_a_full_queue() {
        let rates = Rates::of(arch::Model::by_name("mi210").unwrap());
        let map = rates.dram_map.as_ref().unwrap();
        // So short that the wires are free.
        let byte = rates.memory_byte[0] / 64.0;
        // A line of each row of a bank of the first channel.
        let rows = |bank: usize| {
            let there = move |line: &u64| (map.channel(*line, 5), map.bank(*line).0) == (0, bank);
            (0..1u64 << 14).map(move |row| row << 13 | (bank as u64) << 6).filter(there)
        };
        let wait = |before: usize| {
            let mut device = DramChannels::new(32, &rates);
            for line in rows(0).take(before) {
                device.request(&rates, (0, byte), (0, line, 1));
            }
            let other = rows(1).next().unwrap();
            device.request(&rates, (0, byte), (0, other, 1)).0 * TICKS / map.row
        };
        // The first of them begins at once; the others wait in the queue, and what waits outside waits for
        // them.
        assert_eq!([1, map.queue / 2, map.queue].map(wait), [0, 0, 0]);
        assert_eq!([2 * map.queue, 3 * map.queue].map(wait), [map.queue as u64, 2 * map.queue as u64]);
    }
}
