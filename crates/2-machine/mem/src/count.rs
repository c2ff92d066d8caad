//! Counts of the caches.
//!
//! A count is a sum over a dispatch. Counts of the L2 are kept per channel.

crate::named! {
    /// A count; the counts of the L2 are last.
    pub enum Count {
        L1Read "l1_read" "Read that the vector L1 sends to the L2"
        L1Write "l1_write" "Write that the vector L1 sends to the L2"
        L1AtomicReturn "l1_atomic_return" "Atomic with result that the vector L1 sends to the L2"
        L1Atomic "l1_atomic" "Atomic without result that the vector L1 sends to the L2"
        L1ReadRw "l1_read_rw" "Of the reads, those of memory cached for reading and writing"
        L1WriteRw "l1_write_rw" "Of the writes, those to memory cached for reading and writing"
        L1AtomicRw "l1_atomic_rw" "Of the atomics, those on memory cached for reading and writing"
        L1ReadNc "l1_read_nc" "Of the reads, those of memory that is not coherent"
        L1WriteNc "l1_write_nc" "Of the writes, those to memory that is not coherent"
        L1AtomicNc "l1_atomic_nc" "Of the atomics, those on memory that is not coherent"
        L1ReadCc "l1_read_cc" "Of the reads, those of coherently cached memory"
        L1WriteCc "l1_write_cc" "Of the writes, those to coherently cached memory"
        L1AtomicCc "l1_atomic_cc" "Of the atomics, those on coherently cached memory"
        L1ReadUc "l1_read_uc" "Of the reads, those of uncached memory"
        L1WriteUc "l1_write_uc" "Of the writes, those to uncached memory"
        L1AtomicUc "l1_atomic_uc" "Of the atomics, those on uncached memory"
        TranslationHit "translation_hit" "Look-up of the vector L1 that finds its page translated"
        TranslationMiss "translation_miss" "Look-up of the vector L1 that waits for a page nobody asked for yet"
        ScalarHit "scalar_hit" "Line found in the scalar cache"
        ScalarMiss "scalar_miss" "Line that the scalar cache asks the L2 for"
        ScalarDuplicate "scalar_duplicate" "Line that the scalar cache has asked for already"
        ScalarWrite "scalar_write" "Write that the scalar cache sends to the L2"
        ScalarAtomic "scalar_atomic_sent" "Atomic that the scalar cache sends to the L2"
        CodeMiss "code_miss" "Instruction cache whose first line of the kernel is not there"
        CodeRequest "code_request" "Read that an instruction cache sends to the L2"
        CodeOverflow "code_overflow" "Instruction cache that is smaller than the code a kernel runs through"
        Dropped "dropped" "Access that was not followed, because the stream of its workgroup had become too long"
        L2Read "l2_read" "Read of the L2"
        L2Write "l2_write" "Write to the L2"
        L2Atomic "l2_atomic" "Atomic in the L2"
        L2Hit "l2_hit" "Request that hits in the L2"
        L2Miss "l2_miss" "Request that misses in the L2"
        L2Rw "l2_rw" "Request for memory cached for reading and writing"
        L2Nc "l2_nc" "Request for memory that is not coherent"
        L2Cc "l2_cc" "Request for coherently cached memory"
        L2Uc "l2_uc" "Request for uncached memory"
        L2Streaming "l2_streaming" "Request marked as streaming"
        FabricRead32 "fabric_read_32" "Read of 32 bytes sent to memory"
        FabricRead64 "fabric_read_64" "Read of 64 bytes sent to memory"
        FabricRead128 "fabric_read_128" "Read of 128 bytes sent to memory"
        FabricReadLocal "fabric_read_local" "Of the reads sent to memory, those of the GPU's own"
        FabricReadUncached "fabric_read_uncached_32" "32 bytes of an uncached read"
        FabricWrite32 "fabric_write_32" "Write of 32 bytes sent to memory"
        FabricWrite64 "fabric_write_64" "Write of 64 bytes sent to memory"
        FabricWriteLocal "fabric_write_local" "Of the writes sent to memory, those to the GPU's own"
        FabricWriteUncached "fabric_write_uncached_32" "32 bytes of an uncached write or atomic"
        FabricAtomic "fabric_atomic" "Atomic sent to memory"
        Evict "l2_evict" "Line thrown out of the L2 to make room"
        WritebackEvict "l2_writeback_evict" "Dirty line written back that is no longer young in its set, or gives way"
        WritebackFlush "l2_writeback_flush" "Dirty line written back at the end of the dispatch"
    }
}

/// First count of the L2.
const FIRST_OF_L2: usize = Count::L2Read as usize;

impl Count {
    /// Number of counts kept per channel.
    const PER_CHANNEL: usize = Count::COUNT - FIRST_OF_L2;

    /// True for counts kept per L2 channel.
    pub fn per_channel(self) -> bool {
        self as usize >= FIRST_OF_L2
    }
}

/// Counts of an L2 channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChannelCounts {
    counts: [u64; Count::PER_CHANNEL],
}

impl Default for ChannelCounts {
    fn default() -> Self {
        ChannelCounts { counts: [0; Count::PER_CHANNEL] }
    }
}

impl ChannelCounts {
    #[inline]
    pub(crate) fn add(&mut self, count: Count, times: u64) {
        self.counts[count as usize - FIRST_OF_L2] += times;
    }

