//! A Gaussian process over configurations: a normal distribution of the outcome of each, given the outcomes of others.
//!
//! The correlation of two configurations is a product over parameters of one table of values by values each
//! (Matérn 5/2 of the distance of the values; a length for each distance is learned by maximum likelihood).

use super::axes::{Axis, MOST_CLASSES};
use super::knobs::Knobs;
use crate::random::Random;

/// The learned shape: how fast outcomes change with each distance, and how much they vary for no known reason.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Natural logarithm of the length of each distance.
    pub(super) log_lengths: Vec<f64>,
    /// Natural logarithm of the share of variance that no parameter explains.
    pub(super) log_noise: f64,
}

impl Shape {
    /// The shape before any outcome.
    pub(super) fn expected(axes: &[Axis], knobs: &Knobs) -> Shape {
        let lengths = axes.iter().map(|it| it.distances.len()).sum();
        Shape { log_lengths: vec![knobs.log_length; lengths], log_noise: knobs.log_noise }
    }

    pub(super) fn noise(&self) -> f64 {
        self.log_noise.exp()
    }

    /// The shape that fits best, from this one by random changes of one length each.
    pub(super) fn learned(
        &self,
        axes: &[Axis],
        outcomes: &Outcomes<'_>,
        knobs: &Knobs,
        mut random: Random,
    ) -> Shape {
        let of = |it: &Shape| Fit::of(&Tables::of(axes, it), it, outcomes, knobs).unlikeliness;
        let mut shape = self.clone();
        let mut best = of(&shape);
        for _ in 0..knobs.tries {
            let mut changed = shape.clone();
            let at = random.below(shape.log_lengths.len() as u64 + 1) as usize;
            let change = (random.unit() * 2.0 - 1.0) * 1.2;
            match changed.log_lengths.get_mut(at) {
                Some(it) => *it += change,
                None => changed.log_noise = (changed.log_noise + 2.0 * change).clamp(-9.0, 0.0),
            }
            let it = of(&changed);
            if it < best {
                (best, shape) = (it, changed);
            }
        }
        shape
    }

    fn penalty(&self, knobs: &Knobs) -> f64 {
        let of = |it: f64, expected: f64, spread: f64| ((it - expected) / spread).powi(2) / 2.0;
        let length = |&it: &f64| of(it, knobs.log_length, knobs.log_length_spread);
        let lengths: f64 = self.log_lengths.iter().map(length).sum();
        lengths + of(self.log_noise, knobs.log_noise, knobs.log_noise_spread)
    }
}

/// Correlations of values, by axis.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    tables: Vec<(usize, Vec<f32>)>,
}

impl Tables {
    pub(super) fn of(axes: &[Axis], shape: &Shape) -> Tables {
        let mut lengths = shape.log_lengths.iter();
        let table = |axis: &Axis| {
            let mut out = vec![1.0f32; axis.classes * axis.classes];
            for distance in &axis.distances {
                let scale = 5f64.sqrt() / lengths.next().map_or(1.0, |it| it.exp());
                for (it, distance) in out.iter_mut().zip(distance) {
                    let r = distance * scale;
                    *it *= ((1.0 + r + r * r / 3.0) * (-r).exp()) as f32;
                }
            }
            (axis.classes, out)
        };
        Tables { tables: axes.iter().map(table).collect() }
    }

    /// Correlation of two configurations.
    #[inline]
    pub(super) fn correlation(&self, a: &[u16], b: &[u16]) -> f32 {
        let mut product = 1.0;
        for ((width, table), (&a, &b)) in self.tables.iter().zip(a.iter().zip(b)) {
            product *= table[usize::from(a) * width + usize::from(b)];
        }
        product
    }

    /// Correlations of a configuration with many, whose classes are one after the other.
    pub(super) fn correlations(&self, a: &[u16], others: &[u16], out: &mut [f32]) {
        let of = |((width, table), &a): (&(usize, Vec<f32>), &u16)| {
            let start = usize::from(a) * width;
            // Wide enough for any class, so that the loop below needs no check of it.
            let mut line = [0.0f32; MOST_CLASSES];
            line[..*width].copy_from_slice(&table[start..start + width]);
            line
        };
        let lines: Vec<[f32; MOST_CLASSES]> = self.tables.iter().zip(a).map(of).collect();
        for (out, other) in out.iter_mut().zip(others.chunks_exact(lines.len().max(1))) {
            let mut product = 1.0;
            for (line, &b) in lines.iter().zip(other) {
                product *= line[usize::from(b) % MOST_CLASSES];
            }
            *out = product;
        }
    }

    /// Means of a process at configurations whose classes are one after the other, from weighted rows.
    pub(super) fn estimates<'a>(
        &self,
        mean: f64,
        rows: impl Iterator<Item = (&'a [u16], f64)>,
        classes: &[u16],
        count: usize,
    ) -> Vec<f32> {
        let (mut out, mut correlations) = (vec![mean as f32; count], vec![0.0f32; count]);
        for (row, weight) in rows {
            self.correlations(row, classes, &mut correlations);
            for (out, it) in out.iter_mut().zip(&correlations) {
                *out += weight as f32 * it;
            }
        }
        out
    }
}

