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

/// Of a cache's tags: lines another use of which changes nothing.
pub(crate) struct Last<'a, P>(&'a [(u64, P)]);

impl<P: Copy> Last<'_, P> {
    /// What is known of such a line that is at a place, if it is.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize, line: u64) -> Option<P> {
        let &(there, more) = self.0.get(place)?;
        (there == !line).then_some(more)
    }
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

/// Where a way's digit is in an order, in bits.
#[inline(always)]
fn position(order: u64, way: usize) -> u32 {
    let other = order ^ (way as u64 * DIGITS);
    // The lowest digit that is zero; each way is there once.
    let found = other.wrapping_sub(DIGITS) & !other & (DIGITS << 3);
    found.trailing_zeros().saturating_sub(3)
}

/// An order of ways, as digits, with one of them moved to the lowest.
#[inline(always)]
pub(crate) fn used_last(order: u64, way: usize) -> u64 {
    let shift = position(order, way);
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

    /// What is known of a line that is at a place, if it is, and whether another use of it changes nothing.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize, line: u64) -> Option<(P, bool)> {
        let &(there, more) = self.ways.as_flattened().get(place)?;
        let other = there ^ !line;
        (other == 0 || other == LAST).then_some((more, other == 0))
    }

    /// Lines that were used last.
    #[inline(always)]
    pub(crate) fn last(&self) -> Last<'_, P> {
        Last(self.ways.as_flattened())
    }

    /// The place whose line is no longer one of the `young` of its set that were used last, once the line at a place is used.
    #[inline]
    pub(crate) fn ages(&self, place: usize, young: u32) -> Option<usize> {
        let order = self.sets[place >> BITS][ORDER] ^ IN_ORDER;
        let last = 4 * young.checked_sub(1).filter(|&last| last < WAYS as u32)?;
        let older = position(order, place % WAYS) > last;
        let way = (order >> last) as usize % WAYS;
        older.then_some(place >> BITS << BITS | way)
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a set, the one used last first; none is one that goes first.
    fn order(cache: &Sixteen<u64>, set: usize) -> Vec<u64> {
        let order = cache.sets[set][ORDER] ^ IN_ORDER;
        let ways = (0..WAYS).map(|digit| (order >> (4 * digit)) as usize % WAYS);
        ways.filter(|way| cache.sets[set][FLAGS] >> way & 1 != 0)
            .map(|way| cache.line(set << BITS | way))
            .collect()
    }

    #[test]
    fn lines_age_and_the_one_used_longest_ago_goes() {
        let mut cache = Sixteen::<u64>::new(4);
        let mut lists = vec![Vec::<u64>::new(); 4];
        let mut state = 1u64;
        assert_eq!(cache.places(), 4 * WAYS);
        for step in 0..200_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
            let line = (state >> 33) % (5 * WAYS as u64);
            let set = (line % 4) as usize;
            let list = &mut lists[set];
            let found = list.iter().position(|&other| other == line);
            let place = cache.peek(set, line);
            assert_eq!(place.is_some(), found.is_some(), "step {step}");
            let at = place.unwrap_or_else(|| cache.oldest(set));
            for young in 1..WAYS {
                let ages = cache.ages(at, young as u32).map(|place| cache.line(place));
                let passed = found.is_none_or(|position| position >= young);
                assert_eq!(
                    ages.filter(|_| list.len() >= young),
                    list.get(young - 1).copied().filter(|_| passed)
                );
            }
            assert_eq!(cache.at(at, line), found.map(|position| (line, position == 0)), "step {step}");
            match found {
                Some(position) => {
                    cache.touch(at);
                    list.remove(position);
                }
                None => {
                    let oldest = if list.len() == WAYS { list.pop() } else { None };
                    assert_eq!(cache.put(at, line, false), Filled { place: at, evicted: oldest });
                    *cache.of(at) = line;
                }
            }
            list.insert(0, line);
            assert_eq!(&order(&cache, set), list, "step {step}");
            if state >> 50 == 0 {
                cache.clear();
                lists.iter_mut().for_each(Vec::clear);
            }
        }
    }

    #[test]
    fn a_line_that_is_to_go_first_does() {
        let mut cache = Sixteen::<()>::new(1);
        let mut fill = |line, goes_first| cache.put(cache.oldest(0), line, goes_first).evicted;
        for line in 0..WAYS as u64 {
            assert_eq!(fill(line, false), None);
        }
        assert_eq!([fill(20, true), fill(21, true), fill(22, false)], [Some(0), Some(20), Some(21)]);
        // Unless it is used once more.
        assert_eq!(fill(23, true), Some(1));
        let place = cache.peek(0, 23).unwrap();
        cache.touch(place);
        assert_eq!(cache.put(cache.oldest(0), 24, false).evicted, Some(2));
    }
}
