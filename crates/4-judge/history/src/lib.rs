//! Changes of level in a series of one metric, separated from noise.
//!
//! Method: seeded binary segmentation (Kovács, Bühlmann, Li, Munk: Biometrika 110, 2023) with the narrowest interval over
//! the threshold first (Baranowski, Chen, Fryzlewicz: J. R. Stat. Soc. B 81, 2019). It is deterministic, takes
//! O(n log n) statistics, finds several changes in one series, and places each at the largest difference of means of a
//! short interval, so that one change does not hide another.
//!
//! Noise is estimated from the median difference of neighbours, which one change of level does not move. The spread
//! within recordings is a lower bound, so that few points do not look exact. Hampel's filter replaces single outliers
//! first. A change must also exceed the noise of its two levels, which rejects slow drift.

mod noise;
mod search;

pub use noise::median;
use noise::noise;

/// A value of a series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// Value.
    pub value: f64,
    /// Standard error of this value; 0 if unknown.
    pub error: f64,
}

/// A change of level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// First sample of the new level.
    pub at: usize,
    /// Median of the level before.
    pub before: f64,
    /// Median of the new level.
    pub since: f64,
    /// Chance that noise alone makes such a change anywhere in the series; 0 without noise.
    pub chance: f64,
}

/// Fewest samples of a level.
pub const FEWEST: usize = 3;
/// Accepted chance of a false change, per sample.
const ACCEPTED: f64 = 5e-4;
/// Accepted chance of a false change in a whole series.
const MOST_ACCEPTED: f64 = 0.05;

/// Changes of level, oldest first.
pub fn changes(samples: &[Sample]) -> Vec<Change> {
    let known: Vec<f64> = samples.iter().map(|it| it.value).collect();
    if known.len() < 2 * FEWEST || known.iter().any(|it| !it.is_finite()) {
        return exact(samples);
    }
    let mut sigma = noise(samples);
    if sigma <= rounding(samples) {
        let found = exact(samples);
        // Values that change often have noise, although most neighbours are equal.
        if found.len() <= FEWEST + samples.len() / 20 {
            return found;
        }
        sigma = noise::of_unequal(samples);
    }
    let smooth = noise::without_outliers(&known, sigma);
    let found = search::changes(&smooth, sigma);
    search::confirmed(&smooth, sigma, found)
}

/// Changes of a series without noise: one at each new value.
fn exact(samples: &[Sample]) -> Vec<Change> {
    let least = rounding(samples);
    if samples.is_empty() || noise(samples) > least || samples.iter().any(|it| !it.value.is_finite()) {
        return Vec::new();
    }
    let pairs = samples.windows(2).enumerate();
    pairs
        .filter(|(_, pair)| (pair[0].value - pair[1].value).abs() > least)
        .map(|(at, pair)| Change { at: at + 1, before: pair[0].value, since: pair[1].value, chance: 0.0 })
        .collect()
}

/// Largest difference that rounding causes.
fn rounding(samples: &[Sample]) -> f64 {
    1e-9 * samples.iter().map(|it| it.value.abs()).fold(0.0, f64::max)
}

/// Accepted chance of a false change in a series of `samples` values.
fn accepted(samples: usize) -> f64 {
    (ACCEPTED * samples as f64).min(MOST_ACCEPTED)
}

/// Comparison of the newest samples with the level before them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Newest {
    /// Median of the samples between the last change and the newest samples.
    pub before: f64,
    /// Median of the newest samples.
    pub now: f64,
    /// Chance that noise alone makes such a difference; 0 without noise.
    pub chance: f64,
}

/// Compares the last `count` samples with the level before them. `None` if fewer than [`FEWEST`] samples precede them,
/// or the level has fewer and its values have noise: one or two equal values do not show that a metric is exact.
pub fn newest(samples: &[Sample], count: usize) -> Option<Newest> {
    let split = samples.len().checked_sub(count).filter(|it| *it > 0 && count > 0)?;
    let (past, new) = samples.split_at(split);
    let begin = changes(past).last().map_or(0, |it| it.at);
    let level = &past[begin..];
    let sigma = noise(past);
    if past.len() < FEWEST || (sigma > 0.0 && level.len() < FEWEST) {
        return None;
    }
    let median = |all: &[Sample]| median(all.iter().map(|it| it.value).collect());
    let (before, now) = (median(level)?, median(new)?);
    // The variance of a median is π/2 times that of a mean.
    let error = sigma * (1.0 / count as f64 + 1.57 / level.len() as f64).sqrt();
    let chance = match (error > 0.0, before == now) {
        (true, _) => noise::tail((now - before).abs() / error, past.len()),
        (false, true) => 1.0,
        (false, false) => 0.0,
    };
    Some(Newest { before, now, chance })
}
