//! Memory accesses on their way to the caches.
//!
//! Crate `mem` knows neither instructions nor launches: `policy` says what an instruction's bits mean for the caches.

use crate::counts::Counts;
use crate::observe::{Probe, each_dword};
use crate::table::{NO_SLOT, Table};
use clock::Wanted;
use emu::{Fault, Launch, Memory, MemoryAccess, Observer, Program, Summary, WaveId};
use isa::Space;
use mem::{Lanes, LdsAccess, PatternMemo, Policy, Shape, SpillStore, Trace};
use std::sync::Arc;

/// Counts the events of workgroups and records them for the clock.
#[derive(Debug)]
pub struct Tracer<'t> {
    table: &'t Table,
    probe: Probe<'t>,
    trace: Trace,
    /// Consumers that select streams of workgroups; if empty, all streams are recorded.
    wanted: &'t [Arc<Wanted>],
}

impl<'t> Tracer<'t> {
    /// A recorder of the streams selected by `wanted` for a GPU; if `wanted` is empty, of all. `expected` is
    /// the expected size in bytes. `memo` holds the access patterns of an earlier recording of the dispatch,
    /// if one exists. Streams that do not fit into memory go to `spill_store`.
    pub fn new(
        table: &'t Table,
        shape: &Shape,
        wanted: &'t [Arc<Wanted>],
        (expected, memo): (usize, PatternMemo),
        spill_store: Option<&Arc<SpillStore>>,
    ) -> Self {
        let mut trace = Trace::new(shape);
        trace.spill(spill_store);
        trace.expect(expected);
        trace.begin_with(memo);
        Tracer { table, probe: Probe::new(table), trace, wanted }
    }

    /// The counts, the recorded batch, and the patterns for the next recorder.
    pub fn finish(mut self) -> (Counts, mem::Batch, PatternMemo) {
        let memo = self.trace.take_memo();
        (self.probe.counts, self.trace.finish(), memo)
    }
}

impl Observer for Tracer<'_> {
    fn wave_start(&mut self, wave: WaveId, lanes: u64) {
        self.probe.wave_start(wave, lanes);
        if wave.wave == 0 {
            let group = wave.workgroup_index;
            match self.wanted.is_empty() || self.wanted.iter().any(|it| it.wants(group)) {
                true => self.trace.begin(),
                false => self.trace.begin_without_streams(),
            }
        }
        self.trace.wave();
    }

    #[inline(always)]
    fn issue_run(&mut self, wave: WaveId, first: usize, count: usize, exec: u64) {
        self.probe.issue_run(wave, first, count, exec);
        self.trace.run(wave.wave, first, count);
    }

    fn access(&mut self, wave: WaveId, access: &MemoryAccess<'_>) {
        let slot = self.table.slot(access.index);
        if slot == NO_SLOT {
            return;
        }
        let lds = |probe: &Probe<'_>| {
            let counts = probe.counts.memory.get(slot as usize).filter(|_| access.space == Space::Lds);
            counts.map_or((0, 0), |it| (it.lds_cycles, it.bank_conflicts))
        };
        let before = lds(&self.probe);
        self.probe.access(wave, access);
        let policy = self.table.policy(slot);
        match access.space {
            Space::Global | Space::Flat | Space::Buffer => {
                let MemoryAccess { addresses, lanes, bytes, formation, .. } = *access;
                let lanes = Lanes { addresses, active: lanes, bytes, formation };
                self.trace.vector(wave.wave, slot, policy, &lanes);
            }
            Space::Scratch => {
                let policy = Policy { scratch: true, ..policy };
                each_dword(access, |addresses, bytes| {
                    self.trace.vector(wave.wave, slot, policy, &Lanes::new(addresses, access.lanes, bytes));
                });
            }
            Space::Scalar => self.trace.scalar(wave.wave, policy.kind, access.addresses[0], access.bytes),
            Space::Lds => {
                let after = lds(&self.probe);
                let (cycles, conflicts) = ((after.0 - before.0) as u32, (after.1 - before.1) as u32);
                self.trace.lds(wave.wave, LdsAccess { slot, cycles, conflicts });
            }
            Space::Gds => {}
        }
    }
}

/// Runs a kernel under tracers. It is compiled with this crate, so a crate that is not optimised may call it.
///
/// # Errors
/// As [`emu::run`].
pub fn run_traced<'t>(
    program: &Program,
    memory: &Memory,
    launch: &Launch<'_>,
    make: &(dyn Fn() -> Tracer<'t> + Sync),
    merge: &mut (dyn FnMut(Tracer<'t>) + Send),
) -> Result<Summary, Box<Fault>> {
    emu::run(program, memory, launch, make, merge)
}

/// Runs a kernel and hands on its counts, workgroup by workgroup in order. It is compiled with this crate, as [`run_traced`].
///
/// # Errors
/// As [`emu::run`].
pub fn run_counted(
    program: &Program,
    memory: &Memory,
    launch: &Launch<'_>,
    table: &Table,
    merge: &mut (dyn FnMut(Counts) + Send),
) -> Result<Summary, Box<Fault>> {
    emu::run(program, memory, launch, || Probe::new(table), |probe| merge(probe.counts))
}
