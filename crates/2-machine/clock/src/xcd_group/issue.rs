//! The step function: a wave issues instructions until it waits or its turn ends.
//!
//! A wave runs ahead of the calendar by [`TURN`] cycles at most. A wait whose end is known advances the
//! wave's own cycle; a wait whose end is unknown suspends the wave, and the completion resumes it.

use super::{ComputeUnit, WAVES, XcdGroup};
use crate::calendar::Calendar;
use crate::l1_queue::{L1Demand, NO_PATTERN, QueuedAccess, UniqueAccesses};
use crate::memory::Memory;
use crate::op::{NO_SLOT, Op, Unit};
use crate::outcome::{Outcome, Stall};
use crate::rates::{ISSUE, Idealized};
use crate::scalar::ScalarTiming;
use crate::wave::{Completions, MOST_OTHER, MOST_VECTOR, NO_INSTRUCTION, Wave, WaveState};
use mem::{AccessPatterns, Caches, Event, StreamWindow, WaveStream};

/// Cycles a wave issues for before other waves get their turn.
const TURN: u64 = 32;

/// Instruction classes of which a SIMD issues one at a time.
pub(crate) const CLASSES: usize = 6;
const VECTOR: usize = 0;
const MATRIX: usize = 1;
const SCALAR: usize = 2;
const SCALAR_MEMORY: usize = 3;
const MEMORY: usize = 4;
const LDS: usize = 5;

/// How the turn of a wave ends.
enum Turn {
    /// The wave continues at a cycle.
    At(u64),
    /// The wave is suspended until a completion resumes it.
    Waits,
    /// The wave waits at a barrier from a cycle on.
    Barrier(u64),
    /// The wave ends at a cycle.
    Ended(u64),
}

/// An instruction that does not issue: the turn ends before it.
type Issued = Result<(), Turn>;

impl XcdGroup {
    /// Runs a wave's turn at a cycle.
    pub(crate) fn resume_wave(&mut self, name: u32, now: u64) {
        let wave = &mut self.waves[name as usize];
        if wave.state != WaveState::Running && wave.waits_at != NO_INSTRUCTION {
            let stall = if wave.state == WaveState::L1Queue { Stall::Issue } else { Stall::Memory };
            self.outcome.wait(wave.waits_at, stall, now.saturating_sub(wave.waits_since));
        }
        wave.admitted = wave.state == WaveState::L1Queue;
        wave.state = WaveState::Running;
        let group = wave.group;
        match self.run_wave(name, now) {
            Turn::At(cycle) => self.calendar.push(cycle, name),
            Turn::Waits => {}
            Turn::Barrier(cycle) => {
                if let Some(group) = &mut self.groups[group as usize] {
                    group.waiting += 1;
                }
                self.open_barrier(group, cycle);
            }
            Turn::Ended(cycle) => self.end_wave(name, cycle),
        }
    }

    /// Records the completion cycle of a wave's oldest outstanding vector access, and resumes the wave if it
    /// waits for it.
    pub(crate) fn vector_access_done(&mut self, name: u32, cycle: u64) {
        let wave = &mut self.waves[name as usize];
        let cycle = wave.complete_vector(&mut self.completions[name as usize], cycle);
        // The issue cycle was subtracted at issue.
        let outstanding = &mut self.outcome.under_way.vector;
        *outstanding = outstanding.wrapping_add(cycle);
        if wave.state == WaveState::Vector(wave.vector_completed) {
            self.calendar.push(cycle.max(wave.waits_since), name);
        }
    }

    /// Resumes the waves of a workgroup once every wave that has not ended waits at the barrier.
    pub(crate) fn open_barrier(&mut self, id: u32, now: u64) {
        let XcdGroup { groups, waves, outcome, calendar, .. } = self;
        let Some(group) = &mut groups[id as usize] else { return };
        if group.waiting == 0 || group.waiting < group.running {
            return;
        }
        group.waiting = 0;
        let waits = |name: &u32| {
            let wave = &waves[*name as usize];
            wave.group == id && wave.state == WaveState::Barrier
        };
        let names: Vec<u32> = group.waves.iter().copied().filter(waits).collect();
        let open = names.iter().map(|&name| waves[name as usize].waits_since).fold(now, u64::max);
        for name in names {
            let wave = &mut waves[name as usize];
            outcome.wait(wave.waits_at, Stall::Barrier, open - wave.waits_since);
            wave.state = WaveState::Running;
            calendar.push(open, name);
        }
    }

