//! The product itself, for single, double and integer accumulators.
//!
//! The one idea to keep in mind: the columns of a row of the result lie in neighbouring lanes, so the innermost loop is
//! a vector multiply-add; depth is summed in order, each step rounded once.

use super::Instruction;
use super::element::Element;
use super::layout::{Operand, result};
use crate::lanes::{LANES, Row};
use crate::machine::Machine;
use crate::minifloat;
use crate::operand::Src;
use crate::wave::Wave;

/// Most elements that a lane holds of one operand.
const MOST: usize = 64;

/// First lane and element of each depth.
type Places = [(u8, u8); 128];

fn places(layout: Operand, it: &Instruction, block: usize) -> Places {
    let mut places = [(0, 0); 128];
    for (k, place) in places.iter_mut().enumerate().take(usize::from(it.shape.k)) {
        let (lane, element) = layout.place(k, block);
        *place = (lane as u8, element as u8);
    }
    places
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

/// Everything but the arithmetic.
macro_rules! multiply {
    ($name:ident, $ty:ty, $step:expr) => {
        /// One row of the result for one block: columns in lanes of `into` from `lane` on.
        #[inline(always)]
        fn $name<const N: usize>(
            into: &mut [$ty; LANES],
            lane: usize,
            i: usize,
            depth: usize,
            (a, a_places): (&[[$ty; LANES]], &Places),
            (b, b_places): (&[[$ty; LANES]], &Places),
        ) {
            let Some(into) = into.get_mut(lane..).and_then(<[$ty]>::first_chunk_mut::<N>) else { return };
            let mut sum = *into;
            for (&(a_lane, a_element), &(b_lane, b_element)) in a_places.iter().zip(b_places).take(depth) {
                let factor = a[usize::from(a_element)][(usize::from(a_lane) + i) & 63];
                let columns = b[usize::from(b_element)].get(usize::from(b_lane)..);
                let Some(row) = columns.and_then(<[$ty]>::first_chunk::<N>) else { return };
                for column in 0..N {
                    sum[column] = $step(factor, row[column], sum[column]);
                }
            }
            *into = sum;
        }
    };
}

multiply!(row_single, f32, |a: f32, b: f32, c: f32| a.mul_add(b, c));
multiply!(row_double, f64, |a: f64, b: f64, c: f64| a.mul_add(b, c));
multiply!(row_integer, i32, |a: i32, b: i32, c: i32| a.wrapping_mul(b).wrapping_add(c));

impl Instruction {
    /// Block of A that a block of the result uses.
    fn block_of_a(&self, block: usize) -> usize {
        let (size, chosen) = self.broadcast;
        let group = (1usize << size).min(usize::from(self.shape.blocks));
        if size == 0 { block } else { block / group * group + usize::from(chosen) % group }
    }

    fn layouts(&self) -> (Operand, Operand) {
        let depth = usize::from(self.shape.k);
        let stored = if self.shape.sparse { depth / 2 } else { depth };
        (
            Operand::new(&self.shape, self.a_type, self.shape.m, stored),
            Operand::new(&self.shape, self.b_type, self.shape.n, depth),
        )
    }

    /// Sparse A: each lane's elements at their true depth; the others are 0.
    fn spread_out<T: Copy + Default>(
        &self,
        wave: &Wave,
        machine: &Machine<'_>,
        a: &mut [[T; LANES]],
        stored: usize,
    ) {
        let Some((positions, part)) = self.positions else { return };
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

    /// Layout of A with the elements spread out.
    fn dense(&self) -> Operand {
        Operand::new(&self.shape, self.a_type, self.shape.m, usize::from(self.shape.k))
    }
}

/// f32 accumulators.
#[inline(always)]
pub(super) fn single(it: &Instruction, machine: &mut Machine<'_>, wave: &mut Wave) {
    let (mut a_layout, b_layout) = it.layouts();
    let mut a = [[0.0f32; LANES]; MOST];
    let mut b = [[0.0f32; LANES]; MOST];
    unpack(it.a_type, it.rows(wave, it.a), machine.scalar(wave, it.a), &mut a[..a_layout.per_lane]);
    unpack(it.b_type, it.rows(wave, it.b), machine.scalar(wave, it.b), &mut b[..b_layout.per_lane]);
    if it.positions.is_some() {
        it.spread_out(wave, machine, &mut a, a_layout.per_lane);
        a_layout = it.dense();
    }
    if it.exchange != 0 {
        for row in &mut b[..b_layout.per_lane] {
            let from = *row;
            *row = std::array::from_fn(|lane| from[exchanged(it.exchange, lane)]);
        }
    }
    if let Some([a_scale, b_scale]) = it.scales {
        apply_scale(
            machine,
            wave,
            a_scale,
            usize::from(it.shape.m),
            a_layout,
            usize::from(it.shape.k),
            &mut a,
        );
        apply_scale(
            machine,
            wave,
            b_scale,
            usize::from(it.shape.n),
            b_layout,
            usize::from(it.shape.k),
            &mut b,
        );
    }
    let registers = registers(it);
    let mut sums = [[0.0f32; LANES]; 32];
    for (register, sum) in sums.iter_mut().enumerate().take(registers) {
        *sum = accumulator(it, machine, wave, register).0.map(f32::from_bits);
    }
    for block in 0..usize::from(it.shape.blocks) {
        let (a_places, b_places) = (places(a_layout, it, it.block_of_a(block)), places(b_layout, it, block));
        for i in 0..usize::from(it.shape.m) {
            let (lane, register) = result(&it.shape, i, block);
            let (into, depth) = (&mut sums[register & 31], usize::from(it.shape.k));
            let (left, right) = ((&a[..], &a_places), (&b[..], &b_places));
            match it.shape.n {
                4 => row_single::<4>(into, lane, i, depth, left, right),
                16 => row_single::<16>(into, lane, i, depth, left, right),
                _ => row_single::<32>(into, lane, i, depth, left, right),
            }
        }
    }
    for (register, sum) in sums.iter().enumerate().take(registers) {
        wave.v[usize::from(it.dst) + register] = Row(sum.map(f32::to_bits));
    }
}

/// f64 accumulators.
#[inline(always)]
pub(super) fn double(it: &Instruction, machine: &mut Machine<'_>, wave: &mut Wave) {
    let (a_layout, b_layout) = it.layouts();
    let sign = |bit: u8| if it.neg >> bit & 1 != 0 { -1.0 } else { 1.0 };
    let operand = |src: Src, bit: u8| match src {
        Src::Row(_) => Element::double(it.rows(wave, src), 0).map(|value| value * sign(bit)),
        _ => [f64::from_bits(machine.scalar(wave, src)) * sign(bit); LANES],
    };
    let (a, b) = ([operand(it.a, 0)], [operand(it.b, 1)]);
    let registers = registers(it) / 2;
    let mut sums = [[0.0f64; LANES]; 4];
    for (register, sum) in sums.iter_mut().enumerate().take(registers) {
        let (low, high) =
            (accumulator(it, machine, wave, 2 * register), accumulator(it, machine, wave, 2 * register + 1));
        *sum = std::array::from_fn(|lane| {
            f64::from_bits(u64::from(low.0[lane]) | u64::from(high.0[lane]) << 32) * sign(2)
        });
    }
    for block in 0..usize::from(it.shape.blocks) {
        let (a_places, b_places) = (places(a_layout, it, it.block_of_a(block)), places(b_layout, it, block));
        for i in 0..usize::from(it.shape.m) {
            let (lane, register) = result(&it.shape, i, block);
            let (into, depth) = (&mut sums[register & 3], usize::from(it.shape.k));
            let (left, right) = ((&a[..], &a_places), (&b[..], &b_places));
            match it.shape.n {
                4 => row_double::<4>(into, lane, i, depth, left, right),
                _ => row_double::<16>(into, lane, i, depth, left, right),
            }
        }
    }
    for (register, sum) in sums.iter().enumerate().take(registers) {
        let target = usize::from(it.dst) + 2 * register;
        wave.v[target] = Row(sum.map(|value| value.to_bits() as u32));
        wave.v[target + 1] = Row(sum.map(|value| (value.to_bits() >> 32) as u32));
    }
}

/// i32 accumulators, wrapping.
#[inline(always)]
pub(super) fn integer(it: &Instruction, machine: &mut Machine<'_>, wave: &mut Wave) {
    let (mut a_layout, b_layout) = it.layouts();
    let mut a = [[0i32; LANES]; MOST];
    let mut b = [[0i32; LANES]; MOST];
    for (j, row) in a.iter_mut().enumerate().take(a_layout.per_lane) {
        *row = it.a_type.integer(it.rows(wave, it.a), j);
    }
    for (j, row) in b.iter_mut().enumerate().take(b_layout.per_lane) {
        let values = it.b_type.integer(it.rows(wave, it.b), j);
        *row = std::array::from_fn(|lane| values[exchanged(it.exchange, lane)]);
    }
    if it.positions.is_some() {
        it.spread_out(wave, machine, &mut a, a_layout.per_lane);
        a_layout = it.dense();
    }
    let registers = registers(it);
    let mut sums = [[0i32; LANES]; 32];
    for (register, sum) in sums.iter_mut().enumerate().take(registers) {
        *sum = accumulator(it, machine, wave, register).0.map(|value| value as i32);
    }
    for block in 0..usize::from(it.shape.blocks) {
        let (a_places, b_places) = (places(a_layout, it, it.block_of_a(block)), places(b_layout, it, block));
        for i in 0..usize::from(it.shape.m) {
            let (lane, register) = result(&it.shape, i, block);
            let (into, depth) = (&mut sums[register & 31], usize::from(it.shape.k));
            let (left, right) = ((&a[..], &a_places), (&b[..], &b_places));
            match it.shape.n {
                4 => row_integer::<4>(into, lane, i, depth, left, right),
                16 => row_integer::<16>(into, lane, i, depth, left, right),
                _ => row_integer::<32>(into, lane, i, depth, left, right),
            }
        }
    }
    for (register, sum) in sums.iter().enumerate().take(registers) {
        wave.v[usize::from(it.dst) + register] = Row(sum.map(|value| value as u32));
    }
}

/// Registers of the result.
fn registers(it: &Instruction) -> usize {
    let elements = usize::from(it.shape.m) * usize::from(it.shape.n) * usize::from(it.shape.blocks);
    elements / 64 * if it.shape.acc == isa::MatrixType::F64 { 2 } else { 1 }
}

/// A register of C: its own, or the constant.
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

#[inline(always)]
fn unpack(element: Element, rows: &[Row], constant: u64, out: &mut [[f32; LANES]]) {
    if rows.is_empty() {
        let same = [Row([constant as u32; LANES]); 8];
        out.iter_mut().enumerate().for_each(|(j, row)| *row = element.single(&same, j));
        return;
    }
    out.iter_mut().enumerate().for_each(|(j, row)| *row = element.single(rows, j));
}

/// Multiplies every element by the scale of its 32 neighbours in depth.
fn apply_scale(
    machine: &Machine<'_>,
    wave: &Wave,
    (src, byte): (Src, u8),
    width: usize,
    layout: Operand,
    depth: usize,
    values: &mut [[f32; LANES]],
) {
    let codes = machine.row(wave, src);
    for k in 0..depth {
        let (lane, element) = layout.place(k, 0);
        for i in 0..width {
            let scale = minifloat::scale(codes.0[(width * (k / 32) + i) & 63] >> (8 * byte));
            values[element][(lane + i) & 63] *= scale;
        }
    }
}
