//! Dies of a GPU that run a dispatch: all of them, or one that stands for some.
//!
//! The one idea to keep in mind: everything happens in the order of one calendar, and workgroups come in the order of the
//! grid; nothing depends on when streams arrive. While a place is free for a workgroup that has not arrived, time stands.

use crate::calendar::Calendar;
use crate::gpu::Grid;
use crate::memory::{Lines, Memory};
use crate::op::Op;
use crate::outcome::{Outcome, Stall};
use crate::place::Places;
use crate::rates::Rates;
use crate::vector::{Owns, Queue};
use crate::wave::{Done, Wave};
use mem::{Caches, Forms, Group, Sample, Shape, Window};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Waves of a compute unit that there is room for.
pub(crate) const WAVES: usize = 64;
/// SIMDs of a compute unit.
pub(crate) const SIMDS: usize = 4;
/// Marks the event of a compute unit's vector L1.
pub(crate) const L1: u32 = 1 << 31;

/// Besides: something leaves it.
pub(crate) const LEAVES: u32 = 1 << 30;

/// Dies of a GPU with what their caches keep.
#[derive(Debug)]
pub(crate) struct Dies {
    pub(crate) caches: Caches,
    pub(crate) memory: Memory,
    pub(crate) grid: Grid,
    pub(crate) ops: Arc<[Op]>,
    pub(crate) calendar: Calendar,
    places: Vec<Places>,
    queues: Vec<VecDeque<Waiting>>,
    /// By XCD: workgroups that have not arrived.
    missing: Vec<u64>,
    pub(crate) units: Vec<Unit>,
    pub(crate) waves: Vec<Wave>,
    /// Of each wave, the part of its stream that it reads, where that was put away.
    pub(crate) windows: Vec<Window>,
    pub(crate) done: Vec<Done>,
    pub(crate) owns: Owns,
    pub(crate) groups: Vec<Option<Resident>>,
    vacant: Vec<u32>,
    /// By scalar cache: cycle at which the first code is there.
    code: Vec<Option<u64>>,
    pub(crate) scalar_lines: Vec<Vec<u64>>,
    held: usize,
    pub(crate) outcome: Outcome,
    /// Wait states of this dispatch take no time.
    pub(crate) no_wait_states: bool,
    /// Cycles in which each compute unit had waves, and since when.
    engine_spans: Vec<(u64, u64)>,
}

/// A compute unit.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) xcd: usize,
    /// Counted in the XCD.
    pub(crate) number: usize,
    /// Its scalar cache, counted in the XCD.
    pub(crate) shared: usize,
    pub(crate) lines: Lines,
    pub(crate) queue: Queue,
    /// By SIMD and class of instructions: cycle at which the next can issue.
    pub(crate) free: [[u64; crate::wave::CLASSES]; SIMDS],
    pub(crate) lds: u64,
    /// By SIMD: waves that are there, as bits.
    slots: [u16; SIMDS],
    groups: u32,
    /// Places of workgroups that are taken, as bits.
    taken: u64,
    since: u64,
}

/// A workgroup that has no place yet.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) group: Arc<Group>,
    pub(crate) forms: Arc<Forms>,
    pub(crate) bytes: usize,
    /// What came since the one before, where one XCD stands for some: by XCD, lines that were read.
    pub(crate) read: Vec<(usize, Sample)>,
}

/// A workgroup that has a place.
#[derive(Debug)]
pub(crate) struct Resident {
    pub(crate) group: Arc<Group>,
    pub(crate) forms: Arc<Forms>,
    pub(crate) bytes: usize,
    pub(crate) unit: u32,
    engine: usize,
    /// Its place in the unit.
    pub(crate) slot: u32,
    /// Its waves.
    pub(crate) waves: Vec<u32>,
    /// Waves that have not ended, and those of them that wait at the barrier.
    pub(crate) running: u32,
    pub(crate) waiting: u32,
}