/// The lower triangular matrix whose product with its transpose is the covariance of some elements.
#[derive(Clone, Debug, Default)]
pub(super) struct Cholesky {
    /// Rows one after the other; row i has i + 1 entries.
    entries: Vec<f64>,
    size: usize,
}

impl Cholesky {
    pub(super) fn row(&self, at: usize) -> &[f64] {
        let start = at * (at + 1) / 2;
        &self.entries[start..=start + at]
    }

    /// Adds an element with these covariances with the elements before it, and its own variance.
    pub(super) fn push(&mut self, covariances: impl Iterator<Item = f64>, variance: f64) {
        let (size, start) = (self.size, self.entries.len());
        self.entries.extend(covariances);
        self.entries.push(0.0);
        let (before, new) = self.entries.split_at_mut(start);
        let (mut sum, mut row_start) = (0.0, 0);
        for at in 0..size {
            let row = &before[row_start..=row_start + at];
            row_start += at + 1;
            let it = (new[at] - dot(&row[..at], &new[..at])) / row[at];
            new[at] = it;
            sum += it * it;
        }
        new[size] = (variance - sum).max(variance * 1e-9).sqrt();
        self.size += 1;
    }

    /// Half of the logarithm of the determinant.
    fn half_log_determinant(&self) -> f64 {
        (0..self.size).map(|at| self.row(at)[at].ln()).sum()
    }

    /// The next element of the solution, after those in `before`.
    pub(super) fn solve_next(&self, before: &[f64], value: f64) -> f64 {
        let row = self.row(before.len());
        (value - dot(&row[..before.len()], before)) / row[before.len()]
    }

    /// Weights of the first elements in an estimate, from their solution.
    pub(super) fn weights(&self, solved: &[f64]) -> Vec<f64> {
        let mut weights = solved.to_vec();
        for at in (0..solved.len()).rev() {
            let row = self.row(at);
            weights[at] /= row[at];
            let it = weights[at];
            for (other, factor) in weights[..at].iter_mut().zip(row) {
                *other -= it * factor;
            }
        }
        weights
    }

    /// The solution for all elements.
    pub(super) fn solve(&self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.size);
        for it in values {
            let next = self.solve_next(&out, it);
            out.push(next);
        }
        out
    }
}

#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a4.zip(b4) {
        for at in 0..4 {
            sums[at] += a[at] * b[at];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Outcomes to learn from.
pub(super) struct Outcomes<'a> {
    /// Classes of the configurations' values.
    pub(super) rows: Vec<&'a [u16]>,
    /// Outcomes, scaled to a spread of about 1.
    pub(super) values: Vec<f64>,
    /// The expectation of the prior of each, on the same scale; empty without a prior.
    pub(super) expected: Vec<f64>,
}

/// The outcomes under a shape.
pub(super) struct Fit {
    pub(super) cholesky: Cholesky,
    /// Mean of the process.
    pub(super) mean: f64,
    /// Weight of the prior in the mean of each configuration, at least 0.
    pub(super) weight: f64,
    /// Standard deviation of the process.
    pub(super) scale: f64,
    /// Negative logarithm of the likelihood, with a penalty on extreme shapes: to be made small.
    pub(super) unlikeliness: f64,
}

impl Fit {
    pub(super) fn of(tables: &Tables, shape: &Shape, outcomes: &Outcomes<'_>, knobs: &Knobs) -> Fit {
        let rows = &outcomes.rows;
        let mut cholesky = Cholesky::default();
        for (at, row) in rows.iter().enumerate() {
            let covariances = rows[..at].iter().map(|it| f64::from(tables.correlation(row, it)));
            cholesky.push(covariances, 1.0 + shape.noise());
        }
        let values = cholesky.solve(outcomes.values.iter().copied());
        let ones = cholesky.solve(rows.iter().map(|_| 1.0));
        let expected = cholesky.solve(outcomes.expected.iter().copied());
        let (mean, weight) = linear(&values, &ones, &expected, knobs);
        let at = |it: &[f64], at: usize| it.get(at).copied().unwrap_or(0.0);
        let squares: f64 = (0..values.len())
            .map(|it| (values[it] - mean * ones[it] - weight * at(&expected, it)).powi(2))
            .sum();
        let n = values.len() as f64;
        let unlikeliness =
            n / 2.0 * (squares / n + 1e-12).ln() + cholesky.half_log_determinant() + shape.penalty(knobs);
        Fit { cholesky, mean, weight, scale: (squares / n).sqrt().max(1e-6), unlikeliness }
    }
}

/// Mean and weight of the prior by generalised least squares; the weight is drawn towards what is expected of priors,
/// and never negative.
fn linear(values: &[f64], ones: &[f64], expected: &[f64], knobs: &Knobs) -> (f64, f64) {
    let n = ones.len();
    let alone = dot(values, ones) / dot(ones, ones);
    if expected.len() != n {
        return (alone, 0.0);
    }
    let precision = 1.0 / (knobs.prior_weight_spread * knobs.prior_weight_spread);
    let (a, b, d) = (dot(ones, ones), dot(ones, expected), dot(expected, expected) + precision);
    let (y1, y2) = (dot(values, ones), dot(values, expected) + precision * knobs.prior_weight);
    let weight = ((a * y2 - b * y1) / (a * d - b * b)).max(0.0);
    ((y1 - b * weight) / a, weight)
}
