//! In-place kernels: their result may overlap their sources.
//!
//! The one idea to keep in mind: a result lane depends on the same lane of the sources only. A kernel reads its
//! lanes before it writes them, so registers may overlap and no copy is needed.

use crate::lanes::{Cells, LANES, Row};
use crate::raw::eights;
use std::cell::Cell;

/// Groups of eight lanes. Loops count them: iterators in pairs and `map` of arrays are functions of their own, into which
/// nothing that needs the CPU's features is inlined.
const EIGHTS: usize = LANES / 8;

/// Computes a result from up to three sources; the number is the immediate of the instruction.
pub(crate) type InPlace = fn(&Cells, &Cells, &Cells, &Cells, u32);

/// Coerces a closure to an in-place kernel.
#[inline(always)]
pub(crate) fn in_place(function: InPlace) -> InPlace {
    function
}

/// Adapters of one 32-bit type, like those of the same names in `lanes`.
macro_rules! adapters {
    ($one:ident $two:ident $three:ident: $from:expr, $into:expr; $ty:ty => $result:ty) => {
        #[inline(always)]
        #[allow(dead_code, reason = "every type has the same three")]
        pub(crate) fn $one(o: &Cells, a: &Cells, _: &Cells, _: &Cells, _: u32, f: impl Fn($ty) -> $result) {
            let (o, a) = (eights(&o[0]), eights(&a[0]));
            for eight in 0..EIGHTS {
                let (mut o_lanes, a) = (o[eight].get(), a[eight].get());
                for lane in 0..8 {
                    o_lanes[lane] = $into(f($from(a[lane])));
                }
                o[eight].set(o_lanes);
            }
        }

        #[inline(always)]
        #[allow(dead_code, reason = "every type has the same three")]
        pub(crate) fn $two(
            o: &Cells,
            a: &Cells,
            b: &Cells,
            _: &Cells,
            _: u32,
            f: impl Fn($ty, $ty) -> $result,
        ) {
            let (o, a, b) = (eights(&o[0]), eights(&a[0]), eights(&b[0]));
            for eight in 0..EIGHTS {
                let (mut o_lanes, a, b) = (o[eight].get(), a[eight].get(), b[eight].get());
                for lane in 0..8 {
                    o_lanes[lane] = $into(f($from(a[lane]), $from(b[lane])));
                }
                o[eight].set(o_lanes);
            }
        }

        #[inline(always)]
        #[allow(dead_code, reason = "every type has the same three")]
        pub(crate) fn $three(
            o: &Cells,
            a: &Cells,
            b: &Cells,
            c: &Cells,
            _: u32,
            f: impl Fn($ty, $ty, $ty) -> $result,
        ) {
            let (o, a, b, c) = (eights(&o[0]), eights(&a[0]), eights(&b[0]), eights(&c[0]));
            for eight in 0..EIGHTS {
                let (mut o_lanes, a, b, c) = (o[eight].get(), a[eight].get(), b[eight].get(), c[eight].get());
                for lane in 0..8 {
                    o_lanes[lane] = $into(f($from(a[lane]), $from(b[lane]), $from(c[lane])));
                }
                o[eight].set(o_lanes);
            }
        }
    };
}

adapters!(u32_1 u32_2 u32_3: |v: u32| v, |v: u32| v; u32 => u32);
adapters!(i32_1 i32_2 i32_3: |v: u32| v as i32, |v: i32| v as u32; i32 => i32);
adapters!(f32_1 f32_2 f32_3: f32::from_bits, f32::to_bits; f32 => f32);
adapters!(f32_to_u32_1 f32_to_u32_2 f32_to_u32_3: f32::from_bits, |v: u32| v; f32 => u32);
adapters!(u32_to_f32_1 u32_to_f32_2 u32_to_f32_3: |v: u32| v, f32::to_bits; u32 => f32);

