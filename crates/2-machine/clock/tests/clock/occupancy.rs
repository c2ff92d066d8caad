//! How many waves there are over time, and how long workgroups wait for a place.

use arch::Model;
use mem::Trace;
use rockhound_clock::{Detail, Gpu, Grid, Op, Outcome, Unit};
use std::sync::Arc;

const PARTS: usize = 64;

/// Runs workgroups of four waves, each of which issues as many vector instructions as `length` says.
fn run(model: &str, detail: Detail, groups: u64, groups_per_unit: u32, length: fn(u64) -> u32) -> Outcome {
    let mut gpu = Gpu::new(Model::by_name(model).unwrap());
    gpu.set_detail(detail);
    let grid = Grid { groups, groups_per_unit, entry: 0x4000, ..Grid::default() };
    gpu.begin(grid, Arc::new([Op::new(Unit::Vector, 4), Op::new(Unit::End, 4)]));
    let shape = gpu.shape().clone();
    for group in 0..groups {
        let mut trace = Trace::new(&shape);
        trace.begin();
        for wave in 0..4 {
            trace.wave();
            for _ in 0..length(group) {
                trace.run(wave, 0, 1);
            }
            trace.run(wave, 1, 1);
        }
        gpu.push(trace.finish());
    }
    gpu.finish(&[])
}

/// The level over the dispatch, summed.
fn sum(means: &[f64], outcome: &Outcome) -> f64 {
    means.iter().sum::<f64>() * outcome.cycles as f64 / PARTS as f64
}

#[test]
fn lives_of_waves_are_all_there() {
    for (model, detail, groups, groups_per_unit) in [
        ("mi210", Detail::Full, 1, 8),
        ("mi210", Detail::Full, 1000, 8),
        ("mi300x", Detail::Full, 1500, 2),
        ("mi300x", Detail::Share, 2000, 1),
    ] {
        let length = |group| 500 + (group % 7) as u32 * 100;
        let outcome = run(model, detail, groups, groups_per_unit, length);
        assert_eq!(outcome.shared.is_some(), detail == Detail::Share);
        let [waves, units] = outcome.occupancy(PARTS);
        assert_eq!((waves.len(), units.len()), (PARTS, PARTS));
        for (means, cycles) in [(&waves, outcome.wave_cycles), (&units, outcome.unit_cycles)] {
            let found = sum(means, &outcome) / cycles as f64;
            assert!((found - 1.0).abs() < 1e-6, "{model} {groups}: {found}");
        }
        let compute_units = f64::from(Model::by_name(model).unwrap().compute_units.value);
        assert!(units.iter().all(|it| (-1e-6..=compute_units + 1e-6).contains(it)), "{units:?}");
        let most = 4.0 * f64::from(groups_per_unit) * compute_units;
        assert!(waves.iter().all(|it| (-1e-6..=most + 1e-6).contains(it)), "{waves:?}");
    }
}

#[test]
fn few_long_workgroups_are_a_tail() {
    // All workgroups find a place at once; eight of them take ten times as long.
    let outcome = run("mi210", Detail::Full, 832, 8, |group| if group < 8 { 20_000 } else { 2000 });
    let [waves, units] = outcome.occupancy(PARTS);
    let tail = &waves[PARTS / 2..PARTS - 4];
    assert!(tail.iter().all(|it| (31.9..32.1).contains(it)), "32 waves are left: {waves:?}");
    assert!(units[PARTS / 2] < 8.1, "{units:?}");
    let most = waves.iter().copied().fold(0.0, f64::max);
    assert!(most > 3000.0, "{waves:?}");
}

#[test]
fn workgroups_wait_only_where_there_are_more_than_places() {
    let length = |_| 2000;
    let full = |groups, groups_per_unit| {
        let outcome = run("mi210", Detail::Full, groups, groups_per_unit, length);
        outcome.full_cycles as f64 / outcome.waves_end as f64
    };
    assert_eq!(full(104, 1), 0.0, "each has a place at once");
    assert_eq!(full(832, 8), 0.0);
    // Ten follow each other on every unit: the last of them waits nine tenths of the time.
    let found = full(1040, 1);
    assert!((0.8..0.9).contains(&found), "{found}");
    let found = full(208, 1);
    assert!((0.4..0.5).contains(&found), "{found}");
}
