//! Sets of 64 ways, with LRU replacement.
//!
//! Neither look-up nor eviction scans the tags of a set. Look-up compares tag bytes, many at a time. A ring
//! links the ways in order of use; using the LRU way only moves the start of the ring.

use crate::eviction::Filled;

/// Ways of a set.
pub(crate) const WAYS: usize = 64;
/// Ways of a set, as a power of two.
const BITS: u32 = 6;
/// Absent way.
const NONE: u8 = WAYS as u8;
/// Empty tag. Tags are the complements of lines.
const EMPTY: u64 = 0;

/// A cache's tags.
#[derive(Clone, Debug)]
pub(crate) struct Sets64 {
    sets: Vec<Set>,
}

/// A set.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    tags: [u64; WAYS],
    /// Tag byte of each way.
    tag_bytes: [u8; WAYS],
    /// Ring of ways in order of use: the next newer and the next older way. The MRU way precedes the LRU way.
    /// A way outside the ring links to itself.
    newer: [u8; WAYS],
    older: [u8; WAYS],
    /// LRU way of the ring, or [`NONE`].
    lru: u8,
    /// Masks of empty ways, and of ways to evict first.
    empty: u64,
    first: u64,
    /// Tag evicted last. In a cyclic pattern of one line more than the ways it is the next line.
    last_evicted: u64,
    /// Predicted way of the next look-up.
    predicted_way: u8,
}

/// All ways.
const IN_ORDER: [u8; WAYS] = {
    let mut ways = [0; WAYS];
    let mut way = 0;
    while way < WAYS {
        ways[way] = way as u8;
        way += 1;
    }
    ways
};

/// Tag byte of a line.
#[inline(always)]
fn tag_byte(line: u64) -> u8 {
    (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

impl Set {
    fn new() -> Set {
        let (newer, older) = (IN_ORDER, IN_ORDER);
        Set {
            tags: [EMPTY; WAYS],
            tag_bytes: [0; WAYS],
            newer,
            older,
            lru: NONE,
            empty: u64::MAX,
            first: 0,
            last_evicted: EMPTY,
            predicted_way: 0,
        }
    }

    #[inline(always)]
    fn find(&self, line: u64) -> Option<usize> {
        let tag_byte = tag_byte(line);
        // Number of equal bytes, and sum of their ways, in one pass. Mostly no byte or one is equal.
        let (count, way) =
            self.tag_bytes.iter().zip(&IN_ORDER).fold((0u8, 0u8), |(count, sum), (&byte, &way)| {
                let same = u8::from(byte == tag_byte);
                (count + same, sum.wrapping_add(same.wrapping_neg() & way))
            });
        match count {
            0 => None,
            1 => Some(usize::from(way) % WAYS).filter(|&way| self.tags[way] == !line),
            _ => self.find_among_equal_bytes(line, tag_byte),
        }
    }

    /// Way of a line among several with equal tag bytes.
    #[inline(never)]
    fn find_among_equal_bytes(&self, line: u64, tag_byte: u8) -> Option<usize> {
        let tag_byte = u64::from(tag_byte) * 0x0101_0101_0101_0101;
        // Sets the highest bit of zero bytes, and possibly of bytes above them.
        let zero = |word: u64| word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080;
        for (number, word) in self.tag_bytes.as_chunks::<8>().0.iter().enumerate() {
            let mut found = zero(u64::from_le_bytes(*word) ^ tag_byte);
            while found != 0 {
                let way = 8 * number + (found.trailing_zeros() / 8) as usize;
                if self.tags[way % WAYS] == !line {
                    return Some(way);
                }
                found &= found - 1;
            }
        }
        None
    }

    #[inline(always)]
    fn lru(&self) -> usize {
        if self.empty | self.first == 0 { usize::from(self.lru) % WAYS } else { self.empty_or_evict_first() }
    }

    /// Way to fill if some are empty or to evict first.
    #[inline(never)]
    fn empty_or_evict_first(&self) -> usize {
        match (self.empty, self.first) {
            (0, first) => first.trailing_zeros() as usize % WAYS,
            (empty, _) => empty.trailing_zeros() as usize % WAYS,
        }
    }

    /// Unlinks a way from the ring.
    #[inline]
    fn unlink(&mut self, way: usize) {
        let (newer, older) = (self.newer[way % WAYS], self.older[way % WAYS]);
        if usize::from(self.lru) == way {
            self.lru = if usize::from(newer) == way { NONE } else { newer };
        }
        self.older[usize::from(newer) % WAYS] = older;
        self.newer[usize::from(older) % WAYS] = newer;
        (self.newer[way % WAYS], self.older[way % WAYS]) = (way as u8, way as u8);
        self.first &= !(1 << (way % WAYS));
    }

    /// Links a way as the most recently used.
    #[inline]
    fn link_as_newest(&mut self, way: usize) {
        if self.lru == NONE {
            self.lru = way as u8;
            return;
        }
        let lru = usize::from(self.lru) % WAYS;
        let last = self.older[lru];
        (self.newer[way % WAYS], self.older[way % WAYS]) = (lru as u8, last);
        self.newer[usize::from(last) % WAYS] = way as u8;
        self.older[lru] = way as u8;
    }

    /// Fills a way of a set with empty or evict-first ways, or with an evict-first line.
    #[inline(never)]
    fn fill_unused(&mut self, way: usize, evict_first: bool) {
        self.empty &= !(1 << (way % WAYS));
        self.unlink(way);
        if evict_first {
            self.first |= 1 << (way % WAYS);
        } else {
            self.link_as_newest(way);
        }
    }

    /// Makes a way most recently used.
    #[inline(always)]
    fn touch(&mut self, way: usize) {
        if usize::from(self.lru) == way {
            self.lru = self.newer[way % WAYS];
        } else if self.lru == NONE || usize::from(self.older[usize::from(self.lru) % WAYS]) != way {
            self.unlink(way);
            self.link_as_newest(way);
        }
    }
}

impl Set {
    /// True if all ways hold lines and none is to be evicted first.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.empty | self.first == 0
    }

    /// Way of a line, made most recently used. Tries the way first that followed the last hit in order of
    /// use.
    #[inline(always)]
    pub(crate) fn find_predicted(&mut self, line: u64) -> Option<usize> {
        let predicted_way = usize::from(self.predicted_way) % WAYS;
        let way = match !line {
            tag if tag == self.last_evicted => return None,
            tag if tag == self.tags[predicted_way] => predicted_way,
            _ => self.find(line)?,
        };
        self.predicted_way = self.newer[way % WAYS];
        self.touch(way);
        Some(way)
    }

    /// True if a line is the one evicted last.
    #[inline(always)]
    pub(crate) fn was_last_evicted(&self, line: u64) -> bool {
        !line == self.last_evicted
    }

    /// A full set, for a cyclic pattern.
    #[inline(always)]
    pub(crate) fn cyclic(&mut self) -> CyclicSet<'_> {
        CyclicSet { next: self.next(), last_evicted: self.last_evicted, set: self }
    }

    /// LRU way of a full set.
    #[inline(always)]
    fn next(&self) -> usize {
        usize::from(self.lru) % WAYS
    }

    /// Replaces the LRU line of a full set; returns the way.
    #[inline(always)]
    pub(crate) fn replace(&mut self, line: u64) -> usize {
        self.cyclic().replace(line)
    }
}

