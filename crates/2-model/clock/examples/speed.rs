//! How fast the clock is: seconds for the streams of two kernels, a matrix product and y^T A x.
//!
//! The one idea to keep in mind: the streams are made here, so neither the emulator nor a compiler has a part in what is
//! measured; what is printed beside the seconds must not change when the clock only becomes faster.

use arch::Model;
use clock::{Gpu, Grid, Op, Outcome, Unit};
use mem::{Batch, Kind, Policy, Shape, Trace};
use std::sync::Arc;

const A: u64 = 0x7f00_0000_0000;
const B: u64 = 0x7f00_4000_0000;
const C: u64 = 0x7f00_8000_0000;
const ARGUMENTS: u64 = 0x7e00_0000_0000;

/// A kernel: its instructions, the launch, and what its workgroups do.
struct Kernel {
    name: &'static str,
    ops: Vec<Op>,
    grid: Grid,
    batches: Vec<Batch>,
}

/// Groups of a batch, as the emulator has them.
const BATCH: u64 = 8;

fn kernel(
    name: &'static str,
    shape: &Shape,
    groups: u64,
    ops: Vec<Op>,
    each: impl Fn(&mut Trace, u64),
) -> Kernel {
    let mut batches = Vec::new();
    for first in (0..groups).step_by(BATCH as usize) {
        let mut trace = Trace::new(shape);
        for group in first..(first + BATCH).min(groups) {
            trace.begin();
            trace.wave();
            each(&mut trace, group);
        }
        batches.push(trace.finish());
    }
    let arguments = ARGUMENTS..ARGUMENTS + 64;
    let grid = Grid { groups, groups_per_unit: 16, host: vec![arguments], entry: 0x4000, ..Grid::default() };
    Kernel { name, ops, grid, batches }
}

fn memory(slot: u32) -> Op {
    Op { slot, ..Op::new(Unit::Memory, 4) }
}

/// A product of f16 matrices: each wave has 32 x 32 elements, in steps of 16 with four loads and four MFMAs.
fn gemm(shape: &Shape, n: u64) -> Kernel {
    let wait = |vector| Op::new(Unit::Wait { vector, other: u8::MAX }, 0);
    let valu = Op::new(Unit::Vector, 4);
    let mfma = Op::new(Unit::Matrix, 16);
    let scalar = Op::new(Unit::Scalar, 4);
    let mut ops = vec![
        Op { slot: 0, ..Op::new(Unit::ScalarMemory, 4) },
        Op::new(Unit::Wait { vector: u8::MAX, other: 0 }, 0),
    ];
    ops.extend([valu; 24]);
    let start = ops.len();
    ops.extend([valu, valu, valu, memory(1), memory(2), memory(3), memory(4), scalar, scalar]);
    ops.extend([wait(1), mfma, mfma, wait(0), mfma, mfma, Op::new(Unit::Branch, 4)]);
    let end = ops.len();
    ops.extend((0..16).map(|number| memory(5 + number)));
    ops.push(Op::new(Unit::End, 4));
    let last = ops.len();
    kernel("gemm f16", shape, (n / 32) * (n / 32), ops, |trace, group| {
        let (row, column) = (32 * (group / (n / 32)), 32 * (group % (n / 32)));
        trace.run(0, 0, start);
        trace.scalar(0, Kind::Load, ARGUMENTS, 28);
        for k in (0..n).step_by(16) {
            trace.run(0, start, end - start);
            for (slot, base, first) in [(1, A, row), (2, A, row + 16), (3, B, column), (4, B, column + 16)] {
                let addresses = std::array::from_fn(|lane| {
                    base + 2 * ((first + lane as u64 % 16) * n + 4 * (lane as u64 / 16) + k)
                });
                trace.vector(0, slot, Policy::plain(Kind::Load), &addresses, u64::MAX, 8);
            }
        }
        trace.run(0, end, last - end);
        for number in 0..16 {
            let (i, j, e) = (number / 8, number / 4 % 2, number % 4);
            let addresses = std::array::from_fn(|lane| {
                let lane = lane as u64;
                C + 4 * ((row + 16 * i + 4 * (lane / 16) + e) * n + column + 16 * j + lane % 16)
            });
            trace.vector(0, 5 + number as u32, Policy::plain(Kind::Store), &addresses, u64::MAX, 4);
        }
    })
}

