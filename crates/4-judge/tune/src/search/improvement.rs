//! Expected improvement (Mockus 1978), from a table: it is computed for every candidate of every proposal.

/// Smallest and largest gain of the table; its steps in one.
const LEAST: f32 = -40.0;
const MOST: f32 = 8.0;
const STEPS: f32 = 16.0;

/// Logarithm of the expected improvement over the standard deviation, by the expected gain in standard deviations.
#[derive(Clone, Debug)]
pub(super) struct Improvements(Vec<f32>);

impl Improvements {
    pub(super) fn new() -> Improvements {
        let count = ((MOST - LEAST) * STEPS) as usize + 2;
        let gain = |at: usize| f64::from(LEAST) + at as f64 / f64::from(STEPS);
        Improvements((0..count).map(|at| log_improvement(gain(at)) as f32).collect())
    }

    pub(super) fn log(&self, gain: f32) -> f32 {
        let place = (gain.clamp(LEAST, MOST) - LEAST) * STEPS;
        let at = (place as usize).min(self.0.len() - 2);
        let share = place - at as f32;
        // Beyond the table the logarithm goes on as it ends.
        self.0[at] * (1.0 - share) + self.0[at + 1] * share - (LEAST - gain).max(0.0) * -LEAST
    }
}

/// Logarithm of the expected improvement for an expected gain in standard deviations, over the standard deviation.
fn log_improvement(gain: f64) -> f64 {
    const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_7;
    if gain < -4.0 {
        let inverse = 1.0 / (gain * gain);
        let series = 1.0 - 3.0 * inverse + 15.0 * inverse * inverse;
        return -gain * gain / 2.0 - HALF_LOG_TAU + (inverse * series).ln();
    }
    let density = (-gain * gain / 2.0 - HALF_LOG_TAU).exp();
    (density + gain * below(gain, density)).max(f64::MIN_POSITIVE).ln()
}

/// Probability that a normal variable is below a value (Abramowitz and Stegun 26.2.17; error below 1e-7).
fn below(value: f64, density: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * value.abs());
    let series = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let above = density * series.iter().fold(0.0, |all, it| (all + it) * t);
    if value > 0.0 { 1.0 - above } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn improvements() {
        let table = Improvements::new();
        // Density plus gain times probability, from tables of the normal distribution.
        for (gain, expected) in [(0.0, 0.398_942f64), (1.0, 1.083_315), (-1.0, 0.083_315), (-3.0, 0.000_382)]
        {
            assert!((f64::from(table.log(gain)) - expected.ln()).abs() < 0.01, "{gain}");
        }
        let falling = (-200..80).map(|it| table.log(it as f32 / 4.0)).collect::<Vec<_>>();
        assert!(falling[..230].windows(2).all(|it| it[0] < it[1]), "{falling:?}");
    }
}
