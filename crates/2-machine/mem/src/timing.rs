//! Interface between caches without time and a model of time.
//!
//! Caches report each step of an access to a [`Timing`], which answers whether the access may continue at
//! once. [`FastPath`] reports the most common steps in batches.

use crate::l2::L2Answer;
use crate::sets64;
use crate::translations::Translation;

/// Reports of an access on its way through the caches, step by step.
///
/// Defaults suit a caller that models no time.
#[allow(unused_variables, reason = "the names document the steps")]
pub trait Timing {
    /// A look-up needs the translation of a page that the access has not used yet; false suspends the access.
    fn translate(&mut self, page: u64, found: Translation) -> bool {
        true
    }
    /// A look-up misses and needs an MSHR, unless the read merges with the one before; false suspends the
    /// access.
    fn has_mshr(&mut self, merges: bool) -> bool {
        true
    }
    /// A merged read needs sectors that the read before did not fetch. Returns the note to keep with the L2's
    /// line.
    fn reads_more_sectors(&mut self, answer: &L2Answer) -> Option<u64> {
        None
    }
    /// A look-up hits at a place of the vector L1.
    fn hit(&mut self, place: usize) {}
    /// A look-up misses; the line goes to `place`, or bypasses the vector L1. Its request follows.
    fn miss(&mut self, place: Option<usize>) {}
    /// A read of the other half of an L2 line follows; true if it merges with the request before.
    fn merges(&mut self) -> bool {
        true
    }
    /// A look-up is done.
    fn next_lookup(&mut self) {}
    /// `count` look-ups hit lines that this access has looked up before.
    fn repeat(&mut self, count: u64) {}
    /// Consecutive look-ups of a load follow. Implementations may take any number of the first ones from the
    /// batch; those are not reported to the other methods.
    fn fast_path(&mut self, batch: &mut impl FastPath) {}
    /// A read hits in a channel of the L2 with all its sectors; `noted` is the note of the line.
    fn l2_hit(&mut self, channel: usize, line: u64, noted: u64) {}
    /// Any other request reaches the L2. Returns the note to keep with the line until the dispatch ends.
    fn l2_request(&mut self, answer: &L2Answer) -> Option<u64> {
        None
    }
    /// The scalar cache looks up a line; without a place the access bypasses it.
    fn scalar_lookup(&mut self, place: Option<usize>, hit: bool) {}
}

/// Models no time.
impl Timing for () {}

/// Ways of a set of the vector L1, and most look-ups of a batch.
pub const L1_WAYS: usize = sets64::WAYS;

/// Fast path: consecutive look-ups of a load that hit the vector L1 or the L2, in batches of one set each.
pub trait FastPath {
    /// Does the next look-ups in one set, [`L1_WAYS`] at most; returns the set and the results. `None` at the
    /// end, and before a look-up that needs the slow path.
    fn lookups_in_set(&mut self, mshrs: MshrSlots<'_>) -> Option<(usize, &[TagLookup])>;
    /// Look-ups done, and how many of them missed the vector L1.
    fn lookups_and_misses(&self) -> [u64; 2];
}

/// MSHRs of a vector L1, as a batch of look-ups sees them.
#[derive(Clone, Copy, Debug)]
pub struct MshrSlots<'a> {
    /// Cycle at which each next MSHR is free, in order.
    pub free: &'a [u64],
    /// Cycle of the next look-up.
    pub now: u64,
    /// Cycles of a look-up that misses.
    pub each: u64,
}

impl MshrSlots<'_> {
    /// True if the next look-up may miss.
    #[inline(always)]
    pub(crate) fn has_mshr(&self) -> bool {
        self.free.first().is_some_and(|&free| free <= self.now)
    }

    /// Takes an MSHR for each of some misses.
    #[inline(always)]
    pub(crate) fn take(&mut self, misses: usize) {
        self.free = self.free.get(misses..).unwrap_or_default();
        self.now += misses as u64 * self.each;
    }
}

/// Result of a look-up in the vector L1.
#[derive(Clone, Copy, Default, Debug)]
pub struct TagLookup {
    /// Way that holds the line, or that the line is filled into.
    pub way: u8,
    /// [`HIT`], or the channel of the L2 that has the line.
    pub channel: u8,
    /// Further look-ups of the same line.
    pub more: u8,
    /// Note of the L2's line; 0 or negative if it has none of this dispatch.
    pub noted: i64,
}

/// In place of a channel: the vector L1 has the line.
pub const HIT: u8 = u8::MAX;
