//! The engine clock in matrix work and in f64 work.

use crate::ideal_limits::{BODY, matrix_dispatch, run, working};
use arch::Model;
use rockhound_clock::{Gpu, IdealLimit, Op, Order, Outcome, Rates, Unit};

/// Outcome of matrix instructions on every SIMD, with a pause after each.
fn outcome(model: &Model, groups: u64, pause: u32) -> Outcome {
    run(&mut Gpu::new(model), &matrix_dispatch(groups, pause), 1, Order::Round)
}

#[test]
fn the_share_of_matrix_work_sets_the_clock() {
    let model = Model::by_name("mi300x").unwrap();
    let held = f64::from(model.held_matrix_mhz().unwrap());
    let (rates, highest) = (Rates::of(model), f64::from(model.running_mhz()));
    let units = u64::from(model.compute_units.value);
    let mhz = |groups, pause| {
        let outcome = outcome(model, groups, pause);
        assert_eq!(outcome.matrix_cycles, groups * 4 * 2000 * 16);
        let mhz = rates.lowered_mhz(&outcome).unwrap();
        let expected = outcome.cycles as f64 / mhz * 1e3;
        assert!((rates.dispatch_nanoseconds(&outcome) - expected).abs() < 1.0);
        mhz
    };
    // Every SIMD without a pause, for 16 of 40 cycles, and on an eighth of the compute units.
    let [dense, paused, few] = [mhz(units, 0), mhz(units, 36), mhz(units / 8, 0)];
    assert!((dense / held - 1.0).abs() < 0.03, "{dense}");
    let share = |share: f64| 1.0 / (share / held + (1.0 - share) / highest);
    assert!((paused / share(0.4) - 1.0).abs() < 0.03, "{paused}");
    assert!((few / share(0.125) - 1.0).abs() < 0.03, "{few}");
}

#[test]
fn a_requested_clock_and_infinite_issue_keep_the_clock() {
    let model = Model::by_name("mi300x").unwrap();
    let outcome = outcome(model, 304, 0);
    let asked = Rates::of(Model::by_name("mi300x@2100").unwrap());
    let base = Rates::of(model);
    for (rates, lowered) in [
        (base.clone(), true),
        (base.clone().without(IdealLimit::Matrix), true),
        (base.without(IdealLimit::Issue), false),
        (asked, false),
        (Rates::of(Model::by_name("mi210").unwrap()), false),
    ] {
        assert_eq!(rates.lowered_mhz(&outcome).is_some(), lowered);
        let plain = rates.nanoseconds(outcome.cycles);
        assert_eq!(rates.dispatch_nanoseconds(&outcome) > plain, lowered);
    }
}

#[test]
fn f64_work_lowers_the_clock_unless_matrix_work_does() {
    let clock = |name: &str, work: &[Op]| {
        let model = Model::by_name(name).unwrap();
        let outcome =
            run(&mut Gpu::new(model), &working(304, work.repeat(BODY / work.len())), 1, Order::Round);
        (outcome.f64_cycles, outcome.cycles, Rates::of(model).lowered_mhz(&outcome))
    };
    let plain = Op::new(Unit::Vector, 4);
    let double = Op { f64: true, ..plain };
    let matrix = Op::new(Unit::Matrix, 16);

    let (f64_cycles, _, mhz) = clock("mi300x", &[double]);
    assert_eq!(f64_cycles, 304 * 4 * 40 * BODY as u64 * 4);
    let held = f64::from(Model::by_name("mi300x").unwrap().held_f64_mhz().unwrap());
    assert!((mhz.unwrap() / held - 1.0).abs() < 0.05, "{mhz:?}");
    // Other vector work, a GPU whose clock in f64 work is not known, and a requested clock.
    assert_eq!(clock("mi300x", &[plain]).2, None);
    assert_eq!(clock("mi210", &[double]).2, None);
    assert_eq!(clock("mi300x@2100", &[double]).2, None);
    // f64 work that matrix work hides: matrix work alone sets the clock.
    let (_, cycles, with) = clock("mi300x", &[matrix, double]);
    let (_, alone_cycles, alone) = clock("mi300x", &[matrix, plain]);
    assert_eq!(cycles, alone_cycles);
    assert!((with.unwrap() / alone.unwrap() - 1.0).abs() < 0.03, "{with:?} {alone:?}");
}
