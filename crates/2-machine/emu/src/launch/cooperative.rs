//! Cooperative launches: all workgroups are resident and run in turns.
//!
//! The one idea to keep in mind: one thread runs the workgroups in order, so the polls of a wave, and all counts,
//! are the same in every run. If all waves wait, the launch reports a deadlock.

use super::worker::{Replay, Turn, Worker, fault, may_be_deadlocked};
use super::{Launch, Summary};
use crate::decode::Action;
use crate::fault::{Cause, Fault, Stop};
use crate::memory::Memory;
use crate::observe::Observer;
use crate::program::Program;
use crate::wave::{Wave, WaveState};

/// Most instructions of a wave's turn; waves that poll sleep and end their turn earlier.
pub(super) const QUANTUM: u64 = 2_000;

/// Rounds without progress after which a launch is deadlocked: every wave waits, or sleeps at the same instruction.
const PATIENCE: u32 = 100_000;

/// A workgroup between its turns.
pub(super) struct Group<O> {
    pub(super) waves: Vec<Wave>,
    lds: Vec<u8>,
    clock: u64,
    counted: u64,
    pub(super) observer: O,
    ended: bool,
}

/// Runs a cooperative launch.
pub(crate) fn run<O: Observer + Send>(
    program: &Program,
    memory: &Memory,
    launch: &Launch<'_>,
    make: impl Fn() -> O,
    mut merge: impl FnMut(O),
) -> Result<Summary, Box<Fault>> {
    let mut worker = Worker::new(program, memory, launch);
    let mut groups: Vec<Group<O>> = Vec::new();
    for index in 0..launch.workgroup_count() {
        let mut observer = make();
        worker.begin(index, &mut observer);
        groups.push(Group::taken(&mut worker, observer));
    }
    let mut summary = Summary::default();
    let mut idle = Idle::default();
    while groups.iter().any(|group| !group.ended) {
        for group in groups.iter_mut().filter(|group| !group.ended) {
            group.exchange(&mut worker);
            let turn = worker.turn(worker.waves.len(), QUANTUM, &mut group.observer);
            let settled = match turn {
                Ok(Turn::Ended) => {
                    group.ended = true;
                    worker.add_ended_workgroup(worker.waves.len(), &mut summary)
                }
                Ok(_) => Ok(()),
                Err(fault) => Err(fault),
            };
            group.exchange(&mut worker);
            settled?;
        }
        let opened = open(&mut groups);
        if !opened && (idle.seen(program, &groups) || are_stuck(&mut worker, &mut groups)?) {
            return Err(deadlock(&worker, &groups));
        }
    }
    groups.into_iter().for_each(|group| merge(group.observer));
    Ok(summary)
}

impl<O> Group<O> {
    /// Takes the workgroup from the machine, which is ready for another.
    pub(super) fn taken(worker: &mut Worker<'_>, observer: O) -> Group<O> {
        let empty = vec![0; worker.executor.machine.lds.len()];
        Group {
            waves: std::mem::take(&mut worker.waves),
            lds: std::mem::replace(&mut worker.executor.machine.lds, empty),
            clock: std::mem::take(&mut worker.executor.machine.clock),
            counted: std::mem::take(&mut worker.counted),
            observer,
            ended: false,
        }
    }

    /// Swaps the workgroup with the one on the machine.
    pub(super) fn exchange(&mut self, worker: &mut Worker<'_>) {
        std::mem::swap(&mut self.waves, &mut worker.waves);
        std::mem::swap(&mut self.lds, &mut worker.executor.machine.lds);
        std::mem::swap(&mut self.clock, &mut worker.executor.machine.clock);
        std::mem::swap(&mut self.counted, &mut worker.counted);
    }
}

/// Opens the grid barrier if enough waves wait at it.
fn open<O>(groups: &mut [Group<O>]) -> bool {
    let waves = || groups.iter().flat_map(|group| &group.waves);
    let asked = waves().filter_map(|wave| match wave.state {
        WaveState::AtGrid(count) => Some(count),
        _ => None,
    });
    let (there, most) = asked.fold((0, 0), |(there, most), count| (there + 1, count.max(most)));
    if there == 0 || there < most {
        return false;
    }
    for group in groups {
        let waits = |wave: &Wave| matches!(wave.state, WaveState::AtGrid(_));
        let time = group.waves.iter().filter(|wave| waits(wave)).map(Wave::time).max().unwrap_or(0);
        group.waves.iter_mut().filter(|wave| waits(wave)).for_each(|wave| wave.go_on(time));
    }
    true
}

/// True if no running wave can ever progress.
fn are_stuck<O: Observer>(worker: &mut Worker<'_>, groups: &mut [Group<O>]) -> Result<bool, Box<Fault>> {
    let runs = groups.iter().flat_map(|group| &group.waves).any(|wave| wave.state == WaveState::Running);
    if !runs || !groups.iter().all(|group| may_be_deadlocked(&group.waves)) {
        return Ok(false);
    }
    for group in groups.iter_mut().filter(|group| !group.ended) {
        group.exchange(worker);
        let followed = worker.replay(worker.waves.len(), &mut group.observer);
        group.exchange(worker);
        if followed? == Replay::Moves {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Rounds without progress.
#[derive(Default)]
struct Idle {
    rounds: u32,
    places: Vec<usize>,
}

impl Idle {
    /// Records a round; true if there were too many without progress.
    fn seen<O>(&mut self, program: &Program, groups: &[Group<O>]) -> bool {
        let waves = || groups.iter().flat_map(|group| &group.waves);
        let asleep =
            |wave: &Wave| matches!(program.actions.get(wave.pc.wrapping_sub(1)), Some(Action::Sleep { .. }));
        if waves().all(|wave| wave.state != WaveState::Running) {
            // No barrier opened, and no wave is left to reach one.
            return waves().any(|wave| wave.state != WaveState::Ended);
        }
        let places = waves().map(|wave| wave.pc);
        if waves().any(|wave| wave.state == WaveState::Running && !asleep(wave)) {
            self.rounds = 0;
        } else if places.clone().eq(self.places.iter().copied()) {
            self.rounds += 1;
        } else {
            self.rounds = 0;
            self.places = places.collect();
        }
        self.rounds > PATIENCE
    }
}

/// The fault at the first wave that waits.
pub(super) fn deadlock<O>(worker: &Worker<'_>, groups: &[Group<O>]) -> Box<Fault> {
    let waves = || groups.iter().flat_map(|group| &group.waves);
    let ended = waves().filter(|wave| wave.state == WaveState::Ended).count();
    let all = waves().count();
    let cause = Cause::Deadlock { waiting: all - ended, ended, waves: all };
    let first = waves().find(|wave| wave.state != WaveState::Ended).unwrap_or(&groups[0].waves[0]);
    fault(&worker.executor, first, first.pc.saturating_sub(1), Stop { cause, lane: None })
}
