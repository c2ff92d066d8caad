//! A GPU that runs dispatches.
//!
//! A dispatch is simulated on all XCDs together, or on some representative XCDs independently. The first
//! workgroups decide which; results do not depend on when workgroups arrive.

use crate::grid::{Grid, Order};
use crate::memory_side_cache::MemorySideCache;
use crate::op::Op;
use crate::outcome::Outcome;
use crate::rates::Rates;
use crate::representative_xcds::{
    CoverageChoice, Detail, REPRESENTATIVES, Wanted, combine, representative_xcds,
};
use crate::workgroup::PendingWorkgroup;
use crate::xcd_group::XcdGroup;
use crate::xcd_worker::{DispatchStart, XcdWorker};
use arch::Model;
use mem::{AccessPatterns, Batch, Count, Sample, Shape};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Default for [`Gpu::set_most_held_bytes`].
const MOST_HELD: usize = 512 << 20;

/// Access patterns of recent batches that are kept for deduplication.
const MOST_RECENT_PATTERNS: usize = 4;

/// A GPU. Its caches keep lines between dispatches as the hardware does.
#[derive(Debug)]
pub struct Gpu {
    shape: Shape,
    rates: Rates,
    detail: Detail,
    most_held: usize,
    threads: usize,
    /// All XCDs, and the representative ones; each is created at first use.
    all: Option<Box<XcdGroup>>,
    some: Option<[Box<XcdGroup>; REPRESENTATIVES]>,
    /// The dispatch before ran on representative XCDs.
    shared: bool,
    grid: Grid,
    ops: Arc<[Op]>,
    coverage: Coverage,
    wanted: Arc<Wanted>,
    workgroups_arrived: u64,
    /// Accesses missing from the streams.
    dropped: u64,
    /// Access patterns of the last batches. Batches mostly share theirs, which are then kept once.
    recent_patterns: VecDeque<Arc<AccessPatterns>>,
}

/// XCDs on which a dispatch is simulated.
#[derive(Debug)]
enum Coverage {
    Undecided(CoverageChoice),
    All,
    /// With the lines read since each representative got a workgroup, by XCD.
    Some([XcdWorker; REPRESENTATIVES], [Vec<(usize, Sample)>; REPRESENTATIVES]),
}

impl Gpu {
    /// A GPU with empty caches.
    pub fn new(model: &Model) -> Gpu {
        Gpu::with_rates(model, &Rates::of(model))
    }

    /// A GPU with empty caches and other rates.
    pub fn with_rates(model: &Model, rates: &Rates) -> Gpu {
        Gpu {
            shape: Shape::of(model),
            rates: rates.clone(),
            detail: Detail::Full,
            most_held: MOST_HELD,
            threads: 1,
            all: None,
            some: None,
            shared: false,
            grid: Grid::default(),
            ops: Arc::new([]),
            coverage: Coverage::All,
            wanted: Arc::new(Wanted::new(Order::Round, 0, 1)),
            workgroups_arrived: 0,
            dropped: 0,
            recent_patterns: VecDeque::new(),
        }
    }

    /// Sets the bytes of streams to hold, besides one batch. Beyond them waves run although compute units
    /// have room.
    pub fn set_most_held_bytes(&mut self, bytes: usize) {
        self.most_held = bytes;
    }

    /// Sets how much of each dispatch is simulated.
    pub fn set_detail(&mut self, detail: Detail) {
        self.detail = detail;
    }

