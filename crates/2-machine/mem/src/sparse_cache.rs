//! Tags of a large cache of which most programs use a small part.
//!
//! Ways of a set fill in order. Lines are stored way by way, in blocks of sets, so unused ways and blocks
//! take no memory.

use crate::sets16::{IN_ORDER, find_by_tag_byte, move_to_front, tag_byte};

/// Most ways of a set.
const MOST_WAYS: usize = 16;
/// Sets of a block, as a power of two.
const BITS: u32 = 9;
const SETS: usize = 1 << BITS;

/// A cache's tags.
#[derive(Debug)]
pub struct SparseCache {
    ways: usize,
    /// Lines of all sets.
    places: usize,
    /// Blocks of consecutive sets; `None` before the first request.
    blocks: Vec<Option<Block>>,
}

/// A block of consecutive sets.
#[derive(Debug)]
struct Block {
    sets: Vec<Set>,
    /// By way: the lines of all sets.
    lines: Vec<Box<[u64; SETS]>>,
}

/// A set without its lines.
#[derive(Clone, Copy, Debug)]
struct Set {
    /// Tag byte of each way's line.
    tag_bytes: [u64; 2],
    /// Ways as hexadecimal digits, the most recently used one lowest.
    order: u64,
    /// Number of filled ways, and mask of the marked ones.
    filled: u16,
    marked: u16,
}

/// Result of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SparseLookup {
    /// The line hit.
    pub hit: bool,
    /// A marked line was evicted.
    pub marked: bool,
}

impl SparseCache {
    /// An empty cache.
    pub fn new(sets: usize, ways: usize) -> SparseCache {
        let ways = ways.clamp(1, MOST_WAYS);
        let blocks = std::iter::repeat_with(|| None).take(sets.div_ceil(SETS)).collect();
        SparseCache { ways, places: sets * ways, blocks }
    }

    /// Places of all sets.
    pub fn places(&self) -> usize {
        self.places
    }

    /// True if a set has a line.
    pub fn has(&self, set: usize, line: u64) -> bool {
        let block = self.blocks.get(set >> BITS).and_then(Option::as_ref);
        block.is_some_and(|block| block.find(set % SETS, line).is_some())
    }

    /// Looks up a line and fills it on a miss, in place of the LRU line of the set. `mark` marks the line
    /// until its eviction.
    #[inline]
    pub fn request(&mut self, set: usize, line: u64, mark: bool) -> SparseLookup {
        let block = self.blocks[set >> BITS].get_or_insert_with(Block::new);
        let number = set % SETS;
        let found = block.find(number, line);
        let set = &mut block.sets[number];
        let way = match found {
            Some(way) => way,
            None if usize::from(set.filled) < self.ways => usize::from(set.filled),
            None => (set.order >> (4 * (self.ways - 1))) as usize % MOST_WAYS,
        };
        set.order = move_to_front(set.order, way);
        let bit = 1 << way;
        let mut marked = false;
        if found.is_none() {
            if way == block.lines.len() {
                block.lines.push(Box::new([0; SETS]));
            }
            block.lines[way][number] = line;
            let (word, shift) = (way / 8, 8 * (way % 8));
            set.tag_bytes[word] = set.tag_bytes[word] & !(0xff << shift) | tag_byte(line) << shift;
            set.filled = set.filled.max(way as u16 + 1);
            marked = set.marked & bit != 0;
            set.marked &= !bit;
        }
        set.marked |= if mark { bit } else { 0 };
        SparseLookup { hit: found.is_some(), marked }
    }
}

impl Block {
    fn new() -> Block {
        let set = Set { tag_bytes: [0; 2], order: IN_ORDER, filled: 0, marked: 0 };
        Block { sets: vec![set; SETS], lines: Vec::new() }
    }

    /// Way of a line.
    #[inline]
    fn find(&self, number: usize, line: u64) -> Option<usize> {
        let set = &self.sets[number];
        find_by_tag_byte(set.tag_bytes, line, |way| {
            way < usize::from(set.filled) && self.lines[way][number] == line
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;

    #[test]
    fn they_keep_the_same_lines_as_any_cache() {
        for ways in [1, 4, 16] {
            let (mut sparse, mut cache) = (SparseCache::new(700, ways), Cache::new(700, ways));
            assert_eq!(sparse.places(), 700 * ways);
            let (mut state, mut marks) = (1u64, vec![false; sparse.places()]);
            for _ in 0..100_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
                let set = (state >> 33) as usize % 8 * 99;
                let line = (state >> 40) % (3 * ways as u64);
                let mark = state >> 62 == 0;
                assert_eq!(sparse.has(set, line), cache.peek(set, line).is_some());
                let found = cache.find(set, line);
                let place = found.unwrap_or_else(|| cache.fill(set, line, false).place);
                let marked = found.is_none() && std::mem::take(&mut marks[place]);
                marks[place] |= mark;
                let request_type = SparseLookup { hit: found.is_some(), marked };
                assert_eq!(sparse.request(set, line, mark), request_type, "{ways}");
            }
        }
    }
}
