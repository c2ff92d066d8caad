//! A dispatch: workgroups are placed on compute units, and their waves' accesses run through the caches.
//!
//! The one idea to keep in mind: all resident waves make their accesses in turns, one each; a workgroup leaves when its
//! waves have none left, and the next one in the order of the grid takes its place. Nothing depends on when streams
//! arrive, only on their order.

use crate::count::{Before, Tally};
use crate::l2::L2;
use crate::places::Places;
use crate::scalar::Shared;
use crate::shape::Shape;
use crate::stream::{Batch, Cursor, Event, Forms, Group};
use crate::vector::{Path, VectorL1};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of streams that are held, if nothing else is said, before workgroups run on although not all places are taken.
const MOST_HELD: usize = 512 << 20;

/// Where scratch lies: beyond all addresses of programs.
const SCRATCH: u64 = 1 << 50;

/// What there is to know about a launch before it runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Grid {
    /// Workgroups.
    pub groups: u64,
    /// Workgroups a compute unit holds.
    pub groups_per_unit: u32,
    /// Bytes of scratch of a wave.
    pub scratch: u64,
    /// Memory of the host.
    pub host: Vec<Range<u64>>,
}

/// The caches of a GPU, which keep between dispatches what the hardware keeps.
#[derive(Debug)]
pub struct Caches {
    shape: Shape,
    xcds: Vec<Xcd>,
    grid: Grid,
    places: Places,
    /// Workgroups that have come.
    arrived: u64,
    /// Bytes of streams that are held, and that may be.
    held: usize,
    most_held: usize,
    /// Workgroups ran on before all places were taken.
    hurried: bool,
}

#[derive(Debug)]
struct Xcd {
    number: u64,
    l2: L2,
    units: Vec<Unit>,
    shared: Vec<Shared>,
    engines: Vec<Engine>,
    /// The engine that gets the next workgroup.
    next: usize,
    queue: VecDeque<Waiting>,
    resident: usize,
    before: Before,
}

/// A shader engine.
#[derive(Debug)]
struct Engine {
    units: Range<usize>,
    /// The unit that gets its next workgroup, counted in the engine.
    next: usize,
}

#[derive(Debug)]
struct Unit {
    l1: VectorL1,
    /// Its scalar and instruction cache.
    shared: usize,
    resident: Vec<Resident>,
}

/// A workgroup that has no place yet.
#[derive(Debug)]
struct Waiting {
    group: Group,
    forms: Arc<Forms>,
    bytes: usize,
}

/// A workgroup that has a place.
#[derive(Debug)]
struct Resident {
    group: Group,
    forms: Arc<Forms>,
    bytes: usize,
    waves: Vec<Wave>,
    /// Waves that have something left to do, and those of them that wait at the barrier.
    running: usize,
    waiting: usize,
    /// Its place in the unit.
    slot: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Wave {
    cursor: Cursor,
    waits: bool,
    ended: bool,
}

impl Caches {
    /// The caches of a GPU, all empty.
    pub fn new(shape: &Shape) -> Caches {
        Caches {
            xcds: (0..shape.xcds).map(|number| Xcd::new(shape, number as u64)).collect(),
            shape: shape.clone(),
            grid: Grid::default(),
            places: Places::new(Vec::new(), shape.host),
            arrived: 0,
            held: 0,
            most_held: MOST_HELD,
            hurried: false,
        }
    }

    /// Holds at most so many bytes of streams, one batch besides: then workgroups run on although not all places are
    /// taken, and fewer of them share the caches.
    pub fn hold(&mut self, bytes: usize) {
        self.most_held = bytes;
    }

    /// The parts of the GPU.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// A dispatch begins; one that was not finished is forgotten.
    pub fn begin(&mut self, grid: Grid) {
        let [l1, pages, scalar, l2] = self.shape.kept;
        for xcd in &mut self.xcds {
            if !l2 {
                xcd.l2.clear();
            }
            xcd.l2.take_counts();
            xcd.before = Before::default();
            xcd.queue.clear();
            xcd.resident = 0;
            for unit in &mut xcd.units {
                unit.l1.restart(l1, pages);
                unit.resident.clear();
            }
            for shared in &mut xcd.shared {
                shared.restart(scalar, self.shape.code_kept);
            }
        }
        self.places = Places::new(grid.host.clone(), self.shape.host);
        self.grid = grid;
        self.arrived = 0;
        self.held = 0;
        self.hurried = false;
    }

