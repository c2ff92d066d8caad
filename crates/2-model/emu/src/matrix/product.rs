//! The product itself, for single, double and integer accumulators.
//!
//! The one idea to keep in mind: the columns of a row of the result lie in neighbouring lanes, so the innermost loop is
//! a vector multiply-add; four rows at a time share the columns of B. Depth is summed in order, each step rounded once.

use super::Instruction;
use super::element::Element;
use super::layout::Plan;
use crate::lanes::{LANES, Row, set_wide, wide};
use crate::machine::Machine;
use crate::minifloat;
use crate::operand::Src;
use crate::wave::Wave;

/// Numbers of an operand at most: 64 elements in each of 64 lanes. A power of two, so that a masked place is inside.
const MOST: usize = 64 * LANES;

/// Operands and result, one number per element and lane; they stay with the machine from one instruction to the next.
#[derive(Debug)]
pub(crate) struct Numbers<T> {
    a: Box<[T; MOST]>,
    b: Box<[T; MOST]>,
    sums: Box<[T; MOST]>,
}

impl<T: Accumulator> Default for Numbers<T> {
    fn default() -> Self {
        let numbers = || Box::new([T::default(); MOST]);
        Numbers { a: numbers(), b: numbers(), sums: numbers() }
    }
}

/// Of every type of accumulator.
#[derive(Debug, Default)]
pub(crate) struct Workplace {
    single: Option<Numbers<f32>>,
    double: Option<Numbers<f64>>,
    integer: Option<Numbers<i32>>,
}

/// A type that products are summed in.
pub(crate) trait Accumulator: Copy + Default {
    /// `a * b + c`, rounded once.
    fn step(a: Self, b: Self, c: Self) -> Self;
}

