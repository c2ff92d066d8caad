//! Steps of division: scaling, the last fused multiply-add, fix-up of special cases.
//!
//! The one idea to keep in mind: scaling avoids over- and underflow of the Newton iteration; a mask tells the
//! last step to scale back. The fix-up gives the results of IEEE division for zeros, infinities and NaNs.

use super::{float32, float64, rounded};
use crate::lanes::*;

/// Biased exponent.
#[inline(always)]
fn exponent32(v: f32) -> i32 {
    (v.to_bits() >> 23 & 0xff) as i32
}

#[inline(always)]
fn denormal32(v: f32) -> bool {
    v != 0.0 && v.abs() < f32::MIN_POSITIVE
}

/// Scaled operand, and true if the quotient needs scaling back.
#[inline(always)]
fn scale32(s0: f32, s1: f32, s2: f32) -> (f32, bool) {
    let (e1, e2) = (exponent32(s1), exponent32(s2));
    // Nearly every operand: normal numbers whose reciprocal and quotient are normal, so nothing is scaled.
    let is_plain = (1..=250).contains(&e1) && (24..=254).contains(&e2) && (-124..96).contains(&(e2 - e1));
    if is_plain { (s0, false) } else { rare_scale32(s0, s1, s2) }
}

/// [`scale32`] of any operands.
fn rare_scale32(s0: f32, s1: f32, s2: f32) -> (f32, bool) {
    let reciprocal_denormal = {
        let r = 1.0 / f64::from(s1);
        r != 0.0 && r.abs() < f64::from(f32::MIN_POSITIVE)
    };
    if s2 == 0.0 || s1 == 0.0 {
        (f32::NAN, false)
    } else if exponent32(s2) - exponent32(s1) >= 96 {
        (if s0 == s1 { float32::ldexp(s0, 64) } else { s0 }, true)
    } else if denormal32(s1) {
        (float32::ldexp(s0, 64), false)
    } else if reciprocal_denormal && denormal32(s2 / s1) {
        // The manual scales up here, but only scaling down keeps the reciprocal in range.
        (if s0 == s1 { float32::ldexp(s0, -64) } else { s0 }, true)
    } else if reciprocal_denormal {
        (float32::ldexp(s0, -64), false)
    } else if denormal32(s2 / s1) {
        (if s0 == s2 { float32::ldexp(s0, 64) } else { s0 }, true)
    } else if exponent32(s2) <= 23 {
        (float32::ldexp(s0, 64), false)
    } else {
        (s0, false)
    }
}

#[inline(always)]
fn exponent64(v: f64) -> i32 {
    (v.to_bits() >> 52 & 0x7ff) as i32
}

#[inline(always)]
fn denormal64(v: f64) -> bool {
    v != 0.0 && v.abs() < f64::MIN_POSITIVE
}

#[inline(always)]
fn scale64(s0: f64, s1: f64, s2: f64) -> (f64, bool) {
    let (e1, e2) = (exponent64(s1), exponent64(s2));
    let is_plain = (1..=2042).contains(&e1) && (54..=2046).contains(&e2) && (-1020..768).contains(&(e2 - e1));
    if is_plain { (s0, false) } else { rare_scale64(s0, s1, s2) }
}

/// [`scale64`] of any operands.
fn rare_scale64(s0: f64, s1: f64, s2: f64) -> (f64, bool) {
    if s2 == 0.0 || s1 == 0.0 {
        (f64::NAN, false)
    } else if exponent64(s2) - exponent64(s1) >= 768 {
        (if s0 == s1 { float64::ldexp(s0, 128) } else { s0 }, true)
    } else if denormal64(s1) {
        (float64::ldexp(s0, 128), false)
    } else if denormal64(1.0 / s1) && denormal64(s2 / s1) {
        (if s0 == s1 { float64::ldexp(s0, -128) } else { s0 }, true)
    } else if denormal64(1.0 / s1) {
        (float64::ldexp(s0, -128), false)
    } else if denormal64(s2 / s1) {
        (if s0 == s2 { float64::ldexp(s0, 128) } else { s0 }, true)
    } else if exponent64(s2) <= 53 {
        (float64::ldexp(s0, 128), false)
    } else {
        (s0, false)
    }
}

/// Fix-up: replaces the quotient of the iteration in special cases. Arguments: quotient, denominator, numerator.
macro_rules! fixup {
    ($name:ident $float:ty, $quiet:expr, $exponent:ident, $low:expr, $high:expr) => {
        #[inline(always)]
        fn $name(quotient: $float, denominator: $float, numerator: $float) -> $float {
            let sign = (denominator.to_bits() ^ numerator.to_bits()) >> $high != 0;
            let signed = |v: $float| if sign { -v } else { v };
            if numerator.is_nan() {
                <$float>::from_bits(numerator.to_bits() | $quiet)
            } else if denominator.is_nan() {
                <$float>::from_bits(denominator.to_bits() | $quiet)
            } else if (denominator == 0.0 && numerator == 0.0)
                || (denominator.is_infinite() && numerator.is_infinite())
            {
                <$float>::from_bits(<$float>::NEG_INFINITY.to_bits() | $quiet)
            } else if denominator == 0.0 || numerator.is_infinite() {
                signed(<$float>::INFINITY)
            } else if denominator.is_infinite() || numerator == 0.0 {
                signed(0.0)
            } else if $exponent(numerator) - $exponent(denominator) < $low {
                // The quotient is far below the smallest denormal.
                signed(0.0)
            } else if quotient.is_nan() {
                // The iteration overflowed.
                signed(<$float>::INFINITY)
            } else {
                signed(quotient.abs())
            }
        }
    };
}