impl Dies {
    /// All dies of a GPU, or one that stands for `of`; caches are empty.
    pub(crate) fn new(shape: &Shape, rates: &Rates, of: usize) -> Dies {
        let caches = Caches::new(shape);
        let [l1, scalar] = caches.lines();
        let units = (0..shape.xcds).flat_map(|xcd| {
            let mut first = (0, 0);
            shape.engines.iter().flat_map(move |&count| {
                let (unit, shared) = first;
                first = (unit + count, shared + count.div_ceil(shape.sharing));
                (0..count).map(move |step| (xcd, unit + step, shared + step / shape.sharing))
            })
        });
        let units: Vec<Unit> = units
            .map(|(xcd, number, shared)| Unit {
                xcd,
                number,
                shared,
                lines: Lines::new(l1, rates.pending, rates.translating),
                queue: Queue::default(),
                free: Default::default(),
                lds: 0,
                slots: [0; SIMDS],
                groups: 0,
                taken: 0,
                since: 0,
            })
            .collect();
        Dies {
            memory: Memory::new(rates, shape, of),
            places: vec![Places::new(shape); shape.xcds],
            queues: (0..shape.xcds).map(|_| VecDeque::new()).collect(),
            missing: vec![0; shape.xcds],
            waves: vec![Wave::default(); units.len() * WAVES],
            windows: (0..units.len() * WAVES).map(|_| Window::default()).collect(),
            done: vec![Done::default(); units.len() * WAVES],
            owns: Owns::default(),
            code: vec![None; shape.xcds * shape.scalar_caches()],
            scalar_lines: vec![vec![0; scalar]; shape.xcds * shape.scalar_caches()],
            engine_spans: vec![(u64::MAX, 0); shape.xcds * shape.engines.len()],
            grid: Grid::default(),
            ops: Arc::new([]),
            calendar: Calendar::new(),
            units,
            groups: Vec::new(),
            vacant: Vec::new(),
            held: 0,
            outcome: Outcome::default(),
            no_wait_states: false,
            caches,
        }
    }

    /// A dispatch of a program with these instructions begins, `missing` workgroups of which come to each XCD; one that was not
    /// finished is forgotten.
    pub(crate) fn begin(&mut self, grid: Grid, ops: Arc<[Op]>, missing: impl Iterator<Item = u64>) {
        self.caches.begin(grid.arguments.clone(), grid.host.clone());
        self.memory.begin();
        self.calendar.clear();
        self.places.iter_mut().for_each(Places::begin);
        self.queues.iter_mut().for_each(VecDeque::clear);
        self.missing.clear();
        self.missing.extend(missing);
        for unit in &mut self.units {
            unit.lines.begin();
            unit.queue = Queue::default();
            unit.free = Default::default();
            unit.lds = 0;
            unit.slots = [0; SIMDS];
            (unit.groups, unit.taken) = (0, 0);
        }
        self.owns.clear();
        self.groups.clear();
        self.vacant.clear();
        self.code.fill(None);
        self.scalar_lines.iter_mut().for_each(|lines| lines.fill(0));
        self.engine_spans.fill((u64::MAX, 0));
        self.held = 0;
        self.outcome = Outcome { stalls: vec![[0; Stall::COUNT]; ops.len()], ..Outcome::default() };
        // Wait states of other kernels are not those of matrix instructions.
        self.no_wait_states =
            self.memory.rates.free.wait_states && ops.iter().any(|op| op.unit == crate::op::Unit::Matrix);
        self.grid = grid;
        self.ops = ops;
    }

    /// The next workgroups, each with its XCD, in the order of the grid. At most so many bytes of streams are held before time
    /// goes on although there are places left.
    pub(crate) fn push(&mut self, arrived: impl IntoIterator<Item = (usize, Waiting)>, most_held: usize) {
        for (xcd, waiting) in arrived {
            self.missing[xcd] = self.missing[xcd].saturating_sub(1);
            self.held += waiting.bytes;
            self.queues[xcd].push_back(waiting);
            let now = self.outcome.waves_end;
            self.place(xcd, now);
        }
        while self.ready() && self.step() {}
        while self.held > most_held && self.step() {
            self.outcome.hurried = true;
        }
    }

