//! Outstanding requests between L2 and memory.
//!
//! Each L2 channel has a limit of outstanding reads and of writes; one more waits for the oldest. A request
//! that causes a write-back waits with it.

/// Outstanding reads, or writes, of all channels.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    /// Most bytes of a request.
    bytes: u32,
    /// By channel: ring of completion cycles, and its oldest entry.
    done: Vec<u64>,
    first: Vec<usize>,
    /// By channel: true after a request of this dispatch.
    used: Vec<bool>,
    most: usize,
    /// Completion of the last request, and cycles that requests were outstanding, summed.
    pub(crate) last: u64,
    pub(crate) cycles: u64,
}

impl Fabric {
    pub(crate) fn new(channels: usize, most: usize, bytes: u32) -> Fabric {
        let (most, bytes) = (most.max(1), bytes.max(1));
        Fabric {
            bytes,
            done: vec![0; channels * most],
            first: vec![0; channels],
            used: vec![false; channels],
            most,
            last: 0,
            cycles: 0,
        }
    }

    pub(crate) fn begin(&mut self) {
        for (channel, used) in self.used.iter_mut().enumerate() {
            if std::mem::take(used) {
                self.done[channel * self.most..][..self.most].fill(0);
            }
        }
        (self.last, self.cycles) = (0, 0);
    }

    /// Cycle at which a channel can send another request.
    #[inline]
    pub(crate) fn room(&self, channel: usize) -> u64 {
        self.done[channel * self.most + self.first[channel]]
    }

    /// Counts bytes that are outstanding for some cycles.
    pub(crate) fn pass(&mut self, bytes: u32, cycles: u64) {
        self.cycles += cycles * u64::from(bytes.div_ceil(self.bytes));
    }

    /// Sends bytes at a cycle that complete at another.
    pub(crate) fn add(&mut self, channel: usize, bytes: u32, sent: u64, cycle: u64) {
        self.last = self.last.max(cycle);
        self.pass(bytes, cycle.saturating_sub(sent));
        self.used[channel] = true;
        for _ in 0..bytes.div_ceil(self.bytes) {
            let first = &mut self.first[channel];
            self.done[channel * self.most + *first] = cycle;
            *first = if *first + 1 < self.most { *first + 1 } else { 0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_than_there_is_room_for_waits_for_the_oldest() {
        let mut writes = Fabric::new(2, 3, 64);
        writes.add(1, 64, 3, 10);
        writes.add(1, 128, 5, 20);
        assert_eq!([writes.room(0), writes.room(1), writes.last, writes.cycles], [0, 10, 20, 7 + 2 * 15]);
        writes.add(1, 32, 10, 30);
        assert_eq!(writes.room(1), 20);
        writes.begin();
        assert_eq!([writes.room(0), writes.room(1), writes.last, writes.cycles], [0; 4]);
    }
}
