//! A wave that issues instructions.
//!
//! The one idea to keep in mind: a wave goes on by itself for some cycles before others get their turn; where it has to
//! wait for something whose moment nobody knows yet, it stops and whoever learns the moment wakes it.

use crate::dies::{Dies, WAVES};
use crate::op::{NO_SLOT, Op, Unit};
use crate::outcome::Stall;
use crate::rates::ISSUE;
use crate::scalar::ScalarPort;
use crate::vector::{Access, NO_FORM, Size};
use mem::{Cursor, Event};

/// Cycles a wave goes on before others get their turn.
const TURN: u64 = 32;

/// Classes of instructions of which a SIMD issues one at a time.
pub(crate) const CLASSES: usize = 6;
const VECTOR: usize = 0;
const MATRIX: usize = 1;
const SCALAR: usize = 2;
const SCALAR_MEMORY: usize = 3;
const MEMORY: usize = 4;
const LDS: usize = 5;

/// Accesses of vector memory, and others, that can be under way.
const UNDER_WAY: usize = 64;
const OTHERS: usize = 16;

/// No instruction.
const NOWHERE: u32 = u32::MAX;

/// A wave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wave {
    pub(crate) group: u32,
    /// In its workgroup.
    pub(crate) number: u32,
    simd: u8,
    state: State,
    cursor: Cursor,
    /// The event of the stream that comes next, if it was looked at.
    event: Option<Event>,
    /// The instruction that comes next, and the end of its run.
    next: u32,
    end: u32,
    pub(crate) started: u64,
    /// Vector accesses that issued, and those of them whose end is known.
    issued: u32,
    known: u32,
    /// Accesses of LDS and scalar memory that issued.
    others: u32,
    /// Since when it waits, before which instruction.
    since: u64,
    at: u32,
    /// It has a place before the vector L1.
    let_in: bool,
}

/// When accesses of a wave that may be under way are done, in the order in which they issued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    vector: [u64; UNDER_WAY],
    other: [u64; OTHERS],
}

impl Done {
    /// Something of what the next turn needs.
    #[inline]
    pub(crate) fn soon(&self) -> u64 {
        self.other[0]
    }
}

impl Default for Done {
    fn default() -> Done {
        Done { vector: [0; UNDER_WAY], other: [0; OTHERS] }
    }
}

/// What a wave waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Running,
    /// The end of so many vector accesses.
    Vector(u32),
    Barrier,
    /// Room before the vector L1.
    Room,
}

impl Default for Wave {
    fn default() -> Wave {
        Wave {
            group: 0,
            number: 0,
            simd: 0,
            state: State::Running,
            cursor: Cursor::default(),
            event: None,
            next: NOWHERE,
            end: NOWHERE,
            started: 0,
            issued: 0,
            known: 0,
            others: 0,
            since: 0,
            at: NOWHERE,
            let_in: false,
        }
    }
}

impl Wave {
    pub(crate) fn begin(&mut self, group: u32, number: u32, simd: usize, started: u64) {
        *self = Wave { group, number, simd: simd as u8, started, ..Wave::default() };
    }

    /// Something of what the next turn needs.
    #[inline]
    pub(crate) fn soon(&self, bytes: &[u8]) -> u64 {
        u64::from(self.cursor.soon(bytes))
    }

    /// The event that comes next in the part of the stream that is at hand.
    #[inline]
    fn peek(&mut self, bytes: &[u8]) -> Option<Event> {
        if self.event.is_none() {
            self.event = self.cursor.next(bytes);
        }
        self.event
    }

    /// When so many vector accesses are done, if that is known.
    fn vector_done(&self, done: &Done, count: u32) -> Option<u64> {
        match count {
            0 => Some(0),
            count if count > self.known => None,
            count => Some(done.vector[(count - 1) as usize % UNDER_WAY]),
        }
    }

    /// When so many other accesses are done.
    fn other_done(&self, done: &Done, count: u32) -> u64 {
        count.checked_sub(1).map_or(0, |last| done.other[last as usize % OTHERS])
    }

    /// An access of LDS or scalar memory is done at a cycle, and all before it.
    fn add_other(&mut self, done: &mut Done, cycle: u64) {
        let before = self.other_done(done, self.others);
        done.other[self.others as usize % OTHERS] = cycle.max(before);
        self.others += 1;
    }

