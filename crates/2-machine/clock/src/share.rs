//! Some XCDs of a GPU that stand for all of them.
//!
//! The one idea to keep in mind: workgroups go round the XCDs, so those of one do what those of another do, on a part of the
//! GPU of the same kind. Each followed XCD has its share of the memory and is an estimate of the whole by itself, made without the
//! others: how far they lie apart says how far the estimate can be trusted.

use crate::dies::Waiting;
use crate::gpu::Order;
use crate::level::Level;
use crate::outcome::{Outcome, Stall, UnderWay};
use arch::Model;
use mem::{Count, Tally};
use std::sync::atomic::{AtomicBool, Ordering};

/// How much of a dispatch is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detail {
    /// All of it.
    #[default]
    Full,
    /// All of it, or two XCDs that stand for all where it would take long.
    Share,
}

/// A dispatch of which only some XCDs were followed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shared {
    /// XCDs that were followed.
    pub followed: u32,
    /// All XCDs.
    pub xcds: u32,
    /// How far the estimates of the time by single XCDs lie from what is said, as a share of it.
    pub time_error: f64,
    /// The same of counts of requests, the one that lies farthest.
    pub count_error: f64,
}

/// XCDs that are followed, where not all are.
pub(crate) const FOLLOWED: usize = 2;
/// Fewest XCDs of a GPU of which not all are followed.
const FEWEST: usize = 2 * FOLLOWED;
/// Workgroups after which it is decided.
const FIRST: u64 = 64;
/// How far work has to be above [`MOST_WORK`] for the first workgroup of each XCD to decide.
const SURE: u64 = 2;
/// Fewest workgroups of a followed XCD.
const FEWEST_GROUPS: u64 = 8;
/// Work above which not all is followed: look-ups, and bytes of streams. It takes about a third of a second.
const MOST_WORK: u64 = 8_000_000;
/// Look-ups that take as long as the events of one byte of a stream.
const PER_BYTE: u64 = 8;
/// Share of all requests of the L2 that a count must have to say something about errors.
const LEAST_COUNT: f64 = 0.01;

/// Whether some XCDs of a GPU can stand for all.
pub fn can_share(model: &Model) -> bool {
    model.xcds.value as usize >= FEWEST
}

/// Which of the followed XCDs stands for an XCD.
fn stands_for(xcd: usize, xcds: usize) -> usize {
    (xcd / (xcds / FOLLOWED)).min(FOLLOWED - 1)
}

/// The followed XCDs, where not all are.
pub(crate) fn followed(xcds: usize) -> [usize; FOLLOWED] {
    std::array::from_fn(|number| number * (xcds / FOLLOWED))
}

/// Which workgroups a GPU wants the streams of, for whoever records them while others are pushed.
#[derive(Debug)]
pub struct Wanted {
    order: Order,
    groups: u64,
    xcds: u64,
    /// Some XCDs stand for all, which is settled.
    some: AtomicBool,
}

impl Wanted {
    pub(crate) fn new(order: Order, groups: u64, xcds: usize) -> Wanted {
        Wanted { order, groups, xcds: xcds as u64, some: AtomicBool::new(false) }
    }

    /// The XCD that a workgroup of the grid comes to.
    pub(crate) fn xcd(&self, group: u64) -> usize {
        self.order.xcd(group, self.groups, self.xcds).min(self.xcds - 1) as usize
    }

    /// Some XCDs stand for all from now on.
    pub(crate) fn only_some(&self) {
        self.some.store(true, Ordering::Relaxed);
    }

    /// Whether the stream of a workgroup of the grid is wanted. Of others nothing is used but which lines they read, so that
    /// nothing comes of when this is asked.
    pub fn wants(&self, group: u64) -> bool {
        !self.some.load(Ordering::Relaxed) || followed(self.xcds as usize).contains(&self.xcd(group))
    }
}

/// Workgroups that came before it is decided, and what follows from them.
#[derive(Debug)]
pub(crate) struct Choice {
    /// Each with its XCD.
    pub(crate) groups: Vec<(usize, Waiting)>,
    /// Bytes of their streams.
    pub(crate) bytes: usize,
    work: u64,
    /// Those of the grid, and XCDs.
    all: u64,
    xcds: usize,
}

impl Choice {
    /// Nothing is known of a dispatch; none where there is nothing to choose.
    pub(crate) fn new(detail: Detail, xcds: usize, groups: u64) -> Option<Choice> {
        if detail == Detail::Full || xcds < FEWEST || groups < FEWEST_GROUPS * xcds as u64 {
            return None;
        }
        Some(Choice { groups: Vec::new(), bytes: 0, work: 0, all: groups, xcds })
    }

    /// A workgroup has come.
    pub(crate) fn came(&mut self, xcd: usize, waiting: Waiting) {
        let Waiting { group, bytes, .. } = &waiting;
        self.bytes += bytes;
        self.work += group.lookups + PER_BYTE * group.waves.iter().map(|wave| wave.len() as u64).sum::<u64>();
        self.groups.push((xcd, waiting));
    }

    /// Whether enough is known.
    pub(crate) fn ready(&self, most_held: usize) -> bool {
        let came = self.groups.len();
        came as u64 >= FIRST
            || self.bytes > most_held
            || came >= self.xcds && self.expected() > u128::from(SURE * MOST_WORK)
    }

    /// Whether some XCDs are to stand for all.
    pub(crate) fn shares(&self) -> bool {
        self.expected() > u128::from(MOST_WORK)
    }

    /// Work of all workgroups, if they are like those that came.
    fn expected(&self) -> u128 {
        u128::from(self.work) * u128::from(self.all) / self.groups.len().max(1) as u128
    }
}

/// What XCDs came to that stand for `xcds` becomes what all came to.
pub(crate) fn together(some: [Outcome; FOLLOWED], xcds: usize) -> Outcome {
    let spread = |cycles: u64| (u128::from(cycles) * xcds as u128 / FOLLOWED as u128) as u64;
    let sum = |of: fn(&Outcome) -> u64| spread(some.iter().map(of).sum());
    let most = |of: fn(&Outcome) -> u64| some.iter().map(of).max().unwrap_or(0);
    let mut stalls = vec![[0; Stall::COUNT]; some[0].stalls.len()];
    for (at, row) in stalls.iter_mut().enumerate() {
        for (reason, cycles) in row.iter_mut().enumerate() {
            *cycles = spread(some.iter().map(|it| it.stalls[at][reason]).sum());
        }
    }
    // The mean of two that lie apart is as likely off by half of that.
    let apart = |values: [f64; FOLLOWED]| {
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
        .filter(|values: &[f64; FOLLOWED]| values.iter().sum::<f64>() >= least)
        .fold(0.0, |most, values| apart(values).max(most));
    let joined = |of: fn(&Outcome) -> &Level| {
        let mut level = of(&some[0]).clone();
        some[1..].iter().for_each(|it| level.add(of(it)));
        level
    };
    let shared = Shared {
        followed: FOLLOWED as u32,
        xcds: xcds as u32,
        time_error: apart(std::array::from_fn(|number| some[number].waves_end as f64)),
        count_error,
    };
    let stands = |xcd| &some[stands_for(xcd, xcds)].tally;
    Outcome {
        tally: Tally::joined((0..xcds).map(stands)),
        cycles: most(|it| it.cycles),
        waves_end: most(|it| it.waves_end),
        wave_cycles: sum(|it| it.wave_cycles),
        unit_cycles: sum(|it| it.unit_cycles),
        engine_cycles: sum(|it| it.engine_cycles),
        full_cycles: sum(|it| it.full_cycles),
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
    }
}
