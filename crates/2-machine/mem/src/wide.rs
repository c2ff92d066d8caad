//! Sets of 64 ways.
//!
//! The one idea to keep in mind: neither finding a line nor finding the one to replace looks through the lines of a set. A line
//! shows itself by a byte, of which many are compared at a time, and the places of a set hang in a ring in the order in which
//! they were used: where the one used longest ago is used again, the ring stays as it is and begins one place on.

use crate::cache::Filled;

/// Ways of a set.
pub(crate) const WAYS: usize = 64;
/// Ways of a set, as a power of two.
const BITS: u32 = 6;
/// No way.
const NONE: u8 = WAYS as u8;
/// No line. Lines are kept with all bits turned over.
const EMPTY: u64 = 0;

/// A cache's tags.
#[derive(Clone, Debug)]
pub(crate) struct Wide {
    sets: Vec<Set>,
}

/// A set.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    tags: [u64; WAYS],
    /// A byte of each way's line.
    signs: [u8; WAYS],
    /// By way: the one that was used next after it, and the one used next before it; the one used last is before the one used
    /// longest ago. A way outside of the ring is a ring itself.
    newer: [u8; WAYS],
    older: [u8; WAYS],
    /// The way of the ring that was used longest ago, if there is one.
    oldest: u8,
    /// Ways that are empty, and those whose line goes first, as bits.
    empty: u64,
    first: u64,
    /// The line that was replaced last, which is not there: of lines that come round again, one more than there is room for, it is
    /// the one that comes next.
    replaced: u64,
    /// The way that may be asked for next.
    near: u8,
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

/// The byte that a line shows.
#[inline(always)]
fn sign(line: u64) -> u8 {
    (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

impl Set {
    fn new() -> Set {
        let (newer, older) = (IN_ORDER, IN_ORDER);
        Set {
            tags: [EMPTY; WAYS],
            signs: [0; WAYS],
            newer,
            older,
            oldest: NONE,
            empty: u64::MAX,
            first: 0,
            replaced: EMPTY,
            near: 0,
        }
    }

    #[inline(always)]
    fn find(&self, line: u64) -> Option<usize> {
        let sign = sign(line);
        // Bytes that are the same are found all at once: how many, and the sum of their ways. Most often there are none, or one.
        let (count, way) =
            self.signs.iter().zip(&IN_ORDER).fold((0u8, 0u8), |(count, sum), (&byte, &way)| {
                let same = u8::from(byte == sign);
                (count + same, sum.wrapping_add(same.wrapping_neg() & way))
            });
        match count {
            0 => None,
            1 => Some(usize::from(way) % WAYS).filter(|&way| self.tags[way] == !line),
            _ => self.find_shown(line, sign),
        }
    }

    /// The way of a line among those that show the same byte.
    #[inline(never)]
    fn find_shown(&self, line: u64, sign: u8) -> Option<usize> {
        let sign = u64::from(sign) * 0x0101_0101_0101_0101;
        // Bytes that are zero have their highest bit set; so may bytes above them.
        let zero = |word: u64| word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080;
        for (number, word) in self.signs.as_chunks::<8>().0.iter().enumerate() {
            let mut found = zero(u64::from_le_bytes(*word) ^ sign);
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
    fn oldest(&self) -> usize {
        if self.empty | self.first == 0 { usize::from(self.oldest) % WAYS } else { self.unused() }
    }

    /// The way that goes next where some are empty or are to go first.
    #[inline(never)]
    fn unused(&self) -> usize {
        match (self.empty, self.first) {
            (0, first) => first.trailing_zeros() as usize % WAYS,
            (empty, _) => empty.trailing_zeros() as usize % WAYS,
        }
    }

    /// Takes a way out of the ring, if it is there.
    #[inline]
    fn take_out(&mut self, way: usize) {
        let (newer, older) = (self.newer[way % WAYS], self.older[way % WAYS]);
        if usize::from(self.oldest) == way {
            self.oldest = if usize::from(newer) == way { NONE } else { newer };
        }
        self.older[usize::from(newer) % WAYS] = older;
        self.newer[usize::from(older) % WAYS] = newer;
        (self.newer[way % WAYS], self.older[way % WAYS]) = (way as u8, way as u8);
        self.first &= !(1 << (way % WAYS));
    }

    /// Puts a way that is not in the ring there as the one used last.
    #[inline]
    fn put_in(&mut self, way: usize) {
        if self.oldest == NONE {
            self.oldest = way as u8;
            return;
        }
        let oldest = usize::from(self.oldest) % WAYS;
        let last = self.older[oldest];
        (self.newer[way % WAYS], self.older[way % WAYS]) = (oldest as u8, last);
        self.newer[usize::from(last) % WAYS] = way as u8;
        self.older[oldest] = way as u8;
    }

    /// A way gets a line where some are empty or are to go first, or this one is.
    #[inline(never)]
    fn settle(&mut self, way: usize, goes_first: bool) {
        self.empty &= !(1 << (way % WAYS));
        self.take_out(way);
        if goes_first {
            self.first |= 1 << (way % WAYS);
        } else {
            self.put_in(way);
        }
    }

    /// A way is used.
    #[inline(always)]
    fn touch(&mut self, way: usize) {
        if usize::from(self.oldest) == way {
            self.oldest = self.newer[way % WAYS];
        } else if self.oldest == NONE || usize::from(self.older[usize::from(self.oldest) % WAYS]) != way {
            self.take_out(way);
            self.put_in(way);
        }
    }
}

impl Set {
    /// All ways have lines, none of which is to go first.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.empty | self.first == 0
    }

    /// The way of a line that is there, which counts as used. What was used next after the last that was found, the last time, is
    /// looked at first.
    #[inline(always)]
    pub(crate) fn find_near(&mut self, line: u64) -> Option<usize> {
        let near = usize::from(self.near) % WAYS;
        let way = match !line {
            tag if tag == self.replaced => return None,
            tag if tag == self.tags[near] => near,
            _ => self.find(line)?,
        };
        self.near = self.newer[way % WAYS];
        self.touch(way);
        Some(way)
    }

    /// Whether a line is the one that was replaced last.
    #[inline(always)]
    pub(crate) fn comes_round(&self, line: u64) -> bool {
        !line == self.replaced
    }

    /// A plain set, for lines that come round again.
    #[inline(always)]
    pub(crate) fn round(&mut self) -> Round<'_> {
        Round { next: self.next(), replaced: self.replaced, set: self }
    }

    /// In a plain set: the way whose line goes next.
    #[inline(always)]
    fn next(&self) -> usize {
        usize::from(self.oldest) % WAYS
    }

    /// In a plain set: a line takes the place of the one that goes next; its way.
    #[inline(always)]
    pub(crate) fn replace(&mut self, line: u64) -> usize {
        self.round().replace(line)
    }
}

/// A plain set, as far as it is needed for lines that come round again.
pub(crate) struct Round<'a> {
    set: &'a mut Set,
    /// The way whose line goes next, and the line that was replaced last.
    next: usize,
    replaced: u64,
}

impl Round<'_> {
    /// Whether a line is the one that was replaced last.
    #[inline(always)]
    pub(crate) fn has(&self, line: u64) -> bool {
        !line == self.replaced
    }

    /// A line takes the place of the one that goes next; its way.
    #[inline(always)]
    pub(crate) fn replace(&mut self, line: u64) -> usize {
        let (set, way) = (&mut *self.set, self.next);
        self.replaced = std::mem::replace(&mut set.tags[way], !line);
        set.signs[way] = sign(line);
        self.next = usize::from(set.newer[way]) % WAYS;
        way
    }
}