    /// All workgroups have come. `code` are the addresses of the instructions that ran, as ranges in order.
    pub(crate) fn finish(&mut self, code: &[Range<u64>]) -> Outcome {
        self.missing.fill(0);
        while self.step() {}
        let end = self.outcome.waves_end;
        let mut outcome = std::mem::take(&mut self.outcome);
        let channels = self.caches.shape().channels;
        let memory = &mut self.memory;
        let mut last = end.max(memory.writes.last);
        outcome.tally = self.caches.finish(code, self.grid.released, |line, bytes| {
            last = last.max(memory.write_back(end, line, bytes, line as usize % channels));
        });
        let under_way = &mut outcome.under_way;
        (under_way.reads, under_way.writes) = (memory.reads.cycles, memory.writes.cycles);
        [under_way.l2_reads, under_way.l2_writes] = memory.asked;
        outcome.cycles = last;
        outcome.engine_cycles =
            self.engine_spans.iter().map(|&(start, end)| end.saturating_sub(start.min(end))).sum();
        outcome
    }

    /// Whether time may go on: no workgroup that has not arrived could have a place.
    fn ready(&self) -> bool {
        let most = self.units.len() / self.places.len() * self.grid.groups_per_unit.max(1) as usize;
        self.places.iter().zip(&self.missing).all(|(places, &missing)| missing == 0 || places.taken >= most)
    }

    /// The next event happens; says whether there was one.
    fn step(&mut self) -> bool {
        let Some((time, event)) = self.calendar.pop() else { return false };
        self.look_ahead();
        if event & LEAVES != 0 {
            self.leaves((event & !(L1 | LEAVES)) as usize, time);
        } else if event & L1 != 0 {
            self.vector_l1((event & !L1) as usize, time);
        } else {
            self.wave(event, time);
        }
        true
    }

    /// Reads what the next events need, so that the reads of this machine's memory are under way together: one after the other
    /// they are most of the time that events take. Nothing comes of it.
    #[inline]
    fn look_ahead(&self) {
        let soon = self.calendar.soon();
        let mut read = 0;
        for event in soon.clone() {
            if event & L1 != 0 {
                let unit = self.units.get((event & !L1) as usize);
                read ^= unit.map_or(0, |unit| unit.queue.soon() ^ unit.lines.soon());
            } else if let Some(wave) = self.waves.get(event as usize) {
                read ^= u64::from(wave.group) ^ self.done.get(event as usize).map_or(0, Done::soon);
            }
        }
        for event in soon {
            if event & L1 == 0
                && let Some(wave) = self.waves.get(event as usize)
                && let Some(Some(group)) = self.groups.get(wave.group as usize)
                && let Some(stream) = group.group.waves.get(wave.number as usize)
            {
                read ^= wave.soon(stream.at_hand(&self.windows[event as usize]));
            }
        }
        std::hint::black_box(read);
    }

    /// Gives places to workgroups that wait, and notes from when on others wait in vain.
    fn place(&mut self, xcd: usize, now: u64) {
        let started = self.fill(xcd, now);
        let places = &mut self.places[xcd];
        let waits = !self.queues[xcd].is_empty() || self.missing[xcd] > 0;
        if waits && places.full.is_none() && places.are_taken(self.grid.groups_per_unit.max(1)) {
            places.full = Some(started);
        }
    }

