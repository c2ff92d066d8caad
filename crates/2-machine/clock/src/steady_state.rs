//! Steady state: the first workgroups of a long dispatch are simulated, and the rest is extrapolated.
//!
//! A round is as many workgroups as are resident at a time. A dispatch is steady once two later quarters of the
//! rounds so far take equally long and the caches have been filled. No further workgroup starts then, the
//! resident ones end, and the other workgroups take as long as those of the second half of the rounds.

use crate::outcome::{FollowedWorkgroups, Outcome, Stall};
use crate::representative_xcds::work_of;
use mem::{Count, Group, Tally};
use std::collections::VecDeque;

/// Fewest rounds before a dispatch can be steady.
const FEWEST_ROUNDS: u64 = 4;
/// Largest difference of the rates of two quarters, as a share of their mean.
const MOST_DIFFERENCE: f64 = 0.01;
/// Largest share of the workgroups that is simulated: above it the rest is simulated too.
const MOST_FOLLOWED: f64 = 0.5;
/// Least work that is simulated, in look-ups. Takes about a second.
const LEAST_WORK: u64 = 16_000_000;
/// Bytes moved to and from memory, as a multiple of the caches' capacity, after which caches are full.
const FILLED: u64 = 2;
/// Snapshots that are kept: at a half, at three quarters, and now.
const SNAPSHOTS: usize = 3;

/// Counts of a dispatch when some workgroups had ended.
#[derive(Clone, Debug)]
struct Snapshot {
    /// Workgroups that have ended.
    ended: u64,
    cycle: u64,
    /// Sums so far, with the tally.
    outcome: Outcome,
}

/// The part of the dispatch after the last simulated workgroup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    /// Workgroups that started, and all of the XCDs.
    followed: u64,
    all: u64,
    /// Cycle after which no workgroup started.
    cycle: u64,
    /// Cycles that the other workgroups take.
    cycles: u64,
    /// Other workgroups over the workgroups between the oldest and the latest snapshot.
    factor: f64,
    /// Likely error of `cycles` as a share of them.
    error: f64,
}

/// Detection of the steady state of a dispatch.
#[derive(Debug, Default)]
pub(crate) struct SteadyState {
    /// Workgroups of a round; 0 if all workgroups are to be simulated.
    round: u64,
    /// Workgroups of the dispatch on these XCDs.
    all: u64,
    /// Bytes of the caches that a dispatch fills.
    capacity: u64,
    started: u64,
    ended: u64,
    /// Look-ups of the workgroups so far.
    work: u64,
    snapshots: VecDeque<Snapshot>,
    rest: Option<Rest>,
}

impl SteadyState {
    /// Detection for a dispatch of this number of workgroups, of which `round` are resident at a time.
    pub(crate) fn new(all: u64, round: u64, capacity: u64) -> SteadyState {
        // A later check is possible only if the first one is.
        let round = if all as f64 * MOST_FOLLOWED < (FEWEST_ROUNDS * round) as f64 { 0 } else { round };
        SteadyState { round, all, capacity, ..SteadyState::default() }
    }

    /// The extrapolated part, once the dispatch is steady.
    pub(crate) fn rest(&self) -> Option<&Rest> {
        self.rest.as_ref()
    }

    /// Counts a workgroup that starts.
    #[inline]
    pub(crate) fn start_workgroup(&mut self, group: &Group) {
        if self.round > 0 {
            self.started += 1;
            self.work += work_of(group);
        }
    }

    /// Counts an ended workgroup; true if a snapshot is due.
    #[inline]
    pub(crate) fn end_workgroup(&mut self) -> bool {
        self.ended += 1;
        if self.round == 0 || self.rest.is_some() || !self.ended.is_multiple_of(self.round) {
            return false;
        }
        // The last workgroups run on a GPU that gets emptier.
        if self.started - self.ended + 1 < self.round {
            return false;
        }
        // Halves, three quarters and wholes of the powers of two.
        let rounds = self.ended / self.round;
        rounds.is_power_of_two() || rounds.is_multiple_of(3) && (rounds / 3).is_power_of_two()
    }

    /// Takes a snapshot; true if the dispatch is steady.
    pub(crate) fn add(&mut self, cycle: u64, outcome: Outcome) -> bool {
        if self.snapshots.len() == SNAPSHOTS {
            self.snapshots.pop_front();
        }
        self.snapshots.push_back(Snapshot { ended: self.ended, cycle, outcome });
        let rounds = self.ended / self.round.max(1);
        if rounds < FEWEST_ROUNDS || !rounds.is_power_of_two() || self.work < LEAST_WORK {
            return false;
        }
        let is_small = self.started as f64 <= MOST_FOLLOWED * self.all as f64;
        self.rest = self.find_rest().filter(|rest| is_small && 2.0 * rest.error <= MOST_DIFFERENCE);
        self.rest.is_some()
    }