/// Two f32 operations. Bits 0 to 2 of the number select low or high register of each source for the first
/// operation, bits 3 to 5 for the second.
#[inline(always)]
pub(crate) fn packed_f32(
    o: &Cells,
    a: &Cells,
    b: &Cells,
    c: &Cells,
    number: u32,
    f: impl Fn(f32, f32, f32) -> f32,
) {
    let chosen = |bit: usize| eights(&[a, b, c][bit % 3][(number >> bit & 1) as usize]);
    let sources = [chosen(0), chosen(1), chosen(2), chosen(3), chosen(4), chosen(5)];
    for eight in 0..EIGHTS {
        let get = |source: usize| sources[source][eight].get();
        let ([p, q, r], [s, t, u]) = ([get(0), get(1), get(2)], [get(3), get(4), get(5)]);
        let mut sums = [[0; 8]; 2];
        for lane in 0..8 {
            sums[0][lane] =
                f(f32::from_bits(p[lane]), f32::from_bits(q[lane]), f32::from_bits(r[lane])).to_bits();
        }
        for lane in 0..8 {
            sums[1][lane] =
                f(f32::from_bits(s[lane]), f32::from_bits(t[lane]), f32::from_bits(u[lane])).to_bits();
        }
        eights(&o[0])[eight].set(sums[0]);
        eights(&o[1])[eight].set(sums[1]);
    }
}

/// A pair of dwords from two pairs and a dword.
#[inline(always)]
pub(crate) fn shift_add_wide(
    o: &Cells,
    a: &Cells,
    b: &Cells,
    c: &Cells,
    _: u32,
    f: impl Fn([u32; 2], u32, [u32; 2]) -> [u32; 2],
) {
    for eight in 0..8 {
        let get = |row: &Cell<Row>| eights(row)[eight].get();
        let (a_low, a_high, shift) = (get(&a[0]), get(&a[1]), get(&b[0]));
        let (c_low, c_high) = (get(&c[0]), get(&c[1]));
        let (mut low, mut high) = ([0; 8], [0; 8]);
        for lane in 0..8 {
            [low[lane], high[lane]] =
                f([a_low[lane], a_high[lane]], shift[lane], [c_low[lane], c_high[lane]]);
        }
        eights(&o[0])[eight].set(low);
        eights(&o[1])[eight].set(high);
    }
}

/// Adapters for pairs that hold one 64-bit number.
macro_rules! wide_adapter {
    ($name:ident: $from:expr, $into:expr; $ty:ty) => {
        #[inline(always)]
        pub(crate) fn $name(
            o: &Cells,
            a: &Cells,
            b: &Cells,
            c: &Cells,
            _: u32,
            f: impl Fn($ty, $ty, $ty) -> $ty,
        ) {
            for eight in 0..8 {
                let get = |cells: &Cells| [0, 1].map(|half: usize| eights(&cells[half])[eight].get());
                let (a, b, c) = (get(a), get(b), get(c));
                let (mut low, mut high) = ([0; 8], [0; 8]);
                for lane in 0..8 {
                    let wide = |it: &[[u32; 8]; 2]| u64::from(it[0][lane]) | u64::from(it[1][lane]) << 32;
                    let value: u64 = $into(f($from(wide(&a)), $from(wide(&b)), $from(wide(&c))));
                    (low[lane], high[lane]) = (value as u32, (value >> 32) as u32);
                }
                eights(&o[0])[eight].set(low);
                eights(&o[1])[eight].set(high);
            }
        }
    };
}

wide_adapter!(u64_any: |v: u64| v, |v: u64| v; u64);
wide_adapter!(f64_any: f64::from_bits, f64::to_bits; f64);

/// In-place form of the adapter of the same name in `lanes`.
#[inline(always)]
pub(crate) fn u64_1(o: &Cells, a: &Cells, b: &Cells, c: &Cells, number: u32, f: impl Fn(u64) -> u64) {
    u64_any(o, a, b, c, number, |a, _, _| f(a));
}

/// As above.
#[inline(always)]
pub(crate) fn f64_2(o: &Cells, a: &Cells, b: &Cells, c: &Cells, number: u32, f: impl Fn(f64, f64) -> f64) {
    f64_any(o, a, b, c, number, |a, b, _| f(a, b));
}

/// As above.
#[inline(always)]
pub(crate) fn f64_3(
    o: &Cells,
    a: &Cells,
    b: &Cells,
    c: &Cells,
    number: u32,
    f: impl Fn(f64, f64, f64) -> f64,
) {
    f64_any(o, a, b, c, number, f);
}
