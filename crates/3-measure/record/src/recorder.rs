//! Emulated dispatches, gathered into a workload.
//!
//! The result has the format and counters of a profiler's recording; higher layers recognise it only by the
//! machine's `emulated_by`.

mod dispatch;
mod folder;
mod overview;
mod rows;

pub use dispatch::{Dispatch, Timed};
pub use folder::Provenance;
pub use rows::{Columns, Lines};

use dispatch::{Counted, Ran};
use overview::Overview;

use crate::cache_state::CacheState;
use crate::clocks::{self, Clock};
use crate::events;
use crate::instructions;
use crate::prediction::Prediction;
use crate::sample::{Sample, fewest_with_times};
use crate::traffic;
use arch::Model;
use clock::{Detail, Estimate, Gpu, Grid, Outcome, Rates, Stall, Wanted};
use emu::{Fault, Launch, Program, Summary};
use mem::SpillStore;
use probe::{Code, Counts, Table, Times, Totals, Tracer, run_counted, run_traced};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Gathers dispatches.
#[derive(Debug)]
pub struct Recorder {
    model: &'static Model,
    rates: Rates,
    /// Created at its first use.
    gpu: Option<Gpu>,
    /// Dispatches whose lines were not taken.
    dispatches: Vec<Dispatch>,
    /// The one before.
    last: Option<Arc<Dispatch>>,
    overview: Overview,
    /// Columns of the files, while they do not change.
    columns: Option<Arc<Columns>>,
    /// Code objects that ran, by hash.
    code: BTreeMap<String, Arc<Code>>,
    /// Number of the GPU that runs the next launch.
    device: u32,
    /// Number of the next launch.
    next: u64,
    /// Time before the first dispatch that is kept, nanoseconds.
    before: i64,
    /// Most workgroups that run of a launch; 0 means all.
    most_workgroups: u64,
    /// Predictions for each dispatch.
    clocks: Vec<Clock>,
    /// Set if caches and times are not modelled.
    counters_only: bool,
    /// Lines that dispatches find in the caches.
    caches: CacheState,
    /// Coverage of the timing model.
    detail: Detail,
    /// Wave events are kept.
    keeps_events: bool,
    /// Wave events by dispatch, as files that have not been taken yet.
    events: BTreeMap<u64, Option<Vec<u8>>>,
    /// Spills streams that do not fit into memory.
    spill_store: Option<Arc<SpillStore>>,
}

impl Recorder {
    /// A recorder of dispatches on a GPU.
    pub fn new(model: &'static Model) -> Recorder {
        Recorder {
            model,
            rates: Rates::of(model),
            gpu: None,
            dispatches: Vec::new(),
            last: None,
            overview: Overview::default(),
            columns: None,
            code: BTreeMap::new(),
            device: 0,
            next: 0,
            before: 0,
            most_workgroups: 0,
            clocks: Vec::new(),
            counters_only: false,
            caches: CacheState::default(),
            detail: Detail::Full,
            keeps_events: false,
            events: BTreeMap::new(),
            spill_store: None,
        }
    }

    /// From now on, spills streams that do not fit into memory to this store.
    pub(crate) fn spill_to(&mut self, spill_store: Arc<SpillStore>) {
        self.spill_store = Some(spill_store);
    }

    /// The dispatches recorded so far, without those whose lines were taken.
    pub fn dispatches(&self) -> &[Dispatch] {
        &self.dispatches
    }

    /// Number of dispatches recorded so far.
    pub fn recorded(&self) -> u64 {
        self.overview.count
    }

    /// The last dispatch whose lines were taken.
    pub fn last_taken(&self) -> Option<&Arc<Dispatch>> {
        self.last.as_ref()
    }

    /// Runs only some workgroups of each launch from now on and scales their counts; results are then not
    /// computed.
    pub(crate) fn sample(&mut self, most_workgroups: u64) {
        self.most_workgroups = most_workgroups;
    }

    /// From now on, makes these predictions for each dispatch.
    pub(crate) fn predict(&mut self, predictions: Vec<Prediction>) {
        self.clocks = predictions.into_iter().map(|it| Clock::new(it, self.model)).collect();
    }

    /// From now on, counts only events of execution, without caches and times.
    pub(crate) fn count_only(&mut self) {
        self.counters_only = true;
    }

    /// Coverage of the timing model, also for predictions; must be set before the first dispatch.
    pub(crate) fn detail(&mut self, detail: Detail) {
        self.detail = detail;
    }

    /// Lines that dispatches find in the caches from now on.
    pub fn caches(&mut self, caches: CacheState) {
        self.caches = caches;
    }

    /// From now on, keeps wave events, so that predictions can be made later.
    pub(crate) fn keep_events(&mut self) {
        self.keeps_events = true;
    }

