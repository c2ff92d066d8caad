//! Gains of kernels with a known limit when limits are removed one by one.

use arch::Model;
use mem::{AccessKind, Count, Lanes, LdsAccess, Policy, Trace};
use rockhound_clock::{Gpu, Grid, IdealLimit, NO_SLOT, Op, Order, Outcome, Rates, Unit};

/// A kernel: its instructions, and what a wave of a workgroup does.
pub(crate) struct Kernel {
    name: &'static str,
    ops: Vec<Op>,
    groups: u64,
    waves: u32,
    wave: fn(&mut Trace, u64, u32),
    /// Limit whose removal gains most.
    first: IdealLimit,
}

const LOAD: u32 = 0;
const STORE: u32 = 1;
const LOCAL: u32 = 2;

fn op(unit: Unit, cycles: u32) -> Op {
    Op::new(unit, cycles)
}

fn memory(unit: Unit, slot: u32) -> Op {
    Op { slot, ..Op::new(unit, 4) }
}

fn all() -> Op {
    op(Unit::Wait { vector: 0, other: 0 }, 0)
}

/// Addresses of a wave's lanes, 16 bytes each.
fn row(base: u64, wave: u64) -> [u64; 64] {
    std::array::from_fn(|lane| base + 16 * (64 * wave + lane as u64))
}

fn load(trace: &mut Trace, wave: u32, addresses: &[u64; 64]) {
    trace.vector(wave, LOAD, Policy::plain(AccessKind::Load), &Lanes::new(addresses, u64::MAX, 16));
}

fn kernels() -> Vec<Kernel> {
    let end = op(Unit::End, 4);
    vec![
        Kernel {
            name: "a copy of doubles in a row",
            ops: vec![memory(Unit::Memory, LOAD), all(), memory(Unit::Memory, STORE), end],
            groups: 2048,
            waves: 4,
            wave: |trace, group, wave| {
                for step in 0..4 {
                    let at = 4 * (4 * group + u64::from(wave)) + step;
                    trace.run(wave, 0, 3);
                    load(trace, wave, &row(0x7f00_0000_0000, at));
                    trace.vector(
                        wave,
                        STORE,
                        Policy::plain(AccessKind::Store),
                        &Lanes::new(&row(0x7e00_0000_0000, at), u64::MAX, 16),
                    );
                }
                trace.run(wave, 3, 1);
            },
            first: IdealLimit::Hbm,
        },
        Kernel {
            name: "accesses of the LDS with 32 lanes at one bank",
            ops: vec![memory(Unit::Lds, LOCAL), all(), op(Unit::Vector, 4), end],
            groups: 104,
            waves: 4,
            wave: |trace, _, wave| {
                for _ in 0..200 {
                    trace.run(wave, 0, 3);
                    trace.lds(wave, LdsAccess { slot: LOCAL, cycles: 64, conflicts: 62 });
                }
                trace.run(wave, 3, 1);
            },
            first: IdealLimit::Conflicts,
        },
        Kernel {
            name: "a chain of barriers with one wave at work at a time",
            ops: vec![op(Unit::Vector, 16), op(Unit::Barrier, 4), end],
            groups: 104,
            waves: 8,
            wave: |trace, _, wave| {
                for step in 0..64 {
                    for _ in 0..if step % 8 == wave { 50 } else { 1 } {
                        trace.run(wave, 0, 1);
                    }
                    trace.run(wave, 1, 1);
                }
                trace.run(wave, 2, 1);
            },
            first: IdealLimit::Barriers,
        },
        Kernel {
            name: "vector instructions and nothing else",
            ops: [vec![op(Unit::Vector, 16); 64], vec![end]].concat(),
            groups: 208,
            waves: 4,
            wave: |trace, _, wave| {
                (0..20).for_each(|_| trace.run(wave, 0, 64));
                trace.run(wave, 64, 1);
            },
            first: IdealLimit::Issue,
        },
        Kernel {
            name: "matrix instructions with wait states between them",
            ops: vec![op(Unit::Matrix, 16), op(Unit::Idle, 72), end],
            groups: 104,
            waves: 1,
            wave: |trace, _, wave| {
                (0..200).for_each(|_| trace.run(wave, 0, 2));
                trace.run(wave, 2, 1);
            },
            first: IdealLimit::Matrix,
        },
        Kernel {
            name: "loads of one page after the other",
            ops: vec![memory(Unit::Memory, LOAD), all(), end],
            groups: 8,
            waves: 1,
            wave: |trace, group, wave| {
                for step in 0..64 {
                    trace.run(wave, 0, 2);
                    load(trace, wave, &[(64 * group + step) << 26; 64]);
                }
                trace.run(wave, 2, 1);
            },
            first: IdealLimit::Translation,
        },
        Kernel {
            name: "waves that end at once",
            ops: vec![end],
            groups: 10_000,
            waves: 1,
            wave: |trace, _, wave| trace.run(wave, 0, 1),
            first: IdealLimit::Launch,
        },
        Kernel {
            name: "loads that find their lines in the L2 again and again",
            ops: vec![memory(Unit::Memory, LOAD), all(), end],
            groups: 208,
            waves: 4,
            wave: |trace, _, wave| {
                for step in 0..160 {
                    trace.run(wave, 0, 2);
                    load(trace, wave, &row(0x7f00_0000_0000, 4 * (step % 32) + u64::from(wave)));
                }
                trace.run(wave, 2, 1);
            },
            first: IdealLimit::VectorL1,
        },
    ]
}

