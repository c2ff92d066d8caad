//! Kernels that never end are stopped; kernels that only wait long are not.

use crate::device::*;
use rockhound_emu::{Cause, Launch, Memory, Observer};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Outcome of a launch.
#[derive(Clone, Copy, PartialEq, Debug)]
enum End {
    Ends,
    /// Endless loop found: waves at a barrier, and whether the loop may wait for other workgroups.
    Stuck(usize, bool),
    /// Stopped by the instruction limit.
    Limit,
    /// Deadlock of all workgroups.
    Deadlock,
}

fn end(bytes: &[u8], kernel: &str, shape: Launch<'_>, all: u32, hosts: bool) -> End {
    let mut memory = Memory::new();
    let flags = memory.allocate("flags", 4096);
    if hosts {
        memory.share_with_host(flags);
    }
    let arguments = Arguments::default().u64(flags).u32(all);
    match launch_with(&program(bytes, kernel), &mut memory, shape, arguments).map_err(|fault| fault.cause) {
        Ok(_) => End::Ends,
        Err(Cause::Stuck { barrier, waits, from, to }) => {
            assert!(from < to, "{kernel}");
            End::Stuck(barrier, waits)
        }
        Err(Cause::Endless { .. }) => End::Limit,
        Err(Cause::Deadlock { .. }) => End::Deadlock,
        Err(other) => panic!("{kernel}: {other}"),
    }
}

#[test]
fn waves_that_do_the_same_for_ever_are_stopped() {
    use End::*;
    // (kernel, work-items, host may write the memory, outcome)
    let cases = [
        ("flag", 64, false, Stuck(0, false)),
        ("flag_asleep", 64, false, Stuck(0, false)),
        // The host may write the flag.
        ("flag", 64, true, Limit),
        ("barrier_of_some", 256, false, Stuck(3, false)),
        ("lock", 64, false, Stuck(0, false)),
        ("stores", 64, false, Stuck(0, false)),
        ("counts", 64, false, Ends),
        ("clock", 64, false, Ends),
        ("clock_long", 256, false, Ends),
        ("clock_asleep", 256, false, Ends),
        ("late", 128, false, Ends),
        ("turns", 128, false, Ends),
    ];
    for target in ["gfx90a", "gfx942", "gfx950"] {
        let Some(bytes) = compile("stuck.hip", target) else { return };
        for (kernel, items, hosts, expected) in cases {
            let shape = Launch { max_instructions: 20_000_000, ..Launch::new([1, 1, 1], [items, 1, 1], 0) };
            assert_eq!(end(&bytes, kernel, shape, 1, hosts), expected, "{kernel} on {target}");
        }
    }
}

#[test]
fn workgroups_that_wait_for_each_other_end_where_they_can() {
    use End::*;
    // (kernel, workgroups, workgroups it waits for, threads or cooperative, outcome)
    let cases = [
        ("grid", 4, 4, Some(1), Stuck(0, true)),
        ("grid", 4, 4, Some(2), Stuck(0, true)),
        ("grid", 4, 4, Some(4), Ends),
        ("grid", 4, 4, None, Ends),
        ("grid", 4, 5, None, Deadlock),
        ("before", 12, 12, Some(1), Ends),
        ("before", 12, 12, Some(3), Ends),
        ("behind", 4, 4, Some(1), Stuck(0, true)),
        ("behind", 4, 4, Some(3), Stuck(0, true)),
        ("behind", 4, 4, Some(4), Ends),
        ("behind", 4, 4, None, Ends),
    ];
    let Some(bytes) = compile("stuck.hip", "gfx942") else { return };
    for (kernel, workgroups, all, threads, expected) in cases {
        let shape = Launch {
            max_instructions: 50_000_000,
            threads: threads.unwrap_or(1),
            cooperative: threads.is_none(),
            ..Launch::new([workgroups, 1, 1], [64, 1, 1], 0)
        };
        let found = end(&bytes, kernel, shape, all, false);
        assert_eq!(found, expected, "{kernel}, {workgroups} workgroups, threads {threads:?}");
    }
}

#[test]
fn workgroups_that_are_on_the_gpu_together_wait_for_each_other() {
    use End::*;
    // (kernel, workgroups, workgroups that the GPU holds, outcome)
    let cases = [
        ("grid", 40, 40, Ends),
        ("grid", 40, 1000, Ends),
        ("grid", 40, 39, Deadlock),
        ("behind", 12, 12, Ends),
        ("behind", 12, 5, Deadlock),
        ("before", 12, 2, Ends),
    ];
    let Some(bytes) = compile("stuck.hip", "gfx942") else { return };
    for (kernel, workgroups, resident, expected) in cases {
        let mut instructions = Vec::new();
        for threads in [1, 3] {
            let shape = Launch { threads, resident, ..Launch::new([workgroups, 1, 1], [128, 1, 1], 0) };
            assert_eq!(end(&bytes, kernel, shape, workgroups, false), expected, "{kernel} {resident}");
            let mut memory = Memory::new();
            let arguments = Arguments::default().u64(memory.allocate("flags", 4096)).u32(workgroups);
            let ended = launch_with(&program(&bytes, kernel), &mut memory, shape, arguments);
            instructions.push(ended.ok().map(|it| (it.0.workgroups, it.0.waves, it.0.instructions)));
        }
        assert_eq!(instructions[0], instructions[1], "{kernel}");
        assert_eq!(instructions[0].map(|it| it.0), (expected == Ends).then_some(u64::from(workgroups)));
    }
}

/// Observers that were made and are not yet merged: now, and at most.
#[derive(Default)]
struct Alive {
    now: AtomicUsize,
    most: AtomicUsize,
}

struct Counted;

impl Observer for Counted {}

#[test]
fn memory_of_workgroups_behind_a_long_one_is_bounded() {
    let Some(bytes) = compile("stuck.hip", "gfx942") else { return };
    let mut memory = Memory::new();
    let a = memory.allocate("a", 4096);
    let program = program(&bytes, "first_is_long");
    let arguments = Arguments::default().u64(a).u32(10_000_000);
    let shape = Launch { threads: 2, ..Launch::new([40_000, 1, 1], [64, 1, 1], 0) };
    let launch = prepared(&program, &mut memory, shape, &arguments);
    let alive = Alive::default();
    let make = || {
        let now = alive.now.fetch_add(1, Ordering::Relaxed) + 1;
        alive.most.fetch_max(now, Ordering::Relaxed);
        Counted
    };
    let merge = |_| {
        alive.now.fetch_sub(1, Ordering::Relaxed);
    };
    let summary = rockhound_emu::run(&program, &memory, &launch, make, merge).unwrap();
    assert_eq!(summary.workgroups, 40_000);
    let most = alive.most.load(Ordering::Relaxed);
    assert!((1000..=2050).contains(&most), "{most}");
}
