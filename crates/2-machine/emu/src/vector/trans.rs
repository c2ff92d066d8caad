//! Transcendental functions.
//!
//! The one idea to keep in mind: hardware is accurate to about one unit in the last place, and its exact bits are
//! not published. Here the result is computed in f64 and rounded, which is the correctly rounded value except for
//! very rare ties. Exponentials and logarithms are power series without branches, so that they vectorise over
//! lanes. The f32 forms that do not support denormals flush them, as hardware does.

use crate::half::{f16_to_f32, f64_to_f16};
use crate::lanes::*;
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, TAU};

/// Replaces a denormal by zero of the same sign.
#[inline(always)]
fn flush(v: f32) -> f32 {
    if v.abs() < f32::MIN_POSITIVE { 0.0f32.copysign(v) } else { v }
}

/// Sine or cosine of an angle in turns; beyond 256 turns the result is the constant `far`.
#[inline(always)]
fn turns(v: f64, far: f64, f: impl Fn(f64) -> f64) -> f64 {
    if !v.is_finite() {
        f64::NAN
    } else if v.abs() > 256.0 {
        far
    } else {
        f((v - v.round_ties_even()) * TAU)
    }
}

#[inline(always)]
fn sine(v: f64) -> f64 {
    // At half turns the sine is exactly 0.
    if v * 2.0 == (v * 2.0).round_ties_even() && v.abs() <= 256.0 {
        0.0f64.copysign(v)
    } else {
        turns(v, 0.0, f64::sin)
    }
}

#[inline(always)]
fn cosine(v: f64) -> f64 {
    turns(v, 1.0, f64::cos)
}

/// f32 functions that flush denormals.
#[inline(always)]
fn flushed(o: &mut Pair, a: &Pair, _: &Pair, _: &Pair, _: &mut Extra, f: impl Fn(f64) -> f64) {
    for lane in 0..LANES {
        let value = f64::from(flush(f32::from_bits(a[0].0[lane])));
        o[0].0[lane] = flush(f(value) as f32).to_bits();
    }
}

#[inline(always)]
fn exact(o: &mut Pair, a: &Pair, _: &Pair, _: &Pair, _: &mut Extra, f: impl Fn(f64) -> f64) {
    for lane in 0..LANES {
        o[0].0[lane] = (f(f64::from(f32::from_bits(a[0].0[lane]))) as f32).to_bits();
    }
}

#[inline(always)]
fn half(o: &mut Pair, a: &Pair, _: &Pair, _: &Pair, _: &mut Extra, f: impl Fn(f64) -> f64) {
    for lane in 0..LANES {
        o[0].0[lane] = u32::from(f64_to_f16(f(f64::from(f16_to_f32(a[0].0[lane] as u16)))));
    }
}

/// Power series with coefficients `factors` from x^0 on, evaluated as a tree to shorten the chain of dependent
/// operations.
#[inline(always)]
fn series<const N: usize>(mut factors: [f64; N], x: f64) -> f64 {
    let (mut power, mut count) = (x, N);
    while count > 1 {
        for number in 0..count.div_ceil(2) {
            let low = factors[2 * number];
            factors[number] =
                if 2 * number + 1 < count { factors[2 * number + 1].mul_add(power, low) } else { low };
        }
        power *= power;
        count = count.div_ceil(2);
    }
    factors[0]
}

/// Coefficients of (2^x - 1) / x: ln(2)^(k + 1) / (k + 1)!.
const POWERS: [f64; 13] = {
    let mut factors = [0.0; 13];
    let (mut power, mut number) = (1.0, 0);
    while number < 13 {
        power = power * LN_2 / (number + 1) as f64;
        factors[number] = power;
        number += 1;
    }
    factors
};

/// 2^v; results beyond f32's range become 0 or infinity when rounded to f32.
#[inline(always)]
fn exp2(v: f64) -> f64 {
    // Adding this constant leaves the nearest integer in the lowest bits.
    const INTEGER: f64 = 6_755_399_441_055_744.0;
    let v = v.clamp(-1000.0, 1000.0);
    let shifted = v + INTEGER;
    let rest = v - (shifted - INTEGER);
    let sum = series(POWERS, rest).mul_add(rest, 1.0);
    f64::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << 52))
}

