//! Compares every shape and type with products from the manual's layout, on asymmetric data.
//!
//! The one idea to keep in mind: the layouts here are independent formulas, one per family of shapes. Values are
//! small integers, so every order of summation gives the same bits.

use super::*;
use crate::engine::{self, Engine};
use crate::lanes::LANES;
use crate::memory::Memory;
use crate::wave::WaveId;
use isa::{Encoding, Op, RegFile, RegRange};

/// Lane and element of A\[i,k\] (or B\[k,i\]) of a block, with `per_lane` elements per lane.
fn place(
    shape: &Matrix,
    size: usize,
    i: usize,
    k: usize,
    block: usize,
    depth: usize,
    bits: usize,
) -> (usize, usize) {
    let blocks = usize::from(shape.blocks);
    match (shape.acc, shape.m) {
        (MatrixType::F64, 4) => (16 * k + 4 * block + i, 0),
        (MatrixType::F64, _) => (16 * k + i, 0),
        (_, 4) => (4 * block + i, k),
        _ if blocks > 1 => (size * block + i, k),
        _ if shape.a == MatrixType::F8F6F4 && bits == 8 => {
            let groups = 64 / size;
            let (half, rest) = (k / (16 * groups), k % (16 * groups));
            (rest / 16 * size + i, 16 * half + rest % 16)
        }
        _ => {
            let per_lane = depth * size / 64;
            (k / per_lane * size + i, k % per_lane)
        }
    }
}

/// Lane and register of D\[i,j\] of a block.
fn result(shape: &Matrix, i: usize, j: usize, block: usize) -> (usize, usize) {
    match (shape.acc, shape.m, shape.blocks) {
        (MatrixType::F64, 4, _) => (16 * i + 4 * block + j, 0),
        (MatrixType::F64, _, _) => (16 * (i % 4) + j, i / 4),
        (_, 4, _) => (4 * block + j, i),
        (_, 16, _) => (16 * (i / 4) + j, i % 4 + 4 * block),
        _ => (32 * (i / 4 % 2) + j, 4 * (i / 8) + i % 4 + 16 * block),
    }
}

/// A small integer that every type can represent, and its code.
fn value(ty: MatrixType, seed: usize, isa: Isa, code: u8) -> (i64, u64) {
    let number = [0i64, 1, -1, 2, -2, 3, 4, 1, -3][seed * 7919 % 1009 % 9];
    let float = number as f32;
    let mini = |format: crate::minifloat::Format| u64::from(format.encode(float, None, false));
    let bits = match ty {
        MatrixType::F64 => (number as f64).to_bits(),
        MatrixType::F32 | MatrixType::Xf32 => u64::from(float.to_bits()),
        MatrixType::F16 => u64::from(crate::half::f32_to_f16(float)),
        MatrixType::Bf16 => u64::from(float.to_bits() >> 16),
        MatrixType::I8 => number as u8 as u64,
        MatrixType::I32 => number as u32 as u64,
        _ => match Element::of(ty, code, isa) {
            Some(Element::Mini(format)) => mini(format),
            _ => 0,
        },
    };
    (number, bits)
}

fn put(wave: &mut Wave, first: usize, lane: usize, element: usize, width: usize, bits: u64) {
    for bit in 0..width {
        let at = element * width + bit;
        let word = &mut wave.v[first + at / 32].0[lane];
        *word = *word & !(1 << (at % 32)) | ((bits >> bit & 1) as u32) << (at % 32);
    }
}

const A: u16 = 0;
const B: u16 = 32;
const C: u16 = 64;
const D: u16 = 128;
const INDEX: u16 = 200;

/// The compilations for any CPU and for this one.
fn engines() -> [Engine; 2] {
    [engine::portable(), crate::cpu::engine()]
}

/// Builds the instruction with formats and modifiers.
fn instruction(op: Op, isa: Isa, change: impl Fn(&mut isa::Mods)) -> Inst {
    let info = op.info();
    let encoding = isa.encodings(op).next().unwrap_or(Encoding::Mai);
    let firsts = [D, A, B, if info.matrix.is_some_and(|it| it.sparse) { INDEX } else { C }, INDEX, INDEX + 1];
    let mut operands = [Operand::Off; 6];
    for ((operand, spec), first) in operands.iter_mut().zip(info.operands).zip(firsts) {
        *operand = Operand::Reg(RegRange::new(RegFile::Vgpr, first, spec.dwords));
    }
    let mut mods = isa::Mods::default();
    change(&mut mods);
    Inst { offset: 0, size: 8, encoding, op, operand_count: info.operands.len() as u8, operands, mods }
}

