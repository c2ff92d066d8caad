//! One thread of a launch: its executor and the waves of its workgroup.

mod deadlock;

use super::{Launch, Summary};
use crate::cpu;
use crate::decode::initial_mode;
use crate::execute::Executor;
use crate::fault::{Cause, Fault, Stop};
use crate::lost::{Loss, LostAccesses};
use crate::machine::SCRATCH_RESOURCE;
use crate::memory::Memory;
use crate::observe::Observer;
use crate::operand::EXEC;
use crate::program::Program;
use crate::wave::{Wave, WaveId, WaveState};
pub(crate) use deadlock::{OtherThreads, Replay, ThreadStates, may_be_deadlocked};
use std::sync::atomic::Ordering;

/// Most instructions of a wave's turn.
const QUANTUM: u64 = 20_000;

/// Most instructions of a wave's turn in programs that load into the LDS, whose waves may poll for data.
const QUANTUM_WITH_LDS_DMA: u64 = 2_000;

/// Bytes at a kernel's entry that load arguments on hardware without preloading.
const PRELOAD_SKIP: u64 = 256;

/// State of a workgroup after a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// A wave can continue.
    Running,
    /// All waves wait for other workgroups.
    Waiting,
    /// All waves have ended.
    Ended,
}

/// Executor and waves of one thread.
pub(crate) struct Worker<'a> {
    pub(crate) executor: Executor<'a>,
    pub(crate) launch: &'a Launch<'a>,
    pub(crate) waves: Vec<Wave>,
    /// Instructions of the workgroup already added to the progress.
    pub(crate) counted: u64,
    /// Clock at which all running waves of the workgroup began to wait for the clock.
    waits_since: Option<u64>,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(program: &'a Program, memory: &'a Memory, launch: &'a Launch<'a>) -> Self {
        let lds = (program.descriptor.lds_bytes + launch.dynamic_lds) as usize;
        let mut executor = Executor::new(program, memory, launch.load, lds, cpu::engine());
        executor.machine.host = launch.host;
        Worker { executor, launch, waves: Vec::new(), counted: 0, waits_since: None }
    }

    pub(crate) fn workgroup<O: Observer>(
        &mut self,
        index: u64,
        observer: &mut O,
        summary: &mut Summary,
        others: &dyn OtherThreads,
    ) -> Result<(), Box<Fault>> {
        let count = self.begin(index, observer);
        let quantum = if self.executor.program.uses_lds_dma() { QUANTUM_WITH_LDS_DMA } else { QUANTUM };
        while self.turn(count, quantum, observer)? != Turn::Ended {
            if may_be_deadlocked(&self.waves[..count]) {
                self.stop_if_deadlocked(count, observer, others)?;
            }
        }
        self.add_ended_workgroup(count, summary)
    }

    /// Adds an ended workgroup to the totals.
    pub(crate) fn add_ended_workgroup(
        &mut self,
        count: usize,
        summary: &mut Summary,
    ) -> Result<(), Box<Fault>> {
        let issued = self.waves[..count].iter().map(|wave| wave.issued).sum::<u64>();
        summary.workgroups += 1;
        summary.waves += count as u64;
        summary.instructions += issued;
        summary.add_lost(&self.take_lost());
        if let Some(progress) = self.launch.progress {
            progress.waves.fetch_add(count as u64, Ordering::Relaxed);
            progress.instructions.fetch_add(issued.saturating_sub(self.counted), Ordering::Relaxed);
        }
        match self.launch.stop {
            // Waves that end within their first turn never reach the check after a used-up turn.
            Some(stop) if stop.load(Ordering::Relaxed) => {
                let wave = &self.waves[0];
                let at = wave.pc.saturating_sub(1);
                Err(fault(&self.executor, wave, at, Stop { cause: Cause::Stopped, lane: None }))
            }
            _ => Ok(()),
        }
    }

    /// Takes the workgroup's dropped accesses, and how long it waited.
    fn take_lost(&mut self) -> Summary {
        let Executor { program, machine, .. } = &mut self.executor;
        let program = *program;
        let lost = |loss| move |it| LostAccesses::of(loss, &it, program);
        Summary {
            outside_lds: machine.outside.take().map(lost(Loss::PastLds)),
            negative_offset: machine.negative.take().map(lost(Loss::NegativeOffset)),
            waited: if program.clock_loops.is_empty() { 0 } else { machine.clock },
            ..Summary::default()
        }
    }

    /// Prepares the waves of a workgroup; returns their number.
    pub(crate) fn begin<O: Observer>(&mut self, index: u64, observer: &mut O) -> usize {
        let counts = self.launch.workgroups().map(u64::from);
        let workgroup = [
            (index % counts[0]) as u32,
            (index / counts[0] % counts[1]) as u32,
            (index / counts[0] / counts[1]) as u32,
        ];
        // Workgroups at the end of a grid may be smaller.
        let size = [0, 1, 2].map(|axis| {
            let start = workgroup[axis] * self.launch.workgroup[axis];
            self.launch.workgroup[axis].min(self.launch.grid[axis] - start)
        });
        let items = size.iter().product::<u32>();
        self.executor.machine.lds.fill(0);
        self.executor.machine.clock = 0;
        let count = items.div_ceil(64);
        (self.counted, self.waits_since) = (0, None);
        for number in 0..count {
            let id = WaveId { workgroup, workgroup_index: index, wave: number };
            if self.waves.len() <= number as usize {
                let program = self.executor.program;
                let mode = initial_mode(&program.descriptor);
                self.waves.push(Wave::new(id, program.rows, mode, self.scratch_bytes()));
            }
            let wave = &mut self.waves[number as usize];
            wave.restart(id, initial_mode(&self.executor.program.descriptor), self.executor.program.entry);
            prepare(wave, &self.executor, self.launch, size);
            observer.wave_start(id, wave.exec());
        }
        count as usize
    }

    fn scratch_bytes(&self) -> u32 {
        const DYNAMIC: u32 = 16 * 1024;
        let descriptor = &self.executor.program.descriptor;
        // A stack of unknown size gets the runtime's usual reserve.
        descriptor.scratch_bytes + if descriptor.dynamic_stack { DYNAMIC } else { 0 }
    }

    /// Runs one turn of the running waves that have issued the fewest instructions, as they would all run at the same time.
    /// Opens the barrier once every wave waits at it or has ended.
    pub(crate) fn turn<O: Observer>(
        &mut self,
        count: usize,
        quantum: u64,
        observer: &mut O,
    ) -> Result<Turn, Box<Fault>> {
        let mut running = false;
        self.executor.machine.takes_turns = count > 1;
        let ready = self.waves[..count].iter().filter(|wave| wave.state == WaveState::Running);
        let time = ready.map(Wave::time).min().unwrap_or(0);
        if self.executor.program.uses_lds_dma() {
            self.land_old_loads(time, count);
        }
        for number in 0..count {
            if self.waves[number].state != WaveState::Running {
                continue;
            }
            if self.waves[number].time() > time {
                running = true;
                continue;
            }
            self.land_earlier_loads(number, count);
            let wave = &mut self.waves[number];
            let until = (wave.issued + quantum).min(self.launch.max_instructions);
            let before = wave.issued;
            self.executor.machine.time += 1;
            let result = cpu::run_wave(&mut self.executor, wave, observer, until);
            self.executor.machine.clock += wave.issued - before;
            result.map_err(|stop| fault(&self.executor, wave, wave.pc.saturating_sub(1), *stop))?;
            match wave.state {
                WaveState::Ended => observer.wave_end(wave.id),
                WaveState::AtGrid(_) if !self.launch.cooperative => {
                    let stop = Stop { cause: Cause::NotTogether, lane: None };
                    return Err(fault(&self.executor, wave, wave.pc.saturating_sub(1), stop));
                }
                WaveState::AtGrid(_) | WaveState::AtBarrier => {}
                WaveState::Running => {
                    running = true;
                    // Turns that end early are short and many.
                    if wave.issued >= until
                        && let Some(progress) = self.launch.progress
                    {
                        progress.instructions.fetch_add(wave.issued - before, Ordering::Relaxed);
                        self.counted += wave.issued - before;
                    }
                    self.waves[number].record_turn();
                    self.check_limits(number)?;
                }
            }
        }
        if running {
            self.pass_time(count);
            return Ok(Turn::Running);
        }
        let waves = &mut self.waves[..count];
        if waves.iter().any(|wave| matches!(wave.state, WaveState::AtGrid(_))) {
            return Ok(Turn::Waiting);
        }
        Ok(if open_barrier(waves, observer) { Turn::Running } else { Turn::Ended })
    }

    /// Lands loads into the LDS that have landed at a time whether or not a wait covers them, in the order of issue.
    fn land_old_loads(&mut self, time: u64, count: usize) {
        let (waves, lds) = (&mut self.waves[..count], &mut self.executor.machine.lds);
        let old = |wave: &Wave| wave.dma.old(time);
        while let Some(wave) =
            waves.iter_mut().filter(|wave| old(wave).is_some()).min_by_key(|wave| old(wave))
        {
            wave.dma.land_first(lds);
        }
    }

    /// Lands what other waves load to where a wave's waited loads land next, if they did so earlier.
    fn land_earlier_loads(&mut self, number: usize, count: usize) {
        let waves = &mut self.waves[..count];
        let (before, rest) = waves.split_at_mut(number);
        let Some((wave, behind)) = rest.split_first_mut().filter(|(wave, _)| wave.dma.waits()) else {
            return;
        };
        for other in before.iter_mut().chain(behind) {
            other.dma.land_before(&wave.dma, &mut self.executor.machine.lds);
        }
    }

    /// Moves the clock on where every running wave only waits for it: by an eighth of the time they have waited, so
    /// that long waits take few turns and are exceeded by no more than that.
    fn pass_time(&mut self, count: usize) {
        let Executor { program, machine, .. } = &mut self.executor;
        if program.clock_loops.is_empty() {
            return;
        }
        let mut running = self.waves[..count].iter().filter(|it| it.state == WaveState::Running);
        if !running.all(|it| program.waits_for_clock(it.pc)) {
            self.waits_since = None;
            return;
        }
        let since = *self.waits_since.get_or_insert(machine.clock);
        machine.clock += (machine.clock - since) / 8;
    }

    /// Checks the limits of a wave that has used up its turn.
    fn check_limits(&self, number: usize) -> Result<(), Box<Fault>> {
        let wave = &self.waves[number];
        let limit = self.launch.max_instructions;
        let stop = |cause| fault(&self.executor, wave, wave.pc, Stop { cause, lane: None });
        if wave.issued >= limit {
            let program = self.executor.program;
            let (from, to) = innermost_loop(program, wave.pc);
            let alone = self.launch.cooperative || self.launch.workgroup_count() == 1;
            let waits = !alone && program.only_polls(from..=to);
            let (from, to) = (program.address(from), program.address(to));
            return Err(stop(Cause::Endless { limit, from, to, waits }));
        }
        if self.launch.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(stop(Cause::Stopped));
        }
        Ok(())
    }
}