    /// Adds reads of read-write cached memory that hit.
    pub(crate) fn add_rw_read_hits(&mut self, times: u64) {
        [Count::L2Read, Count::L2Rw, Count::L2Hit].into_iter().for_each(|count| self.add(count, times));
    }
}

/// Counts of the caches before the L2.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FrontCounts([u64; FIRST_OF_L2]);

impl Default for FrontCounts {
    fn default() -> Self {
        FrontCounts([0; FIRST_OF_L2])
    }
}

impl FrontCounts {
    pub(crate) fn merge(&mut self, other: &FrontCounts) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, more)| *sum += more);
    }

    #[inline]
    pub(crate) fn add(&mut self, count: Count, times: u64) {
        self.0[count as usize] += times;
    }

    /// Sums the counts that are kept by memory type.
    pub(crate) fn sum_by_memory_type(&mut self) {
        let of_types = [Count::L1ReadRw, Count::L1ReadNc, Count::L1ReadCc, Count::L1ReadUc];
        self.0[Count::L1Read as usize] = of_types.iter().map(|&count| self.0[count as usize]).sum();
    }
}

/// Counts of a dispatch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    front_counts: FrontCounts,
    /// By channel, XCD by XCD.
    channels: Vec<ChannelCounts>,
}

impl Tally {
    pub(crate) fn new(front_counts: FrontCounts, channels: Vec<ChannelCounts>) -> Tally {
        Tally { front_counts, channels }
    }

    /// A tally of given counts; L2 counts are spread evenly over channels.
    pub fn even(channels: usize, counts: &[(Count, u64)]) -> Tally {
        let mut tally = Tally {
            front_counts: FrontCounts::default(),
            channels: vec![ChannelCounts::default(); channels],
        };
        for &(count, times) in counts {
            if !count.per_channel() {
                tally.front_counts.add(count, times);
                continue;
            }
            let share = times / channels.max(1) as u64;
            let rest = (times % channels.max(1) as u64) as usize;
            for (number, channel) in tally.channels.iter_mut().enumerate() {
                channel.add(count, share + u64::from(number < rest));
            }
        }
        tally
    }

    /// Sum of several tallies, with the channels of all in order.
    pub fn joined<'a>(parts: impl Iterator<Item = &'a Tally>) -> Tally {
        let mut sum = Tally::default();
        for part in parts {
            sum.front_counts.merge(&part.front_counts);
            sum.channels.extend_from_slice(&part.channels);
        }
        sum
    }

    /// Adds to a count that is not kept per channel.
    pub fn add(&mut self, count: Count, times: u64) {
        if !count.per_channel() {
            self.front_counts.add(count, times);
        }
    }

    /// Adds the difference of two tallies of the same caches times a factor.
    pub fn add_scaled(&mut self, from: &Tally, to: &Tally, factor: f64) {
        let more = |from: u64, to: u64| (to.saturating_sub(from) as f64 * factor).round() as u64;
        let fronts = from.front_counts.0.iter().zip(&to.front_counts.0);
        for (sum, (&from, &to)) in self.front_counts.0.iter_mut().zip(fronts) {
            *sum += more(from, to);
        }
        for (sum, (from, to)) in self.channels.iter_mut().zip(from.channels.iter().zip(&to.channels)) {
            let counts = from.counts.iter().zip(&to.counts);
            for (sum, (&from, &to)) in sum.counts.iter_mut().zip(counts) {
                *sum += more(from, to);
            }
        }
    }

    /// A count over all channels.
    pub fn get(&self, count: Count) -> u64 {
        match count.per_channel() {
            true => (0..self.channels.len()).map(|channel| self.of_channel(count, channel)).sum(),
            false => self.front_counts.0[count as usize],
        }
    }

    /// A count of an L2 channel; 0 for counts not kept per channel.
    pub fn of_channel(&self, count: Count, channel: usize) -> u64 {
        let place = (count as usize).checked_sub(FIRST_OF_L2);
        place.and_then(|place| self.channels.get(channel).map(|it| it.counts[place])).unwrap_or(0)
    }

    /// L2 channels of all XCDs.
    pub fn channels(&self) -> usize {
        self.channels.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_their_own() {
        for (number, count) in Count::ALL.iter().enumerate() {
            assert_eq!(Count::by_name(count.name()), Some(*count));
            assert_eq!(*count as usize, number);
        }
    }

    #[test]
    fn channels_sum_up() {
        let mut channels = [ChannelCounts::default(); 2];
        channels[0].add(Count::L2Hit, 2);
        channels[1].add(Count::L2Hit, 3);
        let mut front_counts = FrontCounts::default();
        front_counts.add(Count::L1Read, 4);
        let tally = Tally::new(front_counts, channels.to_vec());
        assert_eq!((tally.get(Count::L2Hit), tally.of_channel(Count::L2Hit, 1)), (5, 3));
        assert_eq!((tally.get(Count::L1Read), tally.of_channel(Count::L1Read, 0)), (4, 0));
        let tally = Tally::even(3, &[(Count::L2Hit, 5), (Count::L1Read, 7)]);
        assert_eq!((tally.get(Count::L2Hit), tally.get(Count::L1Read)), (5, 7));
        assert_eq!(tally.of_channel(Count::L2Hit, 2), 1);
        let mut sum = tally.clone();
        sum.add_scaled(&Tally::even(3, &[(Count::L2Hit, 2)]), &tally, 2.0);
        assert_eq!((sum.get(Count::L2Hit), sum.get(Count::L1Read)), (5 + 2 * 3, 7 + 2 * 7));
    }
}
