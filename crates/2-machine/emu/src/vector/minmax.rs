//! Minimum, maximum and median of floating-point numbers.
//!
//! The one idea to keep in mind: a number wins over a NaN. With the IEEE bit set, a signalling NaN wins over all
//! and becomes quiet. -0 is less than +0.

use crate::half::{f16_to_f32, f32_to_f16};
use crate::lanes::*;

macro_rules! rules {
    ($pick:ident $min:ident $max:ident $med3:ident $minimum:ident $maximum:ident: $float:ty, $bits:ty, $quiet:expr) => {
        #[inline(always)]
        fn $min(a: $float, b: $float, ieee: bool) -> $float {
            let smaller = if a < b { a } else { b };
            // Equal values have equal bits, or are zeros of either sign.
            let number = if a == b { <$float>::from_bits(a.to_bits() | b.to_bits()) } else { smaller };
            $pick(a, b, number, ieee)
        }

        #[inline(always)]
        fn $max(a: $float, b: $float, ieee: bool) -> $float {
            let larger = if a > b { a } else { b };
            let number = if a == b { <$float>::from_bits(a.to_bits() & b.to_bits()) } else { larger };
            $pick(a, b, number, ieee)
        }

        #[inline(always)]
        fn $pick(a: $float, b: $float, number: $float, ieee: bool) -> $float {
            let signalling = |v: $float| ieee && v.is_nan() && v.to_bits() & $quiet == 0;
            let quiet = |v: $float| <$float>::from_bits(v.to_bits() | $quiet);
            if signalling(a) {
                quiet(a)
            } else if signalling(b) {
                quiet(b)
            } else if a.is_nan() {
                b
            } else if b.is_nan() {
                a
            } else {
                number
            }
        }

        /// Median; if an operand is NaN, the smallest number.
        #[inline(always)]
        #[allow(dead_code, reason = "there is no 64-bit median")]
        fn $med3(a: $float, b: $float, c: $float, ieee: bool) -> $float {
            let small = $min($min(a, b, ieee), c, ieee);
            let large = $max($max(a, b, ieee), c, ieee);
            if a.is_nan() || b.is_nan() || c.is_nan() {
                small
            } else if large.to_bits() == a.to_bits() {
                $max(b, c, ieee)
            } else if large.to_bits() == b.to_bits() {
                $max(a, c, ieee)
            } else {
                $max(a, b, ieee)
            }
        }

        /// IEEE 754-2019 minimum: a NaN wins.
        #[inline(always)]
        #[allow(dead_code, reason = "there is no 64-bit form")]
        fn $minimum(a: $float, b: $float) -> $float {
            if a.is_nan() || b.is_nan() { a + b } else { $min(a, b, false) }
        }

        /// IEEE 754-2019 maximum: a NaN wins.
        #[inline(always)]
        #[allow(dead_code, reason = "there is no 64-bit form")]
        fn $maximum(a: $float, b: $float) -> $float {
            if a.is_nan() || b.is_nan() { a + b } else { $max(a, b, false) }
        }
    };
}

rules!(pick32 min32 max32 median32 minimum32 maximum32: f32, u32, 0x0040_0000);
rules!(pick64 min64 max64 median64 minimum64 maximum64: f64, u64, 1 << 51);

/// f16 to f32 that keeps signalling NaNs.
#[inline(always)]
fn from_half(half: u32) -> f32 {
    let value = f16_to_f32(half as u16);
    let signalling = half & 0x7e00 == 0x7c00 && half & 0x3ff != 0;
    if signalling { f32::from_bits(value.to_bits() & !0x0040_0000) } else { value }
}

macro_rules! mode_adapters {
    ($two:ident $three:ident: $from:expr, $into:expr) => {
        #[inline(always)]
        fn $two(
            o: &mut Pair,
            a: &Pair,
            b: &Pair,
            _: &Pair,
            x: &mut Extra,
            f: impl Fn(f32, f32, bool) -> f32,
        ) {
            let ieee = x.mode.ieee();
            for lane in 0..LANES {
                o[0].0[lane] = $into(f($from(a[0].0[lane]), $from(b[0].0[lane]), ieee));
            }
        }

        #[inline(always)]
        fn $three(
            o: &mut Pair,
            a: &Pair,
            b: &Pair,
            c: &Pair,
            x: &mut Extra,
            f: impl Fn(f32, f32, f32, bool) -> f32,
        ) {
            let ieee = x.mode.ieee();
            for lane in 0..LANES {
                let of = |pair: &Pair| $from(pair[0].0[lane]);
                let [p, q, r] = [of(a), of(b), of(c)];
                o[0].0[lane] = $into(f(p, q, r, ieee));
            }
        }
    };
}

mode_adapters!(mode32_2 mode32_3: f32::from_bits, f32::to_bits);
mode_adapters!(mode16_2 mode16_3: from_half, |v: f32| u32::from(f32_to_f16(v)));

#[inline(always)]
fn mode64_2(o: &mut Pair, a: &Pair, b: &Pair, _: &Pair, x: &mut Extra, f: impl Fn(f64, f64, bool) -> f64) {
    let ieee = x.mode.ieee();
    for lane in 0..LANES {
        set_wide(o, lane, f(f64::from_bits(wide(a, lane)), f64::from_bits(wide(b, lane)), ieee).to_bits());
    }
}

#[inline(always)]
fn mode_packed_3(
    o: &mut Pair,
    a: &Pair,
    b: &Pair,
    c: &Pair,
    x: &mut Extra,
    f: impl Fn(f32, f32, f32, bool) -> f32,
) {
    let ieee = x.mode.ieee();
    for lane in 0..LANES {
        let of = |pair: &Pair| pair[0].0[lane];
        let [p, q, r] = [of(a), of(b), of(c)];
        let low = f(from_half(p & 0xffff), from_half(q & 0xffff), from_half(r & 0xffff), ieee);
        let high = f(from_half(p >> 16), from_half(q >> 16), from_half(r >> 16), ieee);
        o[0].0[lane] = u32::from(f32_to_f16(low)) | u32::from(f32_to_f16(high)) << 16;
    }
}

kernels! {
    mode32_2 {
        "v_min_f32" = min32;
        "v_max_f32" = max32;
    }
    mode32_3 {
        "v_min3_f32" = |a, b, c, ieee| min32(min32(a, b, ieee), c, ieee);
        "v_max3_f32" = |a, b, c, ieee| max32(max32(a, b, ieee), c, ieee);
        "v_med3_f32" = median32;
        "v_minimum3_f32" = |a, b, c, _| minimum32(minimum32(a, b), c);
        "v_maximum3_f32" = |a, b, c, _| maximum32(maximum32(a, b), c);
    }
    mode64_2 {
        "v_min_f64" = min64;
        "v_max_f64" = max64;
    }
    mode16_2 {
        "v_min_f16" = min32;
        "v_max_f16" = max32;
    }
    mode16_3 {
        "v_min3_f16" = |a, b, c, ieee| min32(min32(a, b, ieee), c, ieee);
        "v_max3_f16" = |a, b, c, ieee| max32(max32(a, b, ieee), c, ieee);
        "v_med3_f16" = median32;
    }
    mode_packed_3 {
        "v_pk_min_f16" = |a, b, _, ieee| min32(a, b, ieee);
        "v_pk_max_f16" = |a, b, _, ieee| max32(a, b, ieee);
        "v_pk_minimum3_f16" = |a, b, c, _| minimum32(minimum32(a, b), c);
        "v_pk_maximum3_f16" = |a, b, c, _| maximum32(maximum32(a, b), c);
    }
}