    /// Issues a wave's instructions until it waits or its turn is over.
    fn run_wave(&mut self, name: u32, now: u64) -> Turn {
        let Some(mut issue) = self.issue(name, now) else { return Turn::Waits };
        let last = now + TURN;
        while issue.now <= last {
            let Some(op) = issue.next_op() else { continue };
            let issued = match op.unit {
                Unit::Vector => issue.vector(op),
                Unit::Packed => issue.packed(op),
                Unit::Matrix => issue.matrix(op),
                Unit::Scalar => issue.scalar(op),
                Unit::Branch | Unit::Idle | Unit::Pause => issue.idle(op),
                Unit::ScalarMemory => issue.scalar_memory(op),
                Unit::Memory | Unit::Flat | Unit::Lds => issue.memory(op),
                Unit::Wait { vector, other } => issue.wait(op, vector, other),
                Unit::Barrier => issue.barrier(),
                Unit::End => Err(issue.end()),
            };
            if let Err(turn) = issued {
                return turn;
            }
            if issue.wave.next != issue.wave.end {
                issue.wave.next += 1;
            }
        }
        Turn::At(issue.now)
    }

    /// Borrows the state of the GPU that a wave's turn needs; `None` for a wave without a stream.
    #[inline(always)]
    fn issue(&mut self, name: u32, now: u64) -> Option<Issue<'_>> {
        let number = name as usize / WAVES;
        let wave = &mut self.waves[name as usize];
        let group = self.groups[wave.group as usize].as_ref()?;
        let stream = group.group.waves.get(wave.number as usize)?;
        let window = &mut self.windows[name as usize];
        Some(Issue {
            name,
            now,
            stream,
            patterns: &group.patterns,
            ideal: self.memory.rates.ideal,
            step: self.memory.rates.issue,
            no_wait_states: self.no_wait_states,
            unit_number: number,
            unit: &mut self.units[number],
            completions: &mut self.completions[name as usize],
            ops: &self.ops,
            caches: &mut self.caches,
            memory: &mut self.memory,
            calendar: &mut self.calendar,
            outcome: &mut self.outcome,
            scalar_lines: &mut self.scalar_lines,
            unique_accesses: &mut self.unique_accesses,
            window,
            wave,
        })
    }
}

/// Cycles of the LDS that an instruction needs, and how many of them are conflicts.
#[derive(Clone, Copy, Default)]
struct LdsDemand {
    cycles: u64,
    conflicts: u64,
}

/// A wave's turn: the wave, its compute unit, and the parts of the GPU its instructions reach.
struct Issue<'a> {
    name: u32,
    /// Cycle at which the next instruction can issue.
    now: u64,
    /// Cycles between two instructions of a wave.
    step: u64,
    ideal: Idealized,
    no_wait_states: bool,
    wave: &'a mut Wave,
    completions: &'a mut Completions,
    stream: &'a WaveStream,
    window: &'a mut StreamWindow,
    patterns: &'a AccessPatterns,
    ops: &'a [Op],
    unit_number: usize,
    unit: &'a mut ComputeUnit,
    caches: &'a mut Caches,
    memory: &'a mut Memory,
    calendar: &'a mut Calendar,
    outcome: &'a mut Outcome,
    /// By scalar cache: arrival cycle of each line.
    scalar_lines: &'a mut [Vec<u64>],
    unique_accesses: &'a mut UniqueAccesses,
}

