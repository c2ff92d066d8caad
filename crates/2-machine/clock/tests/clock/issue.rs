//! Cycles of instructions of one wave, or of two waves of a SIMD, beside measured ones (docs/model/issue.md).

use arch::Model;
use mem::{LdsAccess, Trace};
use rockhound_clock::{Detail, Gpu, Grid, Op, Unit};
use std::sync::Arc;

const MATRIX: Op = Op::new(Unit::Matrix, 16);
const VECTOR: Op = Op::new(Unit::Vector, 4);
const PACKED: Op = Op::new(Unit::Packed, 4);
const EXPONENT: Op = Op::new(Unit::Vector, 16);
const SPLIT: Op = Op { split_fetch: 1, ..VECTOR };
const WAIT: Op = Op::new(Unit::Wait { vector: u8::MAX, other: 0 }, 0);

/// An LDS access of a slot, by the cycles of the LDS without conflicts.
const fn local(slot: u32) -> Op {
    Op { slot, ..Op::new(Unit::Lds, 4) }
}

/// Cycles of a workgroup. Each wave with instructions repeats them, with an access for each LDS instruction; the waves
/// are on one SIMD.
fn cycles(times: usize, waves: &[&[Op]], access: Option<LdsAccess>) -> u64 {
    let mut gpu = Gpu::new(Model::by_name("mi300x").unwrap());
    gpu.set_detail(Detail::Full);
    gpu.begin(Grid { groups: 1, groups_per_unit: 1, entry: 0x4000, ..Grid::default() }, {
        let all = waves.iter().flat_map(|body| body.repeat(times).into_iter().chain([Op::new(Unit::End, 4)]));
        Arc::from(all.chain([Op::new(Unit::End, 4)]).collect::<Vec<_>>())
    });
    let mut trace = Trace::new(&gpu.shape().clone());
    trace.begin();
    let ends = waves.iter().map(|body| body.len() * times + 1);
    let last: usize = ends.clone().sum();
    let mut first = 0;
    // Every fourth wave is on the first SIMD.
    for (number, count) in ends.enumerate() {
        for wave in 4 * number..4 * (number + 1) {
            trace.wave();
            match wave % 4 {
                0 => trace.run(wave as u32, first, count),
                _ => trace.run(wave as u32, last, 1),
            }
        }
        let accesses = waves[number].repeat(times).into_iter().filter(|op| op.unit == Unit::Lds);
        for op in accesses {
            let access = access.expect("an access");
            trace.lds(4 * number as u32, LdsAccess { slot: op.slot, ..access });
        }
        first += count;
    }
    gpu.push(trace.finish());
    gpu.finish(&[]).cycles
}

/// Cycles of one repetition.
fn slope(waves: &[&[Op]], access: Option<LdsAccess>) -> u64 {
    (cycles(2000, waves, access) - cycles(1000, waves, access) + 500) / 1000
}

#[test]
fn vector_instructions_hide_behind_matrix_instructions_as_measured() {
    let same = |op: Op, count: usize| slope(&[&[&[MATRIX][..], &vec![op; count]].concat()], None);
    for (op, expected) in
        [(VECTOR, [16, 16, 16, 20]), (EXPONENT, [20, 36, 52, 68]), (PACKED, [20, 24, 28, 32])]
    {
        assert_eq!([1, 2, 3, 4].map(|count| same(op, count)), expected);
    }
    // Beside matrix instructions of another wave.
    assert_eq!(slope(&[&[MATRIX], &[PACKED; 4]], None), 32);
}

#[test]
fn a_wave_alone_waits_for_the_second_half_of_an_instruction() {
    assert_eq!([VECTOR, SPLIT].map(|op| slope(&[&[op]], None)), [4, 5]);
    // Another wave, which takes longer, uses the cycle.
    assert_eq!(slope(&[&[SPLIT], &[VECTOR; 4]], None), 20);
}

#[test]
fn one_wave_sees_half_of_the_rate_of_the_lds() {
    let access = |cycles: u32, conflicts: u32| Some(LdsAccess { slot: 0, cycles, conflicts });
    let [dword, four, four_lanes, bank] = [access(2, 0), access(8, 0), access(8, 6), access(64, 62)];
    let used = |access| slope(&[&[local(0), WAIT, local(1), WAIT]], access) / 2;
    assert_eq!([dword, four, four_lanes, bank].map(used), [52, 64, 56, 112]);
    let streamed = |access| slope(&[&[local(0), local(1)]], access) / 2;
    assert_eq!([dword, four, bank].map(streamed), [4, 16, 64]);
}
