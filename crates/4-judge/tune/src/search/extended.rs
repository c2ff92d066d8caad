//! Expected times of all configurations from those of some.

use super::axes::axes;
use super::gaussian::{Fit, Outcomes, Shape, Tables};
use super::knobs::Knobs;
use super::{Told, model::log_time};
use crate::random::Random;
use crate::space::{Id, Space};
use sorting::Sort;

/// Fewest times that say something of other configurations.
const FEWEST: usize = 8;
/// Most results that the process is fitted to.
const MOST: usize = 256;
/// Changes of lengths tried.
const TRIES: usize = 100;
/// Configurations whose estimates are computed at once.
const AT_ONCE: u64 = 4096;

/// Expected times of all configurations, from results of some: their own times, and for others the mean of a Gaussian
/// process of the logarithms of the times. What failed is expected to take as long as the slowest. With few times,
/// other configurations stay unknown.
pub fn extended(space: &Space, results: &[(Id, Told)]) -> Vec<Option<f64>> {
    let mut expected = vec![None; space.len() as usize];
    let slowest = results.iter().filter_map(|it| log_time(it.1)).fold(f64::NEG_INFINITY, f64::max);
    let mut known: Vec<(f64, Id)> =
        results.iter().map(|&(id, told)| (log_time(told).unwrap_or(slowest), id)).collect();
    known.retain(|it| it.0.is_finite() && it.1 < space.len());
    for &(log, id) in &known {
        expected[id as usize] = Some(log.exp());
    }
    for &(id, told) in results.iter().filter(|it| it.0 < space.len()) {
        if let Told::Took(time) = told {
            expected[id as usize] = Some(time);
        }
    }
    if results.iter().filter(|it| log_time(it.1).is_some()).count() < FEWEST {
        return expected;
    }
    known.in_order_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let step = known.len().div_ceil(MOST);
    let known: Vec<(f64, Id)> = known.into_iter().step_by(step).collect();
    let n = known.len() as f64;
    let centre = known.iter().map(|it| it.0).sum::<f64>() / n;
    let spread = (known.iter().map(|it| (it.0 - centre).powi(2)).sum::<f64>() / n).sqrt().max(1e-3);

    let (axes, knobs) = (axes(space.parameters()), Knobs { tries: TRIES, ..Knobs::default() });
    let mut places = vec![0; space.parameters().len()];
    let mut row = |id: Id| -> Vec<u16> {
        space.write_places(id, &mut places);
        axes.iter().map(|it| it.class[places[it.parameter] as usize]).collect()
    };
    let rows: Vec<Vec<u16>> = known.iter().map(|it| row(it.1)).collect();
    let outcomes = Outcomes {
        rows: rows.iter().map(|it| &it[..]).collect(),
        values: known.iter().map(|it| (it.0 - centre) / spread).collect(),
        expected: Vec::new(),
    };
    let shape = Shape::expected(&axes, &knobs).learned(&axes, &outcomes, &knobs, Random::new(0));
    let tables = Tables::of(&axes, &shape);
    let fit = Fit::of(&tables, &shape, &outcomes, &knobs);
    let solved = fit.cholesky.solve(outcomes.values.iter().map(|it| it - fit.mean));
    let weights = fit.cholesky.weights(&solved);
    let mut start = 0;
    while start < space.len() {
        let end = (start + AT_ONCE).min(space.len());
        let classes: Vec<u16> = (start..end).flat_map(&mut row).collect();
        let weighted = outcomes.rows.iter().copied().zip(weights.iter().copied());
        let estimates = tables.estimates(fit.mean, weighted, &classes, (end - start) as usize);
        for (id, estimate) in (start..end).zip(estimates) {
            let time = (f64::from(estimate) * spread + centre).exp();
            expected[id as usize].get_or_insert(time);
        }
        start = end;
    }
    expected
}
