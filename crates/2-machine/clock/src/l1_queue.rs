//! Queue of vector memory accesses before and in a compute unit's vector L1.
//!
//! Two limits bound a vector L1. Accesses in it hold lines from look-up to answer, and accesses before it
//! hold queue slots. A wave that finds no slots does not issue; the wave that started first is admitted
//! first. Accesses look up in order, one line a cycle, and one that waits for a translation or an MSHR blocks
//! all behind it. Loads return in order among loads, and stores among stores.

use crate::calendar::{Calendar, L1_EVENT, L1_SLOT_FREED};
use crate::op::{Op, Unit};
use crate::rates::Rates;
use mem::{AccessKind, AccessPatterns, Event, Progress, UniqueAccess, VectorAccess, unique_access_size};
use std::collections::{BTreeMap, VecDeque};

/// Pattern of an access without look-ups.
pub(crate) const NO_PATTERN: u32 = u32::MAX;

/// Flag of a pattern index into [`UniqueAccesses`].
const UNIQUE: u32 = 1 << 31;

/// First address of scratch, above all addresses of programs.
pub(crate) const SCRATCH_BASE: u64 = 1 << 50;

/// Issued accesses without an answer, and waves that wait to issue one.
#[derive(Debug, Default)]
pub(crate) struct L1Queue {
    /// Accesses with look-ups left, in issue order.
    accesses: VecDeque<QueuedAccess>,
    /// Number of the first `accesses` that hold lines of the vector L1.
    in_l1: usize,
    /// Lines held by loads, and by stores.
    lines: [u32; 2],
    /// By loads and stores: cycle at which an access returns, and its lines, in order.
    leaving: [VecDeque<(u64, u32)>; 2],
    /// By loads and stores: cycle at which the last access returns.
    last_leave: [u64; 2],
    /// Slots held by queued accesses and by admitted waves.
    slots_taken: u32,
    /// Slots requested by each waiting wave, by the wave's start and name.
    waiting_waves: BTreeMap<(u64, u32), u32>,
    /// Cycle of the calendar's event that admits waiting waves.
    wake_at: Option<u64>,
    /// The calendar has an event for the next look-up.
    active: bool,
    /// Cycle at which the vector L1 can take the next access.
    free: u64,
}

/// Resources of the vector L1 that an access needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct L1Demand {
    /// Slots of the queue.
    pub(crate) queue_slots: u32,
    /// Lines of the vector L1.
    pub(crate) lines: u32,
    /// The access is a store, or an atomic that returns nothing and is done at memory.
    pub(crate) store: bool,
    /// It is such an atomic, whose lines leave the vector L1 when the L2 has them.
    pub(crate) passes_on: bool,
}

impl L1Demand {
    /// Demand of an event that belongs to instruction `op` and passes the vector L1; a flat access to the LDS
    /// does too. `bytes` is the part of the stream that holds the event.
    #[inline]
    pub(crate) fn of(
        event: Event,
        op: Op,
        bytes: &[u8],
        patterns: &AccessPatterns,
        rates: &Rates,
    ) -> Option<L1Demand> {
        let (slot, lines, kind) = match event {
            Event::Unique(slot, at, _) => {
                let (policy, lookups) = unique_access_size(bytes, at as usize)?;
                (slot, lookups, policy.kind)
            }
            Event::Vector(pattern, _) => {
                let access = patterns.get(pattern)?;
                (access.slot, access.lookups.len() as u32, access.policy.kind)
            }
            Event::Lds(access) if op.unit == Unit::Flat => {
                let access = patterns.lds(access);
                let cycles = access.cycles.saturating_sub(access.conflicts);
                (access.slot, cycles * rates.l1_cycles_per_flat_lds, AccessKind::Load)
            }
            _ => return None,
        };
        // An atomic that the L2 does takes places of loads.
        let passes_on = kind == AccessKind::Atomic && rates.atomics.is_some();
        let store = kind == AccessKind::Store || passes_on;
        // A store brings its data along.
        let queue_slots = 1 + u32::from(store);
        (slot == op.slot).then_some(L1Demand { queue_slots, lines, store, passes_on })
    }
}

/// Accesses with a unique pattern, from issue to their last look-up.
#[derive(Debug, Default)]
pub(crate) struct UniqueAccesses {
    all: Vec<UniqueAccess>,
    vacant: Vec<u32>,
}

