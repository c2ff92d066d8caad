//! Launch of a kernel on all cores.
//!
//! The one idea to keep in mind: workgroups are independent, and results do not depend on threads. Kernels that
//! observe the order of workgroups run them in order; order-dependent atomics are deferred.

mod batches;
mod cooperative;
mod resident;
mod worker;

use crate::deferred_atomics::Turns;
use crate::fault::Fault;
use crate::host::Host;
use crate::lost::LostAccesses;
use crate::memory::Memory;
use crate::observe::Observer;
use crate::program::Program;
use batches::{BatchQueue, finish};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use worker::Worker;

/// Default limit of instructions of a wave; a wave that issues more is considered endless. Ten times the longest
/// waves met so far (y^T A x on 4 workgroups), and less than half a minute with caches and clock.
pub const MOST_INSTRUCTIONS: u64 = 1_000_000_000;

/// Most workgroups of a batch, which share a thread and an observer.
const BATCH: u64 = 8;

/// Fewest batches of a thread, if the grid has as many workgroups.
const BATCHES_PER_THREAD: u64 = 32;

/// Parameters of a launch besides the program.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Work-items in each dimension.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in each dimension.
    pub workgroup: [u32; 3],
    /// Bytes of LDS in addition to those that the kernel declares.
    pub dynamic_lds: u32,
    /// Address of the kernel arguments.
    pub kernarg: u64,
    /// Address of the dispatch packet, or 0.
    pub packet: u64,
    /// Address of the queue, or 0.
    pub queue: u64,
    /// Address at which the code object's virtual address 0 lies.
    pub load: u64,
    /// Threads; 0 for one per core.
    pub threads: usize,
    /// Most instructions of one wave.
    pub max_instructions: u64,
    /// Stops the launch from outside.
    pub stop: Option<&'a AtomicBool>,
    /// Host that device code calls; without one such calls stop the kernel.
    pub host: Option<&'a dyn Host>,
    /// Only these workgroups run, in this order, each with an observer of its own.
    pub only: Option<&'a [u64]>,
    /// Counters of progress.
    pub progress: Option<&'a Progress>,
    /// Cooperative launch: all workgroups are resident and run in turns, so that they can wait for each other.
    pub cooperative: bool,
    /// Workgroups that the GPU holds at a time, or 0 if that is not known. Workgroups that wait for later ones go on while
    /// no more than this many have begun; without it such a launch is stopped.
    pub resident: u64,
    /// The dispatch ends with a release to the host, as recorded for the first kernel after copies from the host.
    /// Affects modelled caches only.
    pub released: bool,
}

/// Progress of a running launch.
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
            cooperative: false,
            resident: 0,
            released: false,
        }
    }

    /// Workgroups in each dimension.
    pub fn workgroups(&self) -> [u32; 3] {
        [0, 1, 2].map(|axis| self.grid[axis].div_ceil(self.workgroup[axis].max(1)))
    }

    /// Workgroups of the grid.
    pub fn workgroup_count(&self) -> u64 {
        self.workgroups().iter().map(|&count| u64::from(count)).product()
    }

    /// Waves of all workgroups that run.
    pub fn wave_count(&self) -> u64 {
        let workgroups = self.only.map_or_else(|| self.workgroup_count(), |only| only.len() as u64);
        let items = self.workgroup.iter().map(|&size| u64::from(size)).product::<u64>();
        workgroups * items.div_ceil(64)
    }

    /// Dispatch packet of this launch.
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
    /// Progress as text; `waves` is the total.
    pub fn text(&self, waves: u64, seconds: f64) -> String {
        let (done, issued) = (self.waves.load(Ordering::Relaxed), self.instructions.load(Ordering::Relaxed));
        let rate = issued as f64 / seconds.max(1e-9) / 1e6;
        let decimals = usize::from(rate < 9.95);
        format!("{done} of {waves} waves, {rate:.decimals$} M instr/s, {seconds:.0} s")
    }
}

