//! Whether one configuration is faster than another.

use super::robust::median;
use sorting::Sort;

/// The outcome of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The second is faster.
    Faster,
    /// The second is slower.
    Slower,
    /// The interval contains 1: no difference is shown.
    Equal,
}

/// A speed-up with its confidence interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Comparison {
    /// Time of the first over time of the second.
    pub speedup: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Probability that such an interval contains the true speed-up.
    pub confidence: f64,
    /// Rounds.
    pub rounds: usize,
    /// The outcome.
    pub verdict: Verdict,
}

impl Comparison {
    /// How the interval was made.
    pub const METHOD: &'static str = "A/B/A/B rounds, 10 % trimmed mean of the logarithms of their ratios (Tukey and McLaughlin), Student's t";
}

/// Fewest rounds that give an interval.
const FEWEST_ROUNDS: usize = 5;

/// Fewest rounds of which some are trimmed: of fewer, the spread of the rest says too little.
const FEWEST_TRIMMED: usize = 10;

/// Compares rounds of A and B that were run in turn: A/B/A/B. Each round is its times of A and its times of B.
///
/// The ratio of the medians of a round is free of whatever changes slowly, as clocks do. The centre of the rounds is a
/// mean of the logarithms, from ten rounds on without the lowest and highest tenth, its interval Student's on the winsorised variance. `None`: fewer than five rounds.
pub fn compare(rounds: &[(Vec<f64>, Vec<f64>)], confidence: f64) -> Option<Comparison> {
    let valid =
        |it: &[f64]| -> Vec<f64> { it.iter().copied().filter(|it| *it > 0.0 && it.is_finite()).collect() };
    let mut ratios = Vec::new();
    for (a, b) in rounds {
        let (a, b) = (valid(a), valid(b));
        if !a.is_empty() && !b.is_empty() {
            ratios.push((median(a) / median(b)).ln());
        }
    }
    let n = ratios.len();
    if n < FEWEST_ROUNDS {
        return None;
    }
    ratios.in_order_by(f64::total_cmp);
    let trimmed = if n < FEWEST_TRIMMED { 0 } else { n / 10 };
    let inner = &ratios[trimmed..n - trimmed];
    let mean = inner.iter().sum::<f64>() / inner.len() as f64;
    let winsorised = |it: f64| it.clamp(inner[0], inner[inner.len() - 1]);
    let centre = ratios.iter().map(|&it| winsorised(it)).sum::<f64>() / n as f64;
    let variance = ratios.iter().map(|&it| (winsorised(it) - centre).powi(2)).sum::<f64>() / (n - 1) as f64;
    let kept = inner.len() as f64 / n as f64;
    let error = variance.sqrt() / (kept * (n as f64).sqrt());
    let half = student(1.0 - confidence, (inner.len() - 1) as f64) * error;
    let (low, high) = ((mean - half).exp(), (mean + half).exp());
    let verdict = match (low > 1.0, high < 1.0) {
        (true, _) => Verdict::Faster,
        (_, true) => Verdict::Slower,
        _ => Verdict::Equal,
    };
    Some(Comparison { speedup: mean.exp(), low, high, confidence, rounds: n, verdict })
}

/// The value that Student's t exceeds in magnitude with a probability: exact for one and two degrees of freedom, an
/// expansion for more (Abramowitz and Stegun 26.7.5).
fn student(probability: f64, freedom: f64) -> f64 {
    let tail = probability.clamp(1e-9, 1.0);
    if freedom < 1.5 {
        return 1.0 / (std::f64::consts::FRAC_PI_2 * tail).tan();
    }
    if freedom < 2.5 {
        return (2.0 / (tail * (2.0 - tail)) - 2.0).sqrt();
    }
    let z = normal(tail / 2.0);
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
        (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1482.0 * z.powi(5) - 1920.0 * z.powi(3) - 945.0 * z)
            / 92160.0,
    ];
    z + terms.iter().rev().fold(0.0, |all, it| (all + it) / freedom)
}

/// The value that a normal variable exceeds with a probability below one half (Abramowitz and Stegun 26.2.23).
fn normal(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    t - (2.515_517 + 0.802_853 * t + 0.010_328 * t * t)
        / (1.0 + 1.432_788 * t + 0.189_269 * t * t + 0.001_308 * t * t * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_tables() {
        for (freedom, expected) in
            [(1.0, 12.706), (2.0, 4.303), (3.0, 3.182), (5.0, 2.571), (9.0, 2.262), (30.0, 2.042)]
        {
            let found = student(0.05, freedom);
            assert!((found / expected - 1.0f64).abs() < 0.01, "{freedom}: {found}");
        }
    }
}
