//! Noise of a series.

use crate::Sample;

/// Median of absolute deviations of normal noise, as a part of its standard deviation.
const MAD: f64 = 0.6745;
/// Deviations beyond which a sample is an outlier.
const OUTLIER: f64 = 4.0;
/// Neighbours on each side by which an outlier is told.
const NEIGHBOURS: usize = 3;

/// Standard deviation of the noise; 0 if neighbours are equal mostly.
pub fn noise(samples: &[Sample]) -> f64 {
    let steps: Vec<f64> = samples.windows(2).map(|it| (it[1].value - it[0].value).abs()).collect();
    let of_steps = match (median(steps.clone()), steps.len()) {
        (None, _) => 0.0,
        // The median of few differences is too small half of the time.
        (Some(it), count) => it / MAD / 2f64.sqrt() * (1.0 + 2.0 / count as f64),
    };
    let within = median(samples.iter().map(|it| it.error).collect()).unwrap_or(0.0);
    of_steps.max(within)
}

/// Size of the steps beyond rounding.
pub(crate) fn of_unequal(samples: &[Sample]) -> f64 {
    let least = crate::rounding(samples);
    let steps = samples.windows(2).map(|it| (it[1].value - it[0].value).abs()).filter(|it| *it > least);
    median(steps.collect()).unwrap_or(0.0).max(least)
}

/// The median.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    (n > 0).then(|| (values[(n - 1) / 2] + values[n / 2]) / 2.0)
}

/// The values with outliers pulled to the median of their neighbours.
pub(crate) fn without_outliers(values: &[f64], sigma: f64) -> Vec<f64> {
    let one = |at: usize| {
        let from = at.saturating_sub(NEIGHBOURS);
        let to = (at + NEIGHBOURS + 1).min(values.len());
        let near = median(values[from..to].to_vec()).unwrap_or(values[at]);
        // Beside a step a sample is as its neighbours on one side.
        let is_alone = |side: &[f64]| side.iter().all(|it| (it - values[at]).abs() > OUTLIER * sigma);
        let alone = is_alone(&values[from..at]) && is_alone(&values[at + 1..to]);
        if alone && to - from > 2 { near } else { values[at] }
    };
    (0..values.len()).map(one).collect()
}

/// Two-sided chance of a deviation, in standard deviations that are estimated from `count` samples.
pub(crate) fn tail(deviations: f64, count: usize) -> f64 {
    // The estimate by medians of differences has about a third of the degrees of freedom. Cornish-Fisher: Student's t as a normal deviate.
    let freedom = (count as f64 * 0.35).max(2.0);
    let z = ((freedom * (1.0 + deviations * deviations / freedom).ln()).max(0.0)
        * (1.0 - 1.0 / (2.0 * freedom)))
        .sqrt();
    normal_tail(z)
}

/// Two-sided chance of a normal deviate: the complementary error function of z/√2 by Numerical Recipes' Chebyshev fit,
/// relative error below 1.2e-7.
pub(crate) fn normal_tail(z: f64) -> f64 {
    let x = z.abs() / 2f64.sqrt();
    let t = 1.0 / (1.0 + 0.5 * x);
    let terms = [
        0.170_872_77,
        -0.822_152_23,
        1.488_515_87,
        -1.135_203_98,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_68,
    ];
    let sum = terms.iter().fold(0.0, |sum, term| sum * t + term);
    (t * (-x * x - 1.265_512_23 + t * sum).exp()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_the_normal_distribution() {
        for (z, expected) in [(0.0, 1.0), (1.0, 0.317_310_5), (1.959_964, 0.05), (5.0, 5.733e-7)] {
            let found = normal_tail(z);
            assert!((found - expected).abs() < 1e-3 * expected, "{z}: {found}");
        }
        // Student's t with many and with few degrees of freedom.
        assert!((tail(1.96, 100_000) - 0.05).abs() < 1e-3);
        assert!(tail(5.0, 10) > 100.0 * normal_tail(5.0));
    }

    #[test]
    fn outliers_are_pulled_back_and_steps_stay() {
        let values = [1.0, 1.1, 9.0, 0.9, 1.0, 5.0, 5.1, 5.0, 4.9];
        assert_eq!(without_outliers(&values, 0.1), [1.0, 1.1, 1.05, 0.9, 1.0, 5.0, 5.1, 5.0, 4.9]);
    }

    #[test]
    fn a_step_is_no_noise() {
        let level = |at: usize| if at < 10 { 100.0 } else { 200.0 } + [0.0, 1.0, -1.0][at % 3];
        let samples: Vec<Sample> = (0..20).map(|at| Sample { value: level(at), error: 0.0 }).collect();
        let found = noise(&samples);
        assert!((0.5..2.0).contains(&found), "{found}");
        let same = [Sample { value: 3.0, error: 0.5 }; 4];
        assert_eq!(noise(&same), 0.5);
    }
}