impl UniqueAccesses {
    /// Decodes a unique access from a part of a stream; returns its pattern index.
    pub(crate) fn add(&mut self, bytes: &[u8], slot: u32, at: u32) -> u32 {
        let number = self.vacant.pop().unwrap_or_else(|| {
            self.all.push(UniqueAccess::default());
            self.all.len() as u32 - 1
        });
        self.all[number as usize].read(bytes, slot, at as usize);
        number | UNIQUE
    }

    /// The access of a pattern index: a unique one, or one of the workgroup's patterns.
    #[inline(always)]
    pub(crate) fn get<'a>(&'a self, pattern: u32, patterns: &'a AccessPatterns) -> Option<VectorAccess<'a>> {
        match pattern & UNIQUE {
            0 => patterns.get(pattern as usize),
            _ => self.all.get((pattern & !UNIQUE) as usize)?.access(),
        }
    }

    /// Frees a unique access after its last look-up.
    #[inline]
    pub(crate) fn remove(&mut self, pattern: u32) {
        if pattern & UNIQUE != 0 && pattern != NO_PATTERN {
            self.vacant.push(pattern & !UNIQUE);
        }
    }

    /// Frees all, before a dispatch.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.vacant.clear();
    }
}

/// A queued access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedAccess {
    pub(crate) wave: u32,
    /// Index of its pattern.
    pub(crate) pattern: u32,
    /// Block of L2 lines from which the look-ups count.
    pub(crate) block: u64,
    /// Cycle of issue.
    pub(crate) at: u64,
    /// The access is the last one of its instruction.
    pub(crate) last: bool,
    pub(crate) demand: L1Demand,
    /// Cycle at which the next translation is requested, once the look-ups have begun.
    pub(crate) translate_at: Option<u64>,
    /// Look-ups done so far.
    pub(crate) progress: Progress,
    /// Cycle at which all data so far has arrived.
    pub(crate) done: u64,
    /// No look-up had to wait since the last request.
    pub(crate) unblocked: bool,
    /// The next look-up has found no free MSHR.
    pub(crate) mshrs_full: bool,
}

/// The oldest queued access, as seen by the vector L1.
pub(crate) enum Front<'a> {
    /// The queue is empty.
    Empty,
    /// The look-ups can continue at a later cycle.
    At(u64),
    /// The look-ups can continue now.
    Ready(&'a mut QueuedAccess),
}

impl L1Queue {
    /// Releases the lines of accesses that returned by a cycle, and moves queued accesses into the vector L1
    /// while their lines fit in `most`.
    fn retire(&mut self, now: u64, most: [u32; 2]) {
        for (leaving, lines) in self.leaving.iter_mut().zip(&mut self.lines) {
            while let Some((_, gone)) = leaving.pop_front_if(|&mut (cycle, _)| cycle <= now) {
                *lines -= gone;
            }
        }
        while let Some(next) = self.accesses.get(self.in_l1) {
            let (demand, lines) = (next.demand, &mut self.lines[usize::from(next.demand.store)]);
            if *lines > 0 && *lines + demand.lines > most[usize::from(demand.store)] {
                break;
            }
            *lines += demand.lines;
            self.slots_taken -= demand.queue_slots;
            self.in_l1 += 1;
        }
    }

    /// Takes slots of the queue if they are free at a cycle. An empty queue admits a demand of any size.
    fn take_slots(&mut self, now: u64, queue_slots: u32, rates: &Rates) -> bool {
        if self.slots_taken + queue_slots > rates.l1_queue_slots {
            self.retire(now, rates.l1_lines_in_flight);
        }
        let are_free = self.slots_taken == 0 || self.slots_taken + queue_slots <= rates.l1_queue_slots;
        if are_free {
            self.slots_taken += queue_slots;
        }
        are_free
    }

    /// Takes slots for a wave that wants to issue; without free slots the wave joins the waiting ones, and an
    /// event resumes it.
    pub(crate) fn admit(
        &mut self,
        (started, wave): (u64, u32),
        (now, queue_slots): (u64, u32),
        rates: &Rates,
        unit: usize,
        calendar: &mut Calendar,
    ) -> bool {
        if self.waiting_waves.is_empty() && self.take_slots(now, queue_slots, rates) {
            return true;
        }
        self.waiting_waves.insert((started, wave), queue_slots);
        self.schedule_wake(unit, calendar);
        false
    }

