//! Tests whether two sets of dispatches differ by more than their scatter.
//!
//! Dispatches of different kernels differ by design, so the scatter is computed kernel by kernel; the test is
//! Welch's at 95 percent.

use std::collections::HashMap;

/// Mean of a sample with its squared error and degrees of freedom.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Mean {
    value: f64,
    squared_error: f64,
    freedom: f64,
}

/// Kernel and value of each dispatch; one without value is left out.
pub(crate) type Sample = Vec<(u32, f64)>;

fn mean(sample: &Sample) -> Option<Mean> {
    let mut groups: HashMap<u32, Vec<f64>> = HashMap::new();
    for (kernel, value) in sample {
        groups.entry(*kernel).or_default().push(*value);
    }
    let n = sample.len() as f64;
    let (mut variance, mut freedom) = (0.0, 0.0);
    for values in groups.values() {
        let count = values.len() as f64;
        // A kernel with one dispatch has no measurable scatter.
        if count < 2.0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count;
        variance += values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0) * count;
        freedom += count - 1.0;
    }
    (n > 0.0).then(|| Mean {
        value: sample.iter().map(|(_, v)| v).sum::<f64>() / n,
        squared_error: variance / (n * n),
        freedom,
    })
}

/// Whether the means differ beyond the scatter; `None` if there are too few dispatches to decide.
pub(crate) fn beyond(base: &Sample, other: &Sample) -> Option<bool> {
    let (a, b) = (mean(base)?, mean(other)?);
    let squared = a.squared_error + b.squared_error;
    let change = (b.value - a.value).abs();
    // A difference from rounding alone is not a change.
    if change <= 1e-12 * a.value.abs().max(b.value.abs()) {
        return Some(false);
    }
    if squared == 0.0 {
        return Some(true);
    }
    let freedom =
        squared.powi(2) / (a.squared_error.powi(2) / a.freedom + b.squared_error.powi(2) / b.freedom);
    Some(change > student(freedom) * squared.sqrt())
}

/// Two-sided 95 percent quantile of Student's distribution.
fn student(freedom: f64) -> f64 {
    const TABLE: [(f64, f64); 14] = [
        (1.0, 12.706),
        (2.0, 4.303),
        (3.0, 3.182),
        (4.0, 2.776),
        (5.0, 2.571),
        (6.0, 2.447),
        (7.0, 2.365),
        (8.0, 2.306),
        (10.0, 2.228),
        (15.0, 2.131),
        (20.0, 2.086),
        (30.0, 2.042),
        (60.0, 2.000),
        (120.0, 1.980),
    ];
    // Between two entries the smaller degree of freedom is used, which needs more evidence.
    TABLE.iter().rev().find(|(f, _)| *f <= freedom).map_or(TABLE[0].1, |(_, t)| *t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(groups: &[(u32, &[f64])]) -> Sample {
        groups.iter().flat_map(|(k, values)| values.iter().map(|v| (*k, *v))).collect()
    }

    #[test]
    fn changes_beyond_the_noise() {
        type Case = (&'static [(u32, &'static [f64])], &'static [(u32, &'static [f64])], Option<bool>);
        let cases: [Case; 8] = [
            // One dispatch each: no test is possible.
            (&[(0, &[1.0])], &[(0, &[2.0])], None),
            (&[], &[(0, &[2.0, 2.0])], None),
            // Counts that do not scatter.
            (&[(0, &[8.0, 8.0])], &[(0, &[8.0, 8.0])], Some(false)),
            (&[(0, &[8.0, 8.0])], &[(0, &[9.0, 9.0])], Some(true)),
            // Within and beyond the scatter.
            (&[(0, &[10.0, 12.0, 11.0])], &[(0, &[11.0, 13.0, 12.0])], Some(false)),
            (&[(0, &[10.0, 10.2, 10.1])], &[(0, &[12.0, 12.2, 12.1])], Some(true)),
            // Two kernels far apart scatter little each.
            (
                &[(0, &[1.0, 1.1]), (1, &[100.0, 100.1])],
                &[(0, &[2.0, 2.1]), (1, &[101.0, 101.1])],
                Some(true),
            ),
            (&[(0, &[1.0, 1.1]), (1, &[100.0])], &[(0, &[2.0, 2.1]), (1, &[101.0])], None),
        ];
        for (a, b, want) in cases {
            assert_eq!(beyond(&sample(a), &sample(b)), want, "{a:?} {b:?}");
        }
    }

    #[test]
    fn quantiles_of_student() {
        for (freedom, t) in [(1.0, 12.706), (1.9, 12.706), (2.0, 4.303), (9.0, 2.306), (1e9, 1.98)] {
            assert_eq!(student(freedom), t, "{freedom}");
        }
    }
}