    /// Sets the threads for representative XCDs, from the next dispatch on.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
    }

    /// Sizes of the GPU's caches.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Begins a dispatch of a program with these instructions. Drops a dispatch that was not finished.
    pub fn begin(&mut self, grid: Grid, ops: Arc<[Op]>) {
        self.take_back_workers();
        (self.workgroups_arrived, self.dropped) = (0, 0);
        self.recent_patterns.clear();
        self.wanted = Arc::new(Wanted::new(grid.order, grid.groups, self.shape.xcds));
        (self.grid, self.ops) = (grid, ops);
        match CoverageChoice::new(self.detail, self.shape.xcds, self.grid.groups) {
            Some(choice) => self.coverage = Coverage::Undecided(choice),
            None => self.cover_all(),
        }
    }

    /// Workgroups whose streams this dispatch needs.
    pub fn wanted(&self) -> Arc<Wanted> {
        self.wanted.clone()
    }

    /// Takes the next workgroups, in grid order.
    pub fn push(&mut self, batch: Batch) {
        let Batch { groups, patterns } = batch;
        let shared = patterns.bytes() / groups.len().max(1);
        let patterns =
            match self.recent_patterns.iter().find(|recent_patterns| ***recent_patterns == *patterns) {
                Some(recent_patterns) => recent_patterns.clone(),
                None => {
                    self.recent_patterns.truncate(MOST_RECENT_PATTERNS - 1);
                    self.recent_patterns.push_front(patterns.clone());
                    patterns
                }
            };
        let mut arrived = Vec::with_capacity(groups.len());
        for group in groups {
            let xcd = self.wanted.xcd(self.workgroups_arrived);
            self.workgroups_arrived += 1;
            let bytes = group.bytes() + shared;
            arrived
                .push((xcd, PendingWorkgroup { group, patterns: patterns.clone(), bytes, read: Vec::new() }));
        }
        self.deliver(arrived);
    }

    /// Hands workgroups, each with its XCD, to the XCDs that simulate them.
    fn deliver(&mut self, arrived: Vec<(usize, PendingWorkgroup)>) {
        match &mut self.coverage {
            Coverage::Undecided(choice) => {
                let mut arrived = arrived.into_iter();
                while let Some((xcd, waiting)) = arrived.next() {
                    choice.add_workgroup(xcd, waiting);
                    if choice.ready(self.most_held) {
                        self.choose_coverage();
                        return self.deliver(arrived.collect());
                    }
                }
            }
            Coverage::All => {
                self.dropped += arrived.iter().map(|(_, waiting)| waiting.group.dropped).sum::<u64>();
                if let Some(all) = &mut self.all {
                    all.push(arrived, self.most_held);
                }
            }
            Coverage::Some(..) => self.deliver_to_workers(arrived),
        }
    }

    /// Decides between all and representative XCDs from the workgroups so far.
    fn choose_coverage(&mut self) {
        let Coverage::Undecided(choice) = &mut self.coverage else { return };
        let shares = choice.shares();
        let arrived = std::mem::take(&mut choice.groups);
        if shares {
            self.cover_representatives();
            self.deliver_to_workers(arrived);
        } else {
            self.cover_all();
            self.deliver(arrived);
        }
    }

    /// Simulates the dispatch on all XCDs.
    fn cover_all(&mut self) {
        let all = self.all.get_or_insert_with(|| Box::new(XcdGroup::new(&self.shape, &self.rates, 1)));
        if std::mem::take(&mut self.shared)
            && let Some(some) = &mut self.some
        {
            transfer_memory_side(some, std::slice::from_mut(all));
        }
        let xcds = self.shape.xcds as u64;
        let missing = (0..xcds).map(|xcd| of_xcd(self.grid.groups, xcd, xcds));
        let steady = (self.detail == Detail::Share).then(|| self.wanted.steady[0].clone());
        all.begin(self.grid.clone(), self.ops.clone(), missing, steady);
        self.coverage = Coverage::All;
    }

    /// Simulates the dispatch on representative XCDs, each independently.
    fn cover_representatives(&mut self) {
        self.wanted.only_some();
        let xcds = self.shape.xcds;
        let parts = (Shape { xcds: 1, ..self.shape.clone() }, self.rates.clone(), xcds);
        let mut some = self.some.take().map_or([None, None], |some| some.map(Some));
        if let Some(all) = &mut self.all {
            let (shape, rates, of) = &parts;
            let mut xcd_group =
                some.map(|it| it.unwrap_or_else(|| Box::new(XcdGroup::new(shape, rates, *of))));
            if !self.shared {
                transfer_memory_side(std::slice::from_mut(all), &mut xcd_group);
            }
            exchange_caches(xcds, all, &mut xcd_group);
            some = xcd_group.map(Some);
        }
        self.shared = true;
        let mut numbers = representative_xcds(xcds).into_iter().zip(&self.wanted.steady);
        let workers = some.map(|xcd_group| {
            let (number, steady) =
                numbers.next().map_or_else(Default::default, |(number, steady)| (number, steady.clone()));
            let groups = of_xcd(self.grid.groups, number as u64, xcds as u64);
            let begin = DispatchStart {
                parts: parts.clone(),
                grid: self.grid.clone(),
                ops: self.ops.clone(),
                groups,
                steady,
            };
            XcdWorker::new(xcd_group, begin, self.threads > 1)
        });
        self.coverage = Coverage::Some(workers, Default::default());
    }

    /// Hands workgroups to the representative XCDs they are assigned to.
    fn deliver_to_workers(&mut self, arrived: Vec<(usize, PendingWorkgroup)>) {
        let Coverage::Some(workers, read) = &mut self.coverage else { return };
        let mut each: [Vec<PendingWorkgroup>; REPRESENTATIVES] = Default::default();
        let numbers = representative_xcds(self.shape.xcds);
        for (xcd, mut waiting) in arrived {
            read.iter_mut().for_each(|read| read.push((xcd, waiting.group.read.clone())));
            if let Some(at) = numbers.iter().position(|&number| number == xcd) {
                // Each represents several XCDs.
                self.dropped += waiting.group.dropped * (self.shape.xcds / REPRESENTATIVES) as u64;
                waiting.read = std::mem::take(&mut read[at]);
                each[at].push(waiting);
            }
        }
        for (worker, groups) in workers.iter_mut().zip(each) {
            if !groups.is_empty() {
                worker.push(groups, self.most_held / REPRESENTATIVES);
            }
        }
    }

    /// Ends the dispatch, whose last workgroups need not have arrived. `code` holds the addresses of the executed
    /// instructions, as ordered ranges.
    pub fn finish(&mut self, code: &[Range<u64>]) -> Outcome {
        self.choose_coverage();
        if let Coverage::Some(workers, _) = &mut self.coverage {
            let code = Arc::from(code);
            workers.iter_mut().for_each(|worker| worker.end(&code));
        }
        let some = self.take_back_workers().map(|outcomes| combine(outcomes, self.shape.xcds));
        let all = || self.all.as_mut().map(|all| all.finish(code));
        let mut outcome = some.or_else(all).unwrap_or_default();
        outcome.tally.add(Count::Dropped, self.dropped);
        outcome
    }

    /// Takes the representative XCDs back from their workers, with their outcomes.
    fn take_back_workers(&mut self) -> Option<[Outcome; REPRESENTATIVES]> {
        let Coverage::Some(workers, _) = std::mem::replace(&mut self.coverage, Coverage::All) else {
            return None;
        };
        let [first, second] = workers.map(XcdWorker::leave);
        let mut xcd_group = [first.0, second.0];
        if let Some(all) = &mut self.all {
            exchange_caches(self.shape.xcds, all, &mut xcd_group);
        }
        self.some = Some(xcd_group);
        Some([*first.1?, *second.1?])
    }
}

