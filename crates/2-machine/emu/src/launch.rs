//! Launching a kernel: grid, registers at the start of each wave, workgroups on all cores.
//!
//! The one idea to keep in mind: workgroups are independent; which thread runs one has no influence on anything. Kernels
//! that see the order of workgroups run them one after the other; where only memory shows it, `later` keeps the order.

use crate::access::OutsideLds;
use crate::batches::{Shared, finish};
use crate::decode::initial_mode;
use crate::fault::{Cause, Fault, Stop};
use crate::host::Host;
use crate::later::Turns;
use crate::machine::{Machine, SCRATCH_RESOURCE};
use crate::memory::Memory;
use crate::observe::{Observer, WaveId};
use crate::operand::EXEC;
use crate::program::Program;
use crate::raw;
use crate::stuck::{Others, looks_stuck};
use crate::together;
use crate::wave::{State, Wave};
use isa::Isa;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Instructions a wave may issue before another one gets its turn.
const QUANTUM: u64 = 20_000;

/// As above where waves load straight into the LDS: they get on side by side, and those that poll for data poll no longer than that.
const QUANTUM_WITH_LDS_DMA: u64 = 2_000;

/// Most instructions of one wave unless a launch says otherwise; a wave that issues more is taken for endless. Ten times as many as the
/// longest waves met so far (y^T A x on 4 workgroups), and issued in a quarter to half a minute, with caches and clock.
pub const MOST_INSTRUCTIONS: u64 = 1_000_000_000;

/// Bytes at a kernel's entry that load the arguments where the hardware does not preload them.
const PRELOAD_SKIP: u64 = 256;

/// Workgroups that share an observer and are taken by a thread together, at most.
const BATCH: u64 = 8;

/// Batches there are at least for each thread, if there are as many workgroups.
const BATCHES_PER_THREAD: u64 = 32;

/// What a launch needs besides the program.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Work-items in each dimension.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in each dimension.
    pub workgroup: [u32; 3],
    /// LDS beyond what the kernel declares, bytes.
    pub dynamic_lds: u32,
    /// Address of the kernel arguments.
    pub kernarg: u64,
    /// Address of the dispatch packet, or 0.
    pub packet: u64,
    /// Address of the queue, or 0.
    pub queue: u64,
    /// Address at which the code object's virtual address 0 lies.
    pub load: u64,
    /// Threads; 0 stands for one per core.
    pub threads: usize,
    /// Most instructions of one wave.
    pub max_instructions: u64,
    /// Stops the launch from outside.
    pub stop: Option<&'a AtomicBool>,
    /// Whom device code calls; without it such calls stop the kernel.
    pub host: Option<&'a dyn Host>,
    /// Only these workgroups run, in this order, each with an observer of its own.
    pub only: Option<&'a [u64]>,
    /// Where to count what is done.
    pub progress: Option<&'a Progress>,
    /// All workgroups are there from the start and run in turns, so that they can wait for each other.
    pub together: bool,
    /// What the kernel writes is made visible to the host when it ends, as recorded of the first kernel after copies from the host; what
    /// others write is when the host waits for them. Models of caches heed it; results do not depend on it.
    pub released: bool,
}

/// What a launch has done so far, for whoever waits for it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Waves that ended.
    pub waves: AtomicU64,
    /// Instructions issued.
    pub instructions: AtomicU64,
}

