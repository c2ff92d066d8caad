//! Waves that can never end, found before they have issued all they may.
//!
//! The one idea to keep in mind: a wave that comes back to an instruction with the registers it had there, and on whose way nothing
//! in memory changed, goes the same way again unless somebody else writes. Only the ends of turns are looked at, so waves that
//! do end pay nothing; what looks the same there is followed instruction by instruction, and that decides.

use super::{Worker, fault, innermost_loop};
use crate::access::Access;
use crate::cpu;
use crate::decode::Action;
use crate::fault::{Cause, Fault, Stop};
use crate::lanes::active;
use crate::observe::Observer;
use crate::wave::{Kept, State, Wave};
use isa::{Access as Kind, Space};
use std::sync::atomic::Ordering;

/// Longest way from a state to itself that is followed.
const MOST_STEPS: u64 = 200_000;

/// Whether no wave is seen to get on: those that run look as they did.
pub(crate) fn looks_stuck(waves: &[Wave]) -> bool {
    waves.iter().all(|wave| wave.state != State::Running || wave.repeats())
}

/// What following the waves of a workgroup came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Followed {
    /// Something changed, or may be changed by somebody who is not known.
    Moves,
    /// Every wave came back to where it was and nothing changed; whether one read memory of all workgroups.
    Returned { looked: bool },
}

/// The other threads of a launch.
pub(crate) trait Others {
    /// The workgroup at hand looks stuck; it writes nothing until [`Others::leave`].
    fn enter(&self);
    /// It goes on.
    fn leave(&self);
    /// The number of the time for which nobody has been writing, if that is so now.
    fn quiet(&self) -> Option<u64>;
    /// The workgroup was followed once more within a quiet time, for the `first` time in it; whether it is over for all that are stuck.
    fn confirm(&self, quiet: u64, first: bool) -> bool;
    /// Lets others go on.
    fn pause(&self);
}

/// Who of a launch's threads can still write.
#[derive(Debug, Default)]
pub(crate) struct Crew {
    /// Threads that have workgroups.
    pub(crate) workers: usize,
    /// Of these, those whose workgroup looks stuck.
    stuck: usize,
    /// Of threads that wait for batches before theirs, how many must be done.
    pub(crate) waiting: Vec<u64>,
    /// Counts everything that ends a quiet time.
    pub(crate) time: u64,
    /// In that time, so many were followed once more.
    confirmed: (u64, usize),
    over: bool,
}

impl Crew {
    pub(crate) fn new(workers: usize) -> Crew {
        Crew { workers, ..Crew::default() }
    }

    pub(crate) fn enter(&mut self) {
        self.stuck += 1;
    }

    pub(crate) fn leave(&mut self) {
        self.stuck -= 1;
        self.time += 1;
    }

    /// `merged` batches are done.
    pub(crate) fn quiet(&self, merged: u64) -> Option<u64> {
        let waiting = self.waiting.iter().filter(|&&done| merged < done).count();
        (self.over || self.workers == self.stuck + waiting).then_some(self.time)
    }

    /// All that are stuck in one quiet time, and did the same in it: the first of them to write would have to read
    /// something new before, and there is nobody who wrote it.
    pub(crate) fn confirm(&mut self, quiet: u64, first: bool, merged: u64) -> bool {
        if self.over || self.quiet(merged) != Some(quiet) {
            return self.over;
        }
        if self.confirmed.0 != quiet {
            self.confirmed = (quiet, 0);
        }
        self.confirmed.1 += usize::from(first);
        self.over = self.confirmed.1 >= self.stuck;
        self.over
    }
}