    /// Wave events by dispatch since the last call: one file each, `None` if it would be too large.
    pub fn take_events(&mut self) -> BTreeMap<u64, Option<Vec<u8>>> {
        std::mem::take(&mut self.events)
    }

    /// Predictions that failed for some dispatch, with reasons.
    pub fn misfits(&self) -> Vec<String> {
        clocks::misfits(&self.clocks)
    }

    /// Number of the next launch.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Number of the GPU of the launches from now on.
    pub fn set_device(&mut self, device: u32) {
        self.device = device;
    }

    /// Counts a launch that is not recorded.
    pub fn pass_over(&mut self) {
        self.next += 1;
    }

    /// Records a launch that would do what a recorded dispatch did; returns the numbers of both.
    pub fn repeat(&mut self, earlier: &Dispatch) -> [u64; 2] {
        let numbers = [earlier.id, self.next];
        self.keep(Dispatch { id: self.next, device: self.device, ..earlier.clone() });
        numbers
    }

    /// Keeps a dispatch.
    fn keep(&mut self, dispatch: Dispatch) {
        if self.overview.add(&dispatch) {
            self.columns = None;
        }
        self.dispatches.push(dispatch);
        self.next += 1;
    }

    /// Runs a kernel and records the dispatch; one that faults is not recorded. `kernel` is the name as
    /// shown. `table` is [`Table::new`] of the program: the caller keeps it for the next launch.
    pub fn run(
        &mut self,
        kernel: &str,
        program: &Program,
        table: &Table,
        memory: &emu::Memory,
        launch: &Launch<'_>,
    ) -> Result<Summary, Box<Fault>> {
        // Workgroups that wait for each other are all needed.
        let most = if launch.cooperative { 0 } else { self.most_workgroups };
        let sample = Sample::new(launch.workgroup_count(), most);
        let timed = sample.as_ref().map(|_| self.sample_with_times(program, launch));
        // Caches hold what all workgroups left in them: with scattered ones only, nothing can be said.
        let counted = match &sample {
            Some(_) if let Some(Ok(sample)) = &timed => {
                self.follow(program, table, memory, launch, Some(sample))
            }
            Some(sample) => {
                let no_time = timed.and_then(Result::err);
                let some = Launch { only: Some(&sample.workgroups), ..*launch };
                Self::count(program, table, memory, &some, &sample.weights)
                    .map(|(summary, counts)| (summary, counts, Timed { no_time, ..Timed::default() }))
            }
            None if self.counters_only => Self::count(program, table, memory, launch, &[])
                .map(|(summary, counts)| (summary, counts, Timed::default())),
            None => self.follow(program, table, memory, launch, None),
        };
        let (summary, counts, timed) = counted.inspect_err(|_| self.next += 1)?;
        self.add(Ran { kernel, program, table, launch }, &counts, timed);
        Ok(summary)
    }

    /// The workgroups of a launch that run for all where times are modelled, or why there are no times.
    fn sample_with_times(&self, program: &Program, launch: &Launch<'_>) -> Result<Sample, String> {
        if self.counters_only || self.detail == Detail::Full {
            return Err(
                "a sample has them with `--clock-detail auto` and without `--counters-only`".to_owned()
            );
        }
        let grid = traffic::grid(self.model, program, launch, Vec::new());
        let round = u64::from(self.model.compute_units.value) * u64::from(grid.groups_per_unit);
        Sample::with_times(launch.workgroup_count(), self.most_workgroups, round).ok_or_else(|| {
            format!(
                "{} workgroups fill the GPU too few times; `--sample-workgroups {}` or more gives times",
                self.most_workgroups,
                fewest_with_times(round)
            )
        })
    }