impl Launch<'_> {
    /// A launch of whole workgroups.
    pub fn new(workgroups: [u32; 3], workgroup: [u32; 3], kernarg: u64) -> Self {
        Launch {
            grid: [0, 1, 2].map(|axis| workgroups[axis] * workgroup[axis]),
            workgroup,
            dynamic_lds: 0,
            kernarg,
            packet: 0,
            queue: 0,
            load: 0,
            threads: 0,
            max_instructions: MOST_INSTRUCTIONS,
            stop: None,
            host: None,
            only: None,
            progress: None,
            together: false,
            released: false,
        }
    }

    /// Workgroups in each dimension.
    pub fn workgroups(&self) -> [u32; 3] {
        [0, 1, 2].map(|axis| self.grid[axis].div_ceil(self.workgroup[axis].max(1)))
    }

    /// All workgroups.
    pub fn workgroup_count(&self) -> u64 {
        self.workgroups().iter().map(|&count| u64::from(count)).product()
    }

    /// Waves of all workgroups that run.
    pub fn wave_count(&self) -> u64 {
        let workgroups = self.only.map_or_else(|| self.workgroup_count(), |only| only.len() as u64);
        let items = self.workgroup.iter().map(|&size| u64::from(size)).product::<u64>();
        workgroups * items.div_ceil(64)
    }

    /// The packet that a queue would hold for this launch.
    pub fn dispatch_packet(&self, program: &Program) -> [u8; 64] {
        let mut packet = [0; 64];
        let mut put = |at: usize, bytes: &[u8]| packet[at..at + bytes.len()].copy_from_slice(bytes);
        // A kernel dispatch with barrier bit and system scope.
        put(0, &0x1502u16.to_le_bytes());
        let dimensions = if self.grid[2] > 1 {
            3u16
        } else if self.grid[1] > 1 {
            2
        } else {
            1
        };
        put(2, &dimensions.to_le_bytes());
        for axis in 0..3 {
            put(4 + 2 * axis, &(self.workgroup[axis] as u16).to_le_bytes());
            put(12 + 4 * axis, &self.grid[axis].to_le_bytes());
        }
        put(24, &program.descriptor.scratch_bytes.to_le_bytes());
        put(28, &(program.descriptor.lds_bytes + self.dynamic_lds).to_le_bytes());
        put(40, &self.kernarg.to_le_bytes());
        packet
    }
}

impl Progress {
    /// How far it is, in words; `waves` is what there is to do.
    pub fn text(&self, waves: u64, seconds: f64) -> String {
        let (done, issued) = (self.waves.load(Ordering::Relaxed), self.instructions.load(Ordering::Relaxed));
        let rate = issued as f64 / seconds.max(1e-9) / 1e6;
        let decimals = usize::from(rate < 9.95);
        format!("{done} of {waves} waves, {rate:.decimals$} M instr/s, {seconds:.0} s")
    }
}

/// What a launch came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Workgroups run.
    pub workgroups: u64,
    /// Waves run.
    pub waves: u64,
    /// Wave instructions issued.
    pub instructions: u64,
    /// Accesses of the LDS past its end.
    pub outside_lds: Option<OutsideLds>,
}

/// Runs a kernel. `make` makes an observer for some workgroups that follow each other, `merge` gets the observers in
/// the order of workgroups.
pub fn run<O: Observer + Send>(
    program: &Program,
    memory: &Memory,
    launch: &Launch<'_>,
    make: impl Fn() -> O + Sync,
    merge: impl FnMut(O) + Send,
) -> Result<Summary, Box<Fault>> {
    if launch.together {
        return together::run(program, memory, launch, make, merge);
    }
    let total = launch.only.map_or_else(|| launch.workgroup_count(), |only| only.len() as u64);
    let threads = match (program.ordered, launch.threads) {
        (true, _) => 1,
        // Reads files of the system: dearer than a small launch.
        (false, 0) => std::thread::available_parallelism().map_or(1, usize::from),
        (false, threads) => threads,
    };
    let share = total / (threads.clamp(1, 1024) as u64 * BATCHES_PER_THREAD);
    let batch_size = if launch.only.is_some() { 1 } else { share.clamp(1, BATCH) };
    let batches = total.div_ceil(batch_size);
    let threads = threads.clamp(1, batches.clamp(1, 1024) as usize);
    let shared = Shared::new(memory, batches, threads);
    let merge = Mutex::new(merge);
    let work = || {
        let mut worker = Worker::new(program, memory, launch);
        loop {
            let batch = shared.next.fetch_add(1, Ordering::Relaxed);
            shared.keep_near(batch);
            if batch >= shared.end.load(Ordering::Relaxed) {
                break;
            }
            let mut observer = make();
            let turn: Option<(&dyn Turns, u64)> = if threads > 1 { Some((&shared, batch)) } else { None };
            worker.machine.later.begin(turn);
            let mut summary = Summary::default();
            let mut fault = None;
            for number in batch * batch_size..((batch + 1) * batch_size).min(total) {
                let index = launch.only.map_or(number, |only| only[number as usize]);
                if let Err(found) = worker.workgroup(index, &mut observer, &mut summary, &shared) {
                    shared.end.fetch_min(batch, Ordering::Relaxed);
                    fault = Some(found);
                    break;
                }
            }
            let notes = worker.machine.later.end();
            finish(&shared, &merge, batch, (observer, notes), summary, fault);
        }
        shared.worker_ends();
    };
    if threads == 1 {
        work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
    }
    shared.result()
}

