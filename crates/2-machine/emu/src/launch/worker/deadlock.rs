//! Detection of workgroups that can never end.
//!
//! The one idea to keep in mind: a wave that returns to an instruction with the same registers, without a change in
//! memory on the way, loops for ever unless another writes. Registers are compared at the end of turns only; if
//! they repeat, the loop is replayed instruction by instruction for certainty.

use super::{Worker, fault, innermost_loop};
use crate::access::Access;
use crate::cpu;
use crate::decode::Action;
use crate::fault::{Cause, Fault, Stop};
use crate::lanes::active;
use crate::observe::Observer;
use crate::wave::{Wave, WaveSnapshot, WaveState};
use isa::{Access as Kind, Space};
use std::sync::atomic::Ordering;

/// Most instructions of a replayed loop.
const MOST_STEPS: u64 = 200_000;

/// True if the registers of all running waves repeat.
pub(crate) fn may_be_deadlocked(waves: &[Wave]) -> bool {
    waves.iter().all(|wave| wave.state != WaveState::Running || wave.repeats())
}

/// Result of a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Replay {
    /// A wave progressed, or an unknown party may change what it reads.
    Moves,
    /// Every wave returned to its state without a change; `looked` if one read memory shared with other workgroups.
    Returned { looked: bool },
}

/// The other threads of a launch.
pub(crate) trait OtherThreads {
    /// Declares the workgroup possibly deadlocked: it writes nothing until [`OtherThreads::leave`].
    fn enter(&self);
    /// Withdraws the declaration.
    fn leave(&self);
    /// Number of the current quiet period, in which no thread can write; `None` outside of one.
    fn quiet_period(&self) -> Option<u64>;
    /// Confirms a replay within a quiet period, the `first` one in it; true if all declared workgroups are
    /// deadlocked.
    fn confirm(&self, quiet: u64, first: bool) -> bool;
    /// Yields to other threads.
    fn pause(&self);
}

/// Threads of a launch that can still write.
#[derive(Debug, Default)]
pub(crate) struct ThreadStates {
    /// Threads with workgroups.
    pub(crate) workers: usize,
    /// Threads whose workgroup is declared possibly deadlocked.
    stuck: usize,
    /// By waiting thread: batches that must be merged first.
    pub(crate) waiting: Vec<u64>,
    /// Counts the events that end a quiet period.
    pub(crate) time: u64,
    /// Quiet period, and confirmed replays in it.
    confirmed: (u64, usize),
    over: bool,
}

impl ThreadStates {
    pub(crate) fn new(workers: usize) -> ThreadStates {
        ThreadStates { workers, ..ThreadStates::default() }
    }

    pub(crate) fn enter(&mut self) {
        self.stuck += 1;
    }

    pub(crate) fn leave(&mut self) {
        self.stuck -= 1;
        self.time += 1;
    }

    /// Number of the quiet period, when `merged` batches are merged.
    pub(crate) fn quiet_period(&self, merged: u64) -> Option<u64> {
        let waiting = self.waiting.iter().filter(|&&done| merged < done).count();
        (self.over || self.workers == self.stuck + waiting).then_some(self.time)
    }

    /// All declared workgroups replayed without change in one quiet period. The first one to write would first have
    /// to read something new, which no thread wrote.
    pub(crate) fn confirm(&mut self, quiet: u64, first: bool, merged: u64) -> bool {
        if self.over || self.quiet_period(merged) != Some(quiet) {
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
    /// Stops a workgroup that can never end.
    #[cold]
    #[inline(never)]
    pub(crate) fn stop_if_deadlocked<O: Observer>(
        &mut self,
        count: usize,
        observer: &mut O,
        others: &dyn OtherThreads,
    ) -> Result<(), Box<Fault>> {
        match self.replay(count, observer)? {
            Replay::Moves => return Ok(()),
            Replay::Returned { looked: false } => return Err(self.deadlock_fault(count, false)),
            Replay::Returned { looked: true } => {}
        }
        others.enter();
        let mut confirmed = None;
        loop {
            let quiet = others.quiet_period();
            let followed = self.replay(count, observer);
            let stopped = self.launch.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
            if stopped || !matches!(followed, Ok(Replay::Returned { .. })) {
                others.leave();
                return followed.map(|_| ());
            }
            if quiet.is_some_and(|time| others.confirm(time, confirmed != quiet)) {
                return Err(self.deadlock_fault(count, true));
            }
            confirmed = quiet;
            others.pause();
        }
    }

    /// Fault of a deadlocked workgroup.
    pub(crate) fn deadlock_fault(&self, count: usize, looked: bool) -> Box<Fault> {
        let waves = &self.waves[..count];
        let program = self.executor.program;
        let waiting = waves.iter().filter(|wave| wave.state == WaveState::AtBarrier).count();
        let wave = waves.iter().find(|wave| wave.state == WaveState::Running).unwrap_or(&waves[0]);
        let (from, to) = innermost_loop(program, wave.pc);
        let cause = Cause::Stuck {
            from: program.address(from),
            to: program.address(to),
            barrier: waiting,
            waits: looked && self.launch.workgroup_count() > 1,
        };
        fault(&self.executor, wave, wave.pc, Stop { cause, lane: None })
    }

    /// Replays each running wave until it returns to its state.
    pub(crate) fn replay<O: Observer>(
        &mut self,
        count: usize,
        observer: &mut O,
    ) -> Result<Replay, Box<Fault>> {
        // A wave may poll for loads that no wait covers.
        if write_all_to_lds(&mut self.waves[..count], &mut self.executor.machine.lds) {
            return Ok(Replay::Moves);
        }
        let mut all = false;
        for number in 0..count {
            if self.waves[number].state != WaveState::Running {
                continue;
            }
            self.executor.machine.time += 1;
            let start = WaveSnapshot::of(&self.waves[number]);
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
                self.waves[..count].iter_mut().for_each(Wave::record_progress);
                return Ok(Replay::Moves);
            }
        }
        Ok(Replay::Returned { looked: all })
    }

    /// Issues a wave's next instruction; `None` if it changes memory or cannot be replayed. Returns whether it read
    /// memory shared with other workgroups.
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
                // The addresses of the trip before do not apply.
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
    /// True if an instruction's effects are known from its addresses and their contents.
    fn can_be_followed(&self) -> bool {
        let reads = self.kind == Kind::Load || self.kind == Kind::Exchange;
        // Atomics without result may be deferred.
        let now = self.atomic.is_none() || self.dst.is_some();
        reads || self.typed.is_none() && now
    }
}

/// Lands all outstanding loads of a workgroup into the LDS; true if any was outstanding.
fn write_all_to_lds(waves: &mut [Wave], lds: &mut [u8]) -> bool {
    let outstanding = waves.iter().any(|wave| !wave.dma.is_idle());
    waves.iter_mut().for_each(|wave| wave.dma.write_to_lds(lds, u64::MAX));
    outstanding
}
