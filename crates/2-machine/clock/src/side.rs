//! The memory-side cache, which all XCDs share.
//!
//! The one idea to keep in mind: it keeps its lines from one dispatch to the next. Where one XCD stands for some it has their
//! share of the cache; what such shares know and what the whole knows is looked up in both, until it would be gone.

use mem::Layers;
use std::sync::Arc;

/// The memory-side cache.
#[derive(Debug)]
pub(crate) struct Side {
    /// Marked are lines that differ from memory.
    cache: Layers,
    /// Sets of all, and of the lines that nobody else has.
    sets: u64,
    own: u64,
    /// Bits of a line's number that may be the same in all lines that nobody else has: workgroups go round the XCDs.
    round: u32,
    /// What was there before dispatches were followed in another way, and lines that came since.
    earlier: Option<Arc<Vec<Side>>>,
    came: usize,
}

/// What a request finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// The line was there.
    pub(crate) hit: bool,
    /// A line that differed from memory had to go.
    pub(crate) written: bool,
}

impl Side {
    /// An empty cache of so many lines, or the view that one of `of` XCDs has of it: others need as much room for what is theirs as
    /// it does.
    pub(crate) fn new(lines: usize, ways: usize, of: usize) -> Side {
        let sets = (lines / ways).max(1);
        let own = (sets / of).max(1) as u64;
        let round = if of.is_power_of_two() { of.trailing_zeros() } else { 0 };
        Side { cache: Layers::new(sets, ways), sets: sets as u64, own, round, earlier: None, came: 0 }
    }

    /// Dispatches were followed in another way up to now, with these caches.
    pub(crate) fn follows(&mut self, earlier: Arc<Vec<Side>>) {
        (self.earlier, self.came) = (Some(earlier), 0);
    }

    /// The caches of the other way, which come into use again.
    pub(crate) fn gives_back(&mut self) -> Option<Arc<Vec<Side>>> {
        self.earlier.take()
    }

    /// A line is read or written; it is there from now on. `shared` is one that other XCDs read too.
    #[inline]
    pub(crate) fn request(&mut self, line: u64, write: bool, shared: bool) -> Found {
        let set = if shared { set(line, self.sets) } else { self.own_set(line) };
        let found = self.cache.request(set, line, write);
        Found { hit: found.hit || self.was_there(line), written: found.marked }
    }

    /// Whether a line was there before, when as many lines came since as there are places.
    fn was_there(&mut self, line: u64) -> bool {
        if self.earlier.is_none() || self.came >= self.cache.places() {
            return false;
        }
        self.came += 1;
        self.earlier.iter().flat_map(|earlier| earlier.iter()).any(|it| it.has(line))
    }

    fn has(&self, line: u64) -> bool {
        [set(line, self.sets), self.own_set(line)].iter().any(|&set| self.cache.has(set, line))
    }

    /// The set of a line that nobody else has. Whichever bits in a row are the same in all of them, all sets are used.
    #[inline]
    fn own_set(&self, line: u64) -> usize {
        if self.round == 0 || !self.own.is_power_of_two() {
            return set(line, self.own);
        }
        let above = self.own.trailing_zeros() + self.round;
        ((line ^ line >> self.round ^ line >> above) & (self.own - 1)) as usize
    }
}

/// The set of a line, of so many.
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
    fn what_another_way_brought_in_is_there_until_it_would_be_gone() {
        let mut all = Side::new(1024, 16, 1);
        (0..100).for_each(|line| assert!(!all.request(line, false, false).hit));
        let mut one = Side::new(1024, 16, 8);
        assert!(!one.request(0, false, false).hit);
        one.follows(Arc::new(vec![all]));
        assert!(one.request(50, false, false).hit && one.request(51, true, true).hit);
        assert!(!one.request(200, false, true).hit);
        // As many lines as there are places later nothing of it is left.
        (1000..3000).for_each(|line| assert!(!one.request(line, false, true).hit));
        assert!(!one.request(52, false, true).hit);
        let mut back = Arc::into_inner(one.gives_back().unwrap()).unwrap();
        assert!(back[0].request(52, false, false).hit);
    }

    #[test]
    fn lines_of_an_xcd_use_all_sets_whichever_bits_they_have_in_common() {
        let side = Side::new(16 << 14, 16, 8);
        let sets = |same: u32| {
            let lines = (0..1u64 << 13).map(|it| it & ((1 << same) - 1) | (it >> same) << (same + 3));
            lines.map(|line| side.own_set(line | 5 << same)).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!([0, 1, 2, 5, 8, 11].map(sets), [2048; 6]);
    }

    #[test]
    fn what_is_its_own_has_its_share_of_the_room() {
        let hits = |of: usize, shared: bool| {
            let mut side = Side::new(1024, 16, of);
            (0..1024).for_each(|number| assert!(!side.request(number % 512, false, shared).written));
            (0..512).filter(|&line| side.request(line, false, shared).hit).count()
        };
        assert_eq!([hits(1, false), hits(8, true), hits(8, false)], [512, 512, 0]);
    }
}
