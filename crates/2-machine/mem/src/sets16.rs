//! Sets of 16 ways, with LRU replacement and data of the caller by place.
//!
//! Caches with such sets are large, so a request should touch few words. Look-up compares tag bytes first.
//! The order of use is one word of sixteen digits. A repeated hit of the MRU line at a known place touches
//! only its own word.

use crate::eviction::Filled;

/// Ways of a set.
pub(crate) const WAYS: usize = 16;
/// Ways of a set, as a power of two.
const BITS: u32 = 4;
/// Empty tag. Tags are the complements of lines, of at most 63 bits, so an empty cache is zeroed memory that
/// the host need not back with pages.
const EMPTY: u64 = 0;
/// Flag of a tag whose reuse changes no state: it is most recently used and not marked for eviction first.
const MOST_RECENT: u64 = 1 << 63;
/// Ways in the order of their numbers.
pub(crate) const IN_ORDER: u64 = 0xfedc_ba98_7654_3210;
/// A one in each digit.
const DIGITS: u64 = 0x1111_1111_1111_1111;
/// A one in each byte.
const BYTES: u64 = 0x0101_0101_0101_0101;

/// A cache's tags.
#[derive(Clone, Debug)]
pub(crate) struct Sets16<P> {
    sets: Vec<Set>,
    /// Tags, each with the caller's data.
    ways: Vec<[(u64, P); WAYS]>,
}

/// View of a cache restricted to lines whose reuse changes no state.
pub(crate) struct MostRecent<'a, P>(&'a [(u64, P)]);

impl<P: Copy> MostRecent<'_, P> {
    /// Data of such a line at a place, if it is there.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize, line: u64) -> Option<P> {
        let &(there, more) = self.0.get(place)?;
        (there == !line).then_some(more)
    }
}

/// State of a set besides its tags: plain words, zero at first, so that untouched sets take no memory.
type Set = [u64; 4];

/// Words with the tag byte of each way.
const TAG_BYTES: [usize; 2] = [0, 1];
/// Word with the ways as digits, most recently used lowest, XORed with [`IN_ORDER`] so that a new set is
/// zero.
const ORDER: usize = 2;
/// Word with the masks of filled ways and of ways to evict first.
const FLAGS: usize = 3;
/// First bit of the evict-first mask.
const EVICT_FIRST: u32 = 16;

/// Mask of ways to evict first.
#[inline(always)]
fn first(set: &Set) -> u16 {
    (set[FLAGS] >> EVICT_FIRST) as u16
}

/// Tag byte of a line.
#[inline(always)]
pub(crate) fn tag_byte(line: u64) -> u64 {
    line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56
}

/// Tag of a line.
#[inline(always)]
fn tag(line: u64) -> u64 {
    !(line | MOST_RECENT)
}

/// Way of a line among those with its tag byte; `there` compares the full line.
#[inline(always)]
pub(crate) fn find_by_tag_byte(
    tag_bytes: [u64; 2],
    line: u64,
    there: impl Fn(usize) -> bool,
) -> Option<usize> {
    let tag_byte = tag_byte(line) * BYTES;
    // Sets the highest bit of zero bytes, and possibly of bytes above them.
    let zero = |word: u64| word.wrapping_sub(BYTES) & !word & (BYTES << 7);
    let same = tag_bytes.map(|word| zero(word ^ tag_byte));
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
    find_by_tag_byte(TAG_BYTES.map(|word| set[word]), line, |way| {
        ways[way % WAYS].0 & !MOST_RECENT == tag(line)
    })
}

#[inline]
fn lru(set: &Set) -> usize {
    match (!set[FLAGS] as u16, first(set)) {
        (0, 0) => ((set[ORDER] ^ IN_ORDER) >> 60) as usize,
        (0, first) => first.trailing_zeros() as usize,
        (empty, _) => empty.trailing_zeros() as usize,
    }
}

/// Bit position of a way's digit in an order.
#[inline(always)]
fn position(order: u64, way: usize) -> u32 {
    let other = order ^ (way as u64 * DIGITS);
    // The lowest zero digit; each way occurs once.
    let found = other.wrapping_sub(DIGITS) & !other & (DIGITS << 3);
    found.trailing_zeros().saturating_sub(3)
}

/// Moves a way to the lowest digit of an order.
#[inline(always)]
pub(crate) fn move_to_front(order: u64, way: usize) -> u64 {
    let shift = position(order, way);
    let below = order & ((1 << shift) - 1);
    let above = order & !(0xf << shift) & !((1 << shift) - 1);
    above | below << 4 | way as u64
}

/// Makes a filled way most recently used.
#[inline]
fn touch<P>(set: &mut Set, ways: &mut [(u64, P); WAYS], way: usize) {
    let order = set[ORDER] ^ IN_ORDER;
    let last = order as usize % WAYS;
    if last != way {
        ways[last].0 &= !MOST_RECENT;
        set[ORDER] = move_to_front(order, way) ^ IN_ORDER;
    }
    ways[way].0 |= MOST_RECENT;
    set[FLAGS] &= !(1 << (EVICT_FIRST + way as u32));
}

impl<P: Copy + Default> Sets16<P> {
    pub(crate) fn new(sets: usize) -> Sets16<P> {
        Sets16 { sets: vec![[0; 4]; sets], ways: vec![[(EMPTY, P::default()); WAYS]; sets] }
    }