    /// Runs a kernel, or a sample of its workgroups, and sends its accesses through the caches.
    fn follow(
        &mut self,
        program: &Program,
        table: &Table,
        memory: &emu::Memory,
        launch: &Launch<'_>,
        sample: Option<&Sample>,
    ) -> Result<(Summary, Counts, Timed), Box<Fault>> {
        if self.caches == CacheState::Cold {
            self.empty_caches();
        }
        let mut counts = table.counts();
        let (model, detail) = (self.model, self.detail);
        let gpu = self.gpu.get_or_insert_with(|| {
            let mut gpu = Gpu::new(model);
            gpu.set_detail(detail);
            gpu
        });
        let shape = gpu.shape().clone();
        let acquire = self.caches.acquire(launch.released);
        let small_pages = memory.in_small_pages();
        let grid = Grid { acquire, small_pages, ..traffic::grid(model, program, launch, memory.on_host()) };
        let asked = traffic::resources(program, launch);
        for clock in &mut self.clocks {
            clock.begin(model, detail, &grid, &asked, &table.ops());
        }
        let mut events = (self.keeps_events && sample.is_none())
            .then(|| events::Writer::new(model, table, &program.name, (&grid, &asked), detail));
        gpu.set_threads(clocks::threads(launch.threads));
        gpu.begin(grid, table.ops());
        // What is kept is kept of all.
        let wanted = if events.is_some() { Vec::new() } else { wanted(gpu, &self.clocks) };
        let clocks = &mut self.clocks[..];
        // Streams of a dispatch are mostly alike.
        let expected = AtomicUsize::new(0);
        let spare = Mutex::new(Vec::new());
        let spill_store = self.spill_store.as_ref();
        let (mut cut, mut arrived) = (false, 0);
        let some = Launch { only: sample.map(|it| &it.workgroups[..]), ..*launch };
        let summary = std::thread::scope(|scope| {
            let others = clocks::follow(scope, clocks, launch.threads);
            let mut merge = |tracer: Tracer<'_>| {
                let (found, batch, slots) = tracer.finish();
                spare.lock().unwrap_or_else(PoisonError::into_inner).push(slots);
                // Of a sample each batch is one workgroup.
                let weight = sample.and_then(|it| it.weights.get(arrived)).copied().unwrap_or(1);
                add_times(&mut counts, found, weight);
                arrived += batch.groups.len();
                expected.fetch_max(batch.longest_stream().min(MOST_EXPECTED), Ordering::Relaxed);
                cut |= batch.groups.iter().any(|group| group.dropped > 0);
                if cut || sample.is_some_and(|it| arrived as u64 > it.followed) {
                    return;
                }
                for other in &others {
                    // A thread that is gone has panicked, which the scope hands on.
                    let _ = other.send(batch.clone());
                }
                if let Some(events) = &mut events {
                    events.push(&batch);
                }
                gpu.push(batch);
            };
            let tracer = || {
                let slots = spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
                let expected = expected.load(Ordering::Relaxed);
                Tracer::new(table, &shape, &wanted, (expected, slots), spill_store)
            };
            run_traced(program, memory, &some, &tracer, &mut merge)
        })?;
        let code = traffic::code(program, &counts, launch);
        let outcome = gpu.finish(&code);
        let predicted = clocks::finish(&mut self.clocks, launch.threads, &code);
        let cut = cut || spill_store.is_some_and(|spill_store| spill_store.take_unreadable());
        let timed = Timed::of(cut, outcome, predicted);
        if timed.outcome.is_some() {
            self.events.extend(events.map(|events| (self.next, events.finish(&code))));
        }
        Ok((summary, counts, timed))
    }

    /// The next dispatch finds empty caches.
    pub fn empty_caches(&mut self) {
        self.gpu = None;
        self.clocks.iter_mut().for_each(Clock::empty_caches);
    }

    /// Runs a kernel and returns its time, if it is modelled, recording nothing.
    pub fn time(
        &mut self,
        program: &Program,
        table: &Table,
        memory: &emu::Memory,
        launch: &Launch<'_>,
    ) -> Result<(Summary, Option<Estimate>), Box<Fault>> {
        let (summary, counts, timed) = self.follow(program, table, memory, launch, None)?;
        let totals = table.totals(&counts, u64::from(self.model.compute_units.value));
        let ran = Ran { kernel: "", program, table, launch };
        let estimate = timed.outcome.as_ref().and_then(|it| self.estimate(ran, &counts, &totals, it));
        Ok((summary, estimate))
    }

    /// Runs a kernel and returns its counts, recording nothing. If only some workgroups run, `weights` are
    /// the numbers of workgroups each represents.
    pub fn count(
        program: &Program,
        table: &Table,
        memory: &emu::Memory,
        launch: &Launch<'_>,
        weights: &[u64],
    ) -> Result<(Summary, Counts), Box<Fault>> {
        let mut counts = table.counts();
        let mut weights = weights.iter();
        let mut merge = |found| add_times(&mut counts, found, weights.next().copied().unwrap_or(1));
        let summary = run_counted(program, memory, launch, table, &mut merge)?;
        Ok((summary, counts))
    }

    /// Records a dispatch that ran.
    fn add(&mut self, ran: Ran<'_>, counts: &Counts, timed: Timed) {
        let Ran { kernel, program, table, launch } = ran;
        let Timed { outcome, predicted, cut, no_time } = timed;
        let mut totals = table.totals(counts, u64::from(self.model.compute_units.value));
        let estimate = outcome.as_ref().and_then(|outcome| self.estimate(ran, counts, &totals, outcome));
        // What the clock counted says something only where it knows how long a dispatch takes.
        let clocked = outcome.as_ref().filter(|_| estimate.is_some());
        totals.time = clocked.map(|outcome| self.clocked(program, launch, outcome));
        let lowered_mhz = clocked.and_then(|outcome| self.rates.lowered_mhz(outcome));
        let stalls = clocked.map(|outcome| outcome.stalls.clone());
        let occupancy = clocked.map(|outcome| outcome.occupancy(PARTS));
        let shared = outcome.as_ref().and_then(|it| it.shared);
        let followed = outcome.as_ref().and_then(|it| it.followed);
        let hurried = outcome.as_ref().is_some_and(|it| it.hurried);
        totals.caches = outcome.map(|it| it.tally);
        let target = program.isa.processor();
        let counted = Counted::of(target);
        let (counters, channels) = (counted.values(&totals), counted.channels(&totals));
        let descriptor = &program.descriptor;
        let unified = descriptor.accum_offset > 0;
        let arch_vgprs = if unified { descriptor.accum_offset } else { descriptor.vgprs_allocated };
        let allocated_sgprs = match descriptor.sgprs_allocated {
            0 => program.metadata.sgprs.unwrap_or(0).next_multiple_of(SGPR_STEP),
            allocated => allocated,
        };
        let code = table.code().map_or_else(String::new, |code| {
            self.code.entry(code.hash().to_string()).or_insert_with(|| code.clone());
            code.hash().to_string()
        });
        self.keep(Dispatch {
            id: self.next,
            device: self.device,
            kernel: kernel.to_string(),
            symbol: program.name.clone(),
            code,
            target,
            grid: launch.grid,
            workgroup: launch.workgroup,
            lds: descriptor.lds_bytes + launch.dynamic_lds,
            scratch: descriptor.scratch_bytes,
            arch_vgprs,
            accum_vgprs: descriptor.vgprs_allocated.saturating_sub(arch_vgprs),
            sgprs: allocated_sgprs,
            counters: Arc::new(counters),
            channels: Arc::new(channels),
            time: estimate,
            lowered_mhz,
            instructions: Arc::new(instructions::rows(program, table, counts, stalls.as_deref())),
            predicted,
            shared,
            followed,
            cut,
            no_time,
            hurried,
            occupancy,
        });
    }

    /// Time of a dispatch, if it is modelled.
    fn estimate(
        &self,
        ran: Ran<'_>,
        counts: &Counts,
        totals: &Totals,
        outcome: &Outcome,
    ) -> Option<Estimate> {
        let grid = traffic::grid(self.model, ran.program, ran.launch, Vec::new());
        let work = traffic::work(&grid, ran.launch, ran.table.vector_cycles(counts), totals);
        let mut estimate = clock::estimate(self.model, &work, &outcome.tally)?;
        estimate.cycles = outcome.cycles as f64;
        estimate.nanoseconds = self.rates.dispatch_nanoseconds(outcome);
        Some(estimate)
    }

    /// The times that counters add up.
    fn clocked(&self, program: &Program, launch: &Launch<'_>, outcome: &Outcome) -> Times {
        let stalled =
            |of: &[Stall]| of.iter().map(|&stall| outcome.stalled(stall)).sum::<u64>() / ISSUE_CYCLES;
        let full = traffic::full(self.model, program, launch, outcome.full_cycles / ISSUE_CYCLES);
        let under_way = &outcome.under_way;
        Times {
            xcds: outcome.cycles * u64::from(self.model.xcds.value),
            engines: outcome.engine_cycles,
            units: outcome.unit_cycles,
            waves: outcome.wave_cycles / ISSUE_CYCLES,
            waits: stalled(&[Stall::Memory, Stall::Local, Stall::Barrier]),
            issues: stalled(&[Stall::Issue, Stall::Matrix, Stall::Fetch]),
            full: full.engines,
            slots: full.slots,
            vgprs: full.vgprs,
            sgprs: full.sgprs,
            lds: full.lds,
            barriers: full.barriers,
            vector: under_way.vector,
            local: under_way.local,
            l2_reads: under_way.l2_reads,
            l2_writes: under_way.l2_writes,
            reads: under_way.reads,
            writes: under_way.writes,
        }
    }
}

/// The workgroups whose events the models want.
fn wanted(gpu: &Gpu, clocks: &[Clock]) -> Vec<Arc<Wanted>> {
    std::iter::once(gpu.wanted()).chain(clocks.iter().filter_map(Clock::wanted)).collect()
}

/// Adds counts several times, by doubling.
fn add_times(sum: &mut Counts, mut once: Counts, times: u64) {
    let mut left = times;
    while left > 0 {
        if left & 1 != 0 {
            sum.merge(&once);
        }
        left >>= 1;
        if left > 0 {
            let twin = once.clone();
            once.merge(&twin);
        }
    }
}

/// Bytes of a stream for which room is made at once, at most.
const MOST_EXPECTED: usize = 1 << 16;

/// Number of intervals of a dispatch's time for which the waves in flight are recorded.
const PARTS: usize = 64;

/// Cycles of a step in which sequencers count waves.
const ISSUE_CYCLES: u64 = 4;

/// Allocation granule of scalar registers.
const SGPR_STEP: u32 = 8;