/// y^T A x by rows: lanes read doubles a row apart.
fn rows(shape: &Shape, n: u64) -> Kernel {
    let wait = |vector, other| Op::new(Unit::Wait { vector, other }, 0);
    let valu = Op::new(Unit::Vector, 8);
    let scalar = Op::new(Unit::Scalar, 4);
    let mut ops = vec![Op { slot: 0, ..Op::new(Unit::ScalarMemory, 4) }, wait(u8::MAX, 0)];
    ops.extend([valu; 12]);
    let start = ops.len();
    ops.extend([
        memory(2),
        memory(1),
        scalar,
        scalar,
        valu,
        wait(0, 0),
        valu,
        scalar,
        Op::new(Unit::Branch, 4),
    ]);
    let end = ops.len();
    ops.extend([memory(3), wait(0, u8::MAX), valu, memory(4), Op::new(Unit::End, 4)]);
    let last = ops.len();
    kernel("y^T A x", shape, n / 64, ops, |trace, group| {
        trace.run(0, 0, start);
        trace.scalar(0, Kind::Load, ARGUMENTS, 56);
        for column in 0..n {
            trace.run(0, start, end - start);
            let addresses = std::array::from_fn(|lane| A + 8 * ((64 * group + lane as u64) * n + column));
            trace.vector(0, 2, Policy::plain(Kind::Load), &addresses, u64::MAX, 8);
            trace.vector(0, 1, Policy::plain(Kind::Load), &[B + 8 * column; 64], u64::MAX, 8);
        }
        trace.run(0, end, last - end);
        let own = std::array::from_fn(|lane| C + 8 * (64 * group + lane as u64));
        trace.vector(0, 3, Policy::plain(Kind::Load), &own, u64::MAX, 8);
        trace.vector(0, 4, Policy::plain(Kind::Atomic), &[C; 64], 1, 8);
    })
}

/// A copy of floats in a row.
fn copy(shape: &Shape, groups: u64) -> Kernel {
    let mut ops = vec![
        Op { slot: 0, ..Op::new(Unit::ScalarMemory, 4) },
        Op::new(Unit::Wait { vector: u8::MAX, other: 0 }, 0),
    ];
    ops.extend([Op::new(Unit::Vector, 4); 8]);
    ops.extend([memory(1), Op::new(Unit::Wait { vector: 0, other: u8::MAX }, 0), memory(2)]);
    ops.push(Op::new(Unit::End, 4));
    let last = ops.len();
    kernel("copy", shape, groups, ops, |trace, group| {
        trace.run(0, 0, last);
        trace.scalar(0, Kind::Load, ARGUMENTS, 28);
        for (slot, base, kind) in [(1, A, Kind::Load), (2, C, Kind::Store)] {
            let addresses = std::array::from_fn(|lane| base + 4 * (64 * group + lane as u64));
            trace.vector(0, slot, Policy::plain(kind), &addresses, u64::MAX, 4);
        }
    })
}

/// Seconds that this thread has run.
#[allow(clippy::disallowed_methods, reason = "a program, not the library")]
fn seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|it| it.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

fn run(gpu: &mut Gpu, kernel: &Kernel) -> Outcome {
    gpu.begin(kernel.grid.clone(), Arc::from(&kernel.ops[..]));
    for batch in &kernel.batches {
        gpu.push(batch.clone());
    }
    let code = 0x4000..0x4100;
    gpu.finish(std::slice::from_ref(&code))
}

#[allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a program, not the library")]
fn main() {
    let names = ["mi300x", "mi210"];
    let detail = if std::env::var_os("SHARE").is_some() { clock::Detail::Share } else { clock::Detail::Full };
    // `speed mi300x gemm 1`: one GPU, the kernels whose names begin so, the number of runs.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |at: usize, name: &str| arguments.get(at).is_none_or(|it| name.starts_with(it.as_str()));
    let runs = arguments.get(2).and_then(|it| it.parse().ok()).unwrap_or(3);
    for name in names.into_iter().filter(|name| chosen(0, name)) {
        let model = Model::by_name(name).unwrap();
        let mut gpu = Gpu::new(model);
        gpu.follow(detail);
        let shape = gpu.shape().clone();
        for kernel in [gemm(&shape, 1024), rows(&shape, 4096), copy(&shape, 65_536)] {
            if !chosen(1, kernel.name) {
                continue;
            }
            let mut best = f64::INFINITY;
            let mut shown = String::new();
            for _ in 0..runs {
                let start = seconds();
                let outcome = run(&mut gpu, &kernel);
                best = best.min(seconds() - start);
                let stalled: Vec<u64> = clock::Stall::ALL.iter().map(|&it| outcome.stalled(it)).collect();
                let counts: u64 = mem::Count::ALL
                    .iter()
                    .enumerate()
                    .map(|(at, &it)| (at as u64 + 1) * outcome.tally.get(it))
                    .sum();
                let Outcome { cycles, wave_cycles, unit_cycles, engine_cycles, .. } = outcome;
                shown = format!(
                    "{cycles} {wave_cycles} {unit_cycles} {engine_cycles} {counts} {stalled:?} {:?}",
                    outcome.shared
                );
            }
            println!("{name} {:<8} {best:.3} s  {shown}", kernel.name);
        }
    }
}
