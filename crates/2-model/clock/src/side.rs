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
        Side { cache: Layers::new(sets, ways), sets: sets as u64, own, earlier: None, came: 0 }
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
        let set = set(line, if shared { self.sets } else { self.own });
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
        [self.sets, self.own].iter().any(|&sets| self.cache.has(set(line, sets), line))
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
    fn what_is_its_own_has_its_share_of_the_room() {
        let hits = |of: usize, shared: bool| {
            let mut side = Side::new(1024, 16, of);
            (0..1024).for_each(|number| assert!(!side.request(number % 512, false, shared).written));
            (0..512).filter(|&line| side.request(line, false, shared).hit).count()
        };
        assert_eq!([hits(1, false), hits(8, true), hits(8, false)], [512, 512, 0]);
    }
}