/// Lets the waves at the barrier go on at the time of the last; false if there are none.
fn open_barrier<O: Observer>(waves: &mut [Wave], observer: &mut O) -> bool {
    let waiting = |wave: &&Wave| wave.state == WaveState::AtBarrier;
    let Some(last) = waves.iter().filter(waiting).max_by_key(|wave| wave.time()) else { return false };
    observer.barrier(last.id.workgroup);
    let time = last.time();
    waves.iter_mut().filter(|wave| wave.state == WaveState::AtBarrier).for_each(|wave| wave.go_on(time));
    true
}

pub(crate) fn fault(executor: &Executor<'_>, wave: &Wave, index: usize, stop: Stop) -> Box<Fault> {
    Box::new(Fault {
        cause: stop.cause,
        kernel: executor.program.name.clone(),
        instruction: executor.program.text(index),
        address: executor.program.address(index),
        workgroup: wave.id.workgroup,
        wave: wave.id.wave,
        lane: stop.lane,
    })
}

/// First and last instruction of the innermost loop around an instruction.
pub(crate) fn innermost_loop(program: &Program, pc: usize) -> (usize, usize) {
    program
        .back_edges()
        .filter(|&(from, to)| from <= pc && pc <= to)
        .min_by_key(|(from, to)| to - from)
        .unwrap_or((pc, pc))
}