    /// Extrapolates the workgroups that did not arrive, however much the rates differ; false if there were too
    /// few rounds, or the caches were not full.
    pub(crate) fn end_early(&mut self) -> bool {
        let rounds = self.snapshots.back().map_or(0, |it| it.ended / self.round.max(1));
        if rounds >= FEWEST_ROUNDS && self.rest.is_none() {
            self.rest = self.find_rest();
        }
        self.rest.is_some()
    }

    fn find_rest(&self) -> Option<Rest> {
        let [half, middle, now] = self.snapshots.iter().collect::<Vec<_>>().try_into().ok()?;
        let cycles_of = |from: &Snapshot, to: &Snapshot| {
            (to.cycle.saturating_sub(from.cycle)) as f64 / (to.ended - from.ended).max(1) as f64
        };
        let [first, second] = [cycles_of(half, middle), cycles_of(middle, now)];
        let difference = (first - second).abs() / (first + second).max(1.0) * 2.0;
        if now.outcome.hurried || !self.fills_caches(&now.outcome.tally) {
            return None;
        }
        let left = self.all - self.started;
        Some(Rest {
            followed: self.started,
            all: self.all,
            cycle: now.cycle,
            cycles: (cycles_of(half, now) * left as f64).round() as u64,
            factor: left as f64 / (now.ended - half.ended).max(1) as f64,
            error: difference / 2.0,
        })
    }

    /// True if the caches are full, or stay nearly empty to the end.
    fn fills_caches(&self, tally: &Tally) -> bool {
        let bytes = moved_bytes(tally);
        let to_the_end = u128::from(bytes) * u128::from(self.all) / u128::from(self.ended.max(1));
        bytes >= FILLED * self.capacity || to_the_end * u128::from(FILLED) <= u128::from(self.capacity)
    }

    /// Adds the extrapolated part to the outcome of the simulated one, which was the end of the dispatch.
    pub(crate) fn complete(&self, outcome: &mut Outcome, engines: u64, units: u64) {
        let (Some(rest), Some(half), Some(now)) = (&self.rest, self.snapshots.front(), self.snapshots.back())
        else {
            return;
        };
        let (from, to) = (&half.outcome, &now.outcome);
        let more = |of: fn(&Outcome) -> u64| {
            ((of(to).wrapping_sub(of(from)) as i64).max(0) as f64 * rest.factor).round() as u64
        };
        let share = rest.cycles as f64 / (outcome.cycles + rest.cycles).max(1) as f64;
        outcome.tally.add_scaled(&from.tally, &to.tally, rest.factor);
        outcome.cycles += rest.cycles;
        outcome.waves_end += rest.cycles;
        outcome.wave_cycles += more(|it| it.wave_cycles);
        outcome.full_cycles += more(|it| it.full_cycles);
        outcome.matrix_cycles += more(|it| it.matrix_cycles);
        outcome.f64_cycles += more(|it| it.f64_cycles);
        // All are busy to the end.
        outcome.unit_cycles += rest.cycles * units;
        outcome.engine_cycles += rest.cycles * engines;
        outcome.under_way.vector += more(|it| it.under_way.vector);
        outcome.under_way.local += more(|it| it.under_way.local);
        outcome.under_way.l2_reads += more(|it| it.under_way.l2_reads);
        outcome.under_way.l2_writes += more(|it| it.under_way.l2_writes);
        outcome.under_way.reads += more(|it| it.under_way.reads);
        outcome.under_way.writes += more(|it| it.under_way.writes);
        for (at, sums) in outcome.stalls.iter_mut().enumerate() {
            let of = |outcome: &Outcome| outcome.stalls.get(at).copied().unwrap_or([0; Stall::COUNT]);
            for ((sum, from), to) in sums.iter_mut().zip(of(from)).zip(of(to)) {
                *sum += (to.saturating_sub(from) as f64 * rest.factor).round() as u64;
            }
        }
        outcome.waves.extend_at(rest.cycle, rest.cycles);
        outcome.units.extend_at(rest.cycle, rest.cycles);
        outcome.followed = Some(FollowedWorkgroups {
            followed: rest.followed,
            workgroups: rest.all,
            time_error: rest.error * share,
        });
    }
}

/// Bytes read from and written to memory.
fn moved_bytes(tally: &Tally) -> u64 {
    let sizes = [
        (Count::FabricRead32, 32),
        (Count::FabricRead64, 64),
        (Count::FabricRead128, 128),
        (Count::FabricWrite32, 32),
        (Count::FabricWrite64, 64),
    ];
    sizes.iter().map(|&(count, bytes)| tally.get(count) * bytes).sum()
}
