//! Time of a launch.
//!
//! A compute unit works through its workgroups, at most two at a time. One step of a workgroup loads a slice
//! of both factors and multiplies it; two workgroups hide each other's waits, one alone waits. Memory
//! bandwidth may be the limit instead.

use crate::counts::{Bytes, Need, Rounds};
use crate::problem::{Problem, Scales, Tile};
use arch::{ElementType, Model, Unit};

/// Assumptions of the model about kernels; the rest are facts of the GPU.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Constants {
    /// From the launch to the first instruction and from the last to the end, microseconds.
    pub launch_us: f64,
    /// Share of the matrix units' peak that a compute unit with two workgroups reaches: clock under load, and
    /// what kernels do beside multiplying.
    pub matrix_share: f64,
    /// The same where matrix instructions take the scales of MX types.
    pub mx_share: f64,
    /// The same where the kernel scales its sums after each block of the depth.
    pub blocks_share: f64,
    /// Exposed wait of one step when a workgroup of four waves is alone, microseconds.
    pub step_wait_us: f64,
    /// Beginning and end of a workgroup: first loads, stores of the result, microseconds.
    pub workgroup_us: f64,
    /// Fraction of the peak memory bandwidth that a launch reaches if every byte is moved once.
    pub memory_share: f64,
    /// Share of the LDS's width at the highest clock that loads from the L2 reach: they pass through the LDS.
    pub load_share: f64,
    /// Further launch that clears the result when several workgroups add to it, microseconds.
    pub split_us: f64,
}

impl Constants {
    /// Chosen by hand near the best fit to every second of 3,000 measured FP8 products on an MI300X and to
    /// 1,500 products of three types on an MI355X; docs/tile.md has the errors.
    pub const FITTED: Constants = Constants {
        launch_us: 2.0,
        matrix_share: 0.58,
        mx_share: 0.40,
        blocks_share: 0.32,
        step_wait_us: 0.2,
        workgroup_us: 1.2,
        memory_share: 0.6,
        load_share: 0.11,
        split_us: 5.0,
    };

    /// Highest and lowest share of the matrix units' peak that measured kernels reach: 73 % of HipKittens' FP8
    /// on an MI355X, 28 % of Triton's MXFP4 on an MI350X.
    pub const SHARES: [f64; 2] = [0.75, 0.28];

    /// The constants with a share of the matrix units' peak for all scales.
    pub(crate) fn with_share(self, share: f64) -> Constants {
        Constants { matrix_share: share, mx_share: share, blocks_share: share, ..self }
    }

    /// The share for a problem's scales.
    fn share(&self, model: &Model, scales: Scales) -> f64 {
        // The instructions for 4-bit types are those that take scales.
        let takes_scales = model.target().peak(Unit::Matrix, ElementType::F4).is_some();
        match scales {
            Scales::End => self.matrix_share,
            Scales::Mx if takes_scales => self.mx_share,
            Scales::Mx | Scales::Blocks => self.blocks_share,
        }
    }
}

/// Main wait reason of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Matrix units.
    Matrix,
    /// Loads of a compute unit from its L2 cache.
    UnitLoads,
    /// Exposed waits of single workgroups.
    Latency,
    /// Memory.
    Memory,
    /// Starting and ending.
    Launch,
}

impl Bound {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Bound::Matrix => "matrix units",
            Bound::UnitLoads => "loads from the L2",
            Bound::Latency => "waits of single workgroups",
            Bound::Memory => "memory",
            Bound::Launch => "launch",
        }
    }
}

/// Expected time of a launch, microseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Time {
    /// All of it.
    pub total_us: f64,
    /// Starting, ending, clearing.
    pub launch_us: f64,
    /// The busiest compute unit.
    pub compute_us: f64,
    /// Memory.
    pub memory_us: f64,
    /// Main wait reason.
    pub bound: Bound,
    /// Operations per second, 10^12.
    pub tera_ops: f64,
    /// The same by the GPU's peak for the type.
    pub peak_share: f64,
    /// Least and most expected time, where the type was not compared with measured products on such a GPU.
    pub range_us: Option<[f64; 2]>,
}

/// Inputs of a time.
pub(crate) struct Work<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) tile: &'a Tile,
    pub(crate) rounds: &'a Rounds,
    pub(crate) bytes: &'a Bytes,
    pub(crate) need: &'a Need,
}

impl Time {
    /// Of a tile that fits.
    pub(crate) fn of(model: &'static Model, work: &Work<'_>, constants: &Constants) -> Option<Time> {
        let Work { problem, tile, rounds, bytes, need } = work;
        if need.workgroups_per_cu == 0 {
            return None;
        }
        let peak = model.peak_tera_ops(Unit::Matrix, problem.element)?;
        let units = f64::from(model.compute_units.value);
        // Operations per microsecond of one compute unit.
        let unit_peak = peak * 1e6 / units;
        let step_operations = 2.0 * tile.m as f64 * tile.n as f64 * tile.k as f64;
        let matrix = step_operations / unit_peak / constants.share(model, problem.scales);
        let lds = &model.target().lds;
        let lds_width = f64::from(lds.banks.value) * f64::from(lds.bank_bytes.value);
        // Bytes per microsecond.
        let load_rate = lds_width * f64::from(model.engine_mhz.value) * constants.load_share;
        let loads = bytes.step / load_rate;
        let steps = problem.k.div_ceil(tile.k.max(1).saturating_mul(tile.split_k.max(1))).max(1) as f64;
        let most = rounds.rounds;
        let together = 2u64.min(u64::from(need.workgroups_per_cu)).max(1);
        // Waves beyond one per SIMD hide each other's waits too.
        let wait = constants.step_wait_us * (4.0 / f64::from(tile.waves.max(1))).min(1.0);
        let of = |workgroups: u64| {
            let throughput = workgroups as f64 * matrix.max(loads);
            throughput.max(wait + matrix)
        };
        let (full, rest) = (most / together, most % together);
        let last = if rest > 0 { of(rest) } else { 0.0 };
        let compute_us = steps * (full as f64 * of(together) + last)
            + constants.workgroup_us * most.div_ceil(together) as f64;
        let memory_us = bytes.memory / (model.hbm.gb_per_s.value * 1e3) / constants.memory_share;
        let launch_us = constants.launch_us + if tile.split_k > 1 { constants.split_us } else { 0.0 };
        let busy = compute_us.max(memory_us);
        let total_us = launch_us + busy;
        let alone = of(together) > together as f64 * matrix.max(loads);
        let bound = if launch_us > busy {
            Bound::Launch
        } else if memory_us > compute_us {
            Bound::Memory
        } else if alone || (full == 0 && rest > 0) {
            Bound::Latency
        } else if loads > matrix {
            Bound::UnitLoads
        } else {
            Bound::Matrix
        };
        let tera_ops = problem.operations() / total_us / 1e6;
        Some(Time {
            total_us,
            launch_us,
            compute_us,
            memory_us,
            bound,
            tera_ops,
            peak_share: tera_ops / peak,
            range_us: None,
        })
    }
}
