//! Races, comparisons and drift on simulated noise.

use rockhound_tune::Random;
use rockhound_tune::race::{RaceSettings, Verdict, centre, compare, drift, race};

/// Times as GPUs have them: 0.3 % of noise, a share of runs that something else slows down by up to 2.8 times.
struct Noise {
    random: Random,
    disturbed: f64,
}

impl Noise {
    fn time(&mut self, truth: f64) -> f64 {
        // The sum of twelve uniform numbers is nearly normal.
        let normal: f64 = (0..12).map(|_| self.random.unit()).sum::<f64>() - 6.0;
        let slow = if self.random.unit() < self.disturbed { 1.0 + 1.8 * self.random.unit() } else { 1.0 };
        truth * (1.0 + 0.003 * normal) * slow
    }

    /// Runs of a configuration, of which the first is cold.
    fn runs(&mut self, truth: f64, count: usize) -> Vec<f64> {
        (0..count).map(|it| self.time(truth) * if it == 0 { 2.5 } else { 1.0 }).collect()
    }
}

#[test]
fn centres_of_runs() {
    for (times, expected) in [
        (&[3.0][..], Some((3.0, 0.0, 1, false))),
        (&[1.0, 3.0], Some((2.0, 1.4826, 2, false))),
        (&[28.0, 10.0, 10.0, 11.0], Some((10.0, 0.0, 3, true))),
        (&[10.0, 10.0, 10.0, 28.0], Some((10.0, 0.0, 4, false))),
        (&[f64::NAN, 0.0, -1.0], None),
        (&[], None),
    ] {
        let found = centre(times).map(|it| (it.value, it.spread, it.runs, it.cold));
        assert_eq!(found, expected, "{times:?}");
    }
}

/// How often `rounds` rounds of `runs` runs show a difference between times that differ by `factor`.
fn shown(factor: f64, rounds: usize, runs: usize, disturbed: f64) -> f64 {
    let mut noise = Noise { random: Random::new(11), disturbed };
    let mut shown = 0;
    for _ in 0..2000 {
        // The clock falls by 5 % in the course of the comparison.
        let times: Vec<(Vec<f64>, Vec<f64>)> = (0..rounds)
            .map(|round| {
                let clock = 1.0 + 0.05 * round as f64 / rounds as f64;
                let mut of = |truth: f64| (0..runs).map(|_| noise.time(truth * clock)).collect();
                (of(1.0), of(1.0 / factor))
            })
            .collect();
        let found = compare(&times, 0.95).unwrap();
        shown += u32::from(found.verdict != Verdict::Equal);
        assert!(found.low <= found.speedup && found.speedup <= found.high);
    }
    f64::from(shown) / 2000.0
}

#[test]
fn differences_are_shown_where_there_are_some() {
    for (factor, rounds, runs, disturbed, least, most) in [
        // Equal: at most the one in twenty that 95 % allow, and what the expansion and the noise's tails add.
        (1.0, 5, 1, 0.0, 0.0, 0.06),
        (1.0, 10, 3, 0.0, 0.0, 0.06),
        (1.0, 10, 3, 0.05, 0.0, 0.06),
        (1.0, 20, 5, 0.1, 0.0, 0.06),
        (1.01, 10, 3, 0.05, 0.95, 1.0),
        (0.99, 10, 3, 0.05, 0.95, 1.0),
        (1.003, 20, 5, 0.0, 0.95, 1.0),
    ] {
        let found = shown(factor, rounds, runs, disturbed);
        let row = format!("{factor} {rounds} {runs} {disturbed}: {found}");
        assert!((least..=most).contains(&found), "{row}");
    }
    assert_eq!(compare(&vec![(vec![1.0], vec![1.0]); 4], 0.95), None, "too few rounds");
    assert_eq!(compare(&vec![(vec![1.0], vec![f64::NAN]); 9], 0.95), None, "no times");
}

#[test]
fn races_find_the_fastest_with_fewer_runs() {
    let truths: Vec<f64> = (0..20).map(|it| 1.0 + 0.004 * f64::from(it)).collect();
    let settings = RaceSettings { most_runs: 32, ..RaceSettings::default() };
    let (mut right, mut runs) = (0, 0);
    for seed in 0..100 {
        let mut noise = Noise { random: Random::new(seed), disturbed: 0.02 };
        let mut times: Vec<Vec<f64>> = truths.iter().map(|&it| noise.runs(it, 4)).collect();
        while let Some(next) = race(&times, &settings).next {
            times[next].push(noise.time(truths[next]));
        }
        right += u32::from(race(&times, &settings).contenders[0] == 0);
        runs += times.iter().map(Vec::len).sum::<usize>();
    }
    // The next is 0.4 % slower, a little more than the deviation of one run. All 32 times each would be 64,000 runs.
    assert!(right >= 95, "{right} of 100 races");
    assert!(runs < 20_000, "{runs} runs");
}

#[test]
fn races_of_few() {
    let settings = RaceSettings::default();
    for (times, contenders, next) in [
        (vec![vec![1.0], vec![2.0]], vec![0], None),
        (vec![vec![1.0], vec![1.001]], vec![0, 1], Some(0)),
        (vec![vec![], vec![1.001]], vec![1], None),
        (vec![vec![], vec![]], vec![], None),
        (vec![vec![1.0; 64], vec![1.0; 64]], vec![0, 1], None),
    ] {
        let found = race(&times, &settings);
        assert_eq!((found.contenders, found.next), (contenders, next), "{times:?}");
    }
}

#[test]
fn drift_of_a_reference() {
    let mut noise = Noise { random: Random::new(5), disturbed: 0.05 };
    for (change, runs, trend) in [(0.0, 30, false), (0.05, 30, true), (-0.02, 60, true), (0.0, 2000, false)] {
        let runs: Vec<(f64, f64)> = (0..runs)
            .map(|it| (f64::from(it), noise.time(1.0 + change * f64::from(it) / f64::from(runs - 1))))
            .collect();
        let found = drift(&runs).unwrap();
        assert_eq!(found.is_trend(), trend, "{found:?}");
        assert!((found.change - change).abs() < 0.005, "{found:?}");
    }
    assert_eq!(drift(&[(0.0, 1.0), (1.0, 1.0), (2.0, f64::NAN), (3.0, 1.0)]), None);
    let mut false_trends = 0;
    for _ in 0..1000 {
        let runs: Vec<(f64, f64)> = (0..20).map(|it| (f64::from(it), noise.time(1.0))).collect();
        false_trends += u32::from(drift(&runs).unwrap().is_trend());
    }
    assert!(false_trends <= 10, "{false_trends} of 1000");
}
