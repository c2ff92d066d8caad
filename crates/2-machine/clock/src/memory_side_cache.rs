//! Memory-side cache, shared by all XCDs.
//!
//! Lines stay between dispatches. A representative XCD has its share of the cache. After a switch between
//! whole and shares, look-ups also search the other side, until its lines would have been evicted.

use crate::rates::Rates;
use mem::{SparseCache, XorHash};
use std::sync::Arc;

/// A memory-side cache, or the share of a representative XCD.
#[derive(Debug)]
pub(crate) struct MemorySideCache {
    /// Dirty lines are marked.
    cache: SparseCache,
    /// Sets for shared lines, and sets for lines of one XCD.
    sets: u64,
    own: u64,
    /// Bits of a line's number that may agree in all lines of one XCD, because workgroups are assigned round
    /// robin.
    round: u32,
    /// Hash of a line's page, where lines are spread over the sets as if by chance.
    pages: Option<Arc<XorHash>>,
    /// Caches in use before the switch, and lines filled since.
    earlier: Option<Arc<Vec<MemorySideCache>>>,
    came: usize,
}

/// Result of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// The line hit.
    pub(crate) hit: bool,
    /// A dirty line was evicted.
    pub(crate) written: bool,
}

impl MemorySideCache {
    /// An empty cache, or the view of one of `of` XCDs: the others need as much room for their own lines.
    pub(crate) fn new(lines: usize, ways: usize, of: usize) -> MemorySideCache {
        let sets = (lines / ways).max(1);
        let own = (sets / of).max(1) as u64;
        let round = if of.is_power_of_two() { of.trailing_zeros() } else { 0 };
        MemorySideCache {
            cache: SparseCache::new(sets, ways),
            sets: sets as u64,
            own,
            round,
            pages: None,
            earlier: None,
            came: 0,
        }
    }

    /// The cache of a GPU with these rates, or the view of one of `of` XCDs; `None` without such a cache.
    pub(crate) fn of(rates: &Rates, of: usize) -> Option<MemorySideCache> {
        let (lines, ways) = rates.memory_side_shape?;
        let cache = MemorySideCache::new(lines, ways, of);
        Some(if rates.memory_side_scattered { cache.scattered() } else { cache })
    }

    /// The same cache with lines spread over its sets as if by chance.
    pub(crate) fn scattered(self) -> MemorySideCache {
        MemorySideCache { pages: Some(Arc::new(XorHash::new(|_| 0).scattered(u32::MAX))), ..self }
    }

    /// The number by which a line's set is chosen.
    #[inline]
    fn spread(&self, line: u64) -> u64 {
        self.pages.as_ref().map_or(line, |pages| line ^ u64::from(pages.get(line)))
    }

    /// Switches from these caches to this one.
    pub(crate) fn follows(&mut self, earlier: Arc<Vec<MemorySideCache>>) {
        (self.earlier, self.came) = (Some(earlier), 0);
    }

    /// Returns the caches that were in use before the switch.
    pub(crate) fn take_previous(&mut self) -> Option<Arc<Vec<MemorySideCache>>> {
        self.earlier.take()
    }

    /// Reads or writes a line, which is filled on a miss. `shared` lines are read by other XCDs too.
    #[inline]
    pub(crate) fn request(&mut self, line: u64, write: bool, shared: bool) -> Found {
        let spread = self.spread(line);
        let set = if shared { set(spread, self.sets) } else { self.own_set(spread) };
        let found = self.cache.request(set, line, write);
        Found { hit: found.hit || self.held_before_switch(line), written: found.marked }
    }

    /// True if a cache in use before the switch has the line and would still hold it.
    fn held_before_switch(&mut self, line: u64) -> bool {
        if self.earlier.is_none() || self.came >= self.cache.places() {
            return false;
        }
        self.came += 1;
        self.earlier.iter().flat_map(|earlier| earlier.iter()).any(|it| it.has(line))
    }

    fn has(&self, line: u64) -> bool {
        let spread = self.spread(line);
        [set(spread, self.sets), self.own_set(spread)].iter().any(|&set| self.cache.has(set, line))
    }

    /// Set of a line of one XCD. All sets are used, whichever consecutive bits agree in all such lines.
    #[inline]
    fn own_set(&self, line: u64) -> usize {
        if self.round == 0 || !self.own.is_power_of_two() {
            return set(line, self.own);
        }
        let above = self.own.trailing_zeros() + self.round;
        ((line ^ line >> self.round ^ line >> above) & (self.own - 1)) as usize
    }
}

/// Set of a line.
#[inline]
fn set(line: u64, sets: u64) -> usize {
    let set = match sets.is_power_of_two() {
        true => (line ^ (line >> sets.trailing_zeros())) & (sets - 1),
        false => (line ^ (line / sets)) % sets,
    };
    set as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_cache_before_a_switch_hit_until_evicted() {
        let mut all = MemorySideCache::new(1024, 16, 1);
        (0..100).for_each(|line| assert!(!all.request(line, false, false).hit));
        let mut one = MemorySideCache::new(1024, 16, 8);
        assert!(!one.request(0, false, false).hit);
        one.follows(Arc::new(vec![all]));
        assert!(one.request(50, false, false).hit && one.request(51, true, true).hit);
        assert!(!one.request(200, false, true).hit);
        // As many lines as there are places later nothing of it is left.
        (1000..3000).for_each(|line| assert!(!one.request(line, false, true).hit));
        assert!(!one.request(52, false, true).hit);
        let mut back = Arc::into_inner(one.take_previous().unwrap()).unwrap();
        assert!(back[0].request(52, false, false).hit);
    }

    #[test]
    fn lines_of_an_xcd_use_all_sets_whichever_bits_they_have_in_common() {
        let side = MemorySideCache::new(16 << 14, 16, 8);
        let sets = |same: u32| {
            let lines = (0..1u64 << 13).map(|it| it & ((1 << same) - 1) | (it >> same) << (same + 3));
            lines.map(|line| side.own_set(line | 5 << same)).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!([0, 1, 2, 5, 8, 11].map(sets), [2048; 6]);
    }

    #[test]
    fn scattered_lines_miss_from_below_the_capacity_on() {
        let misses = |lines: u64, side: MemorySideCache| {
            let mut side = side;
            (0..lines).for_each(|line| assert!(!side.request(line, false, false).hit));
            (0..lines).filter(|&line| !side.request(line, false, false).hit).count() as f64 / lines as f64
        };
        let new = || MemorySideCache::new(16 << 15, 16, 1);
        let even = [12u64, 16, 24].map(|per_set| misses(per_set << 15, new()));
        let scattered = [12u64, 16, 24].map(|per_set| misses(per_set << 15, new().scattered()));
        assert_eq!((even[0], even[1], even[2]), (0.0, 0.0, 1.0));
        assert!((0.1..0.3).contains(&scattered[0]) && (0.4..0.7).contains(&scattered[1]), "{scattered:?}");
        assert!((0.9..1.0).contains(&scattered[2]), "{scattered:?}");
    }

    #[test]
    fn unique_accesses_take_their_share_of_the_capacity() {
        let hits = |of: usize, shared: bool| {
            let mut side = MemorySideCache::new(1024, 16, of);
            (0..1024).for_each(|number| assert!(!side.request(number % 512, false, shared).written));
            (0..512).filter(|&line| side.request(line, false, shared).hit).count()
        };
        assert_eq!([hits(1, false), hits(8, true), hits(8, false)], [512, 512, 0]);
    }
}
