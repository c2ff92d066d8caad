//! Calendar queue: events in order of time.
//!
//! Most events are a few hundred cycles ahead, so each bucket of a few cycles is a list, and a heap holds
//! later events. Events of one bucket run in order of entry. Lists are chains through a pool of entries, so a
//! calendar takes little memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Flag of an event of a compute unit's vector L1; without it an event is the name of a wave.
pub(crate) const L1_EVENT: u32 = 1 << 31;

/// Flag of an L1 event for slots of its queue that become free.
pub(crate) const L1_SLOT_FREED: u32 = 1 << 30;

/// Cycles of a bucket, as a power of two.
const WIDTH: u32 = 2;
/// Buckets.
const LISTS: usize = 4096;
/// Words of the bucket bitmap.
const WORDS: usize = LISTS / u64::BITS as usize;
/// No entry.
const NONE: u32 = u32::MAX;

/// A calendar of numbered events.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// By bucket: first and last entry, if not empty.
    lists: Box<[(u32, u32); LISTS]>,
    /// Bitmap of buckets with entries.
    used: Box<[u64; WORDS]>,
    /// Pool of entries, and its first free one.
    entries: Vec<Entry>,
    free: u32,
    /// Current bucket, counted without wrap.
    list: u64,
    /// The event taken last was the first of its bucket.
    opened: bool,
    far: BinaryHeap<Reverse<(u64, u64, u32)>>,
    entered: u64,
}

/// An event, or a free entry.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    event: u32,
    /// Next entry of the list.
    next: u32,
}

impl Calendar {
    pub(crate) fn new() -> Calendar {
        Calendar {
            lists: Box::new([(NONE, NONE); LISTS]),
            used: Box::new([0; WORDS]),
            entries: Vec::new(),
            free: NONE,
            list: 0,
            opened: false,
            far: BinaryHeap::new(),
            entered: 0,
        }
    }

    /// Empties the calendar, at cycle 0.
    pub(crate) fn clear(&mut self) {
        self.used.fill(0);
        self.entries.clear();
        self.far.clear();
        (self.free, self.list, self.opened, self.entered) = (NONE, 0, false, 0);
    }

    /// Enters an event; an event of the past runs next.
    #[inline]
    pub(crate) fn push(&mut self, time: u64, event: u32) {
        let list = (time >> WIDTH).max(self.list);
        if list - self.list < LISTS as u64 {
            self.enter(list, time, event);
        } else {
            self.far.push(Reverse((time, self.entered, event)));
            self.entered += 1;
        }
    }

    #[inline]
    fn enter(&mut self, list: u64, time: u64, event: u32) {
        let entry = Entry { time, event, next: NONE };
        let number = match self.entries.get_mut(self.free as usize) {
            Some(place) => {
                let number = self.free;
                self.free = place.next;
                *place = entry;
                number
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        let place = list as usize % LISTS;
        let (used, bit) = (&mut self.used[place / 64], 1 << (place % 64));
        let (first, last) = &mut self.lists[place];
        if *used & bit == 0 {
            *used |= bit;
            *first = number;
        } else if let Some(before) = self.entries.get_mut(*last as usize) {
            before.next = number;
        }
        *last = number;
    }

    /// First bucket with entries, from the current one on.
    #[inline]
    fn next_used(&self) -> Option<u64> {
        let (word, bit) = (self.list as usize % LISTS / 64, self.list % 64);
        let here = self.used[word] >> bit;
        if here != 0 {
            return Some(self.list + u64::from(here.trailing_zeros()));
        }
        let start = self.list - bit;
        (1..=WORDS).find_map(|step| {
            let bits = self.used[(word + step) % WORDS];
            (bits != 0).then(|| start + 64 * step as u64 + u64::from(bits.trailing_zeros()))
        })
    }

    /// Remaining events of the current bucket, if the event taken last was its first.
    #[inline]
    pub(crate) fn upcoming(&self) -> impl Iterator<Item = u32> + Clone {
        let place = self.list as usize % LISTS;
        let left = self.opened && self.used[place / 64] >> (place % 64) & 1 != 0;
        let mut next = if left { self.lists[place].0 } else { NONE };
        std::iter::from_fn(move || {
            let entry = self.entries.get(next as usize)?;
            next = entry.next;
            Some(entry.event)
        })
    }

    /// Takes the next event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(u64, u32)> {
        self.opened = self.used[self.list as usize % LISTS / 64] >> (self.list % 64) & 1 == 0;
        if self.opened {
            self.open()?;
        }
        let place = self.list as usize % LISTS;
        let (first, last) = &mut self.lists[place];
        let number = *first;
        let entry = self.entries.get_mut(number as usize)?;
        let found = (entry.time, entry.event);
        if number == *last {
            self.used[place / 64] &= !(1 << (place % 64));
        } else {
            *first = entry.next;
        }
        entry.next = std::mem::replace(&mut self.free, number);
        Some(found)
    }

    /// Moves to the next bucket with events.
    #[inline]
    fn open(&mut self) -> Option<()> {
        let far = self.far.peek().map(|Reverse((time, _, _))| time >> WIDTH);
        self.list = match (self.next_used(), far) {
            (Some(near), Some(far)) => near.min(far),
            (near, far) => near.or(far)?,
        };
        while let Some(&Reverse((time, _, event))) = self.far.peek()
            && (time >> WIDTH) - self.list < LISTS as u64
        {
            self.far.pop();
            self.enter(time >> WIDTH, time, event);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_ordered_over_any_distance() {
        let mut calendar = Calendar::new();
        let mut state = 1u64;
        let mut times: Vec<u64> = Vec::new();
        for event in 0..5000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
            let time = state >> [63, 55, 48, 44][event as usize % 4];
            times.push(time);
            calendar.push(time, event);
        }
        let mut last = 0;
        let mut seen = 0;
        while let Some((time, event)) = calendar.pop() {
            assert_eq!(times[event as usize], time);
            assert!(time >> WIDTH >= last >> WIDTH, "{time} after {last}");
            last = time;
            seen += 1;
        }
        assert_eq!(seen, 5000);
        // What is late happens at once, and nothing is lost.
        calendar.push(3, 7);
        assert_eq!(calendar.pop(), Some((3, 7)));
        assert_eq!(calendar.pop(), None);
    }
}
