//! Sets of a cache that is far larger than what most programs use of it.
//!
//! The one idea to keep in mind: the ways of a set fill in order, so lines stand way by way: those that follow each other lie
//! side by side, and what no set has needed takes no memory. Nothing is thrown out but for another line.

use crate::sixteen::{IN_ORDER, find_shown, sign, used_last};

/// Most ways of a set.
const MOST_WAYS: usize = 16;
/// Sets of a block, as a power of two.
const BITS: u32 = 9;
const SETS: usize = 1 << BITS;

/// A cache's tags.
#[derive(Debug)]
pub struct Layers {
    ways: usize,
    /// Places of all sets.
    places: usize,
    /// By sets that follow each other; none where nobody asked for one.
    blocks: Vec<Option<Block>>,
}

/// Sets that follow each other.
#[derive(Debug)]
struct Block {
    sets: Vec<Set>,
    /// By way: the lines of all sets.
    lines: Vec<Box<[u64; SETS]>>,
}

/// A set but for its lines.
#[derive(Clone, Copy, Debug)]
struct Set {
    /// A byte of each way's line.
    signs: [u64; 2],
    /// Ways, the one that was used last in the lowest digit.
    order: u64,
    /// Ways that have lines, and as bits those whose line is marked.
    filled: u16,
    marked: u16,
}

/// What a request finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The line was there.
    pub hit: bool,
    /// A marked line had to go.
    pub marked: bool,
}

impl Layers {
    /// An empty cache.
    pub fn new(sets: usize, ways: usize) -> Layers {
        let ways = ways.clamp(1, MOST_WAYS);
        let blocks = std::iter::repeat_with(|| None).take(sets.div_ceil(SETS)).collect();
        Layers { ways, places: sets * ways, blocks }
    }

    /// Places of all sets.
    pub fn places(&self) -> usize {
        self.places
    }

    /// Whether a line is there.
    pub fn has(&self, set: usize, line: u64) -> bool {
        let block = self.blocks.get(set >> BITS).and_then(Option::as_ref);
        block.is_some_and(|block| block.find(set % SETS, line).is_some())
    }

    /// A line is asked for, and is there from now on, in place of the one of its set that was used longest ago; it may be marked
    /// for as long as it stays.
    #[inline]
    pub fn request(&mut self, set: usize, line: u64, mark: bool) -> Request {
        let block = self.blocks[set >> BITS].get_or_insert_with(Block::new);
        let number = set % SETS;
        let found = block.find(number, line);
        let set = &mut block.sets[number];
        let way = match found {
            Some(way) => way,
            None if usize::from(set.filled) < self.ways => usize::from(set.filled),
            None => (set.order >> (4 * (self.ways - 1))) as usize % MOST_WAYS,
        };
        set.order = used_last(set.order, way);
        let bit = 1 << way;
        let mut marked = false;
        if found.is_none() {
            if way == block.lines.len() {
                block.lines.push(Box::new([0; SETS]));
            }
            block.lines[way][number] = line;
            let (word, shift) = (way / 8, 8 * (way % 8));
            set.signs[word] = set.signs[word] & !(0xff << shift) | sign(line) << shift;
            set.filled = set.filled.max(way as u16 + 1);
            marked = set.marked & bit != 0;
            set.marked &= !bit;
        }
        set.marked |= if mark { bit } else { 0 };
        Request { hit: found.is_some(), marked }
    }
}

impl Block {
    fn new() -> Block {
        let set = Set { signs: [0; 2], order: IN_ORDER, filled: 0, marked: 0 };
        Block { sets: vec![set; SETS], lines: Vec::new() }
    }

    /// The way of a line.
    #[inline]
    fn find(&self, number: usize, line: u64) -> Option<usize> {
        let set = &self.sets[number];
        find_shown(set.signs, line, |way| way < usize::from(set.filled) && self.lines[way][number] == line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;

    #[test]
    fn they_keep_the_same_lines_as_any_cache() {
        for ways in [1, 4, 16] {
            let (mut layers, mut cache) = (Layers::new(700, ways), Cache::new(700, ways));
            assert_eq!(layers.places(), 700 * ways);
            let (mut state, mut marks) = (1u64, vec![false; layers.places()]);
            for _ in 0..100_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
                let set = (state >> 33) as usize % 8 * 99;
                let line = (state >> 40) % (3 * ways as u64);
                let mark = state >> 62 == 0;
                assert_eq!(layers.has(set, line), cache.peek(set, line).is_some());
                let found = cache.find(set, line);
                let place = found.unwrap_or_else(|| cache.fill(set, line, false).place);
                let marked = found.is_none() && std::mem::take(&mut marks[place]);
                marks[place] |= mark;
                let want = Request { hit: found.is_some(), marked };
                assert_eq!(layers.request(set, line, mark), want, "{ways}");
            }
        }
    }
}
