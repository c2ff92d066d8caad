//! Moments at which something happens, in order.
//!
//! The one idea to keep in mind: most moments lie a few hundred cycles ahead, so there is a list for each few cycles and a
//! heap for what lies beyond; what falls into one list comes in the order in which it was entered.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cycles of a list, as a power of two.
const WIDTH: u32 = 2;
/// Lists.
const LISTS: usize = 4096;
/// Words of a bit for each.
const WORDS: usize = LISTS / u64::BITS as usize;

/// A calendar of numbered events.
#[derive(Debug)]
pub(crate) struct Calendar {
    lists: Vec<Vec<(u64, u32)>>,
    /// Lists that are not empty, as bits.
    used: Box<[u64; WORDS]>,
    /// The list at hand, counted without end, and how much of it is done.
    list: u64,
    done: usize,
    /// What lies in lists.
    near: usize,
    far: BinaryHeap<Reverse<(u64, u64, u32)>>,
    entered: u64,
}

impl Calendar {
    pub(crate) fn new() -> Calendar {
        Calendar {
            lists: vec![Vec::new(); LISTS],
            used: Box::new([0; WORDS]),
            list: 0,
            done: 0,
            near: 0,
            far: BinaryHeap::new(),
            entered: 0,
        }
    }

    /// Begins anew at moment 0.
    pub(crate) fn clear(&mut self) {
        self.lists.iter_mut().for_each(Vec::clear);
        self.used.fill(0);
        (self.list, self.done, self.near, self.entered) = (0, 0, 0, 0);
        self.far.clear();
    }

    /// Enters an event; one of the past happens next.
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
        let place = list as usize % LISTS;
        self.lists[place].push((time, event));
        self.used[place / 64] |= 1 << (place % 64);
        self.near += 1;
    }

    /// The first list behind the one at hand that is not empty; there is one.
    #[inline]
    fn next_used(&self) -> u64 {
        let first = self.list + 1;
        let (word, bit) = (first as usize % LISTS / 64, first % 64);
        let here = self.used[word] >> bit;
        if here != 0 {
            return first + u64::from(here.trailing_zeros());
        }
        let start = first - bit;
        for step in 1..=WORDS as u64 {
            let bits = self.used[(word + step as usize) % WORDS];
            if bits != 0 {
                return start + 64 * step + u64::from(bits.trailing_zeros());
            }
        }
        first
    }

    /// The events that follow soon, if the last one that was taken out is the first of its list.
    #[inline]
    pub(crate) fn opened(&self) -> Option<&[(u64, u32)]> {
        if self.done != 1 {
            return None;
        }
        self.lists[self.list as usize % LISTS].get(1..)
    }

    /// The next event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(u64, u32)> {
        loop {
            let list = &mut self.lists[self.list as usize % LISTS];
            if let Some(&found) = list.get(self.done) {
                self.done += 1;
                self.near -= 1;
                return Some(found);
            }
            list.clear();
            let place = self.list as usize % LISTS;
            self.used[place / 64] &= !(1 << (place % 64));
            self.done = 0;
            let far = self.far.peek().map(|Reverse((time, _, _))| time >> WIDTH);
            self.list = match (self.near, far) {
                (0, far) => far?,
                (_, Some(far)) => far.min(self.next_used()),
                (_, None) => self.next_used(),
            };
            while let Some(&Reverse((time, _, event))) = self.far.peek()
                && (time >> WIDTH) - self.list < LISTS as u64
            {
                self.far.pop();
                self.enter(time >> WIDTH, time, event);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_however_far_they_lie_apart() {
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