/// How a workgroup stands after a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// Some wave can go on.
    Running,
    /// Its waves wait for other workgroups.
    Waiting,
    /// All waves have ended.
    Ended,
}

/// One thread's machine and waves.
pub(crate) struct Worker<'a> {
    pub(crate) machine: Machine<'a>,
    pub(crate) launch: &'a Launch<'a>,
    pub(crate) waves: Vec<Wave>,
    /// Instructions of the workgroup that progress knows of.
    pub(crate) counted: u64,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(program: &'a Program, memory: &'a Memory, launch: &'a Launch<'a>) -> Self {
        let lds = (program.descriptor.lds_bytes + launch.dynamic_lds) as usize;
        let mut machine = Machine::new(program, memory, launch.load, lds);
        machine.host = launch.host;
        Worker { machine, launch, waves: Vec::new(), counted: 0 }
    }

    fn workgroup<O: Observer>(
        &mut self,
        index: u64,
        observer: &mut O,
        summary: &mut Summary,
        others: &dyn Others,
    ) -> Result<(), Box<Fault>> {
        let count = self.begin(index, observer);
        let quantum = if self.machine.program.uses_lds_dma() { QUANTUM_WITH_LDS_DMA } else { QUANTUM };
        while self.turn(count, quantum, observer)? != Turn::Ended {
            if looks_stuck(&self.waves[..count]) {
                self.stop_if_stuck(count, observer, others)?;
            }
        }
        self.settle(count, summary)
    }

    /// Adds up what a workgroup that has ended did.
    pub(crate) fn settle(&mut self, count: usize, summary: &mut Summary) -> Result<(), Box<Fault>> {
        let issued = self.waves[..count].iter().map(|wave| wave.issued).sum::<u64>();
        summary.workgroups += 1;
        summary.waves += count as u64;
        summary.instructions += issued;
        summary.outside_lds = OutsideLds::joined(summary.outside_lds, self.machine.outside.0.take());
        if let Some(progress) = self.launch.progress {
            progress.waves.fetch_add(count as u64, Ordering::Relaxed);
            progress.instructions.fetch_add(issued.saturating_sub(self.counted), Ordering::Relaxed);
        }
        match self.launch.stop {
            // Short waves never use up a turn.
            Some(stop) if stop.load(Ordering::Relaxed) => {
                let wave = &self.waves[0];
                let at = wave.pc.saturating_sub(1);
                Err(fault(&self.machine, wave, at, Stop { cause: Cause::Stopped, lane: None }))
            }
            _ => Ok(()),
        }
    }

    /// Makes the waves of a workgroup ready; how many there are.
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
        self.machine.lds.fill(0);
        self.machine.clock = 0;
        let count = items.div_ceil(64);
        self.counted = 0;
        for number in 0..count {
            let id = WaveId { workgroup, workgroup_index: index, wave: number };
            if self.waves.len() <= number as usize {
                let program = self.machine.program;
                let mode = initial_mode(&program.descriptor);
                self.waves.push(Wave::new(id, program.rows, mode, self.scratch_bytes()));
            }
            let wave = &mut self.waves[number as usize];
            wave.restart(id, initial_mode(&self.machine.program.descriptor), self.machine.program.entry);
            prepare(wave, &self.machine, self.launch, size);
            observer.wave_start(id, wave.exec());
        }
        count as usize
    }

    fn scratch_bytes(&self) -> u32 {
        const DYNAMIC: u32 = 16 * 1024;
        let descriptor = &self.machine.program.descriptor;
        // A stack of unknown size gets the runtime's usual reserve.
        descriptor.scratch_bytes + if descriptor.dynamic_stack { DYNAMIC } else { 0 }
    }

    /// Gives every wave that can run one turn of at most so many instructions; a barrier opens when every wave waits at it
    /// or has ended.
    pub(crate) fn turn<O: Observer>(
        &mut self,
        count: usize,
        quantum: u64,
        observer: &mut O,
    ) -> Result<Turn, Box<Fault>> {
        let mut running = false;
        for number in 0..count {
            let wave = &mut self.waves[number];
            if wave.state != State::Running {
                continue;
            }
            let until = (wave.issued + quantum).min(self.launch.max_instructions);
            let before = wave.issued;
            self.machine.time += 1;
            let result = raw::run_wave(&mut self.machine, wave, observer, until);
            self.machine.clock += wave.issued - before;
            result.map_err(|stop| fault(&self.machine, wave, wave.pc.saturating_sub(1), *stop))?;
            match wave.state {
                State::Ended => observer.wave_end(wave.id),
                State::AtGrid(_) if !self.launch.together => {
                    let stop = Stop { cause: Cause::NotTogether, lane: None };
                    return Err(fault(&self.machine, wave, wave.pc.saturating_sub(1), stop));
                }
                State::AtGrid(_) | State::AtBarrier => {}
                State::Running => {
                    running = true;
                    if let Some(progress) = self.launch.progress {
                        progress.instructions.fetch_add(wave.issued - before, Ordering::Relaxed);
                        self.counted += wave.issued - before;
                    }
                    self.waves[number].note_turn();
                    self.keep_going(number)?;
                }
            }
        }
        if self.machine.program.uses_lds_dma() {
            for wave in &mut self.waves[..count] {
                wave.dma.end_round(&mut self.machine.lds);
            }
        }
        if running {
            return Ok(Turn::Running);
        }
        let waves = &mut self.waves[..count];
        if waves.iter().any(|wave| matches!(wave.state, State::AtGrid(_))) {
            return Ok(Turn::Waiting);
        }
        let mut waiting = waves.iter_mut().filter(|wave| wave.state == State::AtBarrier).peekable();
        let Some(first) = waiting.peek() else { return Ok(Turn::Ended) };
        observer.barrier(first.id.workgroup);
        waiting.for_each(|wave| wave.state = State::Running);
        Ok(Turn::Running)
    }

    /// Whether a wave that has used up its turn may have another one.
    fn keep_going(&self, number: usize) -> Result<(), Box<Fault>> {
        let wave = &self.waves[number];
        let limit = self.launch.max_instructions;
        let stop = |cause| fault(&self.machine, wave, wave.pc, Stop { cause, lane: None });
        if wave.issued >= limit {
            let program = self.machine.program;
            let (from, to) = innermost_loop(program, wave.pc);
            let alone = self.launch.together || self.launch.workgroup_count() == 1;
            let waits = !alone && program.only_looks(from..=to);
            let (from, to) = (program.address(from), program.address(to));
            return Err(stop(Cause::Endless { limit, from, to, waits }));
        }
        if self.launch.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(stop(Cause::Stopped));
        }
        Ok(())
    }
}