    /// Admits waiting waves, the oldest first, while slots are free.
    pub(crate) fn admit_waiting(&mut self, now: u64, rates: &Rates) -> impl Iterator<Item = u32> {
        self.wake_at = self.wake_at.filter(|&wake_at| wake_at > now);
        std::iter::from_fn(move || {
            let (&wave, &queue_slots) = self.waiting_waves.first_key_value()?;
            if !self.take_slots(now, queue_slots, rates) {
                return None;
            }
            self.waiting_waves.remove(&wave);
            Some(wave.1)
        })
    }

    /// Cycle at which the next access returns, among those without look-ups left.
    fn next_return(&self) -> Option<u64> {
        self.leaving.iter().filter_map(|of| of.front()).map(|&(cycle, _)| cycle).min()
    }

    /// Enters an event for the next return, if waves wait for slots.
    pub(crate) fn schedule_wake(&mut self, unit: usize, calendar: &mut Calendar) {
        if !self.waiting_waves.is_empty()
            && let Some(cycle) = self.next_return()
            && self.wake_at.is_none_or(|wake_at| cycle < wake_at)
        {
            self.wake_at = Some(cycle);
            calendar.push(cycle, unit as u32 | L1_EVENT | L1_SLOT_FREED);
        }
    }

    /// Queues an access that issues on a compute unit.
    pub(crate) fn push(&mut self, access: QueuedAccess, unit: usize, calendar: &mut Calendar) {
        self.accesses.push_back(access);
        if !self.active {
            self.active = true;
            calendar.push(access.at.max(self.free), unit as u32 | L1_EVENT);
        }
    }

    /// The access whose look-ups come next at a cycle, with at most this many lines of loads and of stores in
    /// flight.
    #[inline(always)]
    pub(crate) fn front(&mut self, now: u64, most: [u32; 2]) -> Front<'_> {
        self.retire(now, most);
        if self.in_l1 == 0
            && !self.accesses.is_empty()
            && let Some(cycle) = self.next_return()
        {
            return Front::At(cycle);
        }
        match self.accesses.front_mut() {
            None => {
                self.active = false;
                Front::Empty
            }
            Some(access) if access.at > now => Front::At(access.at),
            Some(access) => Front::Ready(access),
        }
    }

    /// Removes the oldest access, whose look-ups end at a cycle and whose data has arrived at another; `l2` is the
    /// number of cycles to the L2 and back. Returns the cycle at which the wave has the data.
    #[inline(always)]
    pub(crate) fn finish_front(&mut self, end: u64, done: u64, l2: u64) -> u64 {
        let Some(access) = self.accesses.pop_front() else { return done };
        let demand = access.demand;
        self.in_l1 = self.in_l1.saturating_sub(1);
        self.free = end;
        let kind = usize::from(demand.store);
        // Loads return to waves one line a cycle.
        let cycles = if demand.store { 0 } else { u64::from(demand.lines) };
        let done = (self.last_leave[kind] + cycles).max(done);
        self.last_leave[kind] = done;
        let leaves = if demand.passes_on { done.min(end + l2) } else { done };
        self.leaving[kind].push_back((leaves, demand.lines));
        done
    }

    /// True if another access is queued; otherwise the queue goes idle.
    #[inline(always)]
    pub(crate) fn continues(&mut self) -> bool {
        self.active = !self.accesses.is_empty();
        self.active
    }

    /// A word to touch so that the next look-up's data is prefetched.
    pub(crate) fn prefetch_word(&self) -> u64 {
        self.accesses.front().map_or(0, |access| access.block)
    }
}