impl Worker<'_> {
    /// Stops a workgroup whose waves can never end.
    #[cold]
    #[inline(never)]
    pub(crate) fn stop_if_stuck<O: Observer>(
        &mut self,
        count: usize,
        observer: &mut O,
        others: &dyn Others,
    ) -> Result<(), Box<Fault>> {
        match self.follow(count, observer)? {
            Followed::Moves => return Ok(()),
            Followed::Returned { looked: false } => return Err(self.stuck(count, false)),
            Followed::Returned { looked: true } => {}
        }
        others.enter();
        let mut confirmed = None;
        loop {
            let quiet = others.quiet();
            let followed = self.follow(count, observer);
            let stopped = self.launch.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
            if stopped || !matches!(followed, Ok(Followed::Returned { .. })) {
                others.leave();
                return followed.map(|_| ());
            }
            if quiet.is_some_and(|time| others.confirm(time, confirmed != quiet)) {
                return Err(self.stuck(count, true));
            }
            confirmed = quiet;
            others.pause();
        }
    }

    /// The fault of a workgroup of which no wave can end.
    fn stuck(&self, count: usize, looked: bool) -> Box<Fault> {
        let waves = &self.waves[..count];
        let program = self.executor.program;
        let waiting = waves.iter().filter(|wave| wave.state == State::AtBarrier).count();
        let wave = waves.iter().find(|wave| wave.state == State::Running).unwrap_or(&waves[0]);
        let (from, to) = innermost_loop(program, wave.pc);
        let cause = Cause::Stuck {
            from: program.address(from),
            to: program.address(to),
            barrier: waiting,
            waits: looked && self.launch.workgroup_count() > 1,
        };
        fault(&self.executor, wave, wave.pc, Stop { cause, lane: None })
    }

    /// Follows each wave that runs until it is where it was, as it was.
    pub(crate) fn follow<O: Observer>(
        &mut self,
        count: usize,
        observer: &mut O,
    ) -> Result<Followed, Box<Fault>> {
        // A wave may wait for the data of loads that no wait covers.
        if land_all(&mut self.waves[..count], &mut self.executor.machine.lds) {
            return Ok(Followed::Moves);
        }
        let mut all = false;
        for number in 0..count {
            if self.waves[number].state != State::Running {
                continue;
            }
            self.executor.machine.time += 1;
            let start = Kept::of(&self.waves[number]);
            let mut returned = false;
            for _ in 0..MOST_STEPS {
                let Some(looked) = self.step(number, observer)? else { break };
                all |= looked;
                returned = start.is(&self.waves[number]);
                if returned {
                    break;
                }
            }
            if !returned {
                self.waves[..count].iter_mut().for_each(Wave::goes_on);
                return Ok(Followed::Moves);
            }
        }
        Ok(Followed::Returned { looked: all })
    }

    /// Issues the next instruction of a wave if it changes nothing in memory, or what it changes is as it was; whether it read memory
    /// of all workgroups.
    fn step<O: Observer>(&mut self, number: usize, observer: &mut O) -> Result<Option<bool>, Box<Fault>> {
        let (executor, wave) = (&mut self.executor, &mut self.waves[number]);
        let program = executor.program;
        if wave.issued >= self.launch.max_instructions {
            return Ok(None);
        }
        let mut places = Vec::new();
        let mut writes = wave.dma.waits();
        match program.actions.get(wave.pc) {
            Some(Action::Memory(_)) if wave.exec() == 0 => {}
            Some(Action::Memory(access)) => {
                if !access.can_be_followed() {
                    return Ok(None);
                }
                // Its addresses are not those of the trip before.
                executor.machine.trip += 1;
                let parts = (executor.engine.reach)(access, &mut executor.machine, wave);
                let global = parts.iter().filter(|(space, _)| !matches!(space, Space::Lds | Space::Scratch));
                for lane in global.flat_map(|(_, lanes)| active(*lanes)) {
                    places.push((executor.machine.addresses[0][lane], access.data.bytes()));
                }
                writes |= access.kind != Kind::Load;
            }
            Some(Action::ScalarMemory(access)) if access.is_load() => {}
            Some(
                Action::ScalarMemory(_)
                | Action::Time { .. }
                | Action::Interrupt
                | Action::Barrier
                | Action::GridBarrier { .. }
                | Action::End
                | Action::Trap(_)
                | Action::Unsupported,
            )
            | None => return Ok(None),
            Some(_) => {}
        }
        let scalar = matches!(program.actions.get(wave.pc), Some(Action::ScalarMemory(_)));
        let memory = executor.machine.memory;
        let contents = || -> Vec<_> {
            places.iter().map(|&(address, bytes)| memory.read(address, bytes as usize)).collect()
        };
        let before = writes.then(|| (contents(), executor.machine.lds.clone()));
        let index = wave.pc;
        let result = cpu::run_wave(executor, wave, observer, wave.issued + 1);
        executor.machine.clock += 1;
        result.map_err(|stop| fault(executor, wave, index, *stop))?;
        if before.is_some_and(|(global, lds)| global != contents() || lds != executor.machine.lds) {
            return Ok(None);
        }
        if scalar {
            places.push((executor.machine.addresses[0][0], 4));
        }
        // The host may write while a kernel runs.
        let known = places.iter().all(|&(address, _)| !memory.is_hosts(address));
        Ok(known.then_some(!places.is_empty()))
    }
}

impl Access {
    /// Whether all it changes is known from its addresses and what they hold.
    fn can_be_followed(&self) -> bool {
        let reads = self.kind == Kind::Load || self.kind == Kind::Exchange;
        // What returns nothing may be done later.
        let now = self.atomic.is_none() || self.dst.is_some();
        reads || self.typed.is_none() && now
    }
}

/// Lands all loads of the waves of a workgroup; whether there were any.
fn land_all(waves: &mut [Wave], lds: &mut [u8]) -> bool {
    let outstanding = waves.iter().any(|wave| !wave.dma.is_idle());
    waves.iter_mut().for_each(|wave| wave.dma.land(lds, u64::MAX));
    outstanding
}