    /// Gives places to workgroups that wait; says when the last of their waves starts.
    fn fill(&mut self, xcd: usize, now: u64) -> u64 {
        let most = self.grid.groups_per_unit.max(1);
        let mut last = now;
        while !self.queues[xcd].is_empty() {
            let Some((engine, number)) = self.places[xcd].find(most) else { return last };
            let Some(Waiting { group, forms, bytes, read }) = self.queues[xcd].pop_front() else {
                return last;
            };
            if let Some(footprint) = &mut self.memory.footprint {
                read.iter().for_each(|(xcd, lines)| footprint.add(*xcd, lines));
            }
            let shape = self.caches.shape();
            let unit = xcd * shape.compute_units() + number;
            let (engines, caches) = (shape.engines.len(), shape.scalar_caches());
            let id = self.vacant.pop().unwrap_or_else(|| {
                self.groups.push(None);
                self.groups.len() as u32 - 1
            });
            if !group.waves.is_empty() {
                self.caches.use_unit(xcd, self.units[unit].shared);
            }
            let mut waves = Vec::with_capacity(group.waves.len());
            let mut begun = u64::MAX;
            for wave in 0..group.waves.len() {
                let start = self.places[xcd].start(engine, now, self.memory.rates.wave_start);
                begun = begun.min(start);
                last = last.max(start);
                self.outcome.waves.begin(start);
                let shared = self.units[unit].shared;
                let code = self.code[xcd * caches + shared].get_or_insert_with(|| {
                    let there = self.caches.has_code((xcd, shared), self.grid.entry);
                    let rates = &self.memory.rates;
                    start + if there { rates.fetch } else { rates.fetch_cold }
                });
                let first = start.max(*code);
                let slot = self.units[unit].slot();
                let name = (unit * WAVES + slot) as u32;
                self.waves[name as usize].begin(id, wave as u32, slot % SIMDS, start);
                self.windows[name as usize].begin();
                waves.push(name);
                self.calendar.push(first, name);
            }
            self.places[xcd].rest(engine, self.memory.rates.group_start);
            let span = &mut self.engine_spans[xcd * engines + engine];
            span.0 = span.0.min(begun);
            let used = &mut self.units[unit];
            if used.groups == 0 {
                used.since = begun;
                if begun != u64::MAX {
                    self.outcome.units.begin(begun);
                }
            }
            used.groups += 1;
            let slot = (!used.taken).trailing_zeros().min(63);
            used.taken |= 1 << slot;
            let running = waves.len() as u32;
            let engine = xcd * engines + engine;
            let resident =
                Resident { group, forms, bytes, unit: unit as u32, engine, slot, waves, running, waiting: 0 };
            let empty = resident.running == 0;
            self.groups[id as usize] = Some(resident);
            if empty {
                self.leave(id, now);
            }
        }
        last
    }

    /// A wave has ended.
    pub(crate) fn ended(&mut self, name: u32, now: u64) {
        let wave = &self.waves[name as usize];
        let (id, started) = (wave.group, wave.started);
        self.outcome.wave_cycles += now.saturating_sub(started);
        self.outcome.waves.end(now.max(started));
        self.outcome.waves_end = self.outcome.waves_end.max(now);
        let unit = &mut self.units[name as usize / WAVES];
        let slot = name as usize % WAVES;
        unit.slots[slot % SIMDS] &= !(1 << (slot / SIMDS));
        let Some(group) = &mut self.groups[id as usize] else { return };
        group.running -= 1;
        if group.running == 0 {
            self.leave(id, now);
        } else {
            self.open_barrier(id, now);
        }
    }

    /// A workgroup has ended.
    fn leave(&mut self, id: u32, now: u64) {
        let Some(group) = self.groups[id as usize].take() else { return };
        self.vacant.push(id);
        self.held -= group.bytes.min(self.held);
        let span = &mut self.engine_spans[group.engine];
        span.1 = span.1.max(now);
        let unit = &mut self.units[group.unit as usize];
        unit.groups -= 1;
        unit.taken &= !(1 << group.slot);
        if unit.groups == 0 {
            self.outcome.unit_cycles += now.saturating_sub(unit.since);
            if unit.since != u64::MAX {
                self.outcome.units.end(now.max(unit.since));
            }
        }
        let (xcd, number) = (unit.xcd, unit.number);
        let places = &mut self.places[xcd];
        places.leave(number);
        if let Some(since) = places.full.take() {
            self.outcome.full_cycles += now.saturating_sub(since);
        }
        self.place(xcd, now);
    }
}

impl Unit {
    /// A place for a wave on the SIMD that has fewest.
    fn slot(&mut self) -> usize {
        let simd = (0..SIMDS).min_by_key(|&simd| self.slots[simd].count_ones()).unwrap_or(0);
        let free = (!self.slots[simd]).trailing_zeros().min(15) as usize;
        self.slots[simd] |= 1 << free;
        free * SIMDS + simd
    }
}