impl Drop for Round<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        (self.set.oldest, self.set.replaced) = (self.next as u8, self.replaced);
    }
}

impl Wide {
    pub(crate) fn new(sets: usize) -> Wide {
        Wide { sets: vec![Set::new(); sets] }
    }

    pub(crate) fn clear(&mut self) {
        self.sets.fill(Set::new());
    }

    #[inline]
    pub(crate) fn peek(&self, set: usize, line: u64) -> Option<usize> {
        self.sets[set].find(line).map(|way| set << BITS | way)
    }

    /// The place of a line that is there, which counts as used; otherwise the place whose line goes next.
    #[inline]
    pub(crate) fn find_or_oldest(&mut self, set: usize, line: u64) -> Result<usize, usize> {
        let here = &mut self.sets[set];
        let found = here.find_near(line).ok_or_else(|| here.oldest());
        found.map(|way| set << BITS | way).map_err(|way| set << BITS | way)
    }

    #[inline(always)]
    pub(crate) fn sets(&mut self) -> &mut [Set] {
        &mut self.sets
    }

    #[inline]
    pub(crate) fn oldest(&self, set: usize) -> usize {
        set << BITS | self.sets[set].oldest()
    }

    #[inline]
    pub(crate) fn touch(&mut self, place: usize) {
        self.sets[place >> BITS].touch(place % WAYS);
    }

    #[inline(always)]
    pub(crate) fn put(&mut self, place: usize, line: u64, goes_first: bool) -> Filled {
        let (set, way) = (&mut self.sets[place >> BITS], place % WAYS);
        let tag = std::mem::replace(&mut set.tags[way], !line);
        let evicted = if tag == EMPTY { None } else { Some(!tag) };
        set.replaced = tag;
        set.signs[way] = sign(line);
        if set.empty | set.first == 0 && !goes_first {
            set.touch(way);
        } else {
            set.settle(way, goes_first);
        }
        Filled { place, evicted }
    }

    pub(crate) fn remove(&mut self, place: usize) {
        let (set, way) = (&mut self.sets[place >> BITS], place % WAYS);
        set.tags[way] = EMPTY;
        set.take_out(way);
        set.empty |= 1 << way;
    }
}