/// Coefficients in r² of log2((1 + r) / (1 - r)) / r: 2 / (2 k + 1) / ln(2).
const ODD: [f64; 12] = {
    let mut factors = [0.0; 12];
    let mut number = 0;
    while number < 12 {
        factors[number] = 2.0 / (2 * number + 1) as f64 / LN_2;
        number += 1;
    }
    factors
};

/// Base 2 logarithm of a number in f32's range; exact for powers of two.
#[inline(always)]
fn log2(v: f64) -> f64 {
    // Splits into a mantissa from 1/√2 to √2 and an exponent.
    let bits = v.to_bits().wrapping_sub(FRAC_1_SQRT_2.to_bits());
    let exponent = bits & 0xfff0_0000_0000_0000;
    let mantissa = f64::from_bits(v.to_bits().wrapping_sub(exponent));
    // As in [`exp2`], an integer in the lowest bits of a constant: it converts the exponent to f64.
    const INTEGER: f64 = 4_503_599_627_370_496.0;
    let biased = (exponent >> 52).wrapping_add(1024) & 0xfff;
    let exponent = f64::from_bits(INTEGER.to_bits() | biased) - (INTEGER + 1024.0);
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let value = series(ODD, ratio * ratio).mul_add(ratio, exponent);
    let value = if v == 0.0 { f64::NEG_INFINITY } else { value };
    let value = if v == f64::INFINITY { v } else { value };
    if v < 0.0 || v.is_nan() { f64::NAN } else { value }
}

kernels! {
    flushed {
        "v_exp_f32" = exp2;
        "v_exp_legacy_f32" = exp2;
        "v_log_f32" = log2;
        "v_log_legacy_f32" = log2;
        "v_sin_f32" = sine;
        "v_cos_f32" = cosine;
    }
    exact {
        "v_rcp_f32" = |v| 1.0 / v;
        "v_rcp_iflag_f32" = |v| 1.0 / v;
        "v_rsq_f32" = |v: f64| 1.0 / v.sqrt();
        "v_sqrt_f32" = f64::sqrt;
    }
    half {
        "v_rcp_f16" = |v| 1.0 / v;
        "v_rsq_f16" = |v: f64| 1.0 / v.sqrt();
        "v_sqrt_f16" = f64::sqrt;
        "v_exp_f16" = exp2;
        "v_log_f16" = log2;
        "v_sin_f16" = sine;
        "v_cos_f16" = cosine;
    }
    f64_1 {
        "v_rcp_f64" = |v| 1.0 / v;
        "v_rsq_f64" = |v: f64| 1.0 / v.sqrt();
        "v_sqrt_f64" = f64::sqrt;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the host's functions, rounded: results differ only if the exact value is almost midway
    /// between two numbers.
    #[test]
    fn powers_and_logarithms_are_those_of_the_host() {
        let mut differing = 0;
        for number in 0..4_000_000u32 {
            let v = f64::from(flush(f32::from_bits(number.wrapping_mul(2_654_435_761))));
            let pairs = [(exp2(v), v.exp2()), (log2(v), if v < 0.0 { f64::NAN } else { v.log2() })];
            for (own, host) in pairs.map(|(own, host)| (own as f32, host as f32)) {
                let far = own.to_bits().abs_diff(host.to_bits());
                assert!(far <= 1 || (own.is_nan() && host.is_nan()), "{v:e}: {own} and not {host}");
                differing += u32::from(far == 1);
            }
        }
        assert!(differing <= 2, "{differing}");
        for power in -126..=127 {
            let v = 2f64.powi(power);
            assert_eq!((log2(v), exp2(f64::from(power))), (f64::from(power), v));
        }
        assert_eq!([exp2(f64::NEG_INFINITY) as f32, exp2(f64::INFINITY) as f32], [0.0, f32::INFINITY]);
        assert_eq!(
            [log2(0.0), log2(-0.0), log2(f64::INFINITY)],
            [f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY]
        );
        assert!(exp2(f64::NAN).is_nan() && log2(f64::NAN).is_nan() && log2(f64::NEG_INFINITY).is_nan());
    }
}
