//! Countable properties of a tile: rounds, bytes per level, resources of a workgroup.

use crate::problem::{Problem, Tile, result_bytes};
use arch::{Model, Resources};

/// Rounds of workgroups on compute units.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rounds {
    /// Units that share the work: compute units, or compute units of an XCD.
    pub units: u64,
    /// Workgroups for them.
    pub workgroups: u64,
    /// Rounds of one workgroup per unit, the last one not full.
    pub rounds: u64,
    /// Workgroups by places in all rounds: `(workgroups / units) / ceil(workgroups / units)`.
    pub utilisation: f64,
    /// Units with a workgroup in the last round.
    pub last_round: f64,
}

impl Rounds {
    /// Rounds of the given number of workgroups on the given number of units.
    pub fn of(workgroups: u64, units: u64) -> Rounds {
        let units = units.max(1);
        let rounds = workgroups.div_ceil(units);
        let places = rounds.saturating_mul(units).max(1);
        let left = workgroups % units;
        let last = if workgroups > 0 && left == 0 { units } else { left };
        Rounds {
            units,
            workgroups,
            rounds,
            utilisation: workgroups as f64 / places as f64,
            last_round: last as f64 / units as f64,
        }
    }
}

/// Bytes of one launch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bytes {
    /// Every element once: memory traffic if caches hold all reused data.
    pub memory: f64,
    /// Bytes that workgroups request from the L2 caches: each reads its rows and columns.
    pub l2: f64,
    /// Bytes that each XCD's L2 cache reads over the fabric if consecutive workgroups go to consecutive XCDs
    /// and the caches keep only data shared by the workgroups of one round.
    pub fabric: f64,
    /// The same where neighbouring workgroups are on one XCD.
    pub fabric_grouped: f64,
    /// Bytes that workgroups read from the LDS.
    pub lds: f64,
    /// One step of one workgroup: read from the L2.
    pub step: f64,
}

/// Resources of a compute unit that a workgroup needs.
#[derive(Clone, Debug)]
pub struct Need {
    /// LDS in bytes, as Triton allocates it.
    pub lds_bytes: u64,
    /// Registers of a lane for the running sums.
    pub sum_registers: u64,
    /// Registers of a lane for sums and loads under way: what a kernel holds at least.
    pub least_registers: u64,
    /// Workgroups a compute unit holds with these; 0 where not one fits.
    pub workgroups_per_cu: u32,
    /// Limiter of the occupancy.
    pub limiter: &'static str,
}

pub(crate) fn bytes(model: &Model, problem: &Problem, tile: &Tile, [rows, columns]: [u64; 2]) -> Bytes {
    let element = f64::from(problem.element.bits()) / 8.0;
    let depth = problem.k as f64 * element;
    let result = problem.m as f64 * problem.n as f64 * result_bytes(problem.element) as f64;
    // A part of the result is added to memory by each workgroup that shares it.
    let result = result * tile.split_k.max(1) as f64;
    let tiles = rows as f64 * columns as f64;
    let asked = tiles * (tile.m + tile.n) as f64 * depth;
    let xcds = f64::from(model.xcds.value).max(1.0);
    let units = f64::from(model.compute_units.value);
    // One round of workgroups in the order of rows: a band of whole rows of tiles, each XCD with a share of
    // its tiles.
    let round = tiles.min(units);
    let band_columns = (columns as f64).min(round);
    let band_rows = (round / band_columns).max(1.0);
    let rounds = (tiles / round).max(1.0);
    let share = round / xcds;
    // Dealt out one by one, an XCD has every eighth tile: nearly all rows and, of each row, its share of
    // columns.
    let dealt_columns =
        if columns as f64 % xcds == 0.0 { (band_columns / xcds).max(1.0) } else { band_columns };
    let dealt = [band_rows.min(share), dealt_columns.min(share)];
    let side = share.sqrt().max(1.0);
    let grouped_rows = side.min(band_rows).max(1.0);
    let grouped = [grouped_rows, (share / grouped_rows).min(band_columns)];
    let fabric = |[rows, columns]: [f64; 2]| {
        let one = (rows * tile.m as f64 + columns * tile.n as f64) * depth;
        (rounds * xcds.min(tiles) * one).min(asked) + result
    };
    let steps = problem.k.div_ceil(tile.k.max(1)) as f64;
    let step = (tile.m + tile.n) as f64 * tile.k as f64 * element;
    // Each wave reads its rows of one factor and its columns of the other; waves form a square, or nearly so.
    let waves = f64::from(tile.waves.max(1));
    let across = 2f64.powf((waves.log2() / 2.0).floor());
    let lds_step = (tile.m as f64 * (waves / across) + tile.n as f64 * across) * tile.k as f64 * element;
    Bytes {
        memory: problem.least_bytes(),
        l2: asked + result,
        fabric: fabric(dealt),
        fabric_grouped: fabric(grouped).min(fabric(dealt)),
        lds: tiles * steps * lds_step,
        step,
    }
}

pub(crate) fn need(model: &Model, problem: &Problem, tile: &Tile) -> Need {
    let target = model.target();
    let lds_bytes = tile.lds_bytes(problem.element);
    let registers = tile.registers(problem.element, u64::from(target.lanes_per_wave.value));
    // Addresses, counters and one instruction's factors.
    const REST: u64 = 32;
    let least = registers.sums + registers.loads + REST;
    let clamp = |it: u64| u32::try_from(it).unwrap_or(u32::MAX);
    let resources = Resources {
        vgprs: clamp(least),
        agprs: 0,
        sgprs: 0,
        lds_bytes: clamp(lds_bytes),
        waves_per_workgroup: tile.waves,
    };
    let occupancy = arch::occupancy(target, &resources);
    Need {
        lds_bytes,
        sum_registers: registers.sums,
        least_registers: least,
        workgroups_per_cu: occupancy.workgroups_per_cu,
        limiter: occupancy.limiter.name(),
    }
}
