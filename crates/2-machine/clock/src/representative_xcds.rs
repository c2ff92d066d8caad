//! Representative XCDs: some XCDs of a GPU are simulated, and their results are used for all.
//!
//! Workgroups are assigned to XCDs round robin, so XCDs do similar work on equal hardware. Each
//! representative XCD has its share of the memory and is an independent estimate of the whole; the difference
//! between estimates is the likely error.

use crate::grid::Order;
use crate::level::Level;
use crate::outcome::{FollowedWorkgroups, Outcome, RepresentativeXcds, Stall, UnderWay};
use crate::workgroup::PendingWorkgroup;
use arch::Model;
use mem::{Count, Group, Tally};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much of a dispatch is simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detail {
    /// All XCDs.
    #[default]
    Full,
    /// All XCDs, or two representative ones if the dispatch is large. Of a long dispatch in a steady state
    /// the first workgroups.
    Share,
}

/// Number of representative XCDs.
pub(crate) const REPRESENTATIVES: usize = 2;
/// Fewest XCDs of a GPU that can be represented.
const FEWEST: usize = 2 * REPRESENTATIVES;
/// Workgroups after which the choice is made.
const FIRST: u64 = 64;
/// Factor above [`MOST_WORK`] at which the first workgroup of each XCD suffices for the choice.
const SURE: u64 = 2;
/// Fewest workgroups of a representative XCD.
const FEWEST_GROUPS: u64 = 8;
/// Work above which representative XCDs are used, in look-ups. Takes about a third of a second.
const MOST_WORK: u64 = 8_000_000;
/// Look-ups that take as long as the events in one byte of a stream.
const PER_BYTE: u64 = 8;
/// Least share of all L2 requests of a count that enters the error.
const LEAST_COUNT: f64 = 0.01;

/// True if a GPU has enough XCDs for representative ones.
pub fn can_share(model: &Model) -> bool {
    model.xcds.value as usize >= FEWEST
}

/// Index of the representative of an XCD.
fn representative_of(xcd: usize, xcds: usize) -> usize {
    (xcd / (xcds / REPRESENTATIVES)).min(REPRESENTATIVES - 1)
}

/// The representative XCDs.
pub(crate) fn representative_xcds(xcds: usize) -> [usize; REPRESENTATIVES] {
    std::array::from_fn(|number| number * (xcds / REPRESENTATIVES))
}

/// Workgroups whose streams a dispatch needs, shared with the threads that record them.
#[derive(Debug)]
pub struct Wanted {
    order: Order,
    groups: u64,
    xcds: u64,
    /// Representative XCDs have been chosen.
    some: AtomicBool,
    /// By group of XCDs that is simulated: no further workgroup starts.
    pub(crate) steady: [Arc<AtomicBool>; REPRESENTATIVES],
}

impl Wanted {
    pub(crate) fn new(order: Order, groups: u64, xcds: usize) -> Wanted {
        Wanted { order, groups, xcds: xcds as u64, some: AtomicBool::new(false), steady: Default::default() }
    }

    /// XCD of a workgroup of the grid.
    pub(crate) fn xcd(&self, group: u64) -> usize {
        self.order.xcd(group, self.groups, self.xcds).min(self.xcds - 1) as usize
    }

    /// Keeps only the workgroups of representative XCDs.
    pub(crate) fn only_some(&self) {
        self.some.store(true, Ordering::Relaxed);
    }

    /// True if the stream of a workgroup is needed. The clock uses only the read lines of other workgroups,
    /// so results do not depend on when this is called.
    pub fn wants(&self, group: u64) -> bool {
        let steady = |number: usize| self.steady[number].load(Ordering::Relaxed);
        if !self.some.load(Ordering::Relaxed) {
            return !steady(0);
        }
        let number = representative_xcds(self.xcds as usize).iter().position(|&xcd| xcd == self.xcd(group));
        number.is_some_and(|number| !steady(number))
    }
}

/// Work of a workgroup, in look-ups.
pub(crate) fn work_of(group: &Group) -> u64 {
    group.lookups + PER_BYTE * group.waves.iter().map(|wave| wave.len() as u64).sum::<u64>()
}

/// Workgroups that arrived before the choice, and the work they announce.
#[derive(Debug)]
pub(crate) struct CoverageChoice {
    /// Workgroups, each with its XCD.
    pub(crate) groups: Vec<(usize, PendingWorkgroup)>,
    /// Memory of their streams, bytes.
    pub(crate) bytes: usize,
    work: u64,
    /// Workgroups of the grid, and XCDs of the GPU.
    all: u64,
    xcds: usize,
}

impl CoverageChoice {
    /// A choice to make; `None` if all XCDs have to be simulated.
    pub(crate) fn new(detail: Detail, xcds: usize, groups: u64) -> Option<CoverageChoice> {
        if detail == Detail::Full || xcds < FEWEST || groups < FEWEST_GROUPS * xcds as u64 {
            return None;
        }
        Some(CoverageChoice { groups: Vec::new(), bytes: 0, work: 0, all: groups, xcds })
    }