    /// The next workgroups, in the order of the grid.
    pub fn push(&mut self, batch: Batch) {
        let Batch { groups, forms } = batch;
        let shared = forms.bytes() / groups.len().max(1);
        for group in groups {
            let bytes = group.bytes() + shared;
            self.held += bytes;
            let count = self.xcds.len() as u64;
            let number = self.arrived % count;
            self.arrived += 1;
            let xcd = &mut self.xcds[number as usize];
            xcd.before.add(crate::Count::Dropped, group.dropped);
            xcd.queue.push_back(Waiting { group, forms: forms.clone(), bytes });
            // All of this XCD's have come when not even the last round reaches it again.
            let more = self.grid.groups.saturating_sub(number).div_ceil(count) > self.arrived.div_ceil(count);
            self.held -= xcd.advance(more, &self.shape, &self.grid, &self.places);
        }
        while self.held > self.most_held {
            self.hurried = true;
            let freed: usize =
                self.xcds.iter_mut().map(|xcd| xcd.hurry(&self.shape, &self.grid, &self.places)).sum();
            self.held -= freed.min(self.held);
            if freed == 0 && self.xcds.iter().all(|xcd| xcd.resident == 0) {
                break;
            }
        }
    }

    /// All workgroups have come. `code` are the addresses of the instructions that ran, as ranges in order.
    pub fn finish(&mut self, code: &[Range<u64>]) -> Tally {
        let mut before = Before::default();
        let mut channels = Vec::new();
        for xcd in &mut self.xcds {
            xcd.advance(false, &self.shape, &self.grid, &self.places);
            let Xcd { l2, shared, before: counts, .. } = xcd;
            for shared in shared.iter_mut().filter(|shared| shared.used) {
                let (shape, places) = (&self.shape, &self.places);
                shared.fetch(code, &mut Path { shape, places, l2, before: counts });
            }
            if self.shape.written_back {
                l2.flush();
            }
            before.merge(counts);
            channels.extend(l2.take_counts());
        }
        Tally::new(before, channels)
    }

    /// Whether workgroups of this dispatch had to run on before all places were taken, for want of memory.
    pub fn hurried(&self) -> bool {
        self.hurried
    }
}

impl Xcd {
    fn new(shape: &Shape, number: u64) -> Xcd {
        let mut engines = Vec::new();
        let mut units = Vec::new();
        let mut shared = Vec::new();
        for &count in &shape.engines {
            engines.push(Engine { units: units.len()..units.len() + count, next: 0 });
            let first = shared.len();
            shared.extend((0..count.div_ceil(shape.sharing)).map(|_| Shared::new(shape)));
            units.extend((0..count).map(|unit| Unit {
                l1: VectorL1::new(shape),
                shared: first + unit / shape.sharing,
                resident: Vec::new(),
            }));
        }
        let (l2, before) = (L2::new(shape), Before::default());
        Xcd { number, l2, units, shared, engines, next: 0, queue: VecDeque::new(), resident: 0, before }
    }

    /// Runs as far as it is sure which workgroups are resident. Returns the bytes of those that left.
    fn advance(&mut self, more: bool, shape: &Shape, grid: &Grid, places: &Places) -> usize {
        let mut freed = 0;
        loop {
            self.place(grid);
            let all = self.units.len() * (grid.groups_per_unit.max(1) as usize);
            if self.resident == 0 || (more && self.queue.is_empty() && self.resident < all) {
                return freed;
            }
            freed += self.round(shape, grid, places);
        }
    }

    /// Runs one round though more workgroups could be resident.
    fn hurry(&mut self, shape: &Shape, grid: &Grid, places: &Places) -> usize {
        self.place(grid);
        self.round(shape, grid, places)
    }

