//! The product itself, for single, double and integer accumulators.
//!
//! The one idea to keep in mind: the columns of a row of the result lie in neighbouring lanes, so the innermost loop is
//! a vector multiply-add; four rows at a time share the columns of B. Depth is summed in order, each step rounded once.
//! Accumulators of 32 bits stay in the registers of the wave.

use super::Instruction;
use super::element::Element;
use super::layout::Plan;
use crate::engine::Engine;
use crate::lanes::{LANES, Row, set_wide, wide};
use crate::machine::Machine;
use crate::minifloat;
use crate::operand::Src;
use crate::wave::Wave;

/// Numbers of an operand at most: 64 elements in each of 64 lanes. A power of two, so that a masked place is inside.
const MOST: usize = 64 * LANES;

/// Operands, one number per element and lane; they stay with the machine from one instruction to the next.
#[derive(Debug)]
pub(crate) struct Numbers<T> {
    a: Box<[T; MOST]>,
    b: Box<[T; MOST]>,
}

impl<T: Accumulator> Default for Numbers<T> {
    fn default() -> Self {
        let numbers = || Box::new([T::default(); MOST]);
        Numbers { a: numbers(), b: numbers() }
    }
}

/// Operands that stay unpacked.
const KEPT: usize = 4;

/// Operands of single-precision products: kernels use each of them several times.
#[derive(Debug, Default)]
struct Operands {
    kept: [Option<Box<Kept>>; KEPT],
    /// The one that gives way next.
    oldest: usize,
}

/// An operand and the registers it was unpacked from.
#[derive(Debug)]
struct Kept {
    /// `None` when the numbers are not those of the registers.
    ty: Option<Element>,
    elements: usize,
    rows: [Row; 8],
    numbers: [f32; MOST],
}

impl Kept {
    /// Whether it is what the registers hold.
    #[inline(always)]
    fn is(&self, ty: Element, elements: usize, rows: &[Row]) -> bool {
        if self.ty != Some(ty) || self.elements != elements {
            return false;
        }
        let used = (elements * ty.bits()).div_ceil(32);
        // Loops and not adapters, so that they are compiled for the CPU at hand.
        for (kept, row) in self.rows.iter().zip(rows).take(used) {
            let mut differing = 0;
            for lane in 0..LANES {
                differing |= kept.0[lane] ^ row.0[lane];
            }
            if differing != 0 {
                return false;
            }
        }
        true
    }
}

impl Operands {
    /// The numbers of an operand; `changed` says that the caller changes them.
    #[inline(always)]
    fn unpack(
        &mut self,
        ty: Element,
        engine: &Engine,
        rows: &[Row],
        codes: &[f32],
        elements: usize,
        changed: bool,
    ) -> &mut [f32; MOST] {
        let mut found = None;
        for (place, kept) in self.kept.iter().enumerate() {
            if let (Some(kept), false) = (kept, changed)
                && kept.is(ty, elements, rows)
            {
                found = Some(place);
                break;
            }
        }
        let place = match found {
            Some(place) => place,
            None => {
                self.oldest = (self.oldest + 1) % KEPT;
                self.oldest
            }
        };
        let kept = self.kept[place].get_or_insert_with(|| {
            Box::new(Kept { ty: None, elements: 0, rows: [Row::ZERO; 8], numbers: [0.0; MOST] })
        });
        if found.is_none() {
            ty.single(engine, rows, codes, &mut kept.numbers.as_chunks_mut().0[..elements]);
            let used = (elements * ty.bits()).div_ceil(32);
            (kept.ty, kept.elements) = ((!changed && used <= 8).then_some(ty), elements);
            for (kept, row) in kept.rows.iter_mut().zip(rows).take(used) {
                kept.copy_from(row);
            }
        }
        &mut kept.numbers
    }
}

/// Of every type of accumulator.
#[derive(Debug, Default)]
pub(crate) struct Workplace {
    single: Option<Box<[Operands; 2]>>,
    double: Option<Numbers<f64>>,
    integer: Option<Numbers<i32>>,
}

/// A type that products are summed in.
pub(crate) trait Accumulator: Copy + Default {
    /// How sums are kept.
    type Kept: Copy;
    /// A sum from how it is kept.
    fn unpack(kept: Self::Kept) -> Self;
    /// How a sum is kept.
    fn pack(self) -> Self::Kept;
    /// `a * b + c`, rounded once.
    fn step(a: Self, b: Self, c: Self) -> Self;
}

