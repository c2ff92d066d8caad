//! Loads from memory straight into the LDS: they keep it busy, and are waited for as vector memory.

use arch::Model;
use mem::Trace;
use rockhound_clock::{Detail, Gpu, Grid, Op, Unit};
use std::sync::Arc;

/// Cycles of a workgroup whose waves issue some instructions again and again.
fn cycles(waves: usize, times: u32, body: &[Op]) -> u64 {
    let mut gpu = Gpu::new(Model::by_name("mi300x").unwrap());
    gpu.set_detail(Detail::Full);
    let grid = Grid { groups: 1, groups_per_unit: 1, entry: 0x4000, ..Grid::default() };
    let ops: Vec<Op> = body.iter().copied().chain([Op::new(Unit::End, 4)]).collect();
    gpu.begin(grid, Arc::from(ops));
    let mut trace = Trace::new(&gpu.shape().clone());
    trace.begin();
    for wave in 0..waves as u32 {
        trace.wave();
        for _ in 0..times {
            trace.run(wave, 0, body.len());
        }
        trace.run(wave, body.len(), 1);
    }
    gpu.push(trace.finish());
    gpu.finish(&[]).cycles
}

fn load(lds_cycles: u32) -> Op {
    Op { exchange: lds_cycles, ..Op::new(Unit::Memory, 4) }
}

#[test]
fn the_lds_is_busy_while_data_is_written() {
    let exchange = Op { exchange: 2, ..Op::new(Unit::Lds, 4) };
    let wait = Op::new(Unit::Wait { vector: u8::MAX, other: 0 }, 0);
    let of = |lds_cycles| cycles(16, 500, &[load(lds_cycles), exchange, wait]);
    let (without, with) = (of(0), of(16));
    let busy = 16 * 500 * (16 + 2);
    assert!(with >= busy, "{with} < {busy}");
    assert!(without < busy / 2, "{without}");
}

#[test]
fn waits_for_the_lds_do_not_wait_for_loads_into_it() {
    let wait = Op::new(Unit::Wait { vector: u8::MAX, other: 0 }, 0);
    let of = |lds_cycles| cycles(1, 100, &[load(lds_cycles), wait]);
    assert_eq!(of(0), of(8));
}