    pub(crate) fn places(&self) -> usize {
        self.sets.len() * WAYS
    }

    pub(crate) fn line(&self, place: usize) -> u64 {
        !(self.ways[place >> BITS][place % WAYS].0 | MOST_RECENT)
    }

    #[inline]
    pub(crate) fn of(&mut self, place: usize) -> &mut P {
        &mut self.ways[place >> BITS][place % WAYS].1
    }

    pub(crate) fn clear(&mut self) {
        // Short kernels touch few sets, and there are megabytes of them.
        for (set, ways) in self.sets.iter_mut().zip(&mut self.ways).filter(|it| *it.0 != [0; 4]) {
            *set = [0; 4];
            ways.fill((EMPTY, P::default()));
        }
    }

    #[inline]
    pub(crate) fn peek(&self, set: usize, line: u64) -> Option<usize> {
        find(&self.sets[set], line, &self.ways[set]).map(|way| set << BITS | way)
    }

    /// Data of a line at a place, if it is there, and whether another use changes nothing.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize, line: u64) -> Option<(P, bool)> {
        let &(there, more) = self.ways.as_flattened().get(place)?;
        let other = there ^ !line;
        (other == 0 || other == MOST_RECENT).then_some((more, other == 0))
    }

    /// View of lines whose reuse changes no state.
    #[inline(always)]
    pub(crate) fn last(&self) -> MostRecent<'_, P> {
        MostRecent(self.ways.as_flattened())
    }

    /// Place of the line that leaves the `recent` most recently used of its set when `place` is used.
    #[inline]
    pub(crate) fn leaves_recent(&self, place: usize, recent: u32) -> Option<usize> {
        let order = self.sets[place >> BITS][ORDER] ^ IN_ORDER;
        let last = 4 * recent.checked_sub(1).filter(|&last| last < WAYS as u32)?;
        let older = position(order, place % WAYS) > last;
        let way = (order >> last) as usize % WAYS;
        older.then_some(place >> BITS << BITS | way)
    }

    #[inline]
    pub(crate) fn lru(&self, set: usize) -> usize {
        set << BITS | lru(&self.sets[set])
    }

    #[inline]
    pub(crate) fn touch(&mut self, place: usize) {
        touch(&mut self.sets[place >> BITS], &mut self.ways[place >> BITS], place % WAYS);
    }

    #[inline]
    pub(crate) fn put(&mut self, place: usize, line: u64, evict_first: bool) -> Filled {
        let way = place % WAYS;
        let (set, ways) = (&mut self.sets[place >> BITS], &mut self.ways[place >> BITS]);
        // Untouched memory is not read: the host would have to back it with pages.
        let evicted = if set[FLAGS] >> way & 1 != 0 { Some(!(ways[way].0 | MOST_RECENT)) } else { None };
        ways[way].0 = tag(line);
        let (word, shift) = (way / 8, 8 * (way % 8));
        set[TAG_BYTES[word]] = set[TAG_BYTES[word]] & !(0xff << shift) | tag_byte(line) << shift;
        set[FLAGS] |= 1 << way;
        if evict_first {
            set[FLAGS] |= 1 << (EVICT_FIRST + way as u32);
        } else {
            touch(set, ways, way);
        }
        Filled { place, evicted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a set, most recently used first; none is marked for eviction first.
    fn order(cache: &Sets16<u64>, set: usize) -> Vec<u64> {
        let order = cache.sets[set][ORDER] ^ IN_ORDER;
        let ways = (0..WAYS).map(|digit| (order >> (4 * digit)) as usize % WAYS);
        ways.filter(|way| cache.sets[set][FLAGS] >> way & 1 != 0)
            .map(|way| cache.line(set << BITS | way))
            .collect()
    }

    #[test]
    fn lines_age_and_the_one_used_longest_ago_goes() {
        let mut cache = Sets16::<u64>::new(4);
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
            let at = place.unwrap_or_else(|| cache.lru(set));
            for recent in 1..WAYS {
                let leaves_recent = cache.leaves_recent(at, recent as u32).map(|place| cache.line(place));
                let passed = found.is_none_or(|position| position >= recent);
                assert_eq!(
                    leaves_recent.filter(|_| list.len() >= recent),
                    list.get(recent - 1).copied().filter(|_| passed)
                );
            }
            assert_eq!(cache.at(at, line), found.map(|position| (line, position == 0)), "step {step}");
            match found {
                Some(position) => {
                    cache.touch(at);
                    list.remove(position);
                }
                None => {
                    let lru = if list.len() == WAYS { list.pop() } else { None };
                    assert_eq!(cache.put(at, line, false), Filled { place: at, evicted: lru });
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
        let mut cache = Sets16::<()>::new(1);
        let mut fill = |line, evict_first| cache.put(cache.lru(0), line, evict_first).evicted;
        for line in 0..WAYS as u64 {
            assert_eq!(fill(line, false), None);
        }
        assert_eq!([fill(20, true), fill(21, true), fill(22, false)], [Some(0), Some(20), Some(21)]);
        // Unless it is used once more.
        assert_eq!(fill(23, true), Some(1));
        let place = cache.peek(0, 23).unwrap();
        cache.touch(place);
        assert_eq!(cache.put(cache.lru(0), 24, false).evicted, Some(2));
    }
}