impl Accumulator for f32 {
    #[inline(always)]
    fn step(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

impl Accumulator for f64 {
    #[inline(always)]
    fn step(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}

impl Accumulator for i32 {
    #[inline(always)]
    fn step(a: i32, b: i32, c: i32) -> i32 {
        a.wrapping_mul(b).wrapping_add(c)
    }
}

impl<T: Accumulator> Numbers<T> {
    /// Adds the product to the sums; `N` columns at a time, a power of two that all places are multiples of.
    #[inline(always)]
    fn multiply<const N: usize>(&mut self, plan: &Plan, columns: usize) {
        let (a, b, sums) = (&*self.a, &*self.b, &mut *self.sums);
        for rows in &plan.rows {
            let (a_places, b_places) = (&plan.a[rows.block], &plan.b[rows.block]);
            for column in (0..columns).step_by(N) {
                let mut result = [[T::default(); N]; 4];
                for (row, &place) in result.iter_mut().zip(&rows.places) {
                    let from = usize::from(place) + column & (MOST - N);
                    row.copy_from_slice(&sums[from..from + N]);
                }
                for (&a_place, &b_place) in a_places.iter().zip(b_places) {
                    let from = usize::from(a_place) + rows.first & (MOST - 4);
                    let factors = &a[from..from + 4];
                    let from = usize::from(b_place) + column & (MOST - N);
                    let columns = &b[from..from + N];
                    for row in 0..4 {
                        for column in 0..N {
                            result[row][column] = T::step(factors[row], columns[column], result[row][column]);
                        }
                    }
                }
                for (row, &place) in result.iter().zip(&rows.places) {
                    let into = usize::from(place) + column & (MOST - N);
                    sums[into..into + N].copy_from_slice(row);
                }
            }
        }
    }
}

/// Lane that a lane of B is taken from.
fn exchanged(exchange: u8, lane: usize) -> usize {
    match exchange {
        1 => lane & 31,
        2 => 32 | lane & 31,
        3 => (lane + 16) & 63,
        4 => lane & 15,
        5 => 16 | lane & 15,
        6 => 32 | lane & 15,
        7 => 48 | lane & 15,
        _ => lane,
    }
}

impl Instruction {
    /// Sparse A: each lane's elements at their true depth; the others are 0.
    fn spread_out<T: Accumulator>(&self, wave: &Wave, machine: &Machine<'_>, a: &mut [[T; LANES]]) {
        let Some((positions, part)) = self.positions else { return };
        let stored = self.plan.a_elements;
        let positions = machine.row(wave, positions);
        let width = 2 * stored;
        let sets = (32 / width).max(1);
        let shift = width * (usize::from(part) % sets);
        let packed: Vec<[T; LANES]> = a[..stored].to_vec();
        a[..2 * stored].fill([T::default(); LANES]);
        for (element, values) in packed.iter().enumerate() {
            for lane in 0..LANES {
                let position = positions.0[lane] >> (shift + 2 * element) & 3;
                a[element / 2 * 4 + position as usize][lane] = values[lane];
            }
        }
    }

    /// Lanes of B as the instruction exchanges them.
    #[inline(always)]
    fn exchange<T: Copy>(&self, b: &mut [[T; LANES]]) {
        if self.exchange == 0 {
            return;
        }
        for row in b {
            let from = *row;
            *row = std::array::from_fn(|lane| from[exchanged(self.exchange, lane)]);
        }
    }
}

/// Registers of an operand; a constant stands in as many as there can be.
macro_rules! rows {
    ($machine:ident, $wave:ident, $src:expr, $place:ident) => {
        match $src {
            Src::Row(row) => $wave.v.get(usize::from(row)..).unwrap_or(&[]),
            src => {
                $place = [Row([$machine.scalar($wave, src) as u32; LANES]); 8];
                &$place[..]
            }
        }
    };
}

/// f32 accumulators.
#[inline(always)]
pub(super) fn single(it: &Instruction, machine: &mut Machine<'_>, wave: &mut Wave) {
    let plan = &it.plan;
    let mut numbers = machine.matrix.single.take().unwrap_or_default();
    let (a, b) = (numbers.a.as_chunks_mut().0, &mut numbers.b.as_chunks_mut().0[..plan.b_elements]);
    let (a_constant, b_constant);
    let rows = rows!(machine, wave, it.a, a_constant);
    for (j, row) in a[..plan.a_elements].iter_mut().enumerate() {
        it.a_type.single(&machine.engine, rows, &it.a_codes, j, row);
    }
    let rows = rows!(machine, wave, it.b, b_constant);
    for (j, row) in b.iter_mut().enumerate() {
        it.b_type.single(&machine.engine, rows, &it.b_codes, j, row);
    }
    it.spread_out(wave, machine, a);
    it.exchange(b);
    if let Some([a_scale, b_scale]) = it.scales {
        apply_scale(machine, wave, a_scale, usize::from(it.shape.m), &plan.a[0], a);
        apply_scale(machine, wave, b_scale, usize::from(it.shape.n), &plan.b[0], b);
    }
    for (register, sum) in numbers.sums.as_chunks_mut::<LANES>().0.iter_mut().enumerate().take(plan.registers)
    {
        let row = accumulator(it, machine, wave, register);
        for lane in 0..LANES {
            sum[lane] = f32::from_bits(row.0[lane]);
        }
    }
    match it.shape.n {
        4 => numbers.multiply::<4>(plan, 4),
        n => numbers.multiply::<16>(plan, usize::from(n)),
    }
    for (row, sum) in result(it, wave).iter_mut().zip(numbers.sums.as_chunks::<LANES>().0) {
        put(row, sum, f32::to_bits);
    }
    machine.matrix.single = Some(numbers);
}

/// f64 accumulators.
#[inline(always)]
pub(super) fn double(it: &Instruction, machine: &mut Machine<'_>, wave: &mut Wave) {
    let plan = &it.plan;
    let mut numbers = machine.matrix.double.take().unwrap_or_default();
    let negate = |bit: u8, row: &mut [f64; LANES]| {
        if it.neg >> bit & 1 != 0 {
            *row = row.map(|value| -value);
        }
    };
    for (bit, src, numbers) in [(0, it.a, &mut numbers.a), (1, it.b, &mut numbers.b)] {
        let Some(row) = numbers.first_chunk_mut::<LANES>() else { return };
        match src {
            Src::Row(first) => Element::double(&wave.v[usize::from(first)..], 0, row),
            _ => *row = [f64::from_bits(machine.scalar(wave, src)); LANES],
        }
        negate(bit, row);
    }
    for (register, sum) in numbers.sums.as_chunks_mut::<LANES>().0.iter_mut().enumerate().take(plan.registers)
    {
        let pair = [0, 1].map(|half| accumulator(it, machine, wave, 2 * register + half));
        for lane in 0..LANES {
            sum[lane] = f64::from_bits(wide(&pair, lane));
        }
        negate(2, sum);
    }
    match it.shape.n {
        4 => numbers.multiply::<4>(plan, 4),
        n => numbers.multiply::<8>(plan, usize::from(n)),
    }
    for (pair, sum) in
        result(it, wave).as_chunks_mut::<2>().0.iter_mut().zip(numbers.sums.as_chunks::<LANES>().0)
    {
        for lane in 0..LANES {
            set_wide(pair, lane, sum[lane].to_bits());
        }
    }
    machine.matrix.double = Some(numbers);
}

/// i32 accumulators, wrapping.
#[inline(always)]
pub(super) fn integer(it: &Instruction, machine: &mut Machine<'_>, wave: &mut Wave) {
    let plan = &it.plan;
    let mut numbers = machine.matrix.integer.take().unwrap_or_default();
    let (a, b) = (numbers.a.as_chunks_mut().0, &mut numbers.b.as_chunks_mut().0[..plan.b_elements]);
    let (a_constant, b_constant);
    let rows = rows!(machine, wave, it.a, a_constant);
    for (j, row) in a[..plan.a_elements].iter_mut().enumerate() {
        Element::integer(rows, j, row);
    }
    let rows = rows!(machine, wave, it.b, b_constant);
    for (j, row) in b.iter_mut().enumerate() {
        Element::integer(rows, j, row);
    }
    it.spread_out(wave, machine, a);
    it.exchange(b);
    for (register, sum) in numbers.sums.as_chunks_mut::<LANES>().0.iter_mut().enumerate().take(plan.registers)
    {
        let row = accumulator(it, machine, wave, register);
        for lane in 0..LANES {
            sum[lane] = row.0[lane] as i32;
        }
    }
    match it.shape.n {
        4 => numbers.multiply::<4>(plan, 4),
        n => numbers.multiply::<16>(plan, usize::from(n)),
    }
    for (row, sum) in result(it, wave).iter_mut().zip(numbers.sums.as_chunks::<LANES>().0) {
        put(row, sum, |value| value as u32);
    }
    machine.matrix.integer = Some(numbers);
}

/// Writes a row of the result. A function of its own, so that the compiler knows the two rows to be different ones.
#[inline(always)]
fn put<T: Copy>(row: &mut Row, sum: &[T; LANES], bits: impl Fn(T) -> u32) {
    for lane in 0..LANES {
        row.0[lane] = bits(sum[lane]);
    }
}

/// Rows of the result.
#[inline(always)]
fn result<'w>(it: &Instruction, wave: &'w mut Wave) -> &'w mut [Row] {
    let rows = it.plan.registers * if it.shape.acc == isa::MatrixType::F64 { 2 } else { 1 };
    let first = usize::from(it.dst);
    wave.v.get_mut(first..first + rows).unwrap_or_default()
}

/// A register of C: its own, or the constant.
#[inline(always)]
fn accumulator(it: &Instruction, machine: &Machine<'_>, wave: &Wave, register: usize) -> Row {
    match it.c {
        Src::Row(row) => wave.v[usize::from(row) + register],
        src => {
            let value = machine.scalar(wave, src);
            let high = it.shape.acc == isa::MatrixType::F64 && register % 2 == 1;
            Row([if high { (value >> 32) as u32 } else { value as u32 }; LANES])
        }
    }
}

/// Multiplies every element by the scale of its 32 neighbours in depth.
fn apply_scale(
    machine: &Machine<'_>,
    wave: &Wave,
    (src, byte): (Src, u8),
    width: usize,
    places: &[u16],
    values: &mut [[f32; LANES]],
) {
    let codes = machine.row(wave, src);
    let values = values.as_flattened_mut();
    for (k, &place) in places.iter().enumerate() {
        let row = values.get_mut(usize::from(place)..usize::from(place) + width).unwrap_or_default();
        for (i, value) in row.iter_mut().enumerate() {
            *value *= minifloat::scale(codes.0[(width * (k / 32) + i) & 63] >> (8 * byte));
        }
    }
}
