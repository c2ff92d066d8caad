//! Long dispatches of which the first workgroups are simulated.

use crate::share::{dispatch_first, dispatch_grid};
use arch::Model;
use mem::Count;
use rockhound_clock::{Detail, Gpu, Grid, Outcome, Stall};

/// Workgroups, and kilobytes that each reads.
const GROUPS: u64 = 5000;
const TIMES: u64 = 128;

fn gpu(model: &str, detail: Detail) -> Gpu {
    let mut gpu = Gpu::new(Model::by_name(model).unwrap());
    gpu.set_detail(detail);
    gpu
}

/// A dispatch of workgroups that each have a compute unit for themselves.
fn dispatch(gpu: &mut Gpu, groups: u64, times: u64, batch: u64) -> Outcome {
    let grid = Grid { groups, groups_per_unit: 1, ..Grid::default() };
    dispatch_grid(gpu, grid, times, batch).expect("all workgroups")
}

#[test]
fn a_part_gives_the_time_of_the_whole() {
    let off = |a: u64, b: u64| (a as f64 - b as f64).abs() / b as f64;
    let [full, part] =
        [Detail::Full, Detail::Share].map(|detail| dispatch(&mut gpu("mi210", detail), GROUPS, TIMES, 64));
    let followed = part.followed.expect("a long dispatch");
    assert_eq!((full.followed, followed.workgroups), (None, GROUPS));
    assert!(followed.followed <= GROUPS / 2 && followed.time_error < 0.005, "{followed:?}");
    assert!(off(part.cycles, full.cycles) < 0.02, "{} {}", part.cycles, full.cycles);
    for (what, found, expected) in [
        ("waves", part.wave_cycles, full.wave_cycles),
        ("units", part.unit_cycles, full.unit_cycles),
        ("engines", part.engine_cycles, full.engine_cycles),
        ("matrix", part.matrix_cycles, full.matrix_cycles),
        ("waits", part.stalled(Stall::Memory), full.stalled(Stall::Memory)),
        ("vector", part.under_way.vector, full.under_way.vector),
        ("reads", part.under_way.reads, full.under_way.reads),
    ] {
        assert!(off(found, expected) < 0.03, "{what} {found} {expected}");
    }
    for count in [Count::L1Read, Count::L2Read, Count::L2Miss, Count::FabricRead128, Count::FabricRead64] {
        let [found, expected] = [&part, &full].map(|it| it.tally.get(count));
        assert!(found.abs_diff(expected) as f64 <= 0.02 * expected as f64, "{count:?} {found} {expected}");
    }
    // The levels have the length of the whole dispatch.
    for (found, expected) in part.occupancy(8).iter().zip(full.occupancy(8)) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 0.1 * expected, "{found} {expected}");
        }
    }
}

#[test]
fn the_part_does_not_depend_on_arrival_order_and_needs_no_more_streams() {
    let expected = dispatch(&mut gpu("mi210", Detail::Share), GROUPS, TIMES, 64);
    let mut gpu = gpu("mi210", Detail::Share);
    assert!(dispatch(&mut gpu, GROUPS, TIMES, 7) == expected);
    assert!(!gpu.wanted().wants(GROUPS - 1));
    // A short dispatch afterwards is simulated to its end.
    assert_eq!(dispatch(&mut gpu, 512, 4, 8).followed, None);
    assert!(gpu.wanted().wants(511));
}

#[test]
fn workgroups_that_do_not_arrive_are_extrapolated() {
    let grid = || Grid { groups: GROUPS, groups_per_unit: 1, ..Grid::default() };
    let full = dispatch(&mut gpu("mi210", Detail::Full), GROUPS, TIMES, 64);
    // Ten rounds, and one that is too few.
    for (groups, most) in [(1040, Some(0.05)), (104, None)] {
        let mut gpu = gpu("mi210", Detail::Share);
        let found = dispatch_first(&mut gpu, grid(), groups, TIMES, 8).expect("an outcome");
        assert_eq!(found.incomplete, most.is_none(), "{groups}");
        assert_eq!(found.followed.map(|it| it.followed), most.map(|_| groups));
        if let Some(most) = most {
            let error = (found.cycles as f64 - full.cycles as f64).abs() / full.cycles as f64;
            assert!(error < most, "{} {}", found.cycles, full.cycles);
        }
    }
}

#[test]
fn representative_xcds_follow_a_part() {
    let part = dispatch(&mut gpu("mi300x", Detail::Share), 8 * GROUPS, TIMES, 64);
    let followed = part.followed.expect("a long dispatch");
    // Two of eight XCDs.
    assert_eq!(followed.workgroups, 2 * GROUPS);
    assert!(part.shared.is_some() && followed.followed < GROUPS, "{followed:?}");
    let mut gpu = gpu("mi300x", Detail::Share);
    gpu.set_threads(2);
    let found = dispatch(&mut gpu, 8 * GROUPS, TIMES, 8);
    assert!(found == part, "{} {}", found.cycles, part.cycles);
}
