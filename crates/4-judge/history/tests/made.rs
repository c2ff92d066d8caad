//! Made histories: the search finds their steps, and finds none in noise.
#![allow(clippy::disallowed_macros, reason = "tests say what they measured")]

use rockhound_history::{Change, Sample, changes, newest};
use testkit::Random;

/// A normal number.
fn normal(random: &mut Random) -> f64 {
    let mut uniform = || (random.next() >> 11) as f64 / (1u64 << 53) as f64;
    let (a, b) = (uniform().max(1e-300), uniform());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// Noise of recorded dispatches: normal, one in fifty an outlier to the slow side.
fn noise(random: &mut Random, percent: f64) -> f64 {
    let outlier = if random.below(50) == 0 { 5.0 + 10.0 * normal(random).abs() } else { 0.0 };
    1.0 + percent / 100.0 * (normal(random) + outlier)
}

fn series(random: &mut Random, count: usize, percent: f64, level: impl Fn(usize) -> f64) -> Vec<Sample> {
    (0..count).map(|at| Sample { value: 50_000.0 * level(at) * noise(random, percent), error: 0.0 }).collect()
}

/// Share of histories whose step is found within five samples, since outliers before a step can look like its
/// beginning, and share whose step is found at its first sample or a neighbour of it.
fn found(step: f64, tries: usize) -> (f64, f64) {
    let mut random = Random(470 + step.to_bits() % 97);
    let (mut hits, mut placed) = (0, 0);
    for _ in 0..tries {
        let count = 40 + random.below(160);
        let at = 10 + random.below(count - 20);
        let samples = series(&mut random, count, 1.0, |it| if it < at { 1.0 } else { 1.0 + step / 100.0 });
        let within = |far: usize| usize::from(changes(&samples).iter().any(|it| it.at.abs_diff(at) <= far));
        hits += within(5);
        placed += within(1);
    }
    (hits as f64 / tries as f64, placed as f64 / tries as f64)
}

#[test]
fn steps_beyond_the_noise_are_found() {
    for (step, least) in [(3.0, 0.95), (-3.0, 0.95), (10.0, 1.0), (-10.0, 1.0)] {
        let (share, placed) = found(step, 1000);
        println!(
            "step of {step} % at 1 % noise: {:.1} % found, {:.1} % at its place or beside it",
            100.0 * share,
            100.0 * placed
        );
        assert!(share >= least && placed >= 0.8, "{step}: {share} {placed}");
    }
}

#[test]
fn noise_shows_no_change() {
    let mut random = Random(471);
    let mut false_ones = 0;
    let mut samples = 0;
    for count in [10, 30, 100, 300, 1000, 10_000] {
        for _ in 0..100_000 / count {
            false_ones += changes(&series(&mut random, count, 1.0, |_| 1.0)).len();
            samples += count;
        }
    }
    println!("{false_ones} false changes in {samples} samples");
    assert!(false_ones * 1000 <= samples, "{false_ones} in {samples}");
}

#[test]
fn several_changes_are_separated() {
    let mut random = Random(472);
    let levels = [1.0, 1.1, 1.05, 1.3];
    let mut right = 0;
    for _ in 0..100 {
        let samples = series(&mut random, 120, 1.0, |at| levels[at / 30]);
        let at: Vec<usize> = changes(&samples).iter().map(|it| it.at).collect();
        right += usize::from(at.len() == 3 && at.iter().zip([30, 60, 90]).all(|(a, b)| a.abs_diff(b) <= 2));
    }
    assert!(right >= 95, "{right} of 100");
}

#[test]
fn values_without_noise_change_where_they_change() {
    let exact =
        |values: &[f64]| values.iter().map(|value| Sample { value: *value, error: 0.0 }).collect::<Vec<_>>();
    for (values, expected) in [
        (&[5.0, 5.0, 6.0, 6.0][..], &[(2, 5.0, 6.0)][..]),
        (&[5.0; 9], &[]),
        (&[5.0, 5.0, 5.0, 5.0, 4.0], &[(4, 5.0, 4.0)]),
        (&[], &[]),
        (&[1.0], &[]),
        (&[1.0, f64::NAN, 3.0], &[]),
        (&[0.3, 0.1 + 0.2, 0.3, 0.3], &[]),
    ] {
        let found: Vec<(usize, f64, f64)> =
            changes(&exact(values)).iter().map(|it: &Change| (it.at, it.before, it.since)).collect();
        assert_eq!(found, expected, "{values:?}");
    }
    let one = newest(&exact(&[5.0, 5.0, 5.0, 5.5]), 1).unwrap();
    assert_eq!((one.before, one.now, one.chance), (5.0, 5.5, 0.0));
    assert_eq!(newest(&exact(&[5.0, 5.0, 5.0, 5.0]), 1).unwrap().chance, 1.0);
    // After a change the level has one sample, which is exact as the values before it are.
    assert_eq!(newest(&exact(&[5.0, 5.0, 5.0, 5.5, 6.0]), 1).unwrap().before, 5.5);
    // One value, or two equal ones, may have any noise.
    for past in [&[5.0][..], &[24.0, 5.5], &[5.0, 5.0, 9.0]] {
        assert_eq!(newest(&exact(past), 1), None, "{past:?}");
    }
}

#[test]
fn values_that_change_now_and_then_show_no_level() {
    let mut random = Random(474);
    let value = |random: &mut Random| Sample { value: 5.0 + (random.below(4) == 0) as u8 as f64, error: 0.0 };
    let samples: Vec<Sample> = (0..400).map(|_| value(&mut random)).collect();
    assert_eq!(changes(&samples), []);
}

#[test]
fn the_newest_sample_is_judged_by_the_level_before() {
    let mut random = Random(473);
    let (mut alarms, mut misses) = (0, 0);
    for _ in 0..2000 {
        // An older change does not count as noise.
        let mut samples = series(&mut random, 40, 1.0, |at| if at < 20 { 1.2 } else { 1.0 });
        let plain = |random: &mut Random, factor: f64| Sample {
            value: 50_000.0 * factor * (1.0 + 0.01 * normal(random)),
            error: 0.0,
        };
        samples.push(plain(&mut random, 1.0));
        alarms += usize::from(newest(&samples, 1).unwrap().chance < 1e-3);
        *samples.last_mut().unwrap() = plain(&mut random, 1.1);
        misses += usize::from(newest(&samples, 1).unwrap().chance >= 1e-3);
    }
    println!("{alarms} false alarms, {misses} of 10 % missed, of 2000");
    assert!(alarms <= 6 && misses <= 20, "{alarms} {misses}");
}
