//! Sets of 64 ways.
//!
//! The one idea to keep in mind: neither finding a line nor finding the one to replace looks through the lines of a set. A line
//! shows itself by a byte, of which eight are compared at a time, and the places of a set hang in a ring in the order in which
//! they were used.

use crate::cache::Filled;

/// Ways of a set.
pub(crate) const WAYS: usize = 64;
/// Ways of a set, as a power of two.
const BITS: u32 = 6;
/// The entry of a ring that is no way: the way used last is older than it, the one used longest ago newer.
const ENDS: usize = WAYS;
/// No line. Lines are kept with all bits turned over.
const EMPTY: u64 = 0;

/// A cache's tags.
#[derive(Clone, Debug)]
pub(crate) struct Wide<P> {
    sets: Vec<Set>,
    more: Vec<P>,
}

#[derive(Clone, Debug)]
struct Set {
    tags: [u64; WAYS],
    /// A byte of each way's line.
    signs: [u64; WAYS / 8],
    /// By way: the one that was used next after it, and the one used next before it. A way outside of the ring is a ring itself.
    newer: [u8; 2 * WAYS],
    older: [u8; 2 * WAYS],
    /// Ways that are empty, and those whose line goes first, as bits.
    empty: u64,
    first: u64,
}

/// The byte that a line shows, in all bytes of a word.
#[inline]
fn sign(line: u64) -> u64 {
    (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56).wrapping_mul(0x0101_0101_0101_0101)
}

impl Set {
    fn new() -> Set {
        let itself = std::array::from_fn(|at| at as u8);
        let (newer, older) = (itself, itself);
        Set { tags: [EMPTY; WAYS], signs: [0; WAYS / 8], newer, older, empty: u64::MAX, first: 0 }
    }

    #[inline]
    fn find(&self, line: u64) -> Option<usize> {
        let sign = sign(line);
        // Bytes that are the same are found all at once; most often there are none.
        let bytes = self.signs.map(u64::to_le_bytes);
        if bytes.as_flattened().iter().fold(0, |any, &byte| any | u8::from(byte == sign as u8)) == 0 {
            return None;
        }
        self.find_shown(line, sign)
    }

    /// The way of a line among those that show the same byte.
    fn find_shown(&self, line: u64, sign: u64) -> Option<usize> {
        // Bytes that are zero have their highest bit set; so may bytes above them.
        let zero = |word: u64| word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080;
        for (number, word) in self.signs.iter().enumerate() {
            let mut found = zero(word ^ sign);
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

    #[inline]
    fn oldest(&self) -> usize {
        match (self.empty, self.first) {
            (0, 0) => usize::from(self.newer[ENDS]),
            (0, first) => first.trailing_zeros() as usize,
            (empty, _) => empty.trailing_zeros() as usize,
        }
    }

    /// Takes a way out of the ring, if it is there.
    #[inline]
    fn take_out(&mut self, way: usize) {
        let (newer, older) = (self.newer[way % WAYS], self.older[way % WAYS]);
        self.older[usize::from(newer) % (2 * WAYS)] = older;
        self.newer[usize::from(older) % (2 * WAYS)] = newer;
        (self.newer[way % WAYS], self.older[way % WAYS]) = (way as u8, way as u8);
        self.first &= !(1 << (way % WAYS));
    }

    /// The way used longest ago is the one used last from now on.
    #[inline]
    fn turn(&mut self) {
        let (way, last) = (self.newer[ENDS], self.older[ENDS]);
        if way == last {
            return;
        }
        let next = self.newer[usize::from(way) % (2 * WAYS)];
        (self.newer[ENDS], self.older[ENDS]) = (next, way);
        self.older[usize::from(next) % (2 * WAYS)] = ENDS as u8;
        self.newer[usize::from(last) % (2 * WAYS)] = way;
        (self.newer[usize::from(way) % (2 * WAYS)], self.older[usize::from(way) % (2 * WAYS)]) =
            (ENDS as u8, last);
    }

    /// Puts a way that is not in the ring there as the one used last.
    #[inline]
    fn put_in(&mut self, way: usize) {
        let last = self.older[ENDS];
        (self.newer[way % WAYS], self.older[way % WAYS]) = (ENDS as u8, last);
        self.newer[usize::from(last) % (2 * WAYS)] = way as u8;
        self.older[ENDS] = way as u8;
    }
}

impl<P: Copy + Default> Wide<P> {
    pub(crate) fn new(sets: usize) -> Wide<P> {
        Wide { sets: vec![Set::new(); sets], more: vec![P::default(); sets * WAYS] }
    }

    pub(crate) fn places(&self) -> usize {
        self.sets.len() * WAYS
    }

    pub(crate) fn line(&self, place: usize) -> u64 {
        !self.sets[place >> BITS].tags[place % WAYS]
    }

    #[inline]
    pub(crate) fn of(&mut self, place: usize) -> &mut P {
        &mut self.more[place]
    }

    pub(crate) fn clear(&mut self) {
        self.more.fill(P::default());
        self.sets.fill(Set::new());
    }

    #[inline]
    pub(crate) fn peek(&self, set: usize, line: u64) -> Option<usize> {
        self.sets[set].find(line).map(|way| set << BITS | way)
    }

    /// The place of a line that is there, which counts as used; otherwise the place whose line goes next. The line at the place
    /// `guess` may be it; then that is a guess for the next line: what was used next after it the last time.
    #[inline]
    pub(crate) fn find_or_oldest(
        &mut self,
        set: usize,
        line: u64,
        guess: &mut usize,
    ) -> Result<usize, usize> {
        let here = &mut self.sets[set];
        let guessed = *guess % WAYS;
        let found = if here.tags[guessed] == !line { Some(guessed) } else { here.find(line) };
        let Some(way) = found else { return Err(set << BITS | here.oldest()) };
        let newer = usize::from(here.newer[way % WAYS]);
        *guess = way;
        if newer != ENDS {
            *guess = newer;
            here.take_out(way);
            here.put_in(way);
        }
        Ok(set << BITS | way)
    }

    #[inline]
    pub(crate) fn oldest(&self, set: usize) -> usize {
        set << BITS | self.sets[set].oldest()
    }

    #[inline]
    pub(crate) fn touch(&mut self, place: usize) {
        let set = &mut self.sets[place >> BITS];
        set.take_out(place % WAYS);
        set.put_in(place % WAYS);
    }

    #[inline]
    pub(crate) fn put(&mut self, place: usize, line: u64, goes_first: bool) -> Filled {
        let (set, way) = (&mut self.sets[place >> BITS], place % WAYS);
        let evicted = Some(set.tags[way]).filter(|&tag| tag != EMPTY).map(|tag| !tag);
        set.tags[way] = !line;
        let (word, shift) = (way / 8, 8 * (way % 8));
        set.signs[word] = set.signs[word] & !(0xff << shift) | (sign(line) & 0xff) << shift;
        if set.empty | set.first == 0 && usize::from(set.newer[ENDS]) == way && !goes_first {
            set.turn();
            return Filled { place, evicted };
        }
        set.empty &= !(1 << way);
        set.take_out(way);
        if goes_first {
            set.first |= 1 << way;
        } else {
            set.put_in(way);
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
