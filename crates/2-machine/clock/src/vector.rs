//! Vector memory accesses of a compute unit.
//!
//! The one idea to keep in mind: accesses go through the vector L1 one after the other, a look-up a cycle; one that has to
//! wait for a translation or for room keeps all behind it waiting. There is room for some lines from look-up to answer, and for
//! some accesses before that; where there is none waves do not issue, and the one that began first is the first to go on.
//! Translations of an access are asked for ahead of its look-ups. Answers leave in the order of accesses, those of loads and those
//! of stores.

use crate::calendar::Calendar;
use crate::dies::{Dies, L1, LEAVES};
use crate::memory::Port;
use crate::op::{Op, Unit};
use crate::rates::Rates;
use mem::{Event, Forms, Kind, Own, Progress, Shared, own_size};
use std::collections::{BTreeMap, VecDeque};

/// The form of an access that looks nothing up.
pub(crate) const NO_FORM: u32 = u32::MAX;

/// What a form's number has besides, where it is one of [`Owns`].
const OWN: u32 = 1 << 31;

/// Where scratch lies: beyond all addresses of programs.
const SCRATCH: u64 = 1 << 50;

/// Accesses that issued and are not back, and waves that wait to issue one.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Those whose look-ups are not done, in the order of issue; of the first of them the vector L1 has the addresses.
    accesses: VecDeque<Access>,
    entered: usize,
    /// Of reads and of writes: lines of all that the vector L1 has, of those of them whose look-ups are done, and when they leave, in
    /// order; and when the last of them does.
    lines: [u32; 2],
    leaving: [VecDeque<(u64, u32)>; 2],
    left: [u64; 2],
    /// Places before the vector L1 that the others take, and those of waves that were told to go on.
    taken: u32,
    /// Waves that wait to issue one, by their start, and the places it takes; and the cycle of the event in the calendar at which
    /// one of them may be told to go on.
    outside: BTreeMap<(u64, u32), u32>,
    tells: Option<u64>,
    /// The L1 is at work: its event is in the calendar.
    active: bool,
    /// Cycle at which it can take the next.
    free: u64,
}

/// What room an access needs: places before the vector L1, and lines in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) places: u32,
    pub(crate) lines: u32,
    pub(crate) store: bool,
}

impl Size {
    /// Of the access that an event is, if it is one of an instruction that the vector L1 gets to see: also a flat one of the LDS.
    /// `bytes` is the part of the stream that the event is in.
    #[inline]
    pub(crate) fn of(event: Event, op: Op, bytes: &[u8], forms: &Forms, rates: &Rates) -> Option<Size> {
        let (slot, lines, store) = match event {
            Event::Own(slot, at, _) => {
                let (policy, lookups) = own_size(bytes, at as usize)?;
                (slot, lookups, policy.kind == Kind::Store)
            }
            Event::Vector(form, _) => {
                let shared = forms.get(form)?;
                (shared.slot, shared.lookups.len() as u32, shared.policy.kind == Kind::Store)
            }
            Event::Lds(access) if op.unit == Unit::Flat => {
                let access = forms.lds(access);
                (access.slot, access.cycles.saturating_sub(access.conflicts) * rates.flat, false)
            }
            _ => return None,
        };
        // A store has its data with it.
        let places = 1 + u32::from(store);
        (slot == op.slot).then_some(Size { places, lines, store })
    }
}

/// Accesses that repeat no other, from issue to their last look-up.
#[derive(Debug, Default)]
pub(crate) struct Owns {
    all: Vec<Own>,
    vacant: Vec<u32>,
}

impl Owns {
    /// The form of one that is in a part of a stream.
    pub(crate) fn add(&mut self, bytes: &[u8], slot: u32, at: u32) -> u32 {
        let number = self.vacant.pop().unwrap_or_else(|| {
            self.all.push(Own::default());
            self.all.len() as u32 - 1
        });
        self.all[number as usize].read(bytes, slot, at as usize);
        number | OWN
    }

