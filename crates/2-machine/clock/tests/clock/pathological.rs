//! Kernels nobody should write finish too, in bounded memory.

use arch::Model;
use mem::{AccessKind, Count, Lanes, Policy, Trace};
use rockhound_clock::{Gpu, Grid};
use std::sync::Arc;

fn gpu() -> Gpu {
    Gpu::new(Model::by_name("mi300x").unwrap())
}

#[test]
fn all_lanes_at_one_line() {
    let mut gpu = gpu();
    gpu.begin(Grid { groups: 64, groups_per_unit: 8, ..Grid::default() }, Arc::new([]));
    for _ in 0..8 {
        let mut trace = Trace::new(gpu.shape());
        for _ in 0..8 {
            trace.begin();
            trace.wave();
            for kind in [AccessKind::Load, AccessKind::Store, AccessKind::Atomic, AccessKind::AtomicReturn] {
                for _ in 0..100 {
                    trace.vector(
                        0,
                        kind as u32,
                        Policy::plain(kind),
                        &Lanes::new(&[0x10_0000; 64], u64::MAX, 4),
                    );
                }
            }
        }
        gpu.push(trace.finish());
    }
    let tally = gpu.finish(&[]).tally;
    // A look-up per quad; consecutive look-ups of one access are one request to the L2.
    let each = 64 * 100;
    assert_eq!([Count::L1Write, Count::L1Atomic, Count::L1AtomicReturn].map(|it| tally.get(it)), [each; 3]);
    assert_eq!(tally.get(Count::FabricRead128), 8);
}

#[test]
fn a_million_tiny_workgroups() {
    let mut gpu = gpu();
    let groups = 1 << 20;
    gpu.begin(Grid { groups, groups_per_unit: 16, ..Grid::default() }, Arc::new([]));
    for first in (0..groups).step_by(8) {
        let mut trace = Trace::new(gpu.shape());
        for group in first..first + 8 {
            trace.begin();
            trace.wave();
            trace.vector(
                0,
                0,
                Policy::plain(AccessKind::Store),
                &Lanes::new(&[0x10_0000 + 64 * group; 64], 1, 4),
            );
        }
        gpu.push(trace.finish());
    }
    assert_eq!(gpu.finish(&[]).tally.get(Count::L1Write), groups);
}

#[test]
fn lanes_scattered_over_all_memory_and_addresses_at_its_end() {
    let mut gpu = gpu();
    gpu.begin(
        Grid { groups: 300, groups_per_unit: 1, scratch: u64::MAX / 3, ..Grid::default() },
        Arc::new([]),
    );
    let mut state = 1u64;
    for _ in 0..300 {
        let mut trace = Trace::new(gpu.shape());
        trace.begin();
        trace.wave();
        for step in 0..200 {
            let addresses = std::array::from_fn(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state | u64::MAX << (step % 64)
            });
            let policy =
                Policy { scratch: step % 7 == 0, stream: step % 5 == 0, ..Policy::plain(AccessKind::Load) };
            trace.vector(0, 0, policy, &Lanes::new(&addresses, state, 16));
            trace.scalar(0, AccessKind::Load, state, 64);
        }
        gpu.push(trace.finish());
    }
    let tally = gpu.finish(&[u64::MAX - 10..u64::MAX, 5..5]).tally;
    let asked = [Count::L2Hit, Count::L2Miss].map(|it| tally.get(it)).iter().sum::<u64>();
    assert_eq!(asked, [Count::L2Read, Count::L2Write].map(|it| tally.get(it)).iter().sum::<u64>());
}

/// More streams than may be held: workgroups run on although not all that would be resident have come.
#[test]
fn long_streams_are_not_all_held() {
    let mut gpu = gpu();
    let groups = 400;
    gpu.set_most_held_bytes(1 << 20);
    gpu.begin(Grid { groups, groups_per_unit: 32, ..Grid::default() }, Arc::new([]));
    for group in 0..groups {
        let mut trace = Trace::new(gpu.shape());
        trace.begin();
        trace.wave();
        for step in 0..5000u64 {
            trace.vector(
                0,
                0,
                Policy::plain(AccessKind::Load),
                &Lanes::new(&[(group << 20) + (step << 7); 64], 1, 4),
            );
        }
        gpu.push(trace.finish());
    }
    let outcome = gpu.finish(&[]);
    assert!(outcome.hurried, "streams of megabytes");
    let tally = outcome.tally;
    assert_eq!((tally.get(Count::Dropped), tally.get(Count::TranslationMiss) > 0), (0, true));
}

#[test]
fn waves_that_leave_before_a_barrier_do_not_hold_others() {
    let mut gpu = gpu();
    gpu.begin(Grid { groups: 1, groups_per_unit: 1, ..Grid::default() }, Arc::new([]));
    let mut trace = Trace::new(gpu.shape());
    trace.begin();
    (0..4).for_each(|_| trace.wave());
    for wave in 0..4 {
        for step in 0..wave {
            let address = 0x1000 * u64::from(4 * wave + step);
            trace.vector(wave, 0, Policy::plain(AccessKind::Load), &Lanes::new(&[address; 64], 1, 4));
            trace.barrier();
        }
    }
    gpu.push(trace.finish());
    assert_eq!(gpu.finish(&[]).tally.get(Count::L1Read), 6);
}
