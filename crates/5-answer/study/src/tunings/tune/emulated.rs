//! Modelled times of the emulated clock for the tiles that the tile model finds fastest.
//!
//! The cost of a time does not grow with the problem: the workgroups that start first run, two on a compute unit at most, over two
//! short depths; the rest is the difference of the two for each step of the depth, and rounds of workgroups.

use super::modelled::Grouped;
use super::problems::Group;
use super::search::{Timed, products};
use super::spaces::ProjectSpace;
use arch::Model;
use gemm::ProductLaunch;
use sorting::Sort;
use std::collections::HashSet;
use std::fmt::Debug;

/// Workgroups on a compute unit in a sample.
const MOST_PER_CU: u64 = 2;
/// Bytes after which rows of a matrix begin on the same channel of memory again, for all GPUs.
const PERIOD: u64 = 4096;
/// Steps along the depth: of problems that are not deeper all run, of others these two numbers.
const STEPS: [u64; 2] = [8, 16];

/// Times launches of products on an emulated GPU.
pub trait ProductClock: Debug {
    /// Microseconds of each launch and depth.
    fn times_us(&self, launches: &[ProductLaunch]) -> Vec<Result<Vec<f64>, String>>;
}

/// A configuration with its time by the emulated clock.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Emulated {
    /// Values in the order of the space's parameters.
    pub(super) values: Vec<i64>,
    /// Time by the tile model, microseconds.
    pub(super) tile_us: f64,
    /// Time by the emulated clock.
    pub(super) us: Result<f64, String>,
}

/// A clock and how much it may run.
#[derive(Clone, Copy, Debug)]
pub struct ProductTimes<'a> {
    /// The clock.
    pub clock: &'a dyn ProductClock,
    /// Tiles of each shape, and after them settings of the fastest one.
    pub tiles: usize,
}

/// A part of a product, and how its time becomes the time of all.
#[derive(Clone, PartialEq, Debug)]
struct Sample {
    launch: ProductLaunch,
    /// Steps along the depth beyond the last launch's, in units of the difference of the two.
    beyond: f64,
    /// Rounds of workgroups of the product for one of the sample.
    rounds: f64,
}

impl Sample {
    fn of(
        model: &Model,
        group: &Group,
        product: &Grouped,
        config: (&ProjectSpace, &[i64]),
    ) -> Option<Sample> {
        let (data, values) = config;
        let value = |name: &str| data.place(name).and_then(|at| u64::try_from(*values.get(at)?).ok());
        let [bm, bn, bk] =
            [value("BLOCK_SIZE_M")?, value("BLOCK_SIZE_N")?, value("BLOCK_SIZE_K")?].map(|it| it.max(1));
        let group_m = value("GROUP_SIZE_M").unwrap_or(1).max(1);
        let rows = product.rows.div_ceil(product.experts.max(1)).max(1);
        let each = rows.div_ceil(bm);
        let (blocks, columns) = (product.experts.max(1) * each, product.n.div_ceil(bn));
        let units = u64::from(model.compute_units.value).max(1);
        let most = units * MOST_PER_CU;
        // Programs go down a group of blocks before the next column.
        let (across, down) = if blocks.saturating_mul(columns) <= most {
            (columns, blocks)
        } else {
            let down = blocks.min(group_m).min(most);
            let across = columns.min((most / down).max(1));
            (across, if across == columns { blocks.min((most / across).max(1)) } else { down })
        };
        let experts = (down / each).max(1);
        let rows_run = if down < each { down * bm } else { rows };
        let run = experts * rows_run.div_ceil(bm) * across;
        let steps = product.k.div_ceil(bk);
        let (depths, beyond) = if steps <= STEPS[1] {
            (vec![product.k], 0.0)
        } else {
            let more = (steps - STEPS[1]) as f64 / (STEPS[1] - STEPS[0]) as f64;
            (STEPS.map(|it| it * bk).to_vec(), more)
        };
        let deepest = depths.last().copied().unwrap_or(product.k);
        let period = 8 * PERIOD / u64::from(group.types.element.bits()).max(1);
        let stride = deepest + (product.k.max(deepest) - deepest) % period;
        let launch = ProductLaunch {
            element: group.types.element,
            experts,
            rows: rows_run,
            n: product.n.min(across * bn),
            depths,
            stride,
            scale_block: group.name.block.unwrap_or([0, 0]),
            parameters: data
                .parameters
                .iter()
                .map(|it| it.name.clone())
                .zip(values.iter().copied())
                .collect(),
        };
        let rounds = (blocks * columns).div_ceil(units) as f64 / run.div_ceil(units) as f64;
        Some(Sample { launch, beyond, rounds })
    }

    /// The time of all of the product.
    fn total(&self, times_us: &[f64]) -> Result<f64, String> {
        let us = match times_us {
            [all] => *all,
            [short, long] => long + self.beyond * (long - short).max(0.0),
            _ => return Err("the clock gave no time".to_owned()),
        };
        Ok(us * self.rounds)
    }
}