    /// Gives places to workgroups as far as there are any: engine after engine, in each unit after unit.
    fn place(&mut self, grid: &Grid) {
        let most = grid.groups_per_unit.max(1) as usize;
        while !self.queue.is_empty() {
            let count = self.engines.len();
            let found = (0..count).map(|step| (self.next + step) % count).find_map(|number| {
                let engine = &self.engines[number];
                let units = engine.units.len();
                let unit = (0..units)
                    .map(|step| (engine.next + step) % units)
                    .find(|unit| self.units[engine.units.start + unit].resident.len() < most)?;
                Some((number, unit))
            });
            let Some((number, unit)) = found else { return };
            let Some(Waiting { group, forms, bytes }) = self.queue.pop_front() else { return };
            self.next = (number + 1) % count;
            let engine = &mut self.engines[number];
            engine.next = (unit + 1) % engine.units.len();
            let unit = &mut self.units[engine.units.start + unit];
            self.shared[unit.shared].used |= !group.waves.is_empty();
            let waves = vec![Wave::default(); group.waves.len()];
            let running = waves.len();
            let taken = |slot: &usize| unit.resident.iter().all(|other| other.slot != *slot);
            let slot = (0..most).find(taken).unwrap_or(0);
            unit.resident.push(Resident { group, forms, bytes, waves, running, waiting: 0, slot });
            self.resident += 1;
        }
    }

    /// Every resident wave makes one access.
    fn round(&mut self, shape: &Shape, grid: &Grid, places: &Places) -> usize {
        let mut freed = 0;
        let units = self.units.len() as u64;
        for (number, unit) in self.units.iter_mut().enumerate() {
            if unit.resident.is_empty() {
                continue;
            }
            let shared = &mut self.shared[unit.shared];
            let mut path = Path { shape, places, l2: &mut self.l2, before: &mut self.before };
            let mut left = false;
            for resident in &mut unit.resident {
                let place = (self.number * units + number as u64) * u64::from(grid.groups_per_unit.max(1))
                    + resident.slot as u64;
                resident.round(&mut unit.l1, shared, place, grid.scratch, &mut path);
                left |= resident.running == 0;
            }
            if left {
                unit.resident.retain(|resident| {
                    let stays = resident.running > 0;
                    if !stays {
                        freed += resident.bytes;
                        self.resident -= 1;
                    }
                    stays
                });
            }
        }
        freed
    }
}

impl Resident {
    fn round(
        &mut self,
        l1: &mut VectorL1,
        shared: &mut Shared,
        place: u64,
        scratch: u64,
        path: &mut Path<'_>,
    ) {
        let waves = self.waves.len() as u64;
        for (number, (wave, stream)) in self.waves.iter_mut().zip(&self.group.waves).enumerate() {
            if wave.ended || wave.waits {
                continue;
            }
            match wave.cursor.next(stream) {
                Some(Event::Vector(form, block)) => {
                    if let Some((policy, lookups)) = self.forms.get(form) {
                        let base = match policy.scratch {
                            true => {
                                let wave = place.wrapping_mul(waves).wrapping_add(number as u64);
                                SCRATCH.wrapping_add(wave.wrapping_mul(scratch)) / path.shape.l2_line
                            }
                            false => 0,
                        };
                        l1.access(policy, lookups, block.wrapping_add(base), path);
                    }
                }
                Some(Event::Scalar(kind, dword, dwords)) => shared.access(kind, dword, dwords, path),
                Some(Event::Barrier) => {
                    wave.waits = true;
                    self.waiting += 1;
                }
                None => {}
            }
            if wave.cursor.ended(stream) {
                wave.ended = true;
                self.waiting -= usize::from(std::mem::take(&mut wave.waits));
                self.running -= 1;
            }
        }
        if self.running > 0 && self.waiting == self.running {
            self.waves.iter_mut().for_each(|wave| wave.waits = false);
            self.waiting = 0;
        }
    }
}
