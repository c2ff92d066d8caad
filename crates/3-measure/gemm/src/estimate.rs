//! Estimate for one problem with one tile on one GPU.

use crate::compared::compared;
use crate::counts::{Bytes, Need, Rounds, bytes, need};
use crate::problem::{Problem, Tile};
use crate::time::{Constants, Time, Work};
use arch::Model;

/// Everything about one tile.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The problem.
    pub problem: Problem,
    /// The tile.
    pub tile: Tile,
    /// Tiles along M and N.
    pub grid: [u64; 2],
    /// Workgroups, including the parts of the depth.
    pub workgroups: u64,
    /// Over the compute units of the GPU.
    pub rounds: Rounds,
    /// Over the compute units of the XCD with most workgroups: they are assigned round robin.
    pub xcd: Rounds,
    /// Fraction of the tiles' elements inside the result: the rest is beyond its edge.
    pub useful: f64,
    /// Bytes per level.
    pub bytes: Bytes,
    /// Resources of a workgroup.
    pub need: Need,
    /// Expected time; `None` where the GPU has no matrix instructions for the type, or no workgroup fits.
    pub time: Option<Time>,
}

impl Estimate {
    /// Answers for one tile, all extents at least 1.
    pub fn of(model: &'static Model, problem: Problem, tile: Tile) -> Estimate {
        let grid = [problem.m.div_ceil(tile.m.max(1)), problem.n.div_ceil(tile.n.max(1))];
        let tiles = grid[0].saturating_mul(grid[1]);
        let workgroups = tiles.saturating_mul(tile.split_k.max(1));
        let xcds = u64::from(model.xcds.value).max(1);
        let covered = (grid[0] * tile.m) as f64 * (grid[1] * tile.n) as f64;
        let mut estimate = Estimate {
            problem,
            tile,
            grid,
            workgroups,
            rounds: Rounds::of(workgroups, u64::from(model.compute_units.value)),
            xcd: Rounds::of(workgroups.div_ceil(xcds), u64::from(model.compute_units_per_xcd())),
            useful: problem.m as f64 * problem.n as f64 / covered.max(1.0),
            bytes: bytes(model, &problem, &tile, grid),
            need: need(model, &problem, &tile),
            time: None,
        };
        let Estimate { rounds, bytes, need, .. } = &estimate;
        let work = Work { problem: &problem, tile: &tile, rounds, bytes, need };
        let of = |constants: &Constants| Time::of(model, &work, constants);
        let time = of(&Constants::FITTED);
        let range = || {
            let [least, most] = Constants::SHARES.map(|share| of(&Constants::FITTED.with_share(share)));
            Some([least?.total_us, most?.total_us])
        };
        let is_compared = compared(model, problem.element, problem.scales).is_some();
        let range_us = if is_compared { None } else { range() };
        estimate.time = time.map(|time| Time { range_us, ..time });
        estimate
    }
}