    /// It waits from a cycle on, before an instruction.
    fn waits(&mut self, state: State, since: u64) {
        (self.state, self.since, self.at) = (state, since, self.next);
    }
}

/// How a turn of a wave ends.
enum Turn {
    /// It goes on at a cycle.
    At(u64),
    /// It waits.
    Waits,
    /// It waits at a barrier, from a cycle on.
    Barrier(u64),
    /// It has ended, at a cycle.
    Ended(u64),
}

impl Dies {
    /// A wave gets its turn.
    pub(crate) fn wave(&mut self, name: u32, now: u64) {
        let wave = &mut self.waves[name as usize];
        if wave.state != State::Running && wave.at != NOWHERE {
            let stall = if wave.state == State::Room { Stall::Issue } else { Stall::Memory };
            self.outcome.wait(wave.at, stall, now.saturating_sub(wave.since));
        }
        wave.let_in = wave.state == State::Room;
        wave.state = State::Running;
        let group = wave.group;
        let turn = self.turn(name, now);
        match turn {
            Turn::At(cycle) => self.calendar.push(cycle, name),
            Turn::Waits => {}
            Turn::Barrier(cycle) => {
                if let Some(group) = &mut self.groups[group as usize] {
                    group.waiting += 1;
                }
                self.open_barrier(group, cycle);
            }
            Turn::Ended(cycle) => self.ended(name, cycle),
        }
    }

    /// The end of a wave's oldest vector access whose end was not known is.
    pub(crate) fn arrives(&mut self, name: u32, cycle: u64) {
        let (wave, done) = (&mut self.waves[name as usize], &mut self.done[name as usize]);
        let before = wave.vector_done(done, wave.known).unwrap_or(0);
        let cycle = cycle.max(before);
        // Its issue was taken off already.
        let under_way = &mut self.outcome.under_way.vector;
        *under_way = under_way.wrapping_add(cycle);
        done.vector[wave.known as usize % UNDER_WAY] = cycle;
        wave.known += 1;
        if wave.state == State::Vector(wave.known) {
            self.calendar.push(cycle.max(wave.since), name);
        }
    }

    /// Lets the waves of a workgroup go on if all that have not ended wait at the barrier.
    pub(crate) fn open_barrier(&mut self, id: u32, now: u64) {
        let Dies { groups, waves, outcome, calendar, .. } = self;
        let Some(group) = &mut groups[id as usize] else { return };
        if group.waiting == 0 || group.waiting < group.running {
            return;
        }
        group.waiting = 0;
        let waits = |name: &u32| {
            let wave = &waves[*name as usize];
            wave.group == id && wave.state == State::Barrier
        };
        let names: Vec<u32> = group.waves.iter().copied().filter(waits).collect();
        let open = names.iter().map(|&name| waves[name as usize].since).fold(now, u64::max);
        for name in names {
            let wave = &mut waves[name as usize];
            outcome.wait(wave.at, Stall::Barrier, open - wave.since);
            wave.state = State::Running;
            calendar.push(open, name);
        }
    }

