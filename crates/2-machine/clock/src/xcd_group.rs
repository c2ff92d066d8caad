//! XCDs that run a dispatch together: all of a GPU, or one that represents several.
//!
//! One calendar orders all events, and workgroups are dispatched in grid order, so results do not depend on
//! when streams arrive. Time stops while a compute unit has room for a workgroup that has not arrived.

mod issue;
mod vector_l1;
mod workgroups;

use crate::calendar::{Calendar, L1_EVENT, L1_SLOT_FREED};
use crate::dispatcher::Dispatcher;
use crate::grid::Grid;
use crate::l1_lines::L1Lines;
use crate::l1_queue::{L1Queue, UniqueAccesses};
use crate::memory::Memory;
use crate::op::{Op, Unit};
use crate::outcome::{Outcome, Stall};
use crate::rates::Rates;
use crate::steady_state::SteadyState;
use crate::wave::{Completions, Wave};
use crate::workgroup::{PendingWorkgroup, ResidentWorkgroup};
use mem::{Caches, Shape, StreamWindow};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Most waves of a compute unit.
pub(crate) const WAVES: usize = 64;
/// SIMDs of a compute unit.
pub(crate) const SIMDS: usize = 4;

/// XCDs with their caches, memory and resident waves.
#[derive(Debug)]
pub(crate) struct XcdGroup {
    pub(crate) caches: Caches,
    pub(crate) memory: Memory,
    grid: Grid,
    ops: Arc<[Op]>,
    calendar: Calendar,
    /// By XCD.
    dispatchers: Vec<Dispatcher>,
    /// By XCD: workgroups that have arrived and wait for a compute unit.
    pending: Vec<VecDeque<PendingWorkgroup>>,
    /// By XCD: workgroups that have not arrived.
    expected: Vec<u64>,
    units: Vec<ComputeUnit>,
    /// Compute units that had a workgroup in this dispatch.
    used_units: Vec<usize>,
    /// By wave name, which is the compute unit times [`WAVES`] plus the wave's slot.
    waves: Vec<Wave>,
    /// By wave name: the part of a spilled stream that the wave reads.
    windows: Vec<StreamWindow>,
    /// By wave name.
    completions: Vec<Completions>,
    unique_accesses: UniqueAccesses,
    groups: Vec<Option<ResidentWorkgroup>>,
    /// Free indices of `groups`.
    vacant: Vec<u32>,
    /// By scalar cache: arrival cycle of the kernel's first instructions.
    code: Vec<Option<u64>>,
    /// By scalar cache: arrival cycle of each line.
    scalar_lines: Vec<Vec<u64>>,
    /// Memory of the streams of pending and resident workgroups, bytes.
    held_bytes: usize,
    outcome: Outcome,
    /// Cycle at which the last workgroup ended: time stops there until the next workgroup has arrived.
    last_end: u64,
    steady_state: SteadyState,
    /// Set once no further workgroup starts.
    steady: Arc<AtomicBool>,
    /// Wait states take no time in this dispatch.
    no_wait_states: bool,
    /// By shader engine: cycles of the first wave's start and of the last workgroup's end.
    engine_spans: Vec<(u64, u64)>,
}

/// A compute unit.
#[derive(Debug)]
pub(crate) struct ComputeUnit {
    xcd: usize,
    /// Index in the XCD.
    number: usize,
    /// Index of its scalar cache in the XCD.
    shared: usize,
    lines: L1Lines,
    queue: L1Queue,
    /// By SIMD and instruction class: cycle at which the next instruction can issue.
    free: [[u64; issue::CLASSES]; SIMDS],
    /// Cycle at which the LDS is free.
    lds: u64,
    /// By SIMD: cycle at which its path from the LDS is free.
    lds_paths: [u64; SIMDS],
    /// By SIMD: slots with waves, as bits.
    slots: [u16; SIMDS],
    /// Resident workgroups.
    groups: u32,
    /// Slots with workgroups, as bits.
    taken: u64,
    /// Cycle since which the unit has waves.
    since: u64,
    /// The unit had a workgroup in this dispatch.
    used: bool,
}

impl ComputeUnit {
    fn new((xcd, number, shared): (usize, usize, usize), lines: L1Lines) -> ComputeUnit {
        ComputeUnit {
            xcd,
            number,
            shared,
            lines,
            queue: L1Queue::default(),
            free: Default::default(),
            lds: 0,
            lds_paths: [0; SIMDS],
            slots: [0; SIMDS],
            groups: 0,
            taken: 0,
            since: 0,
            used: false,
        }
    }

    /// Resets the unit before a dispatch.
    fn begin(&mut self) {
        self.lines.begin();
        self.queue = L1Queue::default();
        self.free = Default::default();
        (self.lds, self.lds_paths) = (0, [0; SIMDS]);
        self.slots = [0; SIMDS];
        (self.groups, self.taken, self.used) = (0, 0, false);
    }

