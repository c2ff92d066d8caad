//! The fastest configuration of a project's space by modelled time, for one shape or for all of a group.

use super::modelled::{Grouped, Modelled, experts_with_rows, time};
use super::problems::Group;
use super::spaces::ProjectSpace;
use arch::{Model, Unit};
use gemm::Tile;
use std::collections::HashMap;
use tune::{SpaceError, Value};

/// A configuration with its modelled time.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Chosen {
    /// Values in the order of the space's parameters.
    pub(super) values: Vec<i64>,
    /// Its time.
    pub(super) time: Modelled,
}

/// The valid configurations of one shape.
pub(super) struct Timed {
    /// Rows, or tokens.
    pub(super) rows: u64,
    /// Valid configurations.
    pub(super) valid: u64,
    /// Configurations that differ in parameters that the model uses.
    pub(super) told_apart: usize,
    /// Configurations with a time.
    pub(super) configurations: Vec<Chosen>,
}

/// Relative difference up to which two times count as equal.
const EQUAL: f64 = 0.005;
/// Relative distance from the fastest time up to which the model does not rank configurations.
pub(super) const NEAR: f64 = 0.05;

impl Timed {
    /// Times all valid configurations for one shape.
    pub(super) fn of(
        model: &'static Model,
        data: &ProjectSpace,
        group: &Group,
        rows: u64,
    ) -> Result<Timed, SpaceError> {
        let products = products(group, rows);
        let space = data.of(&sizes(model, group, rows))?;
        let mut times: HashMap<Vec<i64>, Option<Modelled>> = HashMap::new();
        let mut configurations = Vec::new();
        let seen: Vec<bool> = data.parameters.iter().map(|it| it.prefer.is_empty()).collect();
        for id in 0..space.len() {
            let values: Vec<i64> = space.values(id).into_iter().take(seen.len()).map(whole).collect();
            let key: Vec<i64> = values.iter().zip(&seen).filter(|it| *it.1).map(|it| *it.0).collect();
            let time = *times.entry(key).or_insert_with(|| total(model, data, group, &products, &values));
            if let Some(time) = time {
                configurations.push(Chosen { values, time });
            }
        }
        Ok(Timed { rows, valid: space.len(), told_apart: times.len(), configurations })
    }

    /// The fastest; among equal times the one with the least compute time, which memory hides here and may not on the
    /// GPU; then the preferred one.
    pub(super) fn fastest(&self, data: &ProjectSpace) -> Option<&Chosen> {
        let least = self.configurations.iter().map(|it| it.time.us).min_by(f64::total_cmp)?;
        let equal = self.configurations.iter().filter(|it| it.time.us <= (1.0 + EQUAL) * least);
        let key = |it: &Chosen| {
            ((it.time.compute_us / (EQUAL * least)).round() as u64, data.preference(&it.values))
        };
        equal.min_by_key(|it| key(it))
    }

    /// Number of tiles within [`NEAR`] of the fastest.
    pub(super) fn near(&self, data: &ProjectSpace) -> usize {
        let Some(best) = self.fastest(data) else { return 0 };
        let near = self.configurations.iter().filter(|it| it.time.us <= (1.0 + NEAR) * best.time.us);
        let tiles: std::collections::HashSet<Vec<i64>> = near
            .map(|it| {
                let pairs = data.parameters.iter().zip(&it.values);
                pairs.filter(|it| it.0.prefer.is_empty()).map(|it| *it.1).collect()
            })
            .collect();
        tiles.len()
    }
}

/// The configuration with the least geometric mean of times over all shapes; `None` if none is valid for all.
pub(super) fn for_all(data: &ProjectSpace, shapes: &[Timed]) -> Option<(Vec<i64>, f64)> {
    let mut times: HashMap<&[i64], [Vec<Option<f64>>; 2]> = HashMap::new();
    for (at, shape) in shapes.iter().enumerate() {
        for it in &shape.configurations {
            let all = times
                .entry(&it.values)
                .or_insert_with(|| [vec![None; shapes.len()], vec![None; shapes.len()]]);
            all[0][at] = Some(it.time.us);
            all[1][at] = Some(it.time.compute_us);
        }
    }
    let means = times.into_iter().filter_map(|(values, [times, compute])| {
        let mean = tune::landscape::geometric_mean(&times)?;
        Some((values, mean, tune::landscape::geometric_mean(&compute)?))
    });
    let means: Vec<(&[i64], f64, f64)> = means.collect();
    let least = means.iter().map(|it| it.1).min_by(f64::total_cmp)?;
    // As of one shape: among equal times the least compute time, then the preferred one.
    let equal = means.iter().filter(|it| it.1 <= (1.0 + EQUAL) * least);
    let key = |it: &(&[i64], f64, f64)| {
        ((it.2 / (EQUAL * least)).round() as u64, data.preference(it.0), it.0.to_vec())
    };
    equal.min_by_key(|it| key(it)).map(|it| (it.0.to_vec(), it.1))
}