impl QueuedAccess {
    /// An access of a pattern at a block, issued at a cycle.
    #[inline(always)]
    pub(crate) fn new(
        wave: u32,
        (pattern, block, demand): (u32, u64, L1Demand),
        at: u64,
        last: bool,
    ) -> QueuedAccess {
        let progress = Progress::default();
        QueuedAccess {
            wave,
            pattern,
            block,
            at,
            last,
            demand,
            translate_at: None,
            progress,
            done: 0,
            unblocked: true,
            mshrs_full: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arch::Model;

    const LOAD: L1Demand = L1Demand { queue_slots: 1, lines: 4, store: false, passes_on: false };
    const STORE: L1Demand = L1Demand { queue_slots: 2, lines: 8, store: true, passes_on: false };

    fn rates() -> Rates {
        Rates {
            l1_queue_slots: 4,
            l1_lines_in_flight: [16, 8],
            ..Rates::of(Model::by_name("mi210").unwrap())
        }
    }

    /// A wave that began at its number issues an access, or waits to.
    fn issues(queue: &mut L1Queue, wave: u32, now: u64, demand: L1Demand, calendar: &mut Calendar) -> bool {
        let admitted = queue.admit((wave.into(), wave), (now, demand.queue_slots), &rates(), 0, calendar);
        if admitted {
            queue.push(QueuedAccess::new(wave, (NO_PATTERN, 0, demand), now, false), 0, calendar);
        }
        admitted
    }

    #[test]
    fn waves_issue_while_there_is_room() {
        let (mut queue, mut calendar) = (L1Queue::default(), Calendar::new());
        // Four loads are in the vector L1, four wait before it.
        let take_slots: Vec<bool> =
            (0..10).map(|wave| issues(&mut queue, wave, 0, LOAD, &mut calendar)).collect();
        assert_eq!(take_slots.iter().filter(|&&it| it).count(), 8, "{take_slots:?}");
        assert_eq!((queue.in_l1, queue.lines, queue.slots_taken), (4, [16, 0], 4));
        assert_eq!(queue.waiting_waves.keys().map(|it| it.1).collect::<Vec<_>>(), [8, 9]);
    }

    #[test]
    fn loads_and_stores_have_their_own_lines_but_share_places() {
        let (mut queue, mut calendar) = (L1Queue::default(), Calendar::new());
        // One store is in the vector L1, and holds up all behind it.
        for (wave, size, take_slots) in
            [(0, STORE, true), (1, STORE, true), (2, LOAD, true), (3, LOAD, true), (4, LOAD, false)]
        {
            assert_eq!(issues(&mut queue, wave, 0, size, &mut calendar), take_slots, "{wave}");
        }
        assert_eq!((queue.in_l1, queue.lines, queue.slots_taken), (1, [0, 8], 4));
    }

    #[test]
    fn a_return_frees_lines_and_wakes_the_oldest_wave() {
        let (mut queue, mut calendar) = (L1Queue::default(), Calendar::new());
        (0..8).for_each(|wave| assert!(issues(&mut queue, wave, 0, LOAD, &mut calendar)));
        assert!(!issues(&mut queue, 30, 5, LOAD, &mut calendar));
        assert!(!issues(&mut queue, 20, 6, LOAD, &mut calendar));
        // The first access has done its look-ups and is answered at cycle 100.
        queue.accesses.pop_front();
        queue.in_l1 -= 1;
        queue.leaving[0].push_back((100, LOAD.lines));
        queue.schedule_wake(0, &mut calendar);
        assert_eq!(queue.wake_at, Some(100));
        assert!(!queue.take_slots(99, 1, &rates()));
        // Who comes now waits behind those that do already.
        assert!(!issues(&mut queue, 10, 100, LOAD, &mut calendar));
        let told: Vec<u32> = queue.admit_waiting(100, &rates()).collect();
        assert_eq!(told, [10]);
        assert_eq!((queue.in_l1, queue.lines, queue.slots_taken), (4, [16, 0], 4));
    }

    #[test]
    fn atomics_at_memory_leave_when_the_l2_has_them() {
        let atomic = L1Demand { passes_on: true, ..STORE };
        for (demand, freed) in [(STORE, 900), (atomic, 130)] {
            let (mut queue, mut calendar) = (L1Queue::default(), Calendar::new());
            assert!(issues(&mut queue, 0, 0, demand, &mut calendar));
            // The wave waits for the answer in both cases.
            assert_eq!(queue.finish_front(30, 900, 100), 900);
            assert_eq!(queue.next_return(), Some(freed));
        }
    }

    #[test]
    fn an_access_larger_than_the_queue_takes_all_of_it() {
        let (mut queue, mut calendar) = (L1Queue::default(), Calendar::new());
        let large = L1Demand { queue_slots: 9, lines: 100, store: false, passes_on: false };
        assert!(issues(&mut queue, 0, 0, large, &mut calendar));
        assert!(issues(&mut queue, 1, 0, LOAD, &mut calendar));
        assert_eq!((queue.in_l1, queue.lines, queue.slots_taken), (1, [100, 0], 1));
    }
}