pub(crate) fn fault(machine: &Machine<'_>, wave: &Wave, index: usize, stop: Stop) -> Box<Fault> {
    Box::new(Fault {
        cause: stop.cause,
        kernel: machine.program.name.clone(),
        instruction: machine.program.text(index),
        address: machine.program.address(index),
        workgroup: wave.id.workgroup,
        wave: wave.id.wave,
        lane: stop.lane,
    })
}

/// The first and last instruction of the smallest loop around an instruction.
pub(crate) fn innermost_loop(program: &Program, pc: usize) -> (usize, usize) {
    program
        .back_edges()
        .filter(|&(from, to)| from <= pc && pc <= to)
        .min_by_key(|(from, to)| to - from)
        .unwrap_or((pc, pc))
}

/// Registers at the start of a wave, as the descriptor asks for them.
fn prepare(wave: &mut Wave, machine: &Machine<'_>, launch: &Launch<'_>, size: [u32; 3]) {
    let (program, memory) = (machine.program, machine.memory);
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
    // Arguments in registers: such a kernel begins behind the code that would load them.
    let (count, offset) = (descriptor.kernarg_preload & 0x7f, descriptor.kernarg_preload >> 7);
    if count > 0 {
        let bytes = memory.read(launch.kernarg + 4 * u64::from(offset), 4 * usize::from(count));
        for word in bytes.unwrap_or_default().as_chunks::<4>().0 {
            put(wave, u32::from_le_bytes(*word));
        }
        wave.pc = program.index_after(wave.pc, PRELOAD_SKIP).unwrap_or(wave.pc);
    }
    // System registers stand behind all that the user asked for.
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
    let architected = matches!(program.isa, Isa::Gfx942 | Isa::Gfx950);
    if descriptor.private_segment && !architected {
        put(wave, 0);
    }
    work_items(wave, program, size);
}

/// Work-item numbers of the lanes, and which lanes there are.
fn work_items(wave: &mut Wave, program: &Program, size: [u32; 3]) {
    let packed = program.isa != Isa::Gfx908;
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