    /// Takes a wave slot on the SIMD with the fewest waves.
    fn take_wave_slot(&mut self) -> usize {
        let simd = (0..SIMDS).min_by_key(|&simd| self.slots[simd].count_ones()).unwrap_or(0);
        let free = (!self.slots[simd]).trailing_zeros().min(15) as usize;
        self.slots[simd] |= 1 << free;
        free * SIMDS + simd
    }
}

impl XcdGroup {
    /// All XCDs of a GPU, or one XCD that represents `of`, with empty caches.
    pub(crate) fn new(shape: &Shape, rates: &Rates, of: usize) -> XcdGroup {
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
        let lines = || L1Lines::new(l1, rates.l1_outstanding, rates.outstanding_translations);
        let units: Vec<ComputeUnit> = units.map(|place| ComputeUnit::new(place, lines())).collect();
        XcdGroup {
            memory: Memory::new(rates, shape, of),
            dispatchers: vec![Dispatcher::new(shape); shape.xcds],
            pending: (0..shape.xcds).map(|_| VecDeque::new()).collect(),
            expected: vec![0; shape.xcds],
            waves: vec![Wave::default(); units.len() * WAVES],
            windows: (0..units.len() * WAVES).map(|_| StreamWindow::default()).collect(),
            completions: vec![Completions::default(); units.len() * WAVES],
            unique_accesses: UniqueAccesses::default(),
            code: vec![None; shape.xcds * shape.scalar_caches()],
            scalar_lines: vec![vec![0; scalar]; shape.xcds * shape.scalar_caches()],
            engine_spans: vec![(u64::MAX, 0); shape.xcds * shape.engines.len()],
            grid: Grid::default(),
            ops: Arc::new([]),
            calendar: Calendar::new(),
            units,
            used_units: Vec::new(),
            groups: Vec::new(),
            vacant: Vec::new(),
            held_bytes: 0,
            outcome: Outcome::default(),
            last_end: 0,
            steady_state: SteadyState::default(),
            steady: Arc::default(),
            no_wait_states: false,
            caches,
        }
    }

    /// Begins a dispatch of a program with these instructions, of which each XCD expects some workgroups.
    /// Drops a dispatch that was not finished. With `steady` a part of the workgroups may be simulated, and
    /// the flag then says that no further workgroup is needed.
    pub(crate) fn begin(
        &mut self,
        grid: Grid,
        ops: Arc<[Op]>,
        expected: impl Iterator<Item = u64>,
        steady: Option<Arc<AtomicBool>>,
    ) {
        let [arguments, host, pages] = [&grid.arguments, &grid.host, &grid.small_pages].map(Vec::clone);
        self.caches.begin(arguments, host, pages, grid.acquire);
        self.memory.begin();
        self.calendar.clear();
        self.dispatchers.iter_mut().for_each(Dispatcher::begin);
        self.pending.iter_mut().for_each(VecDeque::clear);
        self.expected.clear();
        self.expected.extend(expected);
        let round = steady.as_ref().map_or(0, |_| self.units.len() as u64 * u64::from(grid.groups_per_unit));
        let capacity = self.cache_bytes();
        self.steady_state = SteadyState::new(self.expected.iter().sum(), round, capacity);
        self.steady = steady.unwrap_or_default();
        // Resetting all compute units takes longer than a short kernel.
        self.used_units.drain(..).for_each(|unit| self.units[unit].begin());
        self.unique_accesses.clear();
        self.groups.clear();
        self.vacant.clear();
        for (code, lines) in self.code.iter_mut().zip(&mut self.scalar_lines) {
            if code.take().is_some() {
                lines.fill(0);
            }
        }
        self.engine_spans.fill((u64::MAX, 0));
        (self.held_bytes, self.last_end) = (0, 0);
        self.outcome = Outcome { stalls: vec![[0; Stall::COUNT]; ops.len()], ..Outcome::default() };
        // Only kernels with matrix instructions have the wait states that the limit removes.
        self.no_wait_states =
            self.memory.rates.ideal.wait_states && ops.iter().any(|op| op.unit == Unit::Matrix);
        self.grid = grid;
        self.ops = ops;
    }

    /// Takes the next workgroups, each with its XCD, in grid order, and runs as far as results are certain.
    /// Beyond `most_held` bytes of streams the clock runs on although compute units have room.
    pub(crate) fn push(
        &mut self,
        arrived: impl IntoIterator<Item = (usize, PendingWorkgroup)>,
        most_held: usize,
    ) {
        if self.steady_state.rest().is_some() {
            return;
        }
        for (xcd, workgroup) in arrived {
            self.expected[xcd] = self.expected[xcd].saturating_sub(1);
            self.held_bytes += workgroup.bytes;
            self.pending[xcd].push_back(workgroup);
            self.dispatch(xcd, self.last_end);
        }
        while self.is_ready() && self.step() {}
        while self.held_bytes > most_held && self.step() {
            self.outcome.hurried = true;
        }
    }