    /// What a form is: one of these, or of the workgroup's.
    #[inline(always)]
    fn get<'a>(&'a self, form: u32, forms: &'a Forms) -> Option<Shared<'a>> {
        match form & OWN {
            0 => forms.get(form as usize),
            _ => self.all.get((form & !OWN) as usize)?.shared(),
        }
    }

    /// Its look-ups are done.
    #[inline]
    fn remove(&mut self, form: u32) {
        if form & OWN != 0 && form != NO_FORM {
            self.vacant.push(form & !OWN);
        }
    }

    /// A dispatch begins.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.vacant.clear();
    }
}

/// One access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) wave: u32,
    /// Number of its form.
    pub(crate) form: u32,
    pub(crate) block: u64,
    /// Cycle at which it issued.
    pub(crate) at: u64,
    /// The instruction makes no more.
    pub(crate) last: bool,
    size: Size,
    /// Cycle at which its next translation is asked for, once it has begun.
    ahead: Option<u64>,
    progress: Progress,
    done: u64,
    smooth: bool,
    full: bool,
}

impl Queue {
    /// What leaves until a cycle is gone; what fits then comes in.
    fn go_on(&mut self, now: u64, most: [u32; 2]) {
        for (leaving, lines) in self.leaving.iter_mut().zip(&mut self.lines) {
            while let Some((_, gone)) = leaving.pop_front_if(|&mut (cycle, _)| cycle <= now) {
                *lines -= gone;
            }
        }
        while let Some(next) = self.accesses.get(self.entered) {
            let (size, lines) = (next.size, &mut self.lines[usize::from(next.size.store)]);
            if *lines > 0 && *lines + size.lines > most[usize::from(size.store)] {
                break;
            }
            *lines += size.lines;
            self.taken -= size.places;
            self.entered += 1;
        }
    }

    /// Whether there are so many places for an access now. They are taken then.
    fn room(&mut self, now: u64, places: u32, rates: &Rates) -> bool {
        if self.taken + places > rates.waiting {
            self.go_on(now, rates.lines);
        }
        let room = self.taken == 0 || self.taken + places <= rates.waiting;
        if room {
            self.taken += places;
        }
        room
    }

    /// Whether a wave that began at a cycle can issue an access now; if not, it is told when it can. It has its places then.
    pub(crate) fn lets_in(
        &mut self,
        (started, wave): (u64, u32),
        (now, places): (u64, u32),
        rates: &Rates,
        unit: usize,
        calendar: &mut Calendar,
    ) -> bool {
        if self.outside.is_empty() && self.room(now, places, rates) {
            return true;
        }
        self.outside.insert((started, wave), places);
        self.tell(unit, calendar);
        false
    }

    /// Waves that waited and can issue now; they have their places.
    fn let_in(&mut self, now: u64, rates: &Rates) -> impl Iterator<Item = u32> {
        self.tells = self.tells.filter(|&tells| tells > now);
        std::iter::from_fn(move || {
            let (&wave, &places) = self.outside.first_key_value()?;
            if !self.room(now, places, rates) {
                return None;
            }
            self.outside.remove(&wave);
            Some(wave.1)
        })
    }

    /// When the next access leaves, of those whose look-ups are done.
    fn leaves(&self) -> Option<u64> {
        self.leaving.iter().filter_map(|of| of.front()).map(|&(cycle, _)| cycle).min()
    }

    /// Sees to it that a wave that waits is told to go on.
    fn tell(&mut self, unit: usize, calendar: &mut Calendar) {
        if !self.outside.is_empty()
            && let Some(cycle) = self.leaves()
            && self.tells.is_none_or(|tells| cycle < tells)
        {
            self.tells = Some(cycle);
            calendar.push(cycle, unit as u32 | L1 | LEAVES);
        }
    }

    /// An access issues on a compute unit.
    pub(crate) fn push(&mut self, access: Access, unit: usize, calendar: &mut Calendar) {
        self.accesses.push_back(access);
        if !self.active {
            self.active = true;
            calendar.push(access.at.max(self.free), unit as u32 | L1);
        }
    }