/// 2000 matrix instructions by each of four waves of a workgroup, with a pause of cycles after each.
pub(crate) fn matrix_dispatch(groups: u64, pause: u32) -> Kernel {
    let pause = if pause == 0 { op(Unit::Scalar, 4) } else { op(Unit::Idle, pause) };
    working(groups, [op(Unit::Matrix, 16), pause].repeat(50))
}

/// Instructions that a wave of [`working`] goes through in one of its 40 rounds.
pub(crate) const BODY: usize = 100;

/// A dispatch without memory, four waves a workgroup.
pub(crate) fn working(groups: u64, body: Vec<Op>) -> Kernel {
    Kernel {
        name: "work without memory",
        ops: [body, vec![op(Unit::End, 4)]].concat(),
        groups,
        waves: 4,
        wave: |trace, _, wave| {
            (0..40).for_each(|_| trace.run(wave, 0, BODY));
            trace.run(wave, BODY, 1);
        },
        first: IdealLimit::Matrix,
    }
}

/// Cycles of a kernel on MI210.
fn cycles(kernel: &Kernel, rates: &Rates, groups_per_unit: u32) -> u64 {
    let mut gpu = Gpu::with_rates(Model::by_name("mi210").unwrap(), rates);
    run(&mut gpu, kernel, groups_per_unit, Order::Round).cycles
}

pub(crate) fn run(gpu: &mut Gpu, kernel: &Kernel, groups_per_unit: u32, order: Order) -> Outcome {
    let grid = Grid { groups: kernel.groups, groups_per_unit, order, ..Grid::default() };
    gpu.begin(grid, kernel.ops.clone().into());
    for first in (0..kernel.groups).step_by(64) {
        let mut trace = Trace::new(gpu.shape());
        for group in first..(first + 64).min(kernel.groups) {
            trace.begin();
            (0..kernel.waves).for_each(|_| trace.wave());
            (0..kernel.waves).for_each(|wave| (kernel.wave)(&mut trace, group, wave));
        }
        gpu.push(trace.finish());
    }
    gpu.finish(&[])
}

fn rates() -> Rates {
    Rates::of(Model::by_name("mi210").unwrap())
}

#[test]
fn the_limit_of_a_kernel_is_worth_most() {
    for kernel in kernels() {
        assert!(kernel.ops.iter().all(|op| op.slot == NO_SLOT || op.slot <= LOCAL));
        let base = cycles(&kernel, &rates(), 4);
        let mut found: Vec<(u64, IdealLimit)> =
            IdealLimit::ALL.iter().map(|&lift| (cycles(&kernel, &rates().without(lift), 4), lift)).collect();
        // Waves that come sooner meet others at the banks of the memory.
        for (time, lift) in &found {
            assert!(*time as f64 <= 1.03 * base as f64, "{}: {lift:?} {time} of {base}", kernel.name);
        }
        found.sort();
        assert_eq!(found[0].1, kernel.first, "{}: {base} {found:?}", kernel.name);
        assert!((found[0].0 as f64) < 0.8 * base as f64, "{}: {base} {found:?}", kernel.name);
    }
}

#[test]
fn workgroups_that_share_lines_read_them_once_where_they_share_an_xcd() {
    let kernel = Kernel {
        name: "sixteen workgroups in a row load the same lines",
        ops: vec![memory(Unit::Memory, LOAD), all(), op(Unit::End, 4)],
        groups: 4001,
        waves: 1,
        wave: |trace, group, wave| {
            for step in 0..8 {
                trace.run(wave, 0, 2);
                load(trace, wave, &row(0x7f00_0000_0000, 8 * (group / 16) + step));
            }
            trace.run(wave, 2, 1);
        },
        first: IdealLimit::Hbm,
    };
    let lines = |order: Order| {
        let found = run(&mut Gpu::new(Model::by_name("mi300x").unwrap()), &kernel, 8, order);
        found.tally.get(Count::FabricRead128)
    };
    // Each XCD has its own L2.
    let (scattered, together) = (lines(Order::Round), lines(Order::Blocks));
    assert!(together * 7 < scattered, "{scattered} {together}");
}
