//! Sets of 16 ways.
//!
//! The one idea to keep in mind: caches with such sets are large, so what a request touches is few words. A line shows itself
//! by a byte, and the order in which ways were used is a word of sixteen digits; lines themselves are looked at only where the
//! byte is right. Where the line used last is asked for again, and its place is known, only its own word is touched.

use crate::cache::Filled;

/// Ways of a set.
pub(crate) const WAYS: usize = 16;
/// Ways of a set, as a power of two.
const BITS: u32 = 4;
/// No line. Lines, which have 63 bits at most, are kept with these turned over, so that an empty cache is memory that nobody has
/// written.
const EMPTY: u64 = 0;
/// The bit that a line has besides, where another use of it changes nothing: it is the one used last, and does not go first.
const LAST: u64 = 1 << 63;
/// Ways in the order of their numbers.
pub(crate) const IN_ORDER: u64 = 0xfedc_ba98_7654_3210;
/// A one in each digit.
const DIGITS: u64 = 0x1111_1111_1111_1111;
/// A one in each byte.
const BYTES: u64 = 0x0101_0101_0101_0101;

/// A cache's tags.
#[derive(Clone, Debug)]
pub(crate) struct Sixteen<P> {
    sets: Vec<Set>,
    /// Lines, each with what else is known of it.
    ways: Vec<[(u64, P); WAYS]>,
}

/// What is known of a set besides its lines. Plain numbers, all zero in the beginning, take no memory until they are written.
type Set = [u64; 4];

/// A byte of each way's line: words of a set.
const SIGNS: [usize; 2] = [0, 1];
/// Ways, the one that was used last in the lowest digit, each combined with the digit's number: nothing for a new set.
const ORDER: usize = 2;
/// Ways that hold lines, as bits, above them those whose line goes first.
const FLAGS: usize = 3;
/// Where in the flags those are whose line goes first.
const FIRST: u32 = 16;

/// Ways whose line goes first, as bits.
#[inline(always)]
fn first(set: &Set) -> u16 {
    (set[FLAGS] >> FIRST) as u16
}

/// The byte that a line shows.
#[inline(always)]
pub(crate) fn sign(line: u64) -> u64 {
    line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56
}

/// A line as it is kept.
#[inline(always)]
fn tag(line: u64) -> u64 {
    !(line | LAST)
}

/// The way of a line, of those that show its byte; where `there` says whether it is the one.
#[inline(always)]
pub(crate) fn find_shown(signs: [u64; 2], line: u64, there: impl Fn(usize) -> bool) -> Option<usize> {
    let sign = sign(line) * BYTES;
    // Bytes that are zero have their highest bit set; so may bytes above them.
    let zero = |word: u64| word.wrapping_sub(BYTES) & !word & (BYTES << 7);
    let same = signs.map(|word| zero(word ^ sign));
    for (number, mut found) in same.into_iter().enumerate() {
        while found != 0 {
            let way = 8 * number + (found.trailing_zeros() / 8) as usize;
            if there(way) {
                return Some(way);
            }
            found &= found - 1;
        }
    }
    None
}

#[inline]
fn find<P>(set: &Set, line: u64, ways: &[(u64, P); WAYS]) -> Option<usize> {
    find_shown(SIGNS.map(|word| set[word]), line, |way| ways[way % WAYS].0 & !LAST == tag(line))
}

#[inline]
fn oldest(set: &Set) -> usize {
    match (!set[FLAGS] as u16, first(set)) {
        (0, 0) => ((set[ORDER] ^ IN_ORDER) >> 60) as usize,
        (0, first) => first.trailing_zeros() as usize,
        (empty, _) => empty.trailing_zeros() as usize,
    }
}

