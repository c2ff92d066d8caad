//! Seeded binary segmentation, narrowest interval over the threshold first.

use crate::noise::{MAD, median, normal_tail, tail};
use crate::{Change, FEWEST, Sample, accepted, noise};
use sorting::Sort;

/// Length of the intervals of a layer, as a fraction of the layer before: 1/√2, as the authors recommend.
const DECAY: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Least size of a change, in standard errors of the two levels beside it.
const LEAST_SIZE: f64 = 3.5;
/// Most changes of one series.
const MOST_CHANGES: usize = 100;

/// An interval with its best split.
struct Split {
    from: usize,
    to: usize,
    at: usize,
    /// Difference of the means, in standard deviations.
    deviations: f64,
}

/// First samples of new levels.
pub(crate) fn changes(values: &[f64], sigma: f64) -> Vec<usize> {
    let n = values.len();
    let mut sums = vec![0.0];
    // Sums of differences from the first value keep the digits of small changes of large values.
    values.iter().for_each(|it| sums.push(sums[sums.len() - 1] + (it - values[0])));
    let mut splits: Vec<Split> = seeds(n)
        .into_iter()
        .filter_map(|(from, to)| best(&sums, from, to, sigma))
        .filter(|it| chance(it.deviations, n) < accepted(n))
        .collect();
    splits.in_order_by(|a, b| {
        (a.to - a.from).cmp(&(b.to - b.from)).then(b.deviations.total_cmp(&a.deviations))
    });
    let mut found: Vec<usize> = Vec::new();
    for it in &splits {
        if found.len() == MOST_CHANGES {
            break;
        }
        if !found.iter().any(|at| (it.from + 1..it.to).contains(at)) {
            found.push(it.at);
        }
    }
    found.in_order();
    found
}

/// Layers of overlapping intervals, shorter in each layer.
fn seeds(n: usize) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut length = n as f64;
    while length >= (2 * FEWEST) as f64 {
        let count = 2 * (n as f64 / length).ceil() as usize - 1;
        let step = if count > 1 { (n as f64 - length) / (count - 1) as f64 } else { 0.0 };
        for at in 0..count {
            let from = (at as f64 * step).floor() as usize;
            all.push((from, ((at as f64 * step + length).ceil() as usize).min(n)));
        }
        length *= DECAY;
    }
    all
}

/// The split of an interval with the largest difference of means.
fn best(sums: &[f64], from: usize, to: usize, sigma: f64) -> Option<Split> {
    let mean = |from: usize, to: usize| (sums[to] - sums[from]) / (to - from) as f64;
    let split = |at: usize| {
        let (left, right) = ((at - from) as f64, (to - at) as f64);
        let difference = (mean(at, to) - mean(from, at)).abs();
        Split { from, to, at, deviations: difference * (left * right / (left + right)).sqrt() / sigma }
    };
    let last = to.checked_sub(FEWEST)?;
    (from + FEWEST..=last).map(split).max_by(|a, b| a.deviations.total_cmp(&b.deviations))
}

/// Chance that noise alone causes such a difference in one of the intervals of a series.
fn chance(deviations: f64, n: usize) -> f64 {
    // Neighbouring splits are correlated: the number of independent ones is about samples times layers.
    let tests = n as f64 * ((n as f64).log2() + 1.0);
    (tail(deviations, n) * tests).min(1.0)
}

/// Places each change again between its neighbours, and removes changes within the noise of the levels beside them.
pub(crate) fn confirmed(values: &[f64], sigma: f64, mut found: Vec<usize>) -> Vec<Change> {
    loop {
        let ends = |at: usize, found: &[usize]| {
            let from = found.iter().rev().find(|it| **it < at).copied().unwrap_or(0);
            (from, found.iter().find(|it| **it > at).copied().unwrap_or(values.len()))
        };
        let mut sums = vec![0.0];
        values.iter().for_each(|it| sums.push(sums[sums.len() - 1] + (it - values[0])));
        for index in 0..found.len() {
            let (from, to) = ends(found[index], &found);
            if let Some(split) = best(&sums, from, to, sigma) {
                found[index] = split.at;
            }
        }
        found.dedup();
        let judged: Vec<(Change, f64)> =
            found.iter().filter_map(|at| judge(values, sigma, *at, ends(*at, &found))).collect();
        let weakest = judged.iter().enumerate().min_by(|a, b| a.1.1.total_cmp(&b.1.1));
        match weakest {
            Some((index, (change, size)))
                if *size < LEAST_SIZE || change.chance >= accepted(values.len()) =>
            {
                found.remove(index);
            }
            _ => return judged.into_iter().map(|(change, _)| change).collect(),
        }
    }
}

/// A change with its levels, and its size in standard errors of these.
fn judge(values: &[f64], sigma: f64, at: usize, (from, to): (usize, usize)) -> Option<(Change, f64)> {
    let (left, right) = (&values[from..at], &values[at..to]);
    let (before, since) = (median(left.to_vec())?, median(right.to_vec())?);
    let spread = |part: &[f64], middle: f64| {
        let far = median(part.iter().map(|it| (it - middle).abs()).collect()).unwrap_or(0.0) / MAD;
        let samples: Vec<Sample> = part.iter().map(|it| Sample { value: *it, error: 0.0 }).collect();
        // Few samples do not show the spread of their level.
        if part.len() < 8 { sigma.max(noise(&samples)) } else { far.max(sigma) }
    };
    let mean = |part: &[f64]| part.iter().map(|it| it - values[0]).sum::<f64>() / part.len() as f64;
    let variance = |part: &[f64], middle| spread(part, middle).powi(2) / part.len() as f64;
    let difference = (mean(right) - mean(left)).abs();
    let size = difference / (variance(left, before) + variance(right, since)).sqrt();
    let (l, r) = (left.len() as f64, right.len() as f64);
    let chance = chance(difference * (l * r / (l + r)).sqrt() / sigma, values.len());
    Some((Change { at, before, since, chance: chance.max(normal_tail(size)) }, size))
}
