//! Tags of a set-associative cache with LRU replacement.
//!
//! The caller chooses the set of a line and keeps data by place. Storage depends on the number of ways,
//! results do not.

use crate::eviction::Filled;
use crate::sets_any::SetsAny;
use crate::sets64::{self, Sets64};

/// A cache's tags.
#[derive(Clone, Debug)]
pub(crate) struct Cache(Sets);

#[derive(Clone, Debug)]
enum Sets {
    Any(SetsAny),
    Of64(Sets64),
}

/// Operations common to all kinds of sets.
pub(crate) trait Ways {
    /// Place of a line, made most recently used; on a miss the place to evict.
    fn find_or_lru(&mut self, set: usize, line: u64) -> Result<usize, usize>;

    /// Puts a line at a place.
    fn put_at(&mut self, place: usize, line: u64, evict_first: bool);

    /// The sets, if they have 64 ways.
    fn sets64(&mut self) -> Option<&mut [sets64::Set]> {
        None
    }
}

/// An operation over the sets of a cache.
pub(crate) trait With {
    /// Result.
    type Out;

    /// Runs the operation.
    fn sets(self, sets: &mut impl Ways) -> Self::Out;
}

impl Ways for SetsAny {
    #[inline]
    fn find_or_lru(&mut self, set: usize, line: u64) -> Result<usize, usize> {
        let place = self.peek(set, line).ok_or_else(|| self.lru(set))?;
        self.touch(place);
        Ok(place)
    }

    #[inline]
    fn put_at(&mut self, place: usize, line: u64, evict_first: bool) {
        self.put(place, line, evict_first);
    }
}

impl Ways for Sets64 {
    #[inline]
    fn find_or_lru(&mut self, set: usize, line: u64) -> Result<usize, usize> {
        Sets64::find_or_lru(self, set, line)
    }

    #[inline(always)]
    fn sets64(&mut self) -> Option<&mut [sets64::Set]> {
        Some(self.sets())
    }

    #[inline]
    fn put_at(&mut self, place: usize, line: u64, evict_first: bool) {
        self.put(place, line, evict_first);
    }
}

/// Calls a function of the cache's kind of sets.
macro_rules! of_sets {
    ($cache:expr, $sets:ident => $call:expr) => {
        match $cache {
            Sets::Any($sets) => $call,
            Sets::Of64($sets) => $call,
        }
    };
}

impl Cache {
    /// An empty cache.
    pub(crate) fn new(sets: usize, ways: usize) -> Cache {
        let (sets, ways) = (sets.max(1), ways.max(1));
        Cache(match ways {
            sets64::WAYS => Sets::Of64(Sets64::new(sets)),
            _ => Sets::Any(SetsAny::new(sets, ways)),
        })
    }

    /// Forgets all lines.
    pub(crate) fn clear(&mut self) {
        of_sets!(&mut self.0, sets => sets.clear());
    }

    /// Place of a line; does not count as a use.
    #[inline]
    pub(crate) fn peek(&self, set: usize, line: u64) -> Option<usize> {
        of_sets!(&self.0, sets => sets.peek(set, line))
    }

    /// Place of a line, made most recently used.
    #[inline]
    pub(crate) fn find(&mut self, set: usize, line: u64) -> Option<usize> {
        let place = self.peek(set, line)?;
        self.touch(place);
        Some(place)
    }

    /// Runs an operation with the kind of sets known at compile time.
    #[inline]
    pub(crate) fn with<W: With>(&mut self, with: W) -> W::Out {
        of_sets!(&mut self.0, sets => with.sets(sets))
    }

    /// Place to evict from a set.
    #[inline]
    pub(crate) fn lru(&self, set: usize) -> usize {
        of_sets!(&self.0, sets => sets.lru(set))
    }

    /// Makes a place most recently used.
    #[inline]
    pub(crate) fn touch(&mut self, place: usize) {
        of_sets!(&mut self.0, sets => sets.touch(place));
    }

    /// Fills a missing line. `evict_first` makes it the next to evict.
    #[inline]
    pub(crate) fn fill(&mut self, set: usize, line: u64, evict_first: bool) -> Filled {
        let place = self.lru(set);
        self.put(place, line, evict_first)
    }

    /// Puts a line at a place; returns the line it replaces.
    #[inline]
    pub(crate) fn put(&mut self, place: usize, line: u64, evict_first: bool) -> Filled {
        of_sets!(&mut self.0, sets => sets.put(place, line, evict_first))
    }

    /// Invalidates a place.
    pub(crate) fn remove(&mut self, place: usize) {
        of_sets!(&mut self.0, sets => sets.remove(place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_used_longest_ago_goes() {
        let mut cache = Cache::new(2, 2);
        let filled = |place, evicted| Filled { place, evicted };
        assert_eq!(cache.fill(1, 10, false), filled(2, None));
        assert_eq!(cache.fill(1, 11, false).place, 3);
        assert!(cache.find(1, 10).is_some() && cache.find(0, 10).is_none());
        assert_eq!(cache.fill(1, 12, false), filled(3, Some(11)));
        // A line that is to go first does, though it came last.
        assert_eq!(cache.fill(1, 13, true).evicted, Some(10));
        assert_eq!(cache.fill(1, 14, false).evicted, Some(13));
        cache.remove(3);
        assert_eq!(cache.fill(1, 15, false), filled(3, None));
    }

    #[test]
    fn the_clock_starts_again() {
        let mut any = SetsAny::new(1, 2);
        any.clock = u32::MAX - 1;
        let mut cache = Cache(Sets::Any(any));
        cache.fill(0, 1, false);
        cache.fill(0, 2, false);
        assert!(cache.find(0, 1).is_some());
        assert_eq!(cache.fill(0, 3, false).evicted, Some(2));
    }

    /// Looks for a line.
    struct Looks(usize, u64);

    impl With for Looks {
        type Out = Option<usize>;

        fn sets(self, sets: &mut impl Ways) -> Option<usize> {
            sets.find_or_lru(self.0, self.1).ok()
        }
    }

    #[test]
    fn sets_of_any_number_of_ways_keep_the_same_lines() {
        let mut cache = Cache::new(4, sets64::WAYS);
        let mut any = Cache(Sets::Any(SetsAny::new(4, sets64::WAYS)));
        assert!(matches!(cache.0, Sets::Of64(_)));
        let mut state = 1u64;
        for step in 0..200_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
            let line = (state >> 33) % (5 * sets64::WAYS as u64);
            let set = (line % 4) as usize;
            assert_eq!(cache.peek(set, line), any.peek(set, line));
            assert_eq!(cache.lru(set), any.lru(set), "step {step}");
            let found = match step % 2 {
                0 => cache.with(Looks(set, line)),
                _ => cache.find(set, line),
            };
            assert_eq!(found, any.find(set, line), "step {step}");
            match found {
                Some(place) if state >> 60 == 0 => {
                    cache.remove(place);
                    any.remove(place);
                }
                Some(place) if state >> 60 == 1 => {
                    cache.touch(place);
                    any.touch(place);
                }
                None => {
                    let evict_first = state >> 59 & 1 == 0;
                    assert_eq!(cache.fill(set, line, evict_first), any.fill(set, line, evict_first));
                }
                _ => {}
            }
            if state >> 50 == 0 {
                cache.clear();
                any.clear();
            }
        }
    }
}