/// An order of ways, as digits, with one of them moved to the lowest.
#[inline(always)]
pub(crate) fn used_last(order: u64, way: usize) -> u64 {
    let other = order ^ (way as u64 * DIGITS);
    // The lowest digit that is zero; each way is there once.
    let found = other.wrapping_sub(DIGITS) & !other & (DIGITS << 3);
    let shift = found.trailing_zeros().saturating_sub(3);
    let below = order & ((1 << shift) - 1);
    let above = order & !(0xf << shift) & !((1 << shift) - 1);
    above | below << 4 | way as u64
}

/// A way, whose line is there, is the one used last.
#[inline]
fn touch<P>(set: &mut Set, ways: &mut [(u64, P); WAYS], way: usize) {
    let order = set[ORDER] ^ IN_ORDER;
    let last = order as usize % WAYS;
    if last != way {
        ways[last].0 &= !LAST;
        set[ORDER] = used_last(order, way) ^ IN_ORDER;
    }
    ways[way].0 |= LAST;
    set[FLAGS] &= !(1 << (FIRST + way as u32));
}

impl<P: Copy + Default> Sixteen<P> {
    pub(crate) fn new(sets: usize) -> Sixteen<P> {
        Sixteen { sets: vec![[0; 4]; sets], ways: vec![[(EMPTY, P::default()); WAYS]; sets] }
    }

    pub(crate) fn places(&self) -> usize {
        self.sets.len() * WAYS
    }

    pub(crate) fn line(&self, place: usize) -> u64 {
        !(self.ways[place >> BITS][place % WAYS].0 | LAST)
    }

    #[inline]
    pub(crate) fn of(&mut self, place: usize) -> &mut P {
        &mut self.ways[place >> BITS][place % WAYS].1
    }

    pub(crate) fn clear(&mut self) {
        self.sets.fill([0; 4]);
        self.ways.fill([(EMPTY, P::default()); WAYS]);
    }

    #[inline]
    pub(crate) fn peek(&self, set: usize, line: u64) -> Option<usize> {
        find(&self.sets[set], line, &self.ways[set]).map(|way| set << BITS | way)
    }

    /// What is known of a line that is at a place, if it is; then it counts as used.
    #[inline(always)]
    pub(crate) fn find_at(&mut self, place: usize, line: u64) -> Option<P> {
        let &(there, more) = self.ways.as_flattened().get(place)?;
        let other = there ^ !line;
        // Most were used last.
        if other != 0 {
            if other != LAST {
                return None;
            }
            self.touch(place);
        }
        Some(more)
    }

    #[inline]
    pub(crate) fn oldest(&self, set: usize) -> usize {
        set << BITS | oldest(&self.sets[set])
    }

    #[inline]
    pub(crate) fn touch(&mut self, place: usize) {
        touch(&mut self.sets[place >> BITS], &mut self.ways[place >> BITS], place % WAYS);
    }

    #[inline]
    pub(crate) fn put(&mut self, place: usize, line: u64, goes_first: bool) -> Filled {
        let way = place % WAYS;
        let (set, ways) = (&mut self.sets[place >> BITS], &mut self.ways[place >> BITS]);
        // What nobody has written is not read either: that takes this machine long.
        let evicted = if set[FLAGS] >> way & 1 != 0 { Some(!(ways[way].0 | LAST)) } else { None };
        ways[way].0 = tag(line);
        let (word, shift) = (way / 8, 8 * (way % 8));
        set[SIGNS[word]] = set[SIGNS[word]] & !(0xff << shift) | sign(line) << shift;
        set[FLAGS] |= 1 << way;
        if goes_first {
            set[FLAGS] |= 1 << (FIRST + way as u32);
        } else {
            touch(set, ways, way);
        }
        Filled { place, evicted }
    }

    pub(crate) fn remove(&mut self, place: usize) {
        let (set, way) = (&mut self.sets[place >> BITS], place % WAYS);
        self.ways[place >> BITS][way].0 = EMPTY;
        set[FLAGS] &= !(1 << way | 1 << (FIRST + way as u32));
    }
}