/// Times configurations of a shape by the emulated clock.
fn timed(
    model: &'static Model,
    data: &ProjectSpace,
    (group, rows): (&Group, u64),
    configurations: Vec<(Vec<i64>, f64)>,
    clock: &dyn ProductClock,
) -> Vec<Emulated> {
    let products = products(group, rows);
    let samples = |values: &[i64]| -> Option<Vec<Sample>> {
        products.iter().map(|it| Sample::of(model, group, it, (data, values))).collect()
    };
    let all: Vec<Vec<Sample>> =
        configurations.iter().map(|(values, _)| samples(values).unwrap_or_default()).collect();
    let launches: Vec<ProductLaunch> = all.iter().flatten().map(|it| it.launch.clone()).collect();
    let mut times = clock.times_us(&launches).into_iter();
    let mut out = Vec::new();
    for ((values, tile_us), samples) in configurations.into_iter().zip(&all) {
        let each: Vec<Result<f64, String>> = samples
            .iter()
            .map(|sample| {
                let times = times.next().unwrap_or_else(|| Err("the clock gave no time".to_owned()));
                times.and_then(|it| sample.total(&it))
            })
            .collect();
        let us = if each.is_empty() {
            Err("the settings lack a tile".to_owned())
        } else {
            each.into_iter().sum::<Result<f64, String>>()
        };
        out.push(Emulated { values, tile_us, us });
    }
    out
}

/// Times the tiles of a shape that the tile model finds fastest, then the settings of the fastest one that the model does not use, one
/// changed at a time.
pub(super) fn of_shape(
    model: &'static Model,
    data: &ProjectSpace,
    group: &Group,
    shape: &Timed,
    times: ProductTimes<'_>,
) -> Vec<Emulated> {
    if group.types.weight_bits != group.types.element.bits() {
        let why = "the kernel multiplies factors of one type, and these weights have another";
        let first = shape.fastest(data);
        return first
            .map(|it| Emulated { values: it.values.clone(), tile_us: it.time.us, us: Err(why.to_owned()) })
            .into_iter()
            .collect();
    }
    let is_seen: Vec<bool> = data.parameters.iter().map(|it| it.prefer.is_empty()).collect();
    let key = |values: &[i64]| -> Vec<i64> {
        values.iter().zip(&is_seen).filter(|it| *it.1).map(|it| *it.0).collect()
    };
    let mut order: Vec<_> = shape.configurations.iter().collect();
    order.in_order_by(|a, b| {
        let by_time = a.time.us.total_cmp(&b.time.us).then(a.time.compute_us.total_cmp(&b.time.compute_us));
        by_time.then_with(|| data.preference(&a.values).cmp(&data.preference(&b.values)))
    });
    // The choice without this clock is the first.
    if let Some(at) =
        shape.fastest(data).and_then(|it| order.iter().position(|other| other.values == it.values))
    {
        order[..=at].rotate_right(1);
    }
    let mut seen = HashSet::new();
    let tiles = order.iter().filter(|it| seen.insert(key(&it.values))).take(times.tiles);
    let tiles = tiles.map(|it| (it.values.clone(), it.time.us)).collect();
    let at = (group, shape.rows);
    let mut out = timed(model, data, at, tiles, times.clock);
    let Some(best) = fastest(&out).cloned() else { return out };
    let is_near = |values: &[i64]| {
        key(values) == key(&best.values)
            && values.iter().zip(&best.values).filter(|it| it.0 != it.1).count() == 1
    };
    let mut near: Vec<_> = order.iter().filter(|it| is_near(&it.values)).collect();
    near.in_order_by_key(|it| data.preference(&it.values).iter().sum::<usize>());
    let near = near.iter().take(times.tiles).map(|it| (it.values.clone(), it.time.us)).collect();
    out.extend(timed(model, data, at, near, times.clock));
    out
}

/// The fastest by the emulated clock; the first among equal ones.
pub(super) fn fastest(all: &[Emulated]) -> Option<&Emulated> {
    let time = |it: &Emulated| it.us.as_ref().copied().unwrap_or(f64::INFINITY);
    all.iter().filter(|it| it.us.is_ok()).min_by(|a, b| time(a).total_cmp(&time(b)))
}

/// Pairs of configurations that both models put in the same order, and all pairs whose times differ in both.
pub(super) fn alike(all: &[Emulated]) -> (u64, u64) {
    let known: Vec<(f64, f64)> =
        all.iter().filter_map(|it| Some((it.tile_us, *it.us.as_ref().ok()?))).collect();
    let (mut same, mut pairs) = (0, 0);
    for (at, a) in known.iter().enumerate() {
        for b in known[at + 1..].iter().filter(|b| a.0 != b.0 && a.1 != b.1) {
            pairs += 1;
            same += u64::from((a.0 < b.0) == (a.1 < b.1));
        }
    }
    (same, pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_both_models_tell_apart_are_counted() {
        let of = |tile_us: f64, us: Result<f64, String>| Emulated { values: Vec::new(), tile_us, us };
        let all = [
            of(1.0, Ok(5.0)),
            of(2.0, Ok(4.0)),
            of(3.0, Ok(6.0)),
            of(3.0, Ok(1.0)),
            of(9.0, Err(String::new())),
        ];
        // Alike: 1 and 3, 2 and 3. Not: 1 and 2, 1 and 4, 2 and 4. The last two have one time by the tile model.
        assert_eq!(alike(&all), (2, 5));
        assert_eq!(fastest(&all).map(|it| it.tile_us), Some(3.0));
        assert_eq!((alike(&[]), fastest(&all[4..])), ((0, 0), None));
    }
}
