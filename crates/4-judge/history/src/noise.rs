//! Noise of a series.

use crate::Sample;
use sorting::Sort;

/// Median absolute deviation of normal noise, as a fraction of its standard deviation.
pub(crate) const MAD: f64 = 0.6745;
/// Standard deviations from all neighbours beyond which a sample is an outlier.
const OUTLIER: f64 = 4.0;
/// Neighbours on each side with which a sample is compared.
const NEIGHBOURS: usize = 3;

/// Standard deviation of the noise; 0 if most neighbours are equal.
pub(crate) fn noise(samples: &[Sample]) -> f64 {
    let steps: Vec<f64> = samples.windows(2).map(|it| (it[1].value - it[0].value).abs()).collect();
    let of_steps = match (median(steps.clone()), steps.len()) {
        (None, _) => 0.0,
        // Half of the time the median of few differences is too small.
        (Some(it), count) => it / MAD / 2f64.sqrt() * (1.0 + 2.0 / count as f64),
    };
    let within = median(samples.iter().map(|it| it.error).collect()).unwrap_or(0.0);
    of_steps.max(within)
}

/// Median of the differences of neighbours that exceed rounding.
pub(crate) fn of_unequal(samples: &[Sample]) -> f64 {
    let least = crate::rounding(samples);
    let steps = samples.windows(2).map(|it| (it[1].value - it[0].value).abs()).filter(|it| *it > least);
    median(steps.collect()).unwrap_or(0.0).max(least)
}

/// The median: the mean of the two middle values if their number is even. `None` without values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.in_order_by(f64::total_cmp);
    let n = values.len();
    (n > 0).then(|| (values[(n - 1) / 2] + values[n / 2]) / 2.0)
}

/// The values, with each outlier replaced by the median of its neighbours.
pub(crate) fn without_outliers(values: &[f64], sigma: f64) -> Vec<f64> {
    let one = |at: usize| {
        let from = at.saturating_sub(NEIGHBOURS);
        let to = (at + NEIGHBOURS + 1).min(values.len());
        let near = median(values[from..to].to_vec()).unwrap_or(values[at]);
        // A sample beside a step equals its neighbours on one side.
        let is_alone = |side: &[f64]| side.iter().all(|it| (it - values[at]).abs() > OUTLIER * sigma);
        let alone = is_alone(&values[from..at]) && is_alone(&values[at + 1..to]);
        if alone && to - from > 2 { near } else { values[at] }
    };
    (0..values.len()).map(one).collect()
}

/// Two-sided chance of a deviation in units of a standard deviation that is estimated from `count` samples.
pub(crate) fn tail(deviations: f64, count: usize) -> f64 {
    // An estimate from medians of differences has about a third of the degrees of freedom. A Cornish-Fisher expansion
    // turns Student's t into a normal deviate.
    let freedom = (count as f64 * 0.35).max(2.0);
    let z = ((freedom * (1.0 + deviations * deviations / freedom).ln()).max(0.0)
        * (1.0 - 1.0 / (2.0 * freedom)))
        .sqrt();
    normal_tail(z)
}

/// Two-sided chance of a normal deviate.
pub(crate) fn normal_tail(z: f64) -> f64 {
    libm::erfc(z.abs() * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_the_normal_distribution() {
        for (z, expected) in [(0.0, 1.0), (1.0, 0.317_310_5), (1.959_964, 0.05), (5.0, 5.733e-7)] {
            let found = normal_tail(z);
            assert!((found - expected).abs() < 1e-4 * expected, "{z}: {found}");
        }
        // Student's t with many and with few degrees of freedom.
        assert!((tail(1.96, 100_000) - 0.05).abs() < 1e-3);
        assert!(tail(5.0, 10) > 100.0 * normal_tail(5.0));
    }

    #[test]
    fn outliers_are_replaced_and_steps_stay() {
        let values = [1.0, 1.1, 9.0, 0.9, 1.0, 5.0, 5.1, 5.0, 4.9];
        assert_eq!(without_outliers(&values, 0.1), [1.0, 1.1, 1.05, 0.9, 1.0, 5.0, 5.1, 5.0, 4.9]);
    }

    #[test]
    fn a_step_does_not_count_as_noise() {
        let level = |at: usize| if at < 10 { 100.0 } else { 200.0 } + [0.0, 1.0, -1.0][at % 3];
        let samples: Vec<Sample> = (0..20).map(|at| Sample { value: level(at), error: 0.0 }).collect();
        let found = noise(&samples);
        assert!((0.5..2.0).contains(&found), "{found}");
        let same = [Sample { value: 3.0, error: 0.5 }; 4];
        assert_eq!(noise(&same), 0.5);
    }
}