impl Issue<'_> {
    /// The next instruction; `None` when a new run of instructions, or a new part of the stream, begins
    /// first.
    #[inline(always)]
    fn next_op(&mut self) -> Option<Op> {
        if self.wave.next != self.wave.end {
            let op = self.ops.get(self.wave.next as usize).copied();
            return Some(op.unwrap_or(Op::new(Unit::Idle, 4)));
        }
        match self.peek() {
            Some(Event::Run(run)) => {
                self.begin_run(run);
                None
            }
            Some(event) => Some(self.op_of_event(event)),
            None => {
                let has_more = self.window.advance(self.stream, &mut self.wave.cursor);
                (!has_more).then_some(Op::new(Unit::End, 4))
            }
        }
    }

    /// The next event of the stream.
    #[inline(always)]
    fn peek(&mut self) -> Option<Event> {
        self.wave.peek(self.stream.resident_part(self.window))
    }

    /// Begins a run of consecutive instructions; code at another address than the next takes a fetch.
    #[inline(always)]
    fn begin_run(&mut self, run: usize) {
        self.wave.event = None;
        let (first, count) = self.patterns.run(run);
        if self.wave.end != NO_INSTRUCTION && first != self.wave.end {
            let fetch = self.memory.rates.fetch;
            self.outcome.wait(first, Stall::Fetch, fetch);
            self.now += fetch;
        }
        (self.wave.next, self.wave.end) = (first, first.saturating_add(count));
    }

    /// The instruction of an event outside of runs.
    fn op_of_event(&self, event: Event) -> Op {
        match event {
            Event::Vector(pattern, _) => {
                let slot = self.patterns.get(pattern).map_or(NO_SLOT, |access| access.slot);
                Op { slot, ..Op::new(Unit::Memory, 4) }
            }
            Event::Unique(slot, ..) => Op { slot, ..Op::new(Unit::Memory, 4) },
            Event::Scalar(..) => Op::new(Unit::ScalarMemory, 4),
            Event::Lds(access) => Op { slot: self.patterns.lds(access).slot, ..Op::new(Unit::Lds, 4) },
            Event::Barrier => Op::new(Unit::Barrier, 4),
            Event::Run(_) => Op::new(Unit::Idle, 4),
        }
    }

    /// Waits until the SIMD can issue an instruction of a class, and occupies the class for some cycles.
    #[inline(always)]
    fn occupy(&mut self, class: usize, stall: Stall, cycles: u64) {
        if self.ideal.units {
            return;
        }
        let free = &mut self.unit.free[usize::from(self.wave.simd)][class];
        if *free > self.now {
            self.outcome.wait(self.wave.next, stall, *free - self.now);
            self.now = *free;
        }
        *free = self.now + cycles;
    }

    /// Waits until a cycle, if that is ahead.
    #[inline(always)]
    fn wait_until(&mut self, cycle: u64, stall: Stall) {
        if cycle > self.now {
            self.outcome.wait(self.wave.next, stall, cycle - self.now);
            self.now = cycle;
        }
    }

    /// Suspends the wave until its first `count` vector accesses have completed.
    fn suspend_for_vector(&mut self, count: u32) -> Turn {
        self.wave.wait_for(WaveState::Vector(count), self.now);
        Turn::Waits
    }

    /// Waits until the ring of LDS and scalar completions has room for another access.
    #[inline(always)]
    fn wait_for_other_room(&mut self) {
        if self.wave.other_issued as usize >= MOST_OTHER {
            let oldest = self.wave.other_issued + 1 - MOST_OTHER as u32;
            self.now = self.now.max(self.wave.lds_or_scalar_completion(self.completions, oldest));
        }
    }

    /// A vector ALU instruction. A wave alone on its SIMD waits for the second half of one that crosses a fetch; other
    /// waves use the cycle.
    #[inline(always)]
    fn vector(&mut self, op: Op) -> Issued {
        if op.split_fetch > 0 && self.unit.slots[usize::from(self.wave.simd)].count_ones() == 1 {
            self.wait_until(self.now + u64::from(op.split_fetch), Stall::Fetch);
        }
        self.outcome.f64_cycles += u64::from(op.cycles) * u64::from(op.f64);
        self.occupy(VECTOR, Stall::Issue, u64::from(op.cycles));
        self.now += self.step;
        Ok(())
    }

    /// A packed f32 instruction, which begins after the matrix instruction before it and delays the next one.
    #[inline(always)]
    fn packed(&mut self, op: Op) -> Issued {
        self.occupy(MATRIX, Stall::Matrix, u64::from(op.cycles));
        self.vector(op)
    }

    /// A scalar ALU instruction.
    #[inline(always)]
    fn scalar(&mut self, op: Op) -> Issued {
        self.occupy(SCALAR, Stall::Issue, u64::from(op.cycles));
        self.now += self.step;
        Ok(())
    }

    /// A matrix instruction: occupies the matrix unit, and the vector ALU for its issue.
    #[inline(always)]
    fn matrix(&mut self, op: Op) -> Issued {
        self.outcome.matrix_cycles += u64::from(op.cycles);
        self.occupy(MATRIX, Stall::Matrix, u64::from(op.cycles));
        let before = self.now;
        self.occupy(VECTOR, Stall::Issue, self.step);
        self.unit.free[usize::from(self.wave.simd)][MATRIX] += self.now - before;
        self.now += self.step;
        Ok(())
    }

    /// An instruction that occupies no unit: branch, wait states, sleep.
    #[inline(always)]
    fn idle(&mut self, op: Op) -> Issued {
        let mut cycles = u64::from(op.cycles);
        if op.unit == Unit::Idle && self.no_wait_states {
            cycles = cycles.min(ISSUE);
        }
        if op.unit != Unit::Branch && cycles > ISSUE {
            self.outcome.wait(self.wave.next, Stall::Dependency, cycles - ISSUE);
        }
        cycles -= cycles.min(ISSUE - self.step);
        self.now += cycles;
        Ok(())
    }

    /// A scalar memory instruction.
    #[inline]
    fn scalar_memory(&mut self, op: Op) -> Issued {
        self.wait_for_other_room();
        self.occupy(SCALAR_MEMORY, Stall::Issue, u64::from(op.cycles));
        if let Some(Event::Scalar(kind, dword, dwords)) = self.peek() {
            self.wave.event = None;
            let (xcd, cache) = (self.unit.xcd, self.unit.shared);
            let index = xcd * self.caches.shape().scalar_caches() + cache;
            let mut timing = ScalarTiming {
                memory: self.memory,
                ready: &mut self.scalar_lines[index],
                xcd,
                now: self.now,
                done: self.now,
                place: None,
            };
            self.caches.scalar((xcd, cache), kind, dword, dwords, &mut timing);
            let completion = timing.done;
            self.wave.push_lds_or_scalar(self.completions, completion);
        }
        self.now += self.step;
        Ok(())
    }

    /// A vector memory, flat or LDS instruction with all its accesses.
    #[inline(always)]
    fn memory(&mut self, op: Op) -> Issued {
        if self.wave.vector_issued - self.wave.vector_completed >= MOST_VECTOR as u32 - 1 {
            return Err(self.suspend_for_vector(self.wave.vector_completed + 1));
        }
        self.wait_for_other_room();
        let demand = self.peek().and_then(|event| self.l1_demand(event, op));
        if let Some(demand) = demand {
            self.enter_l1_queue(demand)?;
        }
        let class = if op.unit == Unit::Lds { LDS } else { MEMORY };
        self.occupy(class, Stall::Issue, u64::from(op.cycles));
        let (access, lds) = self.accesses(op, demand);
        // A flat access to the LDS passes the vector L1's queue in order.
        let access = access.or(demand.map(|demand| (NO_PATTERN, 0, demand)));
        if let Some(access) = access {
            self.push_access(access, true);
            self.wave.vector_issued += 1;
            self.outcome.under_way.vector = self.outcome.under_way.vector.wrapping_sub(self.now);
        }
        if lds.cycles > 0 {
            self.lds(op, lds);
        }
        self.now += self.step;
        Ok(())
    }

    /// Resources of the vector L1 that an event of an instruction needs.
    #[inline(always)]
    fn l1_demand(&self, event: Event, op: Op) -> Option<L1Demand> {
        L1Demand::of(event, op, self.stream.resident_part(self.window), self.patterns, &self.memory.rates)
    }

    /// Takes slots of the vector L1's queue, or suspends the wave until they are free.
    #[inline(always)]
    fn enter_l1_queue(&mut self, demand: L1Demand) -> Issued {
        if std::mem::take(&mut self.wave.admitted) {
            return Ok(());
        }
        let (who, request) = ((self.wave.started, self.name), (self.now, demand.queue_slots));
        if self.unit.queue.admit(who, request, &self.memory.rates, self.unit_number, self.calendar) {
            return Ok(());
        }
        self.wave.wait_for(WaveState::L1Queue, self.now);
        Err(Turn::Waits)
    }

    /// Takes the accesses of an instruction from the stream: queues all vector accesses but the last, which
    /// is returned with the demand of the instruction on the LDS.
    #[inline(always)]
    fn accesses(&mut self, op: Op, first: Option<L1Demand>) -> (Option<(u32, u64, L1Demand)>, LdsDemand) {
        let mut last = None;
        let mut lds = LdsDemand { cycles: u64::from(op.exchange), conflicts: 0 };
        loop {
            match self.peek() {
                Some(event @ (Event::Vector(_, block) | Event::Unique(_, _, block)))
                    if let Some(demand) = self.l1_demand(event, op) =>
                {
                    let pattern = self.pattern(event);
                    // The first access owns the slots of the instruction.
                    let queue_slots = first.filter(|_| last.is_none()).map_or(0, |it| it.queue_slots);
                    let demand = L1Demand { queue_slots, ..demand };
                    if let Some(before) = last.replace((pattern, block, demand)) {
                        self.push_access(before, false);
                    }
                }
                Some(Event::Lds(access)) if self.patterns.lds(access).slot == op.slot => {
                    let access = self.patterns.lds(access);
                    let conflicts = u64::from(access.conflicts.min(access.cycles));
                    lds.cycles += u64::from(access.cycles);
                    if self.ideal.conflicts {
                        lds.cycles -= conflicts;
                    } else {
                        lds.conflicts += conflicts;
                    }
                }
                _ => break,
            }
            self.wave.event = None;
            if self.wave.end == NO_INSTRUCTION {
                break;
            }
        }
        (last, lds)
    }

    /// Index of the access pattern of an event.
    #[inline(always)]
    fn pattern(&mut self, event: Event) -> u32 {
        match event {
            Event::Vector(pattern, _) => pattern as u32,
            Event::Unique(slot, at, _) => {
                self.unique_accesses.add(self.stream.resident_part(self.window), slot, at)
            }
            _ => NO_PATTERN,
        }
    }

    /// Queues an access before the vector L1; `last` marks the last one of its instruction.
    #[inline(always)]
    fn push_access(&mut self, access: (u32, u64, L1Demand), last: bool) {
        let access = QueuedAccess::new(self.name, access, self.now, last);
        self.unit.queue.push(access, self.unit_number, self.calendar);
    }

    /// Occupies the LDS, and then the SIMD's path from it, which is narrower than the LDS and knows no conflicts.
    fn lds(&mut self, op: Op, demand: LdsDemand) {
        let enters = self.unit.lds.max(self.now);
        self.unit.lds = enters + demand.cycles;
        let path = &mut self.unit.lds_paths[usize::from(self.wave.simd)];
        let cycles = (demand.cycles - demand.conflicts) * self.memory.rates.lds_cycles_of_simd;
        *path = (enters.max(*path) + cycles).max(self.unit.lds);
        let completion = *path + self.memory.rates.lds;
        if op.unit == Unit::Lds {
            self.outcome.under_way.local += completion - self.now;
        }
        // A load from memory into the LDS completes as a vector access.
        if op.unit != Unit::Memory {
            self.wave.push_lds_or_scalar(self.completions, completion);
        }
    }

    /// Waits until at most this many vector accesses, and LDS and scalar accesses, are outstanding.
    #[inline(always)]
    fn wait(&mut self, op: Op, vector: u8, other: u8) -> Issued {
        let count = self.wave.vector_issued.checked_sub(u32::from(vector));
        if let Some(count) = count.filter(|&count| count > 0) {
            let Some(completion) = self.wave.vector_completion(self.completions, count) else {
                return Err(self.suspend_for_vector(count));
            };
            self.wait_until(completion, Stall::Memory);
        }
        if let Some(count) = self.wave.other_issued.checked_sub(u32::from(other)) {
            let completion = self.wave.lds_or_scalar_completion(self.completions, count);
            self.wait_until(completion, Stall::Local);
        }
        self.now += u64::from(op.cycles);
        Ok(())
    }

    /// Waits at a barrier, unless barriers are free.
    fn barrier(&mut self) -> Issued {
        let in_run = self.wave.next != self.wave.end;
        if self.ideal.barriers {
            if !in_run {
                self.wave.event = None;
            }
            self.now += self.step;
            return Ok(());
        }
        self.wave.wait_for(WaveState::Barrier, self.now);
        if in_run {
            self.wave.next += 1;
        } else {
            self.wave.event = None;
        }
        Err(Turn::Barrier(self.now))
    }

    /// Ends the wave once all its vector accesses have completed.
    fn end(&mut self) -> Turn {
        let Some(completion) = self.wave.vector_completion(self.completions, self.wave.vector_issued) else {
            return self.suspend_for_vector(self.wave.vector_issued);
        };
        self.wait_until(completion, Stall::Memory);
        Turn::Ended(self.now)
    }
}