/// State of a full set that a cyclic pattern needs.
pub(crate) struct CyclicSet<'a> {
    set: &'a mut Set,
    /// LRU way, and tag evicted last.
    next: usize,
    last_evicted: u64,
}

impl CyclicSet<'_> {
    /// True if a line is the one evicted last.
    #[inline(always)]
    pub(crate) fn was_last_evicted(&self, line: u64) -> bool {
        !line == self.last_evicted
    }

    /// Replaces the LRU line; returns the way.
    #[inline(always)]
    pub(crate) fn replace(&mut self, line: u64) -> usize {
        let (set, way) = (&mut *self.set, self.next);
        self.last_evicted = std::mem::replace(&mut set.tags[way], !line);
        set.tag_bytes[way] = tag_byte(line);
        self.next = usize::from(set.newer[way]) % WAYS;
        way
    }
}

impl Drop for CyclicSet<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        (self.set.lru, self.set.last_evicted) = (self.next as u8, self.last_evicted);
    }
}

impl Sets64 {
    pub(crate) fn new(sets: usize) -> Sets64 {
        Sets64 { sets: vec![Set::new(); sets] }
    }

    pub(crate) fn clear(&mut self) {
        self.sets.fill(Set::new());
    }

    #[inline]
    pub(crate) fn peek(&self, set: usize, line: u64) -> Option<usize> {
        self.sets[set].find(line).map(|way| set << BITS | way)
    }

    /// Place of a line, made most recently used; on a miss the place to evict.
    #[inline]
    pub(crate) fn find_or_lru(&mut self, set: usize, line: u64) -> Result<usize, usize> {
        let here = &mut self.sets[set];
        let found = here.find_predicted(line).ok_or_else(|| here.lru());
        found.map(|way| set << BITS | way).map_err(|way| set << BITS | way)
    }

    #[inline(always)]
    pub(crate) fn sets(&mut self) -> &mut [Set] {
        &mut self.sets
    }

    #[inline]
    pub(crate) fn lru(&self, set: usize) -> usize {
        set << BITS | self.sets[set].lru()
    }

    #[inline]
    pub(crate) fn touch(&mut self, place: usize) {
        self.sets[place >> BITS].touch(place % WAYS);
    }

    #[inline(always)]
    pub(crate) fn put(&mut self, place: usize, line: u64, evict_first: bool) -> Filled {
        let (set, way) = (&mut self.sets[place >> BITS], place % WAYS);
        let tag = std::mem::replace(&mut set.tags[way], !line);
        let evicted = if tag == EMPTY { None } else { Some(!tag) };
        set.last_evicted = tag;
        set.tag_bytes[way] = tag_byte(line);
        if set.empty | set.first == 0 && !evict_first {
            set.touch(way);
        } else {
            set.fill_unused(way, evict_first);
        }
        Filled { place, evicted }
    }

    pub(crate) fn remove(&mut self, place: usize) {
        let (set, way) = (&mut self.sets[place >> BITS], place % WAYS);
        set.tags[way] = EMPTY;
        set.unlink(way);
        set.empty |= 1 << way;
    }
}