/// Totals of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Workgroups run.
    pub workgroups: u64,
    /// Waves run.
    pub waves: u64,
    /// Wave instructions issued.
    pub instructions: u64,
    /// Accesses of the LDS past its end.
    pub outside_lds: Option<LostAccesses>,
    /// Accesses of buffers whose offset register is negative until the immediate offset is added.
    pub negative_offset: Option<LostAccesses>,
    /// Ticks of the clock in the longest workgroup of a program that waits for the clock; 0 of others.
    pub waited: u64,
}

impl Summary {
    /// Adds the dropped accesses of other workgroups, and how long they waited.
    pub(crate) fn add_lost(&mut self, other: &Summary) {
        self.waited = self.waited.max(other.waited);
        self.outside_lds = LostAccesses::joined(self.outside_lds, other.outside_lds);
        self.negative_offset = LostAccesses::joined(self.negative_offset, other.negative_offset);
    }

    /// Dropped accesses, by reason.
    pub fn lost(&self) -> impl Iterator<Item = LostAccesses> {
        self.outside_lds.into_iter().chain(self.negative_offset)
    }
}

/// [`run`] without an observer. It is compiled with this crate, so a crate that is not optimised may call it.
pub fn run_alone(program: &Program, memory: &Memory, launch: &Launch<'_>) -> Result<Summary, Box<Fault>> {
    // Programs try the largest grid with an empty kernel: 2^31 workgroups.
    let is_whole = (0..3).all(|axis| launch.grid[axis].is_multiple_of(launch.workgroup[axis].max(1)));
    if program.ends_at_once() && is_whole {
        let waves = launch.wave_count();
        let workgroups = launch.only.map_or_else(|| launch.workgroup_count(), |only| only.len() as u64);
        return Ok(Summary { workgroups, waves, instructions: waves, ..Summary::default() });
    }
    run(program, memory, launch, || (), |()| {})
}

/// Runs a kernel. `make` creates an observer for consecutive workgroups; `merge` gets the observers in workgroup
/// order.
pub fn run<O: Observer + Send>(
    program: &Program,
    memory: &Memory,
    launch: &Launch<'_>,
    make: impl Fn() -> O + Sync,
    merge: impl FnMut(O) + Send,
) -> Result<Summary, Box<Fault>> {
    if launch.cooperative {
        return cooperative::run(program, memory, launch, make, merge);
    }
    if program.polls && launch.resident > 1 && launch.only.is_none() && launch.workgroup_count() > 1 {
        return resident::run(program, memory, launch, make, merge);
    }
    let total = launch.only.map_or_else(|| launch.workgroup_count(), |only| only.len() as u64);
    let threads = match (program.ordered, launch.threads) {
        (true, _) => 1,
        // Only if needed: counting cores reads system files, which takes longer than a small launch.
        (false, 0) => std::thread::available_parallelism().map_or(1, usize::from),
        (false, threads) => threads,
    };
    let share = total / (threads.clamp(1, 1024) as u64 * BATCHES_PER_THREAD);
    let batch_size = if launch.only.is_some() { 1 } else { share.clamp(1, BATCH) };
    let batches = total.div_ceil(batch_size);
    let threads = threads.clamp(1, batches.clamp(1, 1024) as usize);
    let shared = BatchQueue::new(memory, batches, threads);
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
            worker.executor.machine.deferred_atomics.begin(turn);
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
            let notes = worker.executor.machine.deferred_atomics.end();
            finish(&shared, &merge, batch, (observer, notes), summary, fault);
        }
        shared.end_worker();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_end_at_once_take_no_time_per_workgroup() {
        let program = Program::of_text(&["s_endpgm"]);
        let memory = Memory::new();
        for (grid, workgroup) in [([480, 2, 3], [96, 1, 1]), ([100, 5, 1], [64, 2, 1])] {
            let launch = Launch { grid, ..Launch::new([1; 3], workgroup, 0) };
            let counted = run(&program, &memory, &launch, || (), |()| {}).unwrap();
            assert_eq!(run_alone(&program, &memory, &launch), Ok(counted));
        }
        let largest = Launch::new([i32::MAX as u32, 1, 1], [1; 3], 0);
        let summary = run_alone(&program, &memory, &largest).unwrap();
        assert_eq!((summary.workgroups, summary.instructions), (i32::MAX as u64, i32::MAX as u64));
    }
}
