//! Two XCDs that stand for all.

use arch::Model;
use clock::{Detail, Gpu, Grid, Op, Outcome, Unit};
use mem::{Count, Kind, Policy, Trace};
use std::sync::Arc;

const A: u64 = 0x7f00_0000_0000;
const B: u64 = 0x7e00_0000_0000;

/// Each workgroup reads `times` kilobytes of its own, and of a table that all read.
fn run(model: &str, detail: Detail, groups: u64, times: u64, batch: u64) -> Outcome {
    let mut gpu = Gpu::new(Model::by_name(model).unwrap());
    gpu.follow(detail);
    let memory = |slot| Op { slot, ..Op::new(Unit::Memory, 4) };
    let wait = Op::new(Unit::Wait { vector: 0, other: u8::MAX }, 0);
    let ops = vec![memory(0), memory(1), wait, Op::new(Unit::Branch, 4), Op::new(Unit::End, 4)];
    let grid = Grid { groups, groups_per_unit: 8, entry: 0x4000, ..Grid::default() };
    gpu.begin(grid, Arc::from(ops));
    let shape = gpu.shape().clone();
    for first in (0..groups).step_by(batch as usize) {
        let mut trace = Trace::new(&shape);
        for group in first..(first + batch).min(groups) {
            trace.begin();
            trace.wave();
            for step in 0..times {
                trace.run(0, 0, 4);
                for (slot, base) in [(0, A + (group * times + step) * 1024), (1, B + step % 64 * 1024)] {
                    let addresses = std::array::from_fn(|lane| base + 16 * lane as u64);
                    trace.vector(0, slot, Policy::plain(Kind::Load), &addresses, u64::MAX, 16);
                }
            }
            trace.run(0, 4, 1);
        }
        gpu.push(trace.finish());
    }
    let code = 0x4000..0x4020;
    gpu.finish(std::slice::from_ref(&code))
}

#[test]
fn what_does_not_take_long_is_followed_as_a_whole() {
    for (model, groups, times) in [("mi300x", 512, 32), ("mi300x", 16, 4096), ("mi210", 1024, 512)] {
        let full = run(model, Detail::Full, groups, times, 8);
        assert_eq!(full, run(model, Detail::Share, groups, times, 8), "{model} {groups}");
        assert_eq!(full.shared, None);
    }
}

#[test]
fn the_estimate_is_as_far_off_as_it_says_or_a_few_percent() {
    for model in ["mi300x", "mi300a", "mi355x"] {
        let full = run(model, Detail::Full, 960, 400, 8);
        let some = run(model, Detail::Share, 960, 400, 8);
        let shared = some.shared.expect("a long dispatch");
        assert_eq!((shared.followed, shared.xcds > 4), (2, true));
        let off = |a: u64, b: u64| (a as f64 - b as f64).abs() / b as f64;
        assert!(shared.time_error < 0.02 && shared.count_error < 0.02, "{model} {shared:?}");
        assert!(
            off(some.cycles, full.cycles) < shared.time_error + 0.05,
            "{model} {} {}",
            some.cycles,
            full.cycles
        );
        assert!(off(some.wave_cycles, full.wave_cycles) < 0.05, "{model}");
        for count in
            [Count::L1Read, Count::L2Read, Count::L2Miss, Count::FabricReadLocal, Count::TranslationHit]
        {
            let (found, want) = (some.tally.get(count), full.tally.get(count));
            assert!(off(found, want) < shared.count_error + 0.01, "{model} {count:?}: {found}, {want}");
        }
        assert_eq!(some.tally.channels(), full.tally.channels());
    }
}

#[test]
fn what_is_followed_does_not_depend_on_how_workgroups_come() {
    let some = run("mi300x", Detail::Share, 700, 400, 1);
    assert!(some.shared.is_some());
    assert_eq!(some, run("mi300x", Detail::Share, 700, 400, 8));
    assert_eq!(some, run("mi300x", Detail::Share, 700, 400, 64));
}
