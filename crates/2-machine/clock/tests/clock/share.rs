//! Two representative XCDs.

use arch::Model;
use mem::{AccessKind, Count, Lanes, Policy, Trace};
use rockhound_clock::{Detail, Gpu, Grid, Op, Outcome, Unit};
use std::sync::Arc;

const A: u64 = 0x7f00_0000_0000;
const B: u64 = 0x7e00_0000_0000;

/// A new GPU runs one dispatch.
fn run(model: &str, detail: Detail, groups: u64, times: u64, batch: u64) -> Outcome {
    let mut gpu = Gpu::new(Model::by_name(model).unwrap());
    gpu.set_detail(detail);
    dispatch(&mut gpu, groups, times, batch).unwrap()
}

/// Each workgroup reads `times` private kilobytes, and a table that all read. The dispatch is left unfinished
/// if batches of `batch` workgroups do not add up to all of them. Batches of eight are recorded whether they
/// are wanted or not.
fn dispatch(gpu: &mut Gpu, groups: u64, times: u64, batch: u64) -> Option<Outcome> {
    dispatch_grid(gpu, Grid { groups, groups_per_unit: 8, ..Grid::default() }, times, batch)
}

/// The same of a grid.
pub(crate) fn dispatch_grid(gpu: &mut Gpu, grid: Grid, times: u64, batch: u64) -> Option<Outcome> {
    let groups = grid.groups;
    dispatch_first(gpu, grid, groups, times, batch)
}

/// The same, but only the first workgroups of the grid arrive.
pub(crate) fn dispatch_first(
    gpu: &mut Gpu,
    grid: Grid,
    groups: u64,
    times: u64,
    batch: u64,
) -> Option<Outcome> {
    let memory = |slot| Op { slot, ..Op::new(Unit::Memory, 4) };
    let wait = Op::new(Unit::Wait { vector: 0, other: u8::MAX }, 0);
    let ops = vec![memory(0), memory(1), wait, Op::new(Unit::Matrix, 4), Op::new(Unit::End, 4)];
    gpu.begin(Grid { entry: 0x4000, ..grid }, Arc::from(ops));
    let (shape, wanted) = (gpu.shape().clone(), gpu.wanted());
    for first in (0..groups).step_by(batch as usize) {
        if first + batch > groups && batch > 64 {
            return None;
        }
        let mut trace = Trace::new(&shape);
        for group in first..(first + batch).min(groups) {
            match batch == 8 || wanted.wants(group) {
                true => trace.begin(),
                false => trace.begin_without_streams(),
            }
            trace.wave();
            for step in 0..times {
                trace.run(0, 0, 4);
                for (slot, base) in [(0, A + (group * times + step) * 1024), (1, B + step % 64 * 1024)] {
                    let addresses = std::array::from_fn(|lane| base + 16 * lane as u64);
                    trace.vector(
                        0,
                        slot,
                        Policy::plain(AccessKind::Load),
                        &Lanes::new(&addresses, u64::MAX, 16),
                    );
                }
            }
            trace.run(0, 4, 1);
        }
        gpu.push(trace.finish());
    }
    let code = 0x4000..0x4020;
    Some(gpu.finish(std::slice::from_ref(&code)))
}

#[test]
fn short_dispatches_are_timed_in_full() {
    for (model, groups, times) in [("mi300x", 512, 32), ("mi300x", 16, 4096), ("mi210", 1024, 512)] {
        let full = run(model, Detail::Full, groups, times, 8);
        assert_eq!(full, run(model, Detail::Share, groups, times, 8), "{model} {groups}");
        assert_eq!(full.shared, None);
    }
}

#[test]
fn the_estimate_is_within_its_stated_error() {
    for model in ["mi300x", "mi300a", "mi355x"] {
        let full = run(model, Detail::Full, 960, 400, 8);
        let some = run(model, Detail::Share, 960, 400, 8);
        let shared = some.shared.expect("a long dispatch");
        assert_eq!((shared.simulated, shared.xcds > 4), (2, true));
        let off = |a: u64, b: u64| (a as f64 - b as f64).abs() / b as f64;
        assert!(shared.time_error < 0.02 && shared.count_error < 0.03, "{model} {shared:?}");
        assert!(
            // On an MI300A it takes 7 % longer so, for a cause that is not known.
            off(some.cycles, full.cycles) < shared.time_error + 0.08,
            "{model} {} {}",
            some.cycles,
            full.cycles
        );
        assert!(off(some.wave_cycles, full.wave_cycles) < 0.08, "{model}");
        assert!(off(some.matrix_cycles, full.matrix_cycles) < 0.01, "{model}");
        for count in
            [Count::L1Read, Count::L2Read, Count::L2Miss, Count::FabricReadLocal, Count::TranslationHit]
        {
            let (found, request_type) = (some.tally.get(count), full.tally.get(count));
            assert!(
                off(found, request_type) < shared.count_error + 0.01,
                "{model} {count:?}: {found}, {request_type}"
            );
        }
        assert_eq!(some.tally.channels(), full.tally.channels());
    }
}

#[test]
fn the_timed_share_does_not_depend_on_arrival_order() {
    let some = run("mi300x", Detail::Share, 700, 400, 1);
    assert!(some.shared.is_some());
    assert_eq!(some, run("mi300x", Detail::Share, 700, 400, 8));
    assert_eq!(some, run("mi300x", Detail::Share, 700, 400, 64));
}

#[test]
fn xcds_without_a_representative_need_no_streams() {
    let mut gpu = Gpu::new(Model::by_name("mi300x").unwrap());
    gpu.set_detail(Detail::Share);
    let wanted = |gpu: &Gpu| (0..16).map(|group| gpu.wanted().wants(group)).collect::<Vec<_>>();
    assert!(dispatch(&mut gpu, 700, 400, 1).is_some());
    assert_eq!(wanted(&gpu), [true, false, false, false].repeat(4));
    assert!(dispatch(&mut gpu, 512, 4, 1).is_some());
    assert_eq!(wanted(&gpu), [true; 16]);
}

#[test]
fn results_do_not_depend_on_threads_or_abandoned_runs() {
    let gpu = |threads: usize| {
        let mut gpu = Gpu::new(Model::by_name("mi300x").unwrap());
        gpu.set_detail(Detail::Share);
        gpu.set_threads(threads);
        gpu
    };
    // A long dispatch, a short one that all XCDs are followed in, and the long one again.
    let all = |gpu: &mut Gpu| {
        [(700, 400), (512, 4), (700, 400)].map(|(groups, times)| dispatch(gpu, groups, times, 8).unwrap())
    };
    let expected = all(&mut gpu(1));
    assert_eq!(expected.each_ref().map(|it| it.shared.is_some()), [true, false, true]);
    // The instructions are there the second time.
    assert!(expected[2].cycles < expected[0].cycles, "{} {}", expected[2].cycles, expected[0].cycles);
    for threads in [2, 5] {
        assert!(all(&mut gpu(threads)) == expected, "{threads} threads");
    }
    let given_up =
        |gpu: &mut Gpu| [(750, 100), (700, 100)].map(|(groups, batch)| dispatch(gpu, groups, 400, batch));
    let expected = given_up(&mut gpu(1));
    assert!(expected[0].is_none() && expected[1].is_some());
    assert!(given_up(&mut gpu(2)) == expected);
}
