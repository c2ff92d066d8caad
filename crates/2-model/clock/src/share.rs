//! Some XCDs of a GPU that stand for all of them.
//!
//! The one idea to keep in mind: workgroups go round the XCDs, so those of one do what those of another do, on a part of the
//! GPU of the same kind. Each followed XCD is an estimate of the whole by itself, made without the others: how far they lie
//! apart says how far the estimate can be trusted.

use crate::gpu::Gpu;
use crate::outcome::{Outcome, Stall};
use arch::Model;
use mem::{Count, Group, Tally};

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
const FOLLOWED: usize = 2;
/// Fewest XCDs of a GPU of which not all are followed.
const FEWEST: usize = 2 * FOLLOWED;
/// Workgroups after which it is decided.
const FIRST: u64 = 64;
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

/// What is known of the choice.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    pub(crate) detail: Detail,
    /// Work of the workgroups that came first.
    work: u64,
    decided: bool,
    /// By XCD: the one that stands for it. None where all are followed.
    pub(crate) stands: Option<Vec<usize>>,
    /// By XCD: cycle at which its last wave ended.
    pub(crate) ends: Vec<u64>,
}

impl Choice {
    /// A dispatch begins.
    pub(crate) fn begin(&mut self, xcds: usize) {
        *self = Choice { detail: self.detail, ends: vec![0; xcds], ..Choice::default() };
    }

    /// Whether an XCD is followed.
    pub(crate) fn follows(&self, xcd: usize) -> bool {
        self.stands.as_ref().is_none_or(|stands| stands[xcd] == xcd)
    }

    /// A workgroup has come, the `arrived`th of `groups`; says whether it is decided now that not all XCDs are followed.
    pub(crate) fn came(&mut self, group: &Group, arrived: u64, groups: u64) -> bool {
        let xcds = self.ends.len();
        if self.decided || self.detail == Detail::Full {
            return false;
        }
        self.work += group.lookups + PER_BYTE * group.waves.iter().map(|wave| wave.len() as u64).sum::<u64>();
        if arrived < groups.min(FIRST) {
            return false;
        }
        self.decided = true;
        let all = u128::from(self.work) * u128::from(groups) / u128::from(arrived.max(1));
        if all <= u128::from(MOST_WORK) || xcds < FEWEST || groups < FEWEST_GROUPS * xcds as u64 {
            return false;
        }
        let each = xcds / FOLLOWED;
        self.stands = Some((0..xcds).map(|xcd| (xcd / each).min(FOLLOWED - 1) * each).collect());
        true
    }

    /// How many XCDs one stands for, on average.
    fn weight(&self) -> f64 {
        self.ends.len() as f64 / FOLLOWED as f64
    }
}

impl Gpu {
    /// From now on not all XCDs are followed: what came of the others is forgotten.
    pub(crate) fn drop_others(&mut self) {
        self.memory.stand_for(self.choice.weight());
        for xcd in (0..self.queues.len()).filter(|&xcd| !self.choice.follows(xcd)) {
            self.missing[xcd] = 0;
            self.held -= self.queues[xcd].drain(..).map(|it| it.bytes).sum::<usize>().min(self.held);
        }
        for group in &mut self.groups {
            // Its place in the list stays taken: events of its waves are in the calendar.
            if let Some(dropped) = group.take_if(|it| !self.choice.follows(self.units[it.unit as usize].xcd))
            {
                self.held -= dropped.bytes.min(self.held);
            }
        }
    }
}

impl Outcome {
    /// What XCDs came to that stand for others becomes what all came to.
    pub(crate) fn spread(&mut self, choice: &Choice, each: &[Tally]) {
        if choice.stands.is_none() {
            return;
        }
        let (all, followed) = (choice.ends.len() as u64, FOLLOWED as u64);
        let spread = |cycles: &mut u64| {
            *cycles = (u128::from(*cycles) * u128::from(all) / u128::from(followed)) as u64
        };
        [&mut self.wave_cycles, &mut self.unit_cycles, &mut self.engine_cycles].into_iter().for_each(spread);
        let stalls: &mut Vec<[u64; Stall::COUNT]> = &mut self.stalls;
        stalls.iter_mut().flatten().for_each(spread);
        // The mean of two that lie apart is as likely off by half of that.
        let apart = |values: [f64; 2]| {
            let sum = values[0] + values[1];
            if sum > 0.0 { (values[0] - values[1]).abs() / sum } else { 0.0 }
        };
        let ends: Vec<f64> = (0..choice.ends.len())
            .filter(|&xcd| choice.follows(xcd))
            .map(|xcd| choice.ends[xcd] as f64)
            .collect();
        let both = |values: &[f64]| <[f64; 2]>::try_from(values).map_or(0.0, apart);
        let requests = |tally: &Tally| {
            [Count::L2Read, Count::L2Write, Count::L2Atomic].map(|it| tally.get(it)).iter().sum::<u64>()
                as f64
        };
        let least = LEAST_COUNT * each.iter().map(requests).sum::<f64>();
        let count_error = Count::ALL
            .iter()
            .map(|&count| each.iter().map(|tally| tally.get(count) as f64).collect::<Vec<_>>())
            .filter(|values| values.iter().sum::<f64>() >= least)
            .fold(0.0, |most, values| both(&values).max(most));
        self.shared = Some(Shared {
            followed: followed as u32,
            xcds: all as u32,
            time_error: both(&ends),
            count_error,
        });
    }
}
