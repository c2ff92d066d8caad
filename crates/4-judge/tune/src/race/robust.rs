//! The centre of repeated times.

use sorting::Sort;

/// Standard error of the median of a normal sample, in standard errors of its mean.
pub(super) const MEDIAN_ERROR: f64 = 1.2533;
/// Median absolute deviation of a normal variable of deviation 1, inverted.
const DEVIATION: f64 = 1.4826;
/// A first run is cold if it is above the others by this number of standard deviations.
const COLD: f64 = 6.0;

/// The centre of repeated times of one configuration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Centre {
    /// Median of the runs that count.
    pub value: f64,
    /// Standard deviation, from the median of absolute deviations; 0 for a single run.
    pub spread: f64,
    /// Runs that count.
    pub runs: usize,
    /// The first run was left out: it is far above the others, as a cold one is.
    pub cold: bool,
}

/// The median of times that are positive numbers. A cold first run does not count. `None`: no time is left.
pub fn centre(times: &[f64]) -> Option<Centre> {
    let valid: Vec<f64> = times.iter().copied().filter(|it| it.is_finite() && *it > 0.0).collect();
    let (&first, others) = valid.split_first()?;
    if others.len() >= 3 {
        let (value, spread) = middle(others);
        if first > value + COLD * spread.max(value * 1e-4) {
            return Some(Centre { value, spread, runs: others.len(), cold: true });
        }
    }
    let (value, spread) = middle(&valid);
    Some(Centre { value, spread, runs: valid.len(), cold: false })
}

/// Median and spread.
fn middle(times: &[f64]) -> (f64, f64) {
    let value = median(times.to_vec());
    (value, DEVIATION * median(times.iter().map(|it| (it - value).abs()).collect()))
}

/// The median; 0 of nothing.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.in_order_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => 0.0,
        it if it % 2 == 0 => f64::midpoint(values[half - 1], values[half]),
        _ => values[half],
    }
}