    /// Something of what the next look-up needs.
    pub(crate) fn soon(&self) -> u64 {
        self.accesses.front().map_or(0, |access| access.block)
    }
}

impl Access {
    /// One of a form at a block, which may be the last of its instruction.
    #[inline(always)]
    pub(crate) fn new(wave: u32, (form, block, size): (u32, u64, Size), at: u64, last: bool) -> Access {
        let progress = Progress::default();
        Access {
            wave,
            form,
            block,
            at,
            last,
            size,
            ahead: None,
            progress,
            done: 0,
            smooth: true,
            full: false,
        }
    }
}

impl Dies {
    /// A unit's vector L1 works on the access that came first.
    pub(crate) fn vector_l1(&mut self, number: usize, now: u64) {
        let Dies { units, groups, caches, memory, waves, grid, owns, .. } = self;
        let unit = &mut units[number];
        unit.queue.go_on(now, memory.rates.lines);
        if unit.queue.entered == 0
            && !unit.queue.accesses.is_empty()
            && let Some(cycle) = unit.queue.leaves()
        {
            self.calendar.push(cycle, number as u32 | L1);
            return;
        }
        let Some(access) = unit.queue.accesses.front_mut() else {
            unit.queue.active = false;
            return;
        };
        if access.at > now {
            self.calendar.push(access.at, number as u32 | L1);
            return;
        }
        let wave = &waves[access.wave as usize];
        let mut port = Port::new(memory, &mut unit.lines, (unit.xcd, number));
        port.now = now;
        port.ahead = access.ahead.unwrap_or(now);
        port.done = access.done;
        (port.smooth, port.full) = (access.smooth, access.full);
        let group = groups[wave.group as usize].as_ref();
        if let Some(group) = group
            && let Some(shared) = owns.get(access.form, &group.forms)
        {
            let block = match shared.policy.scratch {
                true => {
                    let place =
                        number as u64 * u64::from(grid.groups_per_unit.max(1)) + u64::from(group.slot);
                    let wave =
                        place.wrapping_mul(group.waves.len() as u64).wrapping_add(u64::from(wave.number));
                    let base = SCRATCH.wrapping_add(wave.wrapping_mul(grid.scratch)) / caches.shape().l2_line;
                    access.block.wrapping_add(base)
                }
                false => access.block,
            };
            let who = (unit.xcd, unit.number);
            if !caches.look_ups(who, (&shared, block), &mut access.progress, &mut port) {
                (access.done, access.ahead) = (port.done, Some(port.ahead));
                (access.smooth, access.full) = (false, port.full);
                let until = port.until.max(now + 1);
                self.calendar.push(until, number as u32 | L1);
                return;
            }
            caches.end(unit.xcd, shared.policy, &mut access.progress, &mut port);
        } else {
            port.now += u64::from(access.size.lines);
            port.done = port.done.max(port.now - 1 + port.memory.rates.l1);
        }
        let (end, done) = (port.now, port.done.max(port.now));
        let (wave, last, size) = (access.wave, access.last, access.size);
        owns.remove(access.form);
        unit.queue.accesses.pop_front();
        unit.queue.entered = unit.queue.entered.saturating_sub(1);
        unit.queue.free = end;
        let kind = usize::from(size.store);
        // What comes back is given to waves a line a cycle.
        let done = (unit.queue.left[kind] + if size.store { 0 } else { u64::from(size.lines) }).max(done);
        unit.queue.left[kind] = done;
        unit.queue.leaving[kind].push_back((done, size.lines));
        unit.queue.tell(number, &mut self.calendar);
        if unit.queue.accesses.is_empty() {
            unit.queue.active = false;
        } else {
            self.calendar.push(end, number as u32 | L1);
        }
        if last {
            self.arrives(wave, done);
        }
    }