/// Sets the initial registers of a wave as the descriptor requests them.
fn prepare(wave: &mut Wave, executor: &Executor<'_>, launch: &Launch<'_>, size: [u32; 3]) {
    let (program, memory) = (executor.program, executor.machine.memory);
    let descriptor = &program.descriptor;
    let mut at = 0;
    let mut put = |wave: &mut Wave, value: u32| {
        wave.s[at & 127] = value;
        at += 1;
    };
    let asked = |bit: u16| descriptor.properties >> bit & 1 != 0;
    if asked(0) {
        // Swizzled with the lane's number, elements of 4 bytes, groups of 64 lanes, no range.
        for word in [0, (SCRATCH_RESOURCE as u32) | 1 << 31, u32::MAX, 1 << 23 | 3 << 21 | 1 << 19] {
            put(wave, word);
        }
    }
    for (bit, value) in [(1, launch.packet), (2, launch.queue), (3, launch.kernarg), (4, 0), (5, 0)] {
        if asked(bit) {
            put(wave, value as u32);
            put(wave, (value >> 32) as u32);
        }
    }
    if asked(6) {
        put(wave, descriptor.scratch_bytes);
    }
    // A kernel with preloaded arguments begins after the code that would load them.
    let (count, offset) = (descriptor.kernarg_preload & 0x7f, descriptor.kernarg_preload >> 7);
    if count > 0 {
        let bytes = memory.read(launch.kernarg + 4 * u64::from(offset), 4 * usize::from(count));
        for word in bytes.unwrap_or_default().as_chunks::<4>().0 {
            put(wave, u32::from_le_bytes(*word));
        }
        wave.pc = program.index_after(wave.pc, PRELOAD_SKIP).unwrap_or(wave.pc);
    }
    // System registers follow the user registers.
    at = usize::from(descriptor.user_sgprs);
    let mut put = |wave: &mut Wave, value: u32| {
        wave.s[at & 127] = value;
        at += 1;
    };
    for axis in 0..3 {
        if descriptor.workgroup_id_mask >> axis & 1 != 0 {
            put(wave, wave.id.workgroup[axis]);
        }
    }
    if descriptor.workgroup_id_mask >> 3 & 1 != 0 {
        put(wave, 0);
    }
    let architected = program.isa.has_architected_scratch();
    if descriptor.private_segment && !architected {
        put(wave, 0);
    }
    set_work_items(wave, program, size);
}

/// Sets the work-item numbers and EXEC.
fn set_work_items(wave: &mut Wave, program: &Program, size: [u32; 3]) {
    let packed = program.isa.packs_work_items();
    let items = size.iter().product::<u32>();
    let mut exec = 0u64;
    for lane in 0..64u32 {
        let item = wave.id.wave * 64 + lane;
        if item >= items {
            continue;
        }
        exec |= 1 << lane;
        let id = [item % size[0], item / size[0] % size[1], item / size[0] / size[1]];
        let lane = lane as usize;
        if packed {
            wave.v[0].0[lane] = id[0] | id[1] << 10 | id[2] << 20;
        } else {
            for (row, id) in wave.v.iter_mut().zip(id) {
                row.0[lane] = id;
            }
        }
    }
    wave.set_pair(EXEC, exec);
}