    /// Adds a workgroup.
    pub(crate) fn add_workgroup(&mut self, xcd: usize, waiting: PendingWorkgroup) {
        self.bytes += waiting.bytes;
        self.work += work_of(&waiting.group);
        self.groups.push((xcd, waiting));
    }

    /// True if the workgroups so far suffice for the choice.
    pub(crate) fn ready(&self, most_held: usize) -> bool {
        let arrived = self.groups.len();
        arrived as u64 >= FIRST
            || self.bytes > most_held
            || arrived >= self.xcds && self.expected() > u128::from(SURE * MOST_WORK)
    }

    /// True if representative XCDs are to be used.
    pub(crate) fn shares(&self) -> bool {
        self.expected() > u128::from(MOST_WORK)
    }

    /// Work of the grid, extrapolated from the workgroups so far.
    fn expected(&self) -> u128 {
        u128::from(self.work) * u128::from(self.all) / self.groups.len().max(1) as u128
    }
}

/// Workgroups of the representative XCDs that extrapolated; `None` if none did.
fn followed(some: &[Outcome; REPRESENTATIVES]) -> Option<FollowedWorkgroups> {
    some.iter().filter_map(|it| it.followed).reduce(|a, b| FollowedWorkgroups {
        followed: a.followed + b.followed,
        workgroups: a.workgroups + b.workgroups,
        time_error: a.time_error.max(b.time_error),
    })
}

/// Scales the outcomes of the representative XCDs to all `xcds`.
pub(crate) fn combine(some: [Outcome; REPRESENTATIVES], xcds: usize) -> Outcome {
    let spread = |cycles: u64| (u128::from(cycles) * xcds as u128 / REPRESENTATIVES as u128) as u64;
    let sum = |of: fn(&Outcome) -> u64| spread(some.iter().map(of).sum());
    let most = |of: fn(&Outcome) -> u64| some.iter().map(of).max().unwrap_or(0);
    let mut stalls = vec![[0; Stall::COUNT]; some[0].stalls.len()];
    for (at, row) in stalls.iter_mut().enumerate() {
        for (reason, cycles) in row.iter_mut().enumerate() {
            *cycles = spread(some.iter().map(|it| it.stalls[at][reason]).sum());
        }
    }
    // The mean of two estimates is likely off by half their difference.
    let apart = |values: [f64; REPRESENTATIVES]| {
        let sum: f64 = values.iter().sum();
        if sum > 0.0 { (values[0] - values[1]).abs() / sum } else { 0.0 }
    };
    let requests = |tally: &Tally| {
        [Count::L2Read, Count::L2Write, Count::L2Atomic].map(|it| tally.get(it)).iter().sum::<u64>()
    };
    let least = LEAST_COUNT * some.iter().map(|it| requests(&it.tally) as f64).sum::<f64>();
    let count_error = Count::ALL
        .iter()
        .map(|&count| std::array::from_fn(|number| some[number].tally.get(count) as f64))
        .filter(|values: &[f64; REPRESENTATIVES]| values.iter().sum::<f64>() >= least)
        .fold(0.0, |most, values| apart(values).max(most));
    let joined = |of: fn(&Outcome) -> &Level| {
        let mut level = of(&some[0]).clone();
        some[1..].iter().for_each(|it| level.add(of(it)));
        level
    };
    let shared = RepresentativeXcds {
        simulated: REPRESENTATIVES as u32,
        xcds: xcds as u32,
        time_error: apart(std::array::from_fn(|number| some[number].waves_end as f64)),
        count_error,
    };
    let stands = |xcd| &some[representative_of(xcd, xcds)].tally;
    Outcome {
        tally: Tally::joined((0..xcds).map(stands)),
        cycles: most(|it| it.cycles),
        waves_end: most(|it| it.waves_end),
        wave_cycles: sum(|it| it.wave_cycles),
        unit_cycles: sum(|it| it.unit_cycles),
        engine_cycles: sum(|it| it.engine_cycles),
        full_cycles: sum(|it| it.full_cycles),
        matrix_cycles: sum(|it| it.matrix_cycles),
        f64_cycles: sum(|it| it.f64_cycles),
        under_way: UnderWay {
            vector: sum(|it| it.under_way.vector),
            local: sum(|it| it.under_way.local),
            l2_reads: sum(|it| it.under_way.l2_reads),
            l2_writes: sum(|it| it.under_way.l2_writes),
            reads: sum(|it| it.under_way.reads),
            writes: sum(|it| it.under_way.writes),
        },
        waves: joined(|it| &it.waves),
        units: joined(|it| &it.units),
        stalls,
        hurried: some.iter().any(|it| it.hurried),
        shared: Some(shared),
        followed: followed(&some),
        incomplete: some.iter().any(|it| it.incomplete),
    }
}
