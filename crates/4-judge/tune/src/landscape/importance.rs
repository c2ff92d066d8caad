//! How much of the variance of times each parameter explains.

use super::forest::Forest;
use crate::random::Random;
use crate::space::{Id, Space};
use sorting::Sort;
use std::collections::BTreeMap;

/// Valid configurations over which the model is averaged.
const SAMPLE: u64 = 4096;
/// Fewest results that say anything.
const FEWEST: usize = 8;

/// Importance of parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Importance {
    /// For each parameter, the share of the variance of the logarithm of the time that its value explains alone.
    pub alone: Vec<f64>,
    /// The pairs, from the one whose interaction explains most: only what the two do not explain alone.
    pub pairs: Vec<Pair>,
    /// Share of the variance of the results that the model explains; with little of it the rest says little.
    pub explained: f64,
}

impl Importance {
    /// How it was computed.
    pub const METHOD: &'static str = "functional ANOVA (Hutter, Hoos, Leyton-Brown 2014): variance of conditional means of a \
         random forest over the valid configurations";
}

/// An interaction of two parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair {
    /// The first parameter.
    pub a: usize,
    /// The second parameter.
    pub b: usize,
    /// Share of the variance.
    pub share: f64,
}

/// Importance of the parameters by results; `None` with fewer than eight results, or if all are equal.
///
/// # Panics
/// If the space has no such configuration.
pub fn importance(space: &Space, results: &[(Id, f64)]) -> Option<Importance> {
    let results: Vec<(Id, f64)> =
        results.iter().copied().filter(|it| it.1 > 0.0 && it.1.is_finite()).collect();
    let outcomes: Vec<f64> = results.iter().map(|it| it.1.ln()).collect();
    if outcomes.len() < FEWEST || variance(&outcomes) < 1e-18 {
        return None;
    }
    let rows: Vec<Vec<f64>> = results.iter().map(|it| features(space, &space.places(it.0))).collect();
    let forest = Forest::grow(&rows, &outcomes, 1);
    let errors: Vec<f64> = rows.iter().zip(&outcomes).map(|(row, it)| it - forest.predict(row)).collect();
    let mut random = Random::new(2);
    let ids: Vec<Id> = match space.len() {
        all if all <= SAMPLE => (0..all).collect(),
        _ => (0..SAMPLE).map(|_| space.random(&mut random)).collect(),
    };
    let places: Vec<Vec<u32>> = ids.iter().map(|&it| space.places(it)).collect();
    let predicted: Vec<f64> = places.iter().map(|it| forest.predict(&features(space, it))).collect();
    let total = variance(&predicted).max(1e-18);
    let count = space.parameters().len();
    let share = |of: &dyn Fn(&[u32]) -> (u32, u32)| {
        let mut groups: BTreeMap<(u32, u32), (f64, f64)> = BTreeMap::new();
        for (places, it) in places.iter().zip(&predicted) {
            let group = groups.entry(of(places)).or_default();
            *group = (group.0 + it, group.1 + 1.0);
        }
        let mean = predicted.iter().sum::<f64>() / predicted.len() as f64;
        let between: f64 = groups.values().map(|(sum, n)| n * (sum / n - mean).powi(2)).sum();
        between / predicted.len() as f64 / total
    };
    let alone: Vec<f64> = (0..count).map(|at| share(&|it| (it[at], 0))).collect();
    let mut pairs = Vec::new();
    for b in 0..count {
        for a in 0..b {
            let both = share(&|it| (it[a], it[b]));
            pairs.push(Pair { a, b, share: (both - alone[a] - alone[b]).max(0.0) });
        }
    }
    pairs.in_order_by(|x, y| y.share.total_cmp(&x.share).then((x.a, x.b).cmp(&(y.a, y.b))));
    let explained = (1.0 - variance(&errors) / variance(&outcomes)).max(0.0);
    Some(Importance { alone, pairs, explained })
}

/// A number for each parameter: its value, or the place of a text.
fn features(space: &Space, places: &[u32]) -> Vec<f64> {
    let values = space.parameters().iter().zip(places);
    values.map(|(it, &place)| it.values[place as usize].number().unwrap_or(f64::from(place))).collect()
}

fn variance(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / n
}
