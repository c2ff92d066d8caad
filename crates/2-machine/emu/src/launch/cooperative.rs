//! Launches whose workgroups wait for each other: all are there from the start and run in turns.
//!
//! The one idea to keep in mind: one thread gives turns in the order of workgroups, so how often a wave looks for another
//! one, and with it every count, is the same in every run. Nobody waits for ever: when all waves wait, that is said.

use super::worker::{Followed, Turn, Worker, fault, looks_stuck};
use super::{Launch, Summary};
use crate::decode::Action;
use crate::fault::{Cause, Fault, Stop};
use crate::memory::Memory;
use crate::observe::Observer;
use crate::program::Program;
use crate::wave::{State, Wave};

/// Instructions a wave may issue before another one gets its turn; waves that wait sleep, and so end theirs earlier.
const QUANTUM: u64 = 2_000;

/// So many rounds in which every wave only sleeps at the same place, or waits, are a deadlock.
const PATIENCE: u32 = 100_000;

/// A workgroup between its turns.
struct Group<O> {
    waves: Vec<Wave>,
    lds: Vec<u8>,
    clock: u64,
    counted: u64,
    observer: O,
    ended: bool,
}

/// Runs a kernel whose workgroups are there together.
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
        groups.push(Group {
            waves: std::mem::take(&mut worker.waves),
            lds: std::mem::take(&mut worker.executor.machine.lds),
            clock: 0,
            counted: 0,
            observer,
            ended: false,
        });
        worker.executor.machine.lds = vec![0; groups[0].lds.len()];
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
                    worker.settle(worker.waves.len(), &mut summary)
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
    /// Puts the workgroup on the machine, or takes it off.
    fn exchange(&mut self, worker: &mut Worker<'_>) {
        std::mem::swap(&mut self.waves, &mut worker.waves);
        std::mem::swap(&mut self.lds, &mut worker.executor.machine.lds);
        std::mem::swap(&mut self.clock, &mut worker.executor.machine.clock);
        std::mem::swap(&mut self.counted, &mut worker.counted);
    }
}

/// Lets the waves at the barrier of the grid go on when enough are there.
fn open<O>(groups: &mut [Group<O>]) -> bool {
    let waves = || groups.iter().flat_map(|group| &group.waves);
    let asked = waves().filter_map(|wave| match wave.state {
        State::AtGrid(count) => Some(count),
        _ => None,
    });
    let (there, most) = asked.fold((0, 0), |(there, most), count| (there + 1, count.max(most)));
    if there == 0 || there < most {
        return false;
    }
    for wave in groups.iter_mut().flat_map(|group| &mut group.waves) {
        if matches!(wave.state, State::AtGrid(_)) {
            wave.state = State::Running;
        }
    }
    true
}

/// Whether every wave that runs does the same for ever.
fn are_stuck<O: Observer>(worker: &mut Worker<'_>, groups: &mut [Group<O>]) -> Result<bool, Box<Fault>> {
    let runs = groups.iter().flat_map(|group| &group.waves).any(|wave| wave.state == State::Running);
    if !runs || !groups.iter().all(|group| looks_stuck(&group.waves)) {
        return Ok(false);
    }
    for group in groups.iter_mut().filter(|group| !group.ended) {
        group.exchange(worker);
        let followed = worker.follow(worker.waves.len(), &mut group.observer);
        group.exchange(worker);
        if followed? == Followed::Moves {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Rounds in which nothing happened.
#[derive(Default)]
struct Idle {
    rounds: u32,
    places: Vec<usize>,
}

impl Idle {
    /// Takes note of a round; whether it is one too many.
    fn seen<O>(&mut self, program: &Program, groups: &[Group<O>]) -> bool {
        let waves = || groups.iter().flat_map(|group| &group.waves);
        let asleep =
            |wave: &Wave| matches!(program.actions.get(wave.pc.wrapping_sub(1)), Some(Action::Sleep));
        if waves().all(|wave| wave.state != State::Running) {
            // No barrier opened, and nobody is left who could come.
            return waves().any(|wave| wave.state != State::Ended);
        }
        let places = waves().map(|wave| wave.pc);
        if waves().any(|wave| wave.state == State::Running && !asleep(wave)) {
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
fn deadlock<O>(worker: &Worker<'_>, groups: &[Group<O>]) -> Box<Fault> {
    let waves = || groups.iter().flat_map(|group| &group.waves);
    let ended = waves().filter(|wave| wave.state == State::Ended).count();
    let all = waves().count();
    let cause = Cause::Deadlock { waiting: all - ended, ended, waves: all };
    let first = waves().find(|wave| wave.state != State::Ended).unwrap_or(&groups[0].waves[0]);
    fault(&worker.executor, first, first.pc.saturating_sub(1), Stop { cause, lane: None })
}