fn whole(value: &Value) -> i64 {
    if let Value::Int(it) = value { *it } else { 0 }
}

/// N and K of the products of a group.
pub(super) fn parts(group: &Group) -> Vec<[u64; 2]> {
    match group.name.k {
        Some(k) => vec![[group.name.n, k]],
        // The first product has the gate beside its result.
        None => vec![[2 * group.name.n, group.k], [group.k, group.name.n]],
    }
}

/// The launches of a shape.
pub(super) fn products(group: &Group, rows: u64) -> Vec<Grouped> {
    let all = rows * group.top_k;
    let experts = match group.name.k {
        Some(_) => 1,
        None => experts_with_rows(rows, group.name.experts, group.top_k),
    };
    let one = |(at, [n, k]): (usize, [u64; 2])| Grouped {
        rows: all,
        read_rows: if at == 0 { rows } else { all },
        experts,
        n,
        k,
    };
    parts(group).into_iter().enumerate().map(one).collect()
}

/// Operations of all launches of a shape.
pub(super) fn operations(group: &Group, rows: u64) -> f64 {
    products(group, rows).iter().map(|it| 2.0 * it.rows as f64 * it.n as f64 * it.k as f64).sum()
}

/// Names that constraints use.
fn sizes(model: &Model, group: &Group, rows: u64) -> Vec<(&'static str, u64)> {
    let target = model.target();
    let block = group.name.block.unwrap_or([0, 0]);
    let has_scales = target.peak(Unit::Matrix, arch::ElementType::F4).is_some();
    let mut all = vec![
        ("M", rows * group.top_k),
        ("BYTES", u64::from(group.types.element.bits() / 8)),
        ("LDS", u64::from(target.lds.bytes_per_workgroup.value)),
        ("SCALE_N", block[0]),
        ("SCALE_K", block[1]),
        ("MX_UNITS", u64::from(has_scales)),
    ];
    match parts(group)[..] {
        [[n, k]] => all.extend([("N", n), ("K", k)]),
        [[n1, k1], [n2, k2]] => all.extend([("N1", n1), ("K1", k1), ("N2", n2), ("K2", k2)]),
        _ => {}
    }
    all
}

/// The time of a configuration for a shape, whether or not the space has it.
pub(super) fn time_of(
    model: &'static Model,
    data: &ProjectSpace,
    (group, rows): (&Group, u64),
    values: &[i64],
) -> Option<Modelled> {
    total(model, data, group, &products(group, rows), values)
}

/// The time of all launches of a shape with a configuration.
fn total(
    model: &'static Model,
    data: &ProjectSpace,
    group: &Group,
    products: &[Grouped],
    values: &[i64],
) -> Option<Modelled> {
    let value = |name: &str| data.place(name).and_then(|at| u64::try_from(*values.get(at)?).ok());
    let tile = Tile {
        m: value("BLOCK_SIZE_M")?,
        n: value("BLOCK_SIZE_N")?,
        k: value("BLOCK_SIZE_K")?,
        split_k: value("SPLIT_K").unwrap_or(1),
        waves: u32::try_from(value("num_warps")?).ok()?,
        stages: u32::try_from(value("num_stages")?).ok()?,
    };
    let mut sum: Option<Modelled> = None;
    let mut longest = 0.0;
    for product in products {
        let it = time(model, &group.types, product, tile)?;
        let bound = if it.us > longest { it.bound } else { sum.map_or(it.bound, |sum| sum.bound) };
        longest = f64::max(longest, it.us);
        let (us, compute_us) = sum.map_or((0.0, 0.0), |sum| (sum.us, sum.compute_us));
        sum = Some(Modelled { us: it.us + us, compute_us: it.compute_us + compute_us, bound });
    }
    sum
}
