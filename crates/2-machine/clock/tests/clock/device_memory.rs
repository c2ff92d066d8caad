//! Banks of device memory, translations, and the engine's clock.

use arch::Model;
use mem::{AccessKind, Lanes, Policy, Trace};
use rockhound_clock::{Gpu, Grid, NO_SLOT, Op, Outcome, Rates, Unit};

/// Cycles of one load by a wave on each of `groups` compute units, whose lanes read addresses `stride` bytes
/// apart.
fn strided(rates: &Rates, groups: u64, stride: u64) -> Outcome {
    let mut gpu = Gpu::with_rates(Model::by_name("mi210").unwrap(), rates);
    let wait = Op::new(Unit::Wait { vector: 0, other: 0 }, 0);
    let load = Op { slot: 0, ..Op::new(Unit::Memory, 4) };
    let ops = vec![load, wait, Op { slot: NO_SLOT, ..Op::new(Unit::End, 4) }];
    gpu.begin(Grid { groups, groups_per_unit: 1, ..Grid::default() }, ops.into());
    let mut trace = Trace::new(gpu.shape());
    for group in 0..groups {
        trace.begin();
        trace.wave();
        let addresses: [u64; 64] = std::array::from_fn(|lane| (64 * group + lane as u64) * stride);
        trace.run(0, 0, 2);
        trace.vector(0, 0, Policy::plain(AccessKind::Load), &Lanes::new(&addresses, u64::MAX, 8));
        trace.run(0, 2, 1);
    }
    gpu.push(trace.finish());
    gpu.finish(&[])
}

fn rates(gpu: &str) -> Rates {
    Rates::of(Model::by_name(gpu).unwrap())
}

#[test]
fn rows_of_one_bank_are_opened_one_after_the_other() {
    // Without what translations take, which grows with the distance.
    let rates = rates("mi210").without(rockhound_clock::IdealLimit::Translation);
    let [near, far] = [256, 256 << 10].map(|stride| strided(&rates, 104, stride).cycles);
    // 6656 rows in one bank of each of 32 channels, 42 ns each, against 416 rows in all of them.
    let one_after_the_other = (6656.0 / 32.0 * 42e-9 * 1570e6) as u64;
    assert!(far > one_after_the_other, "{far} {one_after_the_other}");
    assert!(far < one_after_the_other * 3 / 2, "{far} {one_after_the_other}");
    assert!(near < far / 2, "{near} {far}");
    let free = strided(&rates.without(rockhound_clock::IdealLimit::Hbm), 104, 256 << 10).cycles;
    assert!(free < far / 2, "{free} {far}");
}

#[test]
fn translations_of_an_access_are_under_way_together() {
    let rates = rates("mi210");
    let [one, many] = [8, 2 << 20].map(|stride| strided(&rates, 1, stride).cycles);
    // 64 pages, of which 32 are asked for at once, not 64 one after the other.
    assert!(many > one + rates.walk && many < one + 4 * rates.walk, "{one} {many}, {} each", rates.walk);
}

#[test]
fn memory_behind_the_l2_keeps_its_clock() {
    let [slow, fast] = ["mi210@850", "mi210@1700"].map(rates);
    assert_eq!((slow.l1, slow.l2, slow.lds), (fast.l1, fast.l2, fast.lds));
    assert_eq!(slow.hbm - slow.l2, (fast.hbm - fast.l2).div_ceil(2));
    let byte = |rates: &Rates| rates.memory_byte[0];
    assert!((byte(&slow) - byte(&fast) / 2.0).abs() < 1e-9, "{} {}", byte(&slow), byte(&fast));
    assert_eq!(slow.nanoseconds(850), fast.nanoseconds(1700));
}

#[test]
fn a_read_of_an_open_row_takes_less() {
    // Lanes lie in one row of memory, in lines of the L2 each, or in rows of their own, of other channels and
    // banks.
    let rates = rates("mi210").without(rockhound_clock::IdealLimit::Translation);
    let latency = |rates: &Rates, stride: u64| strided(rates, 1, stride).under_way.reads as f64 / 64.0;
    let [open, closed] = [64, (1 << 20) + (1 << 13) + 256].map(|stride| latency(&rates, stride));
    let opening = 34e-9 * rates.engine;
    assert!((closed - open - opening).abs() < 0.25 * opening, "{open} {closed}, {opening} apart");
    // Where memory is as near as the L2, nothing is nearer.
    let near = rates.without(rockhound_clock::IdealLimit::Latency);
    assert!(latency(&near, 64) >= 0.0 && latency(&near, 64) < opening, "{}", latency(&near, 64));
}
