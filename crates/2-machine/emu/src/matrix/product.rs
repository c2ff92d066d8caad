//! Matrix products with single, double and integer accumulators.
//!
//! The one idea to keep in mind: the columns of a result row are in neighbouring lanes, so the innermost loop is
//! a vector multiply-add; four rows at a time share the columns of B. The loop over depth is in order, and each
//! step rounds once. 32-bit accumulators stay in the registers of the wave.

use super::Instruction;
use super::element::Element;
use super::layout::Plan;
use super::packed::{Form, Packed};
use crate::lanes::RowOps;
use crate::lanes::{LANES, Row, set_wide, wide};
use crate::machine::Machine;
use crate::minifloat;
use crate::operand::Src;
use crate::square::{Four, MOST, Square};
use crate::wave::Wave;

/// Unpacked operands, one number per element and lane; the buffers are reused for later instructions.
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

/// Unpacked operands in the cache.
const KEPT: usize = 4;

/// Cache of unpacked operands of single-precision products, because kernels use an operand several times.
#[derive(Debug, Default)]
struct Operands {
    kept: [Option<Box<Kept>>; KEPT],
    /// Entry replaced last.
    oldest: usize,
}

/// Unpacked numbers, with the registers they came from.
#[derive(Debug)]
struct Kept {
    /// Form of the operand; `None` if the numbers do not belong to the registers in `rows`.
    form: Option<Form>,
    rows: [Row; Form::ROWS],
    numbers: [f32; MOST],
}

impl Kept {
    #[cold]
    #[inline(never)]
    fn new() -> Box<Kept> {
        Box::new(Kept { form: None, rows: [Row::ZERO; Form::ROWS], numbers: [0.0; MOST] })
    }