    /// A wave issues until it has to wait or its turn is over.
    fn turn(&mut self, name: u32, now: u64) -> Turn {
        let (number, no_wait_states) = (name as usize / WAVES, self.no_wait_states);
        let Dies {
            waves,
            windows,
            groups,
            units,
            caches,
            memory,
            calendar,
            outcome,
            done,
            ops,
            scalar_lines,
            owns,
            ..
        } = self;
        let wave = &mut waves[name as usize];
        let Some(group) = groups[wave.group as usize].as_ref() else { return Turn::Waits };
        let Some(stream) = group.group.waves.get(wave.number as usize) else { return Turn::Waits };
        let window = &mut windows[name as usize];
        let mut bytes = stream.at_hand(window);
        let forms = &*group.forms;
        let unit = &mut units[number];
        let done = &mut done[name as usize];
        let simd = usize::from(wave.simd);
        let mut now_at = now;
        let last = now + TURN;
        let free = memory.rates.free;
        while now_at <= last {
            let op = if wave.next == wave.end {
                match wave.peek(bytes) {
                    Some(Event::Run(run)) => {
                        wave.event = None;
                        let (first, count) = forms.run(run);
                        if wave.end != NOWHERE && first != wave.end {
                            let fetch = memory.rates.fetch;
                            outcome.wait(first, Stall::Fetch, fetch);
                            now_at += fetch;
                        }
                        (wave.next, wave.end) = (first, first.saturating_add(count));
                        continue;
                    }
                    // What stands outside of runs is an instruction by itself.
                    Some(Event::Vector(form, _)) => {
                        let slot = forms.get(form).map_or(NO_SLOT, |shared| shared.slot);
                        Op { slot, ..Op::new(Unit::Memory, 4) }
                    }
                    Some(Event::Own(slot, ..)) => Op { slot, ..Op::new(Unit::Memory, 4) },
                    Some(Event::Scalar(..)) => Op::new(Unit::ScalarMemory, 4),
                    Some(Event::Lds(access)) => Op { slot: forms.lds(access).slot, ..Op::new(Unit::Lds, 4) },
                    Some(Event::Barrier) => Op::new(Unit::Barrier, 4),
                    None => {
                        let more = window.turn(stream, &mut wave.cursor);
                        bytes = stream.at_hand(window);
                        if more {
                            continue;
                        }
                        Op::new(Unit::End, 4)
                    }
                }
            } else {
                ops.get(wave.next as usize).copied().unwrap_or(Op::new(Unit::Idle, 4))
            };
            let at = wave.next;
            // Waits for a class of instructions of the SIMD, which is then busy for some cycles.
            let mut issue = |now: &mut u64, class: usize, stall: Stall, cycles: u64| {
                if free.units {
                    return;
                }
                let free = &mut unit.free[simd][class];
                if *free > *now {
                    outcome.wait(at, stall, *free - *now);
                    *now = *free;
                }
                *free = *now + cycles;
            };
            let step = memory.rates.issue;
            let mut cycles = u64::from(op.cycles);
            match op.unit {
                Unit::Vector => {
                    issue(&mut now_at, VECTOR, Stall::Issue, cycles);
                    now_at += step;
                }
                Unit::Matrix => {
                    issue(&mut now_at, MATRIX, Stall::Matrix, cycles);
                    let before = now_at;
                    issue(&mut now_at, VECTOR, Stall::Issue, step);
                    unit.free[simd][MATRIX] += now_at - before;
                    now_at += step;
                }
                Unit::Scalar => {
                    issue(&mut now_at, SCALAR, Stall::Issue, cycles);
                    now_at += step;
                }
                Unit::Branch | Unit::Idle | Unit::Pause => {
                    if op.unit == Unit::Idle && no_wait_states {
                        cycles = cycles.min(ISSUE);
                    }
                    if op.unit != Unit::Branch && cycles > ISSUE {
                        outcome.wait(at, Stall::Dependency, cycles - ISSUE);
                    }
                    cycles -= cycles.min(ISSUE - step);
                    now_at += cycles;
                }
                Unit::ScalarMemory => {
                    if wave.others as usize >= OTHERS {
                        now_at = now_at.max(wave.other_done(done, wave.others + 1 - OTHERS as u32));
                    }
                    issue(&mut now_at, SCALAR_MEMORY, Stall::Issue, cycles);
                    if let Some(Event::Scalar(kind, dword, dwords)) = wave.peek(bytes) {
                        wave.event = None;
                        let index = unit.xcd * caches.shape().scalar_caches() + unit.shared;
                        let ready = &mut scalar_lines[index][..];
                        let mut port = ScalarPort {
                            memory,
                            ready,
                            xcd: unit.xcd,
                            now: now_at,
                            done: now_at,
                            place: None,
                        };
                        caches.scalar((unit.xcd, unit.shared), kind, dword, dwords, &mut port);
                        let end = port.done;
                        wave.add_other(done, end);
                    }
                    now_at += step;
                }
                Unit::Memory | Unit::Flat | Unit::Lds => {
                    if wave.issued - wave.known >= UNDER_WAY as u32 - 1 {
                        let oldest = wave.known + 1;
                        wave.waits(State::Vector(oldest), now_at);
                        return Turn::Waits;
                    }
                    if wave.others as usize >= OTHERS {
                        now_at = now_at.max(wave.other_done(done, wave.others + 1 - OTHERS as u32));
                    }
                    let next = wave.peek(bytes);
                    let size = next.and_then(|next| Size::of(next, op, bytes, forms, &memory.rates));
                    if let Some(Size { places, .. }) = size
                        && !std::mem::take(&mut wave.let_in)
                    {
                        let who = (wave.started, name);
                        if !unit.queue.lets_in(who, (now_at, places), &memory.rates, number, calendar) {
                            wave.waits(State::Room, now_at);
                            return Turn::Waits;
                        }
                    }
                    let class = if op.unit == Unit::Lds { LDS } else { MEMORY };
                    issue(&mut now_at, class, Stall::Issue, cycles);
                    let mut access = None;
                    let mut local = u64::from(op.exchange);
                    loop {
                        match wave.peek(bytes) {
                            Some(event @ (Event::Vector(_, block) | Event::Own(_, _, block)))
                                if let Some(own) = Size::of(event, op, bytes, forms, &memory.rates) =>
                            {
                                let form = match event {
                                    Event::Vector(form, _) => form as u32,
                                    Event::Own(slot, at, _) => owns.add(bytes, slot, at),
                                    _ => NO_FORM,
                                };
                                // The first has the places of the instruction.
                                let places = size.filter(|_| access.is_none()).map_or(0, |it| it.places);
                                let own = Size { places, ..own };
                                if let Some(before) = access.replace((form, block, own)) {
                                    let before = Access::new(name, before, now_at, false);
                                    unit.queue.push(before, number, calendar);
                                }
                            }
                            Some(Event::Lds(access)) if forms.lds(access).slot == op.slot => {
                                let access = forms.lds(access);
                                local += u64::from(access.cycles);
                                if free.conflicts {
                                    local -= u64::from(access.conflicts.min(access.cycles));
                                }
                            }
                            _ => break,
                        }
                        wave.event = None;
                        if wave.end == NOWHERE {
                            break;
                        }
                    }
                    // What is in the LDS goes through the vector L1 besides, in the order of all.
                    if let (None, Some(size)) = (access, size) {
                        access = Some((NO_FORM, 0, size));
                    }
                    if let Some(access) = access {
                        unit.queue.push(Access::new(name, access, now_at, true), number, calendar);
                        wave.issued += 1;
                        outcome.under_way.vector = outcome.under_way.vector.wrapping_sub(now_at);
                    }
                    if local > 0 {
                        let enters = unit.lds.max(now_at);
                        unit.lds = enters + local;
                        let end = enters + local + memory.rates.lds;
                        if op.unit == Unit::Lds {
                            outcome.under_way.local += end - now_at;
                        }
                        // A load straight into the LDS is waited for as vector memory.
                        if op.unit != Unit::Memory {
                            wave.add_other(done, end);
                        }
                    }
                    now_at += step;
                }
                Unit::Wait { vector, other } => {
                    if let Some(count) = wave.issued.checked_sub(u32::from(vector)).filter(|&count| count > 0)
                    {
                        let Some(end) = wave.vector_done(done, count) else {
                            wave.waits(State::Vector(count), now_at);
                            return Turn::Waits;
                        };
                        if end > now_at {
                            outcome.wait(at, Stall::Memory, end - now_at);
                            now_at = end;
                        }
                    }
                    if let Some(count) = wave.others.checked_sub(u32::from(other)) {
                        let end = wave.other_done(done, count);
                        if end > now_at {
                            outcome.wait(at, Stall::Local, end - now_at);
                            now_at = end;
                        }
                    }
                    now_at += cycles;
                }
                Unit::Barrier if free.barriers => {
                    if wave.next == wave.end {
                        wave.event = None;
                    }
                    now_at += step;
                }
                Unit::Barrier => {
                    wave.waits(State::Barrier, now_at);
                    if wave.next == wave.end {
                        wave.event = None;
                    } else {
                        wave.next += 1;
                    }
                    return Turn::Barrier(now_at);
                }
                Unit::End => {
                    let Some(end) = wave.vector_done(done, wave.issued) else {
                        wave.waits(State::Vector(wave.issued), now_at);
                        return Turn::Waits;
                    };
                    if end > now_at {
                        outcome.wait(at, Stall::Memory, end - now_at);
                        now_at = end;
                    }
                    return Turn::Ended(now_at);
                }
            }
            if wave.next != wave.end {
                wave.next += 1;
            }
        }
        Turn::At(now_at)
    }
}