    /// Something leaves a unit's vector L1: waves may go on that wait to issue.
    pub(crate) fn leaves(&mut self, number: usize, now: u64) {
        let queue = &mut self.units[number].queue;
        for wave in queue.let_in(now, &self.memory.rates) {
            self.calendar.push(now, wave);
        }
        queue.tell(number, &mut self.calendar);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arch::Model;

    const LOAD: Size = Size { places: 1, lines: 4, store: false };
    const STORE: Size = Size { places: 2, lines: 8, store: true };

    fn rates() -> Rates {
        Rates { waiting: 4, lines: [16, 8], ..Rates::of(Model::by_name("mi210").unwrap()) }
    }

    /// A wave that began at its number issues an access, or waits to.
    fn issues(queue: &mut Queue, wave: u32, now: u64, size: Size, calendar: &mut Calendar) -> bool {
        let room = queue.lets_in((wave.into(), wave), (now, size.places), &rates(), 0, calendar);
        if room {
            queue.push(Access::new(wave, (NO_FORM, 0, size), now, false), 0, calendar);
        }
        room
    }

    #[test]
    fn waves_issue_while_there_is_room() {
        let (mut queue, mut calendar) = (Queue::default(), Calendar::new());
        // Four loads are in the vector L1, four wait before it.
        let room: Vec<bool> = (0..10).map(|wave| issues(&mut queue, wave, 0, LOAD, &mut calendar)).collect();
        assert_eq!(room.iter().filter(|&&it| it).count(), 8, "{room:?}");
        assert_eq!((queue.entered, queue.lines, queue.taken), (4, [16, 0], 4));
        assert_eq!(queue.outside.keys().map(|it| it.1).collect::<Vec<_>>(), [8, 9]);
    }

    #[test]
    fn loads_and_stores_have_their_own_lines_but_share_places() {
        let (mut queue, mut calendar) = (Queue::default(), Calendar::new());
        // One store is in the vector L1, and holds up all behind it.
        for (wave, size, room) in
            [(0, STORE, true), (1, STORE, true), (2, LOAD, true), (3, LOAD, true), (4, LOAD, false)]
        {
            assert_eq!(issues(&mut queue, wave, 0, size, &mut calendar), room, "{wave}");
        }
        assert_eq!((queue.entered, queue.lines, queue.taken), (1, [0, 8], 4));
    }

    #[test]
    fn what_leaves_makes_room_and_the_oldest_wave_is_told() {
        let (mut queue, mut calendar) = (Queue::default(), Calendar::new());
        (0..8).for_each(|wave| assert!(issues(&mut queue, wave, 0, LOAD, &mut calendar)));
        assert!(!issues(&mut queue, 30, 5, LOAD, &mut calendar));
        assert!(!issues(&mut queue, 20, 6, LOAD, &mut calendar));
        // The first access has done its look-ups and is answered at cycle 100.
        queue.accesses.pop_front();
        queue.entered -= 1;
        queue.leaving[0].push_back((100, LOAD.lines));
        queue.tell(0, &mut calendar);
        assert_eq!(queue.tells, Some(100));
        assert!(!queue.room(99, 1, &rates()));
        // Who comes now waits behind those that do already.
        assert!(!issues(&mut queue, 10, 100, LOAD, &mut calendar));
        let told: Vec<u32> = queue.let_in(100, &rates()).collect();
        assert_eq!(told, [10]);
        assert_eq!((queue.entered, queue.lines, queue.taken), (4, [16, 0], 4));
    }

    #[test]
    fn an_access_that_is_too_large_has_it_all() {
        let (mut queue, mut calendar) = (Queue::default(), Calendar::new());
        let large = Size { places: 9, lines: 100, store: false };
        assert!(issues(&mut queue, 0, 0, large, &mut calendar));
        assert!(issues(&mut queue, 1, 0, LOAD, &mut calendar));
        assert_eq!((queue.entered, queue.lines, queue.taken), (1, [100, 0], 1));
    }
}