    /// True if the entry matches the form and the contents of the registers.
    #[inline(always)]
    fn is(&self, form: Form, rows: &[Row]) -> bool {
        // Quick test: most other operands already differ in these lanes.
        let first = |rows: &[Row]| rows.first().map(|row| (row.0[0], row.0[21], row.0[42], row.0[63]));
        if self.form != Some(form) || first(&self.rows) != first(rows) {
            return false;
        }
        // A loop instead of iterator adapters, so that it is compiled for this CPU's features.
        for (kept, row) in self.rows.iter().zip(rows).take(form.rows()) {
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
    /// Entry of an operand, and true if it is cached.
    #[inline(always)]
    fn find(&mut self, form: Form, rows: &[Row]) -> (usize, bool) {
        for (place, kept) in self.kept.iter().enumerate() {
            if let Some(kept) = kept
                && kept.is(form, rows)
            {
                return (place, true);
            }
        }
        (self.replaced(), false)
    }

    /// Place of the entry replaced next.
    #[inline(always)]
    fn replaced(&mut self) -> usize {
        self.oldest = (self.oldest + 1) % KEPT;
        self.oldest
    }

    /// Numbers of an operand; those of a `lasting` one, which the caller does not modify, are cached.
    #[inline(always)]
    fn numbers(
        &mut self,
        row_ops: &RowOps,
        operand: &Packed,
        rows: &[Row],
        lasting: bool,
    ) -> &mut [f32; MOST] {
        let form = operand.form.filter(|_| lasting);
        let (place, found) = match form {
            Some(form) => self.find(form, rows),
            None => (self.replaced(), false),
        };
        let kept = self.kept[place].get_or_insert_with(Kept::new);
        if !found {
            operand.unpack(row_ops, rows, &mut kept.numbers);
            kept.form = form;
            for (kept, row) in kept.rows.iter_mut().zip(rows).take(form.map_or(0, Form::rows)) {
                kept.copy_from(row);
            }
        }
        &mut kept.numbers
    }
}

/// Buffers for all accumulator types.
#[derive(Debug, Default)]
pub(crate) struct Workplace {
    single: Option<Box<[Operands; 2]>>,
    double: Option<Numbers<f64>>,
    integer: Option<Numbers<i32>>,
}

/// Accumulator type of a product.
pub(crate) trait Accumulator: Copy + Default {
    /// Type of a sum in storage.
    type Kept: Copy;
    /// Converts a sum from storage.
    fn unpack(kept: Self::Kept) -> Self;
    /// Converts a sum for storage.
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

/// Sums of all lanes in one register.
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

/// Adds the product to the sums, `N` columns at a time. `N` is a power of two that divides all places.
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

/// Source lane of a lane of B, by the exchange (BLGP).
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
    /// Expands sparse A: each element moves to its depth; the others are 0.
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

    /// Applies the lane exchange of B.
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

/// Registers of an operand; a constant fills the most registers an operand can have.
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

/// Product of one block of 16 or 32 rows and columns, whose sums are in groups of four registers at fixed places.
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
                if let Some(fours) = &plan.fours {
                    for four in fours {
                        step_four(a, b, four, (first, column), &mut result);
                    }
                } else {
                    for (&a_place, &b_place) in a_places.iter().zip(b_places) {
                        let from = usize::from(a_place) + first & (MOST - 4);
                        let factors = &a[from..from + 4];
                        let from = usize::from(b_place) + column & (MOST - N);
                        let columns = &b[from..from + N];
                        for row in 0..4 {
                            for column in 0..N {
                                result[row][column] =
                                    T::step(factors[row], columns[column], result[row][column]);
                            }
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

/// Adds four steps of depth for four rows from `first` and `N` columns from `column`.
#[inline(always)]
fn step_four<T: Accumulator, const N: usize>(
    a: &[T; MOST],
    b: &[T; MOST],
    four: &Four,
    (first, column): (usize, usize),
    result: &mut [[T; N]; 4],
) {
    let (Some(a), Some(b)) = (four_rows(a, four.a.0), four_rows(b, four.b.0)) else { return };
    let from = usize::from(four.a.1) + first & (LANES - 4);
    let into = usize::from(four.b.1) + column & (LANES - N);
    for (a, b) in a.iter().zip(b) {
        let (factors, columns) = (&a[from..from + 4], &b[into..into + N]);
        for row in 0..4 {
            for column in 0..N {
                result[row][column] = T::step(factors[row], columns[column], result[row][column]);
            }
        }
    }
}

/// Four consecutive rows of lanes.
#[inline(always)]
fn four_rows<T>(numbers: &[T; MOST], row: u8) -> Option<&[[T; LANES]; 4]> {
    numbers.as_chunks().0.get(usize::from(row)..)?.first_chunk()
}

/// Adds the product to sums in registers.
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

/// f32 accumulators, for `plain` instructions.
#[inline(always)]
pub(super) fn plain(
    it: &Instruction,
    machine: &Machine<'_>,
    workplace: &mut Workplace,
    wave: &mut Wave,
    quick: impl Fn(Square<'_>, [&[f32; MOST]; 2], &mut [Row]) -> bool,
) {
    let (Src::Row(a), Src::Row(b)) = (it.a.src, it.b.src) else { return };
    let row_ops = &machine.row_ops;
    let operands = workplace.single.get_or_insert_default();
    let [left, right] = &mut **operands;
    let a = left.numbers(row_ops, &it.a, wave.v.get(usize::from(a)..).unwrap_or_default(), true);
    let b = right.numbers(row_ops, &it.b, wave.v.get(usize::from(b)..).unwrap_or_default(), true);
    let sums = usize::from(it.dst)..usize::from(it.dst) + it.plan.registers;
    if let Src::Row(row) = it.c
        && row != it.dst
        && usize::from(row) + it.plan.registers <= wave.v.len()
        && sums.end <= wave.v.len()
    {
        wave.v.copy_within(usize::from(row)..usize::from(row) + it.plan.registers, sums.start);
    }
    let sums = wave.v.get_mut(sums).unwrap_or_default();
    if let (Some(depth), true, 1) = (&it.plan.fours, it.shape.m == it.shape.n, it.shape.blocks)
        && quick(Square { size: usize::from(it.shape.m), depth }, [a, b], sums)
    {
        return;
    }
    add_product(it, a, b, sums);
}

/// f32 accumulators.
#[inline(always)]
pub(super) fn single(it: &Instruction, machine: &Machine<'_>, workplace: &mut Workplace, wave: &mut Wave) {
    let plan = &it.plan;
    let mut operands = workplace.single.take().unwrap_or_default();
    let [a, b] = &mut *operands;
    let (a_constant, b_constant);
    let rows = rows!(machine, wave, it.a.src, a_constant);
    let scaled = it.scales.is_some();
    let a = a.numbers(&machine.row_ops, &it.a, rows, !scaled && it.positions.is_none());
    let rows = rows!(machine, wave, it.b.src, b_constant);
    let b = b.numbers(&machine.row_ops, &it.b, rows, !scaled && it.exchange == 0);
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
    workplace.single = Some(operands);
}

/// f64 accumulators.
#[inline(always)]
pub(super) fn double(it: &Instruction, machine: &Machine<'_>, workplace: &mut Workplace, wave: &mut Wave) {
    let plan = &it.plan;
    let mut numbers = workplace.double.take().unwrap_or_default();
    let negate = |bit: u8, row: &mut [f64; LANES]| {
        if it.neg >> bit & 1 != 0 {
            *row = row.map(|value| -value);
        }
    };
    for (bit, src, numbers) in [(0, it.a.src, &mut numbers.a), (1, it.b.src, &mut numbers.b)] {
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
    workplace.double = Some(numbers);
}

/// i32 accumulators, wrapping.
#[inline(always)]
pub(super) fn integer(it: &Instruction, machine: &Machine<'_>, workplace: &mut Workplace, wave: &mut Wave) {
    let plan = &it.plan;
    let mut numbers = workplace.integer.take().unwrap_or_default();
    let (a, b) = (numbers.a.as_chunks_mut().0, &mut numbers.b.as_chunks_mut().0[..plan.b_elements]);
    let (a_constant, b_constant);
    let rows = rows!(machine, wave, it.a.src, a_constant);
    for (j, row) in a[..plan.a_elements].iter_mut().enumerate() {
        Element::integer(rows, j, row);
    }
    let rows = rows!(machine, wave, it.b.src, b_constant);
    for (j, row) in b.iter_mut().enumerate() {
        Element::integer(rows, j, row);
    }
    it.spread_out(wave, machine, a);
    it.exchange(b);
    add_product(it, &numbers.a, &numbers.b, result(it, machine, wave));
    workplace.integer = Some(numbers);
}

/// Registers of the result, initialised with the sums to which the product is added.
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

/// Multiplies every element by the scale of its block of 32 elements of depth.
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
