//! Launches as the caches and the clock see them.

use arch::{Limiter, Model, Resources};
use clock::{Grid, Work};
use emu::{Launch, Program};
use probe::{Counts, Event, Totals};
use std::ops::Range;

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
