//! Changes of level in a series of one metric, told from noise.
//!
//! Method: seeded binary segmentation (Kovács, Bühlmann, Li, Munk: Biometrika 110, 2023) with the narrowest interval over
//! the threshold first (Baranowski, Chen, Fryzlewicz: J. R. Stat. Soc. B 81, 2019). It is deterministic, takes
//! O(n log n) statistics, finds several changes in one series, and places each at the largest difference of means of a
//! short interval, so that one change does not hide another.
//!
//! Noise is the spread of differences of neighbours, by their median: a change of level is one difference and does not
//! count. The spread within recordings is a lower bound, so that few points do not look exact. Single outliers are
//! pulled to their neighbours before (Hampel's filter). A change has to be beyond the noise of its two levels too,
//! which rejects slow drift.

mod noise;
mod search;

pub use noise::noise;

/// A value of a series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// Value.
    pub value: f64,
    /// Standard error that is known of this value; 0 if unknown.
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

/// Fewest samples in a level before a change, and in the one since.
pub const FEWEST: usize = 3;
/// Chance of a false change that is accepted per sample.
pub const ACCEPTED: f64 = 5e-4;
/// The same for a whole series.
pub const MOST_ACCEPTED: f64 = 0.05;

/// Changes of level, oldest first.
pub fn changes(samples: &[Sample]) -> Vec<Change> {
    let known: Vec<f64> = samples.iter().map(|it| it.value).collect();
    if known.len() < 2 * FEWEST || known.iter().any(|it| !it.is_finite()) {
        return exact(samples);
    }
    let mut sigma = noise(samples);
    if sigma <= rounding(samples) {
        let found = exact(samples);
        // Values that change all the time have noise, though most neighbours are equal.
        if found.len() <= FEWEST + samples.len() / 20 {
            return found;
        }
        sigma = noise::of_unequal(samples);
    }
    let smooth = noise::without_outliers(&known, sigma);
    let found = search::changes(&smooth, sigma);
    search::confirmed(&smooth, sigma, found)
}

/// Changes of a series without noise: every new value.
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

/// Largest difference that rounding makes.
fn rounding(samples: &[Sample]) -> f64 {
    1e-9 * samples.iter().map(|it| it.value.abs()).fold(0.0, f64::max)
}

/// Chance of a false change that is accepted in a series of `samples` values.
fn accepted(samples: usize) -> f64 {
    (ACCEPTED * samples as f64).min(MOST_ACCEPTED)
}

/// The newest samples beside the level before them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Newest {
    /// Median of the level before, since its last change.
    pub before: f64,
    /// Median of the newest samples.
    pub now: f64,
    /// Samples of the level before.
    pub samples: usize,
    /// Chance that noise alone makes such a difference; 0 without noise.
    pub chance: f64,
}

/// Compares the last `count` samples with the level before them. `None` without a level of [`FEWEST`] samples, or
/// without noise of one.
pub fn newest(samples: &[Sample], count: usize) -> Option<Newest> {
    let split = samples.len().checked_sub(count).filter(|it| *it > 0 && count > 0)?;
    let (past, new) = samples.split_at(split);
    let begin = changes(past).last().map_or(0, |it| it.at);
    let level = &past[begin..];
    let sigma = noise(past);
    if sigma > 0.0 && level.len() < FEWEST {
        return None;
    }
    let median = |all: &[Sample]| noise::median(all.iter().map(|it| it.value).collect());
    let (before, now) = (median(level)?, median(new)?);
    // A median of few values is less sure than a mean.
    let error = sigma * (1.0 / count as f64 + 1.57 / level.len() as f64).sqrt();
    let chance = match (error > 0.0, before == now) {
        (true, _) => noise::tail((now - before).abs() / error, past.len()),
        (false, true) => 1.0,
        (false, false) => 0.0,
    };
    Some(Newest { before, now, samples: level.len(), chance })
}