/// Swaps the caches of the representative XCDs between both groups.
fn exchange_caches(xcds: usize, all: &mut XcdGroup, some: &mut [Box<XcdGroup>; REPRESENTATIVES]) {
    for (number, xcd_group) in representative_xcds(xcds).into_iter().zip(some) {
        all.caches.exchange(number, &mut xcd_group.caches);
    }
}

/// Workgroups of a grid that an XCD gets in round-robin order.
fn of_xcd(groups: u64, xcd: u64, xcds: u64) -> u64 {
    groups.saturating_sub(xcd).div_ceil(xcds)
}

/// Lets the XCDs simulated from now on look into the memory-side caches of those simulated before, and
/// returns borrowed caches to their owners.
fn transfer_memory_side(from: &mut [Box<XcdGroup>], to: &mut [Box<XcdGroup>]) {
    let lent: Vec<_> =
        from.iter_mut().filter_map(|it| it.memory.memory_side.as_mut()?.take_previous()).collect();
    let lent = lent.into_iter().filter_map(Arc::into_inner).next_back();
    for (xcd_group, side) in to.iter_mut().zip(lent.unwrap_or_default()) {
        xcd_group.memory.memory_side = Some(side);
    }
    let sides: Vec<MemorySideCache> = from.iter_mut().filter_map(|it| it.memory.memory_side.take()).collect();
    let sides = Arc::new(sides);
    for side in to.iter_mut().filter_map(|it| it.memory.memory_side.as_mut()) {
        side.follows(sides.clone());
    }
}
