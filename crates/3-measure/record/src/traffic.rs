//! Memory accesses on their way to the caches.
//!
//! Crate `mem` knows neither instructions nor launches: `policy` says what an instruction's bits mean for the
//! caches, this module what a launch does.

use arch::{Limiter, Model, Resources};
use clock::{Grid, Wanted, Work};
use emu::{Launch, MemoryAccess, Observer, Program, WaveId};
use isa::Space;
use mem::{Lanes, LdsAccess, PatternMemo, Policy, Shape, SpillStore, Trace};
use probe::Counts;
use probe::{Event, Totals};
use probe::{NO_SLOT, Table};
use probe::{Probe, each_dword};
use std::ops::Range;
use std::sync::Arc;

/// Counts the events of workgroups and records them for the clock.
#[derive(Debug)]
pub(crate) struct Tracer<'t> {
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
    pub(crate) fn new(
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
    pub(crate) fn finish(mut self) -> (Counts, mem::Batch, PatternMemo) {
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

/// Waves of a workgroup.
fn waves_per_group(launch: &Launch<'_>) -> u32 {
    launch.workgroup.iter().fold(1u32, |all, &size| all.saturating_mul(size)).div_ceil(64)
}

/// Inputs of the clock for a dispatch.
pub(crate) fn work(grid: &Grid, launch: &Launch<'_>, vector_cycles: u64, totals: &Totals) -> Work {
    Work {
        waves: totals.get(Event::Wave),
        waves_per_unit: grid.groups_per_unit.saturating_mul(waves_per_group(launch)),
        groups: grid.groups,
        vector_cycles,
        lds_cycles: totals.get(Event::LdsCycles),
        lookups: totals.get(Event::TcpLookup),
        loads: totals.get(Event::FlatLoad) + totals.get(Event::BufferLoad),
        scalar_loads: totals.get(Event::Smem),
        waits: totals.get(Event::Wait),
    }
}

/// Resources of a workgroup of a launch.
pub(crate) fn resources(program: &Program, launch: &Launch<'_>) -> Resources {
    let descriptor = &program.descriptor;
    let unified = descriptor.accum_offset > 0;
    let vgprs = if unified { descriptor.accum_offset } else { descriptor.vgprs_allocated };
    Resources {
        vgprs: vgprs.min(descriptor.vgprs_allocated),
        agprs: descriptor.vgprs_allocated.saturating_sub(vgprs),
        sgprs: program.metadata.sgprs.unwrap_or(descriptor.sgprs_allocated),
        lds_bytes: descriptor.lds_bytes.saturating_add(launch.dynamic_lds),
        waves_per_workgroup: waves_per_group(launch),
    }
}

/// Inputs of the caches for a launch; `host` are the program's ranges in host memory.
pub(crate) fn grid(model: &Model, program: &Program, launch: &Launch<'_>, host: Vec<Range<u64>>) -> Grid {
    let descriptor = &program.descriptor;
    let asked = resources(program, launch);
    let range = |start: u64, bytes: u64| if start == 0 { 0..0 } else { start..start.saturating_add(bytes) };
    Grid {
        groups: launch.workgroup_count(),
        groups_per_unit: arch::workgroups_per_cu(model.target(), &asked).max(1),
        scratch: u64::from(descriptor.scratch_bytes) * 64,
        // Arguments and the queue with its packets are the host's.
        entry: launch.load.wrapping_add(program.entry_address()),
        released: launch.released,
        arguments: vec![
            range(launch.kernarg, u64::from(descriptor.kernarg_bytes)),
            range(launch.packet, PACKET),
        ],
        host,
        ..Grid::default()
    }
}

/// Number of steps of the workgroup manager in which a part of the GPU has no room for a waiting workgroup,
/// by part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Full {
    /// Over the shader engines.
    pub(crate) engines: u64,
    /// Over the SIMDs.
    pub(crate) slots: u64,
    pub(crate) vgprs: u64,
    pub(crate) sgprs: u64,
    /// Over the compute units.
    pub(crate) lds: u64,
    pub(crate) barriers: u64,
}

/// Resources that are full while XCDs accept no more workgroups, for `steps` steps over all XCDs: every
/// resource that admits no further workgroup. If wave slots are full, registers count only if one more wave
/// would not fit: recordings of vector copies report no full registers.
pub(crate) fn full(model: &Model, program: &Program, launch: &Launch<'_>, steps: u64) -> Full {
    if steps == 0 {
        return Full::default();
    }
    let target = model.target();
    let of_xcd = |all: u32| steps * u64::from(all) / u64::from(model.xcds.value.max(1));
    let units = of_xcd(model.compute_units.value);
    let simds = units * u64::from(target.simds_per_cu.value);
    let mut full = Full { engines: of_xcd(model.shader_engines.value), ..Full::default() };
    let occupancy = arch::occupancy(target, &resources(program, launch));
    let slots = occupancy.max_waves_per_simd;
    for limit in occupancy.limits.iter().filter(|limit| limit.workgroups == occupancy.workgroups_per_cu) {
        let lacks = occupancy.limiter != Limiter::WaveSlots
            || limit.allocated.saturating_mul(slots + 1) > limit.capacity;
        match limit.resource {
            Limiter::WaveSlots => full.slots = simds,
            Limiter::Vgpr | Limiter::Agpr | Limiter::Sgpr if !lacks => {}
            Limiter::Vgpr | Limiter::Agpr => full.vgprs = simds,
            Limiter::Sgpr => full.sgprs = simds,
            Limiter::Lds => full.lds = units,
            Limiter::BarrierSlots => full.barriers = units,
        }
    }
    full
}

/// Bytes of a dispatch packet.
const PACKET: u64 = 64;

/// Addresses of the instructions that ran, as ranges in order.
pub(crate) fn code(program: &Program, counts: &Counts, launch: &Launch<'_>) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (index, executed) in counts.executions.iter().enumerate() {
        if executed.times == 0 {
            continue;
        }
        let start = launch.load.wrapping_add(program.address(index));
        let end = start + program.instructions().get(index).map_or(0, |inst| u64::from(inst.size));
        match ranges.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => ranges.push(start..end),
        }
    }
    ranges
}
