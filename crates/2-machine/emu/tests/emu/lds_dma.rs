//! Loads into the LDS land as late as their waits allow, while waves take turns.

use crate::device::*;
use rockhound_emu::{Cause, InstructionCounts, Launch, Memory, Summary};
use std::path::Path;

const GROUPS: usize = 5;
const ITEMS: usize = 256;
const TILES: usize = 8;

/// Dword of a tile in the kernels' input; never 0.
fn value(group: usize, tile: usize, at: usize) -> u32 {
    (((group * TILES + tile) * ITEMS + at) as u32).wrapping_mul(2_654_435_761) | 1
}

fn fixture(target: &str) -> Vec<u8> {
    let path = format!("../../../fixtures/checks/lds_dma.{target}.hsaco");
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Runs a kernel; returns its output and the counts.
fn run(
    target: &str,
    kernel: &str,
    threads: usize,
) -> Result<(Vec<u32>, Summary, InstructionCounts), Box<rockhound_emu::Fault>> {
    let bytes = fixture(target);
    let program = program(&bytes, kernel);
    let mut memory = Memory::new();
    let values = (0..GROUPS * TILES * ITEMS).map(|at| value(0, 0, at));
    let a = memory.allocate_with("a", &u32s(values));
    let b = memory.allocate("b", 4 * GROUPS * ITEMS);
    let mut launch = Launch { threads, ..Launch::new([GROUPS as u32, 1, 1], [ITEMS as u32, 1, 1], 0) };
    launch.max_instructions = 50_000_000;
    let (summary, counts) = launch_with(&program, &mut memory, launch, Arguments::default().u64(a).u64(b))?;
    Ok((read_u32s(&memory, b, GROUPS * ITEMS), summary, counts))
}

/// Sum over tiles of one dword, weighted by the tile's number plus 1.
fn weighted(group: usize, at: usize) -> u32 {
    (0..TILES)
        .fold(0, |sum: u32, tile| sum.wrapping_add(value(group, tile, at).wrapping_mul(tile as u32 + 1)))
}

/// Output of a kernel for a work-item, by workgroup and work-item.
type Expected = fn(usize, usize) -> u32;

const KERNELS: [(&str, Expected); 15] = [
    ("double_buffered", |group, item| weighted(group, item ^ 64)),
    ("refilled", |group, item| weighted(group, item ^ 64)),
    // All waves read before the next load lands, as on hardware.
    ("refilled_too_early", |group, item| weighted(group, item ^ 64)),
    ("counted", |group, item| value(group, 0, item).wrapping_add(value(group, 1, item).wrapping_mul(3))),
    ("buffer", |group, item| if item ^ 64 < 200 { value(group, 0, item ^ 64) } else { 0 }),
    ("producer_sleeping", |group, item| if item < 64 { 0 } else { weighted(group, item - 64) }),
    ("producer_busy", |group, item| if item < 64 { 0 } else { weighted(group, item - 64) }),
    ("roles", |group, item| if item < 64 { 0 } else { weighted(group, item - 64) }),
    ("polled", |group, item| if item < 64 { 0 } else { value(group, 1, item % 64) }),
    // Faulty kernels without a sufficient wait: they read the old contents of the LDS.
    ("no_wait", |_, _| 0),
    ("barrier_only", |_, _| 0),
    ("counted_short", |group, item| value(group, 0, item)),
    // A wave's own load has landed; loads of later waves have not.
    ("wait_behind_barrier", |group, item| if item & 64 == 0 { 0 } else { value(group, 0, item ^ 64) }),
    ("producer_without_wait", |_, _| 0),
    ("polled_for_ever", |_, _| 0),
];

#[test]
fn data_is_written_to_the_lds_at_the_wait() {
    for target in ["gfx942", "gfx950"] {
        for (kernel, expected) in KERNELS {
            if ["producer_without_wait", "polled_for_ever"].contains(&kernel) {
                continue;
            }
            let (found, ..) = run(target, kernel, 1).unwrap_or_else(|fault| panic!("{kernel}: {fault}"));
            for (at, found) in found.iter().enumerate() {
                let (group, item) = (at / ITEMS, at % ITEMS);
                assert_eq!(*found, expected(group, item), "{target} {kernel}: group {group}, item {item}");
            }
        }
    }
}

#[test]
fn a_producer_that_does_not_wait_hands_on_old_data() {
    let (found, ..) = run("gfx942", "producer_without_wait", 1).unwrap();
    let right = |at: &usize| at % ITEMS < 64 || found[*at] == weighted(at / ITEMS, at % ITEMS - 64);
    let wrong = (0..GROUPS * ITEMS).filter(|at| !right(at)).count();
    assert_eq!(wrong, GROUPS * (ITEMS - 64));
}

#[test]
fn waves_without_a_wake_up_are_a_deadlock() {
    let fault = run("gfx942", "polled_for_ever", 1).unwrap_err();
    assert!(matches!(fault.cause, Cause::Stuck { barrier: 0, .. }), "{fault}");
}

#[test]
fn nothing_depends_on_threads() {
    for (kernel, _) in KERNELS {
        let outcomes = [1, 2, 3].map(|threads| run("gfx942", kernel, threads).map_err(|it| it.to_string()));
        assert_eq!(outcomes[0], outcomes[1], "{kernel}");
        assert_eq!(outcomes[0], outcomes[2], "{kernel}");
    }
}
