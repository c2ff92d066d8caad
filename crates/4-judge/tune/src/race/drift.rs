//! Drift of clocks, seen by a configuration that is run again and again.

use super::robust::median;
use sorting::Sort;

/// How the time of a reference configuration changed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Drift {
    /// Change from the first to the last run, as a share of the first: the median slope of all pairs (Theil and Sen).
    pub change: f64,
    /// Standard deviations that the order of the runs is from chance (Mann and Kendall); above 3 is a trend.
    pub certainty: f64,
    /// Runs.
    pub runs: usize,
}

impl Drift {
    /// Whether the times have a trend.
    pub fn is_trend(&self) -> bool {
        self.certainty.abs() > 3.0
    }
}

/// Runs above which pairs are taken of a part of them, evenly spaced.
const MOST_RUNS: usize = 400;

/// The trend of times of a reference configuration, each with when it ran in any unit. `None`: fewer than four runs.
pub fn drift(runs: &[(f64, f64)]) -> Option<Drift> {
    let mut runs: Vec<(f64, f64)> =
        runs.iter().copied().filter(|it| it.0.is_finite() && it.1.is_finite() && it.1 > 0.0).collect();
    runs.in_order_by(|a, b| a.0.total_cmp(&b.0));
    let all = runs.len();
    if all < 4 {
        return None;
    }
    let step = all.div_ceil(MOST_RUNS);
    let runs: Vec<(f64, f64)> = runs.into_iter().step_by(step).collect();
    let (mut slopes, mut order) = (Vec::new(), 0i64);
    for (at, a) in runs.iter().enumerate() {
        for b in &runs[at + 1..] {
            if b.0 > a.0 {
                slopes.push((b.1.ln() - a.1.ln()) / (b.0 - a.0));
                order += i64::from(b.1 > a.1) - i64::from(b.1 < a.1);
            }
        }
    }
    if slopes.is_empty() {
        return None;
    }
    let n = runs.len() as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let length = runs[runs.len() - 1].0 - runs[0].0;
    Some(Drift { change: (median(slopes) * length).exp_m1(), certainty: order as f64 / deviation, runs: all })
}