fixup!(fix32 f32, 0x0040_0000, exponent32, -150, 31);
fixup!(fix64 f64, 1 << 51, exponent64, -1075, 63);

#[inline(always)]
fn scaling32(o: &mut Pair, a: &Pair, b: &Pair, c: &Pair, x: &mut Extra, (): ()) {
    x.mask_out = 0;
    for lane in 0..LANES {
        let of = |pair: &Pair| f32::from_bits(pair[0].0[lane]);
        let [s0, s1, s2] = [of(a), of(b), of(c)];
        let (value, flag) = scale32(s0, s1, s2);
        o[0].0[lane] = value.to_bits();
        x.mask_out |= u64::from(flag) << lane;
    }
}

#[inline(always)]
fn scaling64(o: &mut Pair, a: &Pair, b: &Pair, c: &Pair, x: &mut Extra, (): ()) {
    x.mask_out = 0;
    for lane in 0..LANES {
        let of = |pair: &Pair| f64::from_bits(wide(pair, lane));
        let [s0, s1, s2] = [of(a), of(b), of(c)];
        let (value, flag) = scale64(s0, s1, s2);
        set_wide(o, lane, value.to_bits());
        x.mask_out |= u64::from(flag) << lane;
    }
}

/// Last step: fused multiply-add, scaled back in lanes of the mask. Both together round once.
#[inline(always)]
fn last32(o: &mut Pair, a: &Pair, b: &Pair, c: &Pair, x: &mut Extra, (): ()) {
    for lane in 0..LANES {
        let of = |pair: &Pair| f32::from_bits(pair[0].0[lane]);
        let [p, q, r] = [of(a), of(b), of(c)];
        // A quotient with a small exponent was scaled up, one with a large exponent down.
        let scale = if exponent32(r) > 127 { TWO_TO_64 } else { 1.0 / TWO_TO_64 };
        // The product is exact in f64; rounding the sum to odd makes the later rounding correct.
        let (sum, error) = rounded::sum(f64::from(p) * f64::from(q), f64::from(r));
        let scaled = (rounded::odd(sum, error) * scale) as f32;
        let flag = x.mask_in >> lane & 1 != 0;
        o[0].0[lane] = if flag { scaled } else { f32::mul_add(p, q, r) }.to_bits();
    }
}

const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// Corrects the double rounding of a denormal: the error of the first rounding decides a tie of the second.
fn rounded_once(sum: f64, error: f64, scaled: f64, scale: i32) -> f64 {
    let rest = sum - float64::ldexp(scaled, -scale);
    let half = float64::ldexp(f64::from_bits(1), -scale) * 0.5;
    if rest.abs() != half || error == 0.0 || (rest > 0.0) != (error > 0.0) {
        scaled
    } else if rest > 0.0 {
        scaled.next_up()
    } else {
        scaled.next_down()
    }
}

#[inline(always)]
fn last64(o: &mut Pair, a: &Pair, b: &Pair, c: &Pair, x: &mut Extra, (): ()) {
    for lane in 0..LANES {
        let of = |pair: &Pair| f64::from_bits(wide(pair, lane));
        let [p, q, r] = [of(a), of(b), of(c)];
        let scale = if exponent64(r) > 1023 { 128 } else { -128 };
        let mut sum = f64::mul_add(p, q, r);
        if x.mask_in >> lane & 1 != 0 {
            let scaled = float64::ldexp(sum, scale);
            sum = if scaled.abs() <= f64::MIN_POSITIVE {
                rounded_once(sum, rounded::fused(p, q, r).1, scaled, scale)
            } else {
                scaled
            };
        }
        set_wide(o, lane, sum.to_bits());
    }
}

kernels! {
    scaling32 {
        "v_div_scale_f32" = ();
    }
    scaling64 {
        "v_div_scale_f64" = ();
    }
    last32 {
        "v_div_fmas_f32" = ();
    }
    last64 {
        "v_div_fmas_f64" = ();
    }
    f32_3 {
        "v_div_fixup_f32" = fix32;
    }
    f64_3 {
        "v_div_fixup_f64" = fix64;
    }
    f16_3 {
        "v_div_fixup_f16" = fix32;
        "v_div_fixup_legacy_f16" = fix32;
    }
}
