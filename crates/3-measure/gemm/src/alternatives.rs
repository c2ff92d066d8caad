//! Alternative tiles.

use crate::estimate::Estimate;
use crate::problem::{Problem, Tile};
use arch::{ElementType, Model};
use sorting::Sort;

/// Extents of tiles along M and N that kernels have.
const EXTENTS: [u64; 5] = [16, 32, 64, 128, 256];
/// Ways to share the depth.
const SPLITS: [u64; 4] = [1, 2, 4, 8];

/// Tiles that a tuner would try for a type: depths of 64 to 256 bytes, waves by size.
pub fn usual_tiles(element: ElementType, stages: u32, split: bool) -> Vec<Tile> {
    let mut tiles = Vec::new();
    let depths: &[u64] = match element.bits() {
        4 => &[256, 512],
        6 | 8 => &[128, 256],
        16 => &[32, 64, 128],
        32 => &[16, 32, 64],
        _ => &[16, 32],
    };
    for m in EXTENTS {
        for n in EXTENTS {
            // Long thin tiles read more than they multiply.
            if m.max(n) / m.min(n) > 8 {
                continue;
            }
            for &k in depths {
                for split_k in SPLITS {
                    if split_k == 1 || split {
                        let waves = if m * n >= 256 * 256 { 8 } else { 4 };
                        tiles.push(Tile { m, n, k, split_k, waves, stages });
                    }
                }
            }
        }
    }
    tiles
}

/// The usual tiles that fit, fastest first; ties go to the tile that fills the GPU more evenly. A part of the
/// depth is at least one step.
pub fn alternatives(model: &'static Model, problem: Problem, stages: u32, split: bool) -> Vec<Estimate> {
    let mut found: Vec<Estimate> = usual_tiles(problem.element, stages, split)
        .into_iter()
        .filter(|tile| tile.split_k == 1 || tile.split_k * tile.k <= problem.k)
        // Half of a tile that hangs over the edge is a smaller tile.
        .filter(|tile| (tile.m == 16 || tile.m / 2 < problem.m) && (tile.n == 16 || tile.n / 2 < problem.n))
        .map(|tile| Estimate::of(model, problem, tile))
        .filter(|it| it.time.is_some())
        .collect();
    let time = |it: &Estimate| it.time.map_or(f64::INFINITY, |time| time.total_us);
    found.in_order_by(|a, b| {
        time(a).total_cmp(&time(b)).then(b.rounds.utilisation.total_cmp(&a.rounds.utilisation))
    });
    found
}
