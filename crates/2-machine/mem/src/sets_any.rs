//! Sets of any number of ways, with LRU replacement.
//!
//! A look-up scans all ways: for small sets, and for sizes that no GPU has.

use crate::eviction::Filled;

/// Empty tag. Tags are the complements of lines.
const EMPTY: u64 = 0;

/// A cache's tags.
#[derive(Clone, Debug)]
pub(crate) struct SetsAny {
    ways: usize,
    tags: Vec<u64>,
    used: Vec<u32>,
    pub(crate) clock: u32,
}

impl SetsAny {
    pub(crate) fn new(sets: usize, ways: usize) -> SetsAny {
        let places = sets * ways;
        SetsAny { ways, tags: vec![EMPTY; places], used: vec![0; places], clock: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.tags.fill(EMPTY);
        self.used.fill(0);
        self.clock = 0;
    }

    #[inline]
    pub(crate) fn peek(&self, set: usize, line: u64) -> Option<usize> {
        let first = set * self.ways;
        let way = self.tags[first..first + self.ways].iter().position(|&tag| tag == !line)?;
        Some(first + way)
    }

    pub(crate) fn lru(&self, set: usize) -> usize {
        let first = set * self.ways;
        let used = &self.used[first..first + self.ways];
        let lru = used.iter().fold(u32::MAX, |lru, &used| lru.min(used));
        first + used.iter().position(|&used| used == lru).unwrap_or(0)
    }

    #[inline]
    pub(crate) fn touch(&mut self, place: usize) {
        self.used[place] = self.now();
    }

    pub(crate) fn put(&mut self, place: usize, line: u64, evict_first: bool) -> Filled {
        let evicted = Some(self.tags[place]).filter(|&tag| tag != EMPTY).map(|tag| !tag);
        self.tags[place] = !line;
        self.used[place] = if evict_first { 1 } else { self.now() };
        Filled { place, evicted }
    }

    pub(crate) fn remove(&mut self, place: usize) {
        self.tags[place] = EMPTY;
        self.used[place] = 0;
    }

    /// Next use number; 0 is an empty place, 1 a line to evict first.
    fn now(&mut self) -> u32 {
        if self.clock == u32::MAX {
            // The counter wraps once in billions of uses: the order of uses is lost.
            self.used.iter_mut().zip(&self.tags).for_each(|(used, &tag)| *used = u32::from(tag != EMPTY));
            self.clock = 1;
        }
        self.clock = self.clock.max(1) + 1;
        self.clock
    }
}
