//! Sets of lines with the line used longest ago replaced first.
//!
//! The one idea to keep in mind: a line is a number; which set it belongs to is the caller's business, and so is what
//! else there is to know about a place. How a set is looked through depends on how many ways it has, what is found does not.

use crate::few::Few;
use crate::wide::{self, Wide};

/// A cache's tags.
#[derive(Clone, Debug)]
pub(crate) struct Cache(Sets);

#[derive(Clone, Debug)]
enum Sets {
    Few(Few),
    Wide(Wide),
}

/// Where a line went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Filled {
    /// Place of the line.
    pub(crate) place: usize,
    /// The line that was there.
    pub(crate) evicted: Option<u64>,
}

/// Sets of lines, whichever they are.
pub(crate) trait Ways {
    /// The place of a line that is there, which counts as used; otherwise the place of its set whose line goes next.
    fn find_or_oldest(&mut self, set: usize, line: u64) -> Result<usize, usize>;

    /// Puts a line at a place.
    fn put_at(&mut self, place: usize, line: u64, goes_first: bool);

    /// The sets, if they are wide.
    fn wide(&mut self) -> Option<&mut [wide::Set]> {
        None
    }
}

/// What is done with sets.
pub(crate) trait With {
    /// What comes of it.
    type Out;

    /// Does it.
    fn sets(self, sets: &mut impl Ways) -> Self::Out;
}

impl Ways for Few {
    #[inline]
    fn find_or_oldest(&mut self, set: usize, line: u64) -> Result<usize, usize> {
        let place = self.peek(set, line).ok_or_else(|| self.oldest(set))?;
        self.touch(place);
        Ok(place)
    }

    #[inline]
    fn put_at(&mut self, place: usize, line: u64, goes_first: bool) {
        self.put(place, line, goes_first);
    }
}

impl Ways for Wide {
    #[inline]
    fn find_or_oldest(&mut self, set: usize, line: u64) -> Result<usize, usize> {
        Wide::find_or_oldest(self, set, line)
    }

    #[inline(always)]
    fn wide(&mut self) -> Option<&mut [wide::Set]> {
        Some(self.sets())
    }

    #[inline]
    fn put_at(&mut self, place: usize, line: u64, goes_first: bool) {
        self.put(place, line, goes_first);
    }
}

/// Calls the same function of whichever kind of sets there is.
macro_rules! of_sets {
    ($cache:expr, $sets:ident => $call:expr) => {
        match $cache {
            Sets::Few($sets) => $call,
            Sets::Wide($sets) => $call,
        }
    };
}

impl Cache {
    /// An empty cache.
    pub(crate) fn new(sets: usize, ways: usize) -> Cache {
        let (sets, ways) = (sets.max(1), ways.max(1));
        Cache(match ways {
            wide::WAYS => Sets::Wide(Wide::new(sets)),
            _ => Sets::Few(Few::new(sets, ways)),
        })
    }

    /// Forgets all lines.
    pub(crate) fn clear(&mut self) {
        of_sets!(&mut self.0, sets => sets.clear());
    }

    /// The place of a line that is there.
    #[inline]
    pub(crate) fn peek(&self, set: usize, line: u64) -> Option<usize> {
        of_sets!(&self.0, sets => sets.peek(set, line))
    }

    /// The place of a line that is there; it counts as used.
    #[inline]
    pub(crate) fn find(&mut self, set: usize, line: u64) -> Option<usize> {
        let place = self.peek(set, line)?;
        self.touch(place);
        Some(place)
    }

    /// Does something with the sets as they are, so that it is asked once which they are.
    #[inline]
    pub(crate) fn with<W: With>(&mut self, with: W) -> W::Out {
        of_sets!(&mut self.0, sets => with.sets(sets))
    }

    /// The place of a set whose line goes next.
    #[inline]
    pub(crate) fn oldest(&self, set: usize) -> usize {
        of_sets!(&self.0, sets => sets.oldest(set))
    }

    /// The line at a place counts as used.
    #[inline]
    pub(crate) fn touch(&mut self, place: usize) {
        of_sets!(&mut self.0, sets => sets.touch(place));
    }

    /// Puts in a line that is not there. One that is to go first counts as used longest ago.
    #[inline]
    pub(crate) fn fill(&mut self, set: usize, line: u64, goes_first: bool) -> Filled {
        let place = self.oldest(set);
        self.put(place, line, goes_first)
    }

    /// Puts a line at a place.
    #[inline]
    pub(crate) fn put(&mut self, place: usize, line: u64, goes_first: bool) -> Filled {
        of_sets!(&mut self.0, sets => sets.put(place, line, goes_first))
    }

    /// Throws out the line at a place.
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
        let mut few = Few::new(1, 2);
        few.clock = u32::MAX - 1;
        let mut cache = Cache(Sets::Few(few));
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
            sets.find_or_oldest(self.0, self.1).ok()
        }
    }

    #[test]
    fn sets_of_any_number_of_ways_keep_the_same_lines() {
        let mut cache = Cache::new(4, wide::WAYS);
        let mut few = Cache(Sets::Few(Few::new(4, wide::WAYS)));
        assert!(matches!(cache.0, Sets::Wide(_)));
        let mut state = 1u64;
        for step in 0..200_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
            let line = (state >> 33) % (5 * wide::WAYS as u64);
            let set = (line % 4) as usize;
            assert_eq!(cache.peek(set, line), few.peek(set, line));
            assert_eq!(cache.oldest(set), few.oldest(set), "step {step}");
            let found = match step % 2 {
                0 => cache.with(Looks(set, line)),
                _ => cache.find(set, line),
            };
            assert_eq!(found, few.find(set, line), "step {step}");
            match found {
                Some(place) if state >> 60 == 0 => {
                    cache.remove(place);
                    few.remove(place);
                }
                Some(place) if state >> 60 == 1 => {
                    cache.touch(place);
                    few.touch(place);
                }
                None => {
                    let goes_first = state >> 59 & 1 == 0;
                    assert_eq!(cache.fill(set, line, goes_first), few.fill(set, line, goes_first));
                }
                _ => {}
            }
            if state >> 50 == 0 {
                cache.clear();
                few.clear();
            }
        }
    }
}