    /// Runs to the end of the dispatch. Workgroups that have not arrived are extrapolated. `code` holds the addresses of
    /// the executed instructions, as ordered ranges.
    pub(crate) fn finish(&mut self, code: &[Range<u64>]) -> Outcome {
        let missing = self.expected.iter().any(|&expected| expected > 0);
        self.expected.fill(0);
        while self.step() {}
        self.outcome.incomplete = missing && !self.steady_state.end_early();
        let end = self.outcome.waves_end;
        let mut outcome = std::mem::take(&mut self.outcome);
        let channels = self.caches.shape().channels;
        let memory = &mut self.memory;
        let mut last = end.max(memory.writes.last);
        outcome.tally = self.caches.finish(code, self.grid.released, |xcd, line, bytes| {
            let l2 = (xcd, line as usize % channels);
            last = last.max(memory.write_back(end, line, bytes, l2));
        });
        let under_way = &mut outcome.under_way;
        (under_way.reads, under_way.writes) = (memory.reads.cycles, memory.writes.cycles);
        [under_way.l2_reads, under_way.l2_writes] = memory.l2_cycles;
        outcome.cycles = last;
        outcome.engine_cycles =
            self.engine_spans.iter().map(|&(start, end)| end.saturating_sub(start.min(end))).sum();
        self.steady_state.complete(&mut outcome, self.engine_spans.len() as u64, self.units.len() as u64);
        outcome
    }

    /// Bytes of the L2s and of their share of the memory-side cache.
    fn cache_bytes(&self) -> u64 {
        let shape = self.caches.shape();
        let l2 = (shape.l2.0 * shape.l2.1 * shape.channels * shape.xcds) as u64 * shape.l2_line;
        let lines = self.memory.rates.memory_side_shape.map_or(0, |(lines, _)| lines as u64);
        l2 + lines * shape.l2_line * shape.xcds as u64 / self.memory.xcds.max(1) as u64
    }

    /// Records the counts so far; if the dispatch is steady, no further workgroup starts.
    fn take_snapshot(&mut self, now: u64) {
        let mut outcome = self.outcome.clone();
        outcome.tally = self.caches.tally();
        let under_way = &mut outcome.under_way;
        (under_way.reads, under_way.writes) = (self.memory.reads.cycles, self.memory.writes.cycles);
        [under_way.l2_reads, under_way.l2_writes] = self.memory.l2_cycles;
        // Of outstanding accesses only the issue has been subtracted.
        let resident = self.groups.iter().flatten().flat_map(|group| &group.waves);
        let outstanding: u32 = resident.map(|&name| self.waves[name as usize].outstanding()).sum();
        under_way.vector = under_way.vector.wrapping_add(now * u64::from(outstanding));
        if self.steady_state.add(now, outcome) {
            self.expected.fill(0);
            let pending = self.pending.iter_mut().flat_map(std::mem::take);
            self.held_bytes -= pending.map(|it| it.bytes).sum::<usize>().min(self.held_bytes);
            self.steady.store(true, Ordering::Relaxed);
        }
    }

    /// True if time may advance: no compute unit has room for a workgroup that has not arrived.
    fn is_ready(&self) -> bool {
        let most = self.units.len() / self.dispatchers.len() * self.grid.groups_per_unit.max(1) as usize;
        let has_no_room =
            |(dispatcher, &expected): (&Dispatcher, &u64)| expected == 0 || dispatcher.taken >= most;
        self.dispatchers.iter().zip(&self.expected).all(has_no_room)
    }

    /// Handles the next event; false if the calendar is empty.
    fn step(&mut self) -> bool {
        let Some((time, event)) = self.calendar.pop() else { return false };
        self.prefetch();
        if event & L1_SLOT_FREED != 0 {
            self.free_l1_slots((event & !(L1_EVENT | L1_SLOT_FREED)) as usize, time);
        } else if event & L1_EVENT != 0 {
            self.vector_l1((event & !L1_EVENT) as usize, time);
        } else {
            self.resume_wave(event, time);
        }
        true
    }

    /// Prefetches the state of upcoming events, so that their cache misses on the host overlap; one after the
    /// other those misses are most of the time of an event. Has no effect on results.
    #[inline]
    fn prefetch(&self) {
        let upcoming = self.calendar.upcoming();
        let mut touched = 0;
        for event in upcoming.clone() {
            if event & L1_EVENT != 0 {
                let unit = self.units.get((event & !L1_EVENT) as usize);
                touched ^= unit.map_or(0, |unit| unit.queue.prefetch_word() ^ unit.lines.prefetch_word());
            } else if let Some(wave) = self.waves.get(event as usize) {
                let completions = self.completions.get(event as usize);
                touched ^= u64::from(wave.group) ^ completions.map_or(0, Completions::prefetch_word);
            }
        }
        for event in upcoming {
            if event & L1_EVENT == 0
                && let Some(wave) = self.waves.get(event as usize)
                && let Some(Some(group)) = self.groups.get(wave.group as usize)
                && let Some(stream) = group.group.waves.get(wave.number as usize)
            {
                touched ^= wave.prefetch_word(stream.resident_part(&self.windows[event as usize]));
            }
        }
        std::hint::black_box(touched);
    }
}