impl Accumulator for f32 {
    type Kept = u32;

    #[inline(always)]
    fn unpack(kept: u32) -> f32 {
        f32::from_bits(kept)
    }

    #[inline(always)]
    fn pack(self) -> u32 {
        self.to_bits()
    }

    #[inline(always)]
    fn step(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

impl Accumulator for f64 {
    type Kept = f64;

    #[inline(always)]
    fn unpack(kept: f64) -> f64 {
        kept
    }

    #[inline(always)]
    fn pack(self) -> f64 {
        self
    }

    #[inline(always)]
    fn step(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}

impl Accumulator for i32 {
    type Kept = u32;

    #[inline(always)]
    fn unpack(kept: u32) -> i32 {
        kept as i32
    }

    #[inline(always)]
    fn pack(self) -> u32 {
        self as u32
    }

    #[inline(always)]
    fn step(a: i32, b: i32, c: i32) -> i32 {
        a.wrapping_mul(b).wrapping_add(c)
    }
}

/// A register of sums of all lanes.
trait Sums {
    type Kept;
    fn lanes(&mut self) -> &mut [Self::Kept; LANES];
}

impl Sums for Row {
    type Kept = u32;

    #[inline(always)]
    fn lanes(&mut self) -> &mut [u32; LANES] {
        &mut self.0
    }
}

impl Sums for [f64; LANES] {
    type Kept = f64;

    #[inline(always)]
    fn lanes(&mut self) -> &mut [f64; LANES] {
        self
    }
}

impl<T: Accumulator> Numbers<T> {
    #[inline(always)]
    fn multiply<const N: usize>(&self, plan: &Plan, columns: usize, sums: &mut [impl Sums<Kept = T::Kept>]) {
        multiply::<T, N>(&self.a, &self.b, plan, columns, sums);
    }
}

/// Adds the product to the sums; `N` columns at a time, a power of two that all places are multiples of.
#[inline(always)]
fn multiply<T: Accumulator, const N: usize>(
    a: &[T; MOST],
    b: &[T; MOST],
    plan: &Plan,
    columns: usize,
    sums: &mut [impl Sums<Kept = T::Kept>],
) {
    for rows in &plan.rows {
        let (a_places, b_places) = (&plan.a[rows.block], &plan.b[rows.block]);
        for column in (0..columns).step_by(N) {
            let mut result = [[T::default(); N]; 4];
            for (row, &place) in result.iter_mut().zip(&rows.places) {
                let Some(sum) = sums.get_mut(usize::from(place) / LANES) else { return };
                let from = usize::from(place) % LANES + column & (LANES - N);
                for (value, kept) in row.iter_mut().zip(&sum.lanes()[from..from + N]) {
                    *value = T::unpack(*kept);
                }
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
                let Some(sum) = sums.get_mut(usize::from(place) / LANES) else { return };
                let into = usize::from(place) % LANES + column & (LANES - N);
                for (kept, value) in sum.lanes()[into..into + N].iter_mut().zip(row) {
                    *kept = value.pack();
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

/// The product of one block of 16 or 32 rows and columns: results lie in groups of four registers, and every place is
/// known beforehand.
#[inline(always)]
fn square<T: Accumulator, const SIZE: usize>(a: &[T; MOST], b: &[T; MOST], plan: &Plan, sums: &mut [Row])
where
    Row: Sums<Kept = T::Kept>,
{
    const N: usize = 16;
    let (Some(a_places), Some(b_places)) = (plan.a.first(), plan.b.first()) else { return };
    for (number, four) in sums.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        for group in 0..LANES / SIZE {
            let first = 4 * (number * (LANES / SIZE) + group);
            for column in (0..SIZE).step_by(N) {
                let lane = SIZE * group + column;
                let mut result = [[T::default(); N]; 4];
                for (row, sum) in result.iter_mut().zip(four.iter_mut()) {
                    for (value, kept) in row.iter_mut().zip(&sum.lanes()[lane..lane + N]) {
                        *value = T::unpack(*kept);
                    }
                }
                for (&a_place, &b_place) in a_places.iter().zip(b_places) {
                    let from = usize::from(a_place) + first & (MOST - 4);
                    let factors = &a[from..from + 4];
                    let from = usize::from(b_place) + column & (MOST - N);
                    let columns = &b[from..from + N];
                    for row in 0..4 {
                        for column in 0..N {
                            result[row][column] = T::step(factors[row], columns[column], result[row][column]);
                        }
                    }
                }
                for (row, sum) in result.iter().zip(four.iter_mut()) {
                    for (kept, value) in sum.lanes()[lane..lane + N].iter_mut().zip(row) {
                        *kept = value.pack();
                    }
                }
            }
        }
    }
}

/// Adds the product to registers.
#[inline(always)]
fn add_product<T: Accumulator>(it: &Instruction, a: &[T; MOST], b: &[T; MOST], sums: &mut [Row])
where
    Row: Sums<Kept = T::Kept>,
{
    match (it.shape.m, it.shape.n, it.shape.blocks) {
        (16, 16, 1) => square::<T, 16>(a, b, &it.plan, sums),
        (32, 32, 1) => square::<T, 32>(a, b, &it.plan, sums),
        (_, 4, _) => multiply::<T, 4>(a, b, &it.plan, 4, sums),
        (_, n, _) => multiply::<T, 16>(a, b, &it.plan, usize::from(n), sums),
    }
}

/// f32 accumulators.
#[inline(always)]
pub(super) fn single(it: &Instruction, machine: &mut Machine<'_>, wave: &mut Wave) {
    let plan = &it.plan;
    let mut operands = machine.matrix.single.take().unwrap_or_default();
    let [a, b] = &mut *operands;
    let scaled = it.scales.is_some();
    let (a_constant, b_constant);
    let rows = rows!(machine, wave, it.a, a_constant);
    let changed = scaled || it.positions.is_some();
    let a = a.unpack(it.a_type, &machine.engine, rows, &it.a_codes, plan.a_elements, changed);
    let rows = rows!(machine, wave, it.b, b_constant);
    let changed = scaled || it.exchange != 0;
    let b = b.unpack(it.b_type, &machine.engine, rows, &it.b_codes, plan.b_elements, changed);
    {
        let (a, b) = (a.as_chunks_mut().0, &mut b.as_chunks_mut().0[..plan.b_elements]);
        it.spread_out(wave, machine, a);
        it.exchange(b);
        if let Some([a_scale, b_scale]) = it.scales {
            apply_scale(machine, wave, a_scale, usize::from(it.shape.m), &plan.a[0], a);
            apply_scale(machine, wave, b_scale, usize::from(it.shape.n), &plan.b[0], b);
        }
    }
    add_product(it, a, b, result(it, machine, wave));
    machine.matrix.single = Some(operands);
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
    let mut sums = [[0.0; LANES]; 4];
    let sums = sums.get_mut(..plan.registers).unwrap_or_default();
    for (pair, sum) in result(it, machine, wave).as_chunks::<2>().0.iter().zip(&mut *sums) {
        for lane in 0..LANES {
            sum[lane] = f64::from_bits(wide(pair, lane));
        }
        negate(2, sum);
    }
    match it.shape.n {
        4 => numbers.multiply::<4>(plan, 4, sums),
        n => numbers.multiply::<8>(plan, usize::from(n), sums),
    }
    let first = usize::from(it.dst);
    let rows = wave.v.get_mut(first..first + 2 * plan.registers).unwrap_or_default();
    for (pair, sum) in rows.as_chunks_mut::<2>().0.iter_mut().zip(sums) {
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
    add_product(it, &numbers.a, &numbers.b, result(it, machine, wave));
    machine.matrix.integer = Some(numbers);
}

/// The registers of the result, with what is to be added to the product in them.
#[inline(always)]
fn result<'w>(it: &Instruction, machine: &Machine<'_>, wave: &'w mut Wave) -> &'w mut [Row] {
    let double = it.shape.acc == isa::MatrixType::F64;
    let count = it.plan.registers * if double { 2 } else { 1 };
    let first = usize::from(it.dst);
    match it.c {
        Src::Row(row) if row == it.dst => {}
        Src::Row(row) => {
            let row = usize::from(row);
            if row.max(first) + count <= wave.v.len() {
                wave.v.copy_within(row..row + count, first);
            }
        }
        src => {
            let value = machine.scalar(wave, src);
            for (number, row) in wave.v.iter_mut().skip(first).take(count).enumerate() {
                let high = double && number % 2 == 1;
                *row = Row([if high { (value >> 32) as u32 } else { value as u32 }; LANES]);
            }
        }
    }
    wave.v.get_mut(first..first + count).unwrap_or_default()
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