fn check(engine: &Engine, op: Op, isa: Isa, a_code: u8, b_code: u8) {
    let shape = op.info().matrix.unwrap();
    let name = op.info().name;
    let inst = instruction(op, isa, |mods| {
        if shape.a == MatrixType::F8F6F4 {
            (mods.cbsz, mods.blgp) = (a_code, b_code);
        }
        // The scales are in the second byte.
        (mods.op_sel, mods.op_sel_hi) = if shape.scaled { (3, 0) } else { (0, 0) };
    });
    let mut pool = Pool::default();
    let it = resolve(&inst, isa, Files { accumulators: 256 }, &mut pool).unwrap();
    let (program, memory) = (crate::program::Program::empty(isa), Memory::new());
    let machine = Machine::new(&program.pool, 0, &memory, 0, 0);
    let id = WaveId { workgroup: [0; 3], workgroup_index: 0, wave: 0 };
    let mut wave = Wave::new(id, 512, crate::lanes::Mode(0x3f0), 0);
    let (m, n, k, blocks) =
        (usize::from(shape.m), usize::from(shape.n), usize::from(shape.k), usize::from(shape.blocks));
    let (a_bits, b_bits) = (it.a.ty.bits(), it.b.ty.bits());
    let stored = if shape.sparse { k / 2 } else { k };
    let mut a = vec![0i64; blocks * m * k];
    let mut b = vec![0i64; blocks * k * n];
    // The two stored depths of each four, different for every row and group.
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    for block in 0..blocks {
        for i in 0..m {
            for depth in 0..stored {
                let (number, bits) = value(shape.a, 1 + block * 331 + i * 17 + depth * 5, isa, a_code);
                let (lane, element) = place(&shape, m, i, depth, block, stored, a_bits);
                put(&mut wave, usize::from(A), lane, element, a_bits, bits);
                let mut at = depth;
                if shape.sparse {
                    let (first, second) = pairs[(i * 5 + depth / 2 * 7) % 6];
                    let position = if depth % 2 == 0 { first } else { second };
                    at = depth / 2 * 4 + position;
                    let word = &mut wave.v[usize::from(INDEX)].0[lane];
                    *word |= (position as u32) << (2 * element);
                }
                a[(block * m + i) * k + at] = number;
            }
        }
        for j in 0..n {
            for depth in 0..k {
                let (number, bits) = value(shape.b, 2 + block * 127 + j * 11 + depth * 3, isa, b_code);
                let (lane, element) = place(&shape, n, j, depth, block, k, b_bits);
                put(&mut wave, usize::from(B), lane, element, b_bits, bits);
                b[(block * k + depth) * n + j] = number;
            }
        }
    }
    let scale = |row: usize, group: usize| 1i64 << ((row * 3 + group) % 3);
    if shape.scaled {
        for lane in 0..LANES {
            wave.v[usize::from(INDEX)].0[lane] = (127 + (lane % m * 3 + lane / m) as u32 % 3) << 8;
            wave.v[usize::from(INDEX) + 1].0[lane] = (127 + (lane % n * 3 + lane / n) as u32 % 3) << 8;
        }
    }
    let width = if shape.acc == MatrixType::F64 { 64 } else { 32 };
    let start = usize::from(if shape.sparse { D } else { C });
    let mut expected = Vec::new();
    for block in 0..blocks {
        for i in 0..m {
            for j in 0..n {
                let (number, bits) = value(shape.acc, 3 + block + i * 7 + j * 13, isa, 0);
                let (lane, register) = result(&shape, i, j, block);
                put(&mut wave, start, lane, register, width, bits);
                let sum = (0..k).fold(number, |sum, depth| {
                    let scales = if shape.scaled { scale(i, depth / 32) * scale(j, depth / 32) } else { 1 };
                    sum + a[(block * m + i) * k + depth] * b[(block * k + depth) * n + j] * scales
                });
                expected.push((lane, register, sum));
            }
        }
    }
    (engine.matrix)(&it, &machine, &mut Workplace::default(), &mut wave);
    for (lane, register, sum) in expected {
        let row = usize::from(D) + register * width / 32;
        let found = match shape.acc {
            MatrixType::F64 => {
                let bits = u64::from(wave.v[row].0[lane]) | u64::from(wave.v[row + 1].0[lane]) << 32;
                f64::from_bits(bits) as i64
            }
            MatrixType::I32 => i64::from(wave.v[row].0[lane] as i32),
            _ => f32::from_bits(wave.v[row].0[lane]) as i64,
        };
        assert_eq!(
            found,
            sum,
            "{name} on {}, formats {a_code} {b_code}: lane {lane}, register {register}",
            isa.processor()
        );
    }
}

#[test]
fn every_shape_and_type() {
    let mut count = 0;
    for isa in [Isa::Gfx90a, Isa::Gfx942, Isa::Gfx950] {
        for op in Op::all().filter(|op| op.info().matrix.is_some() && isa.has(*op)) {
            let formats = op.info().matrix.is_some_and(|it| it.a == MatrixType::F8F6F4);
            let codes = if formats { 5 } else { 1 };
            for a in 0..codes {
                for b in 0..codes {
                    for engine in engines() {
                        check(&engine, op, isa, a, b);
                    }
                }
            }
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn blocks_of_a_are_broadcast_and_lanes_of_b_exchanged() {
    let isa = Isa::Gfx90a;
    let op = Op::by_name("v_mfma_f32_4x4x1f32").unwrap();
    let inst = instruction(op, isa, |mods| (mods.cbsz, mods.abid, mods.blgp) = (2, 3, 4));
    let it = resolve(&inst, isa, Files { accumulators: 256 }, &mut Pool::default()).unwrap();
    let (program, memory) = (crate::program::Program::empty(isa), Memory::new());
    let machine = Machine::new(&program.pool, 0, &memory, 0, 0);
    let id = WaveId { workgroup: [0; 3], workgroup_index: 0, wave: 0 };
    for engine in engines() {
        let mut wave = Wave::new(id, 512, crate::lanes::Mode(0x3f0), 0);
        for lane in 0..LANES {
            wave.v[usize::from(A)].0[lane] = (lane as f32).to_bits();
            wave.v[usize::from(B)].0[lane] = (100.0 + lane as f32).to_bits();
        }
        (engine.matrix)(&it, &machine, &mut Workplace::default(), &mut wave);
        for block in 0..16 {
            for i in 0..4 {
                for j in 0..4 {
                    // A of every four blocks is the last one's; B is its first 16 lanes, repeated.
                    let (a, b) = ((block / 4 * 4 + 3) * 4 + i, (4 * block + j) % 16);
                    let found = f32::from_bits(wave.v[usize::from(D) + i].0[4 * block + j]);
                    assert_eq!(found, a as f32 * (100.0 + b as f32), "{block} {i} {j}");
                }
            }
        }
    }
}
