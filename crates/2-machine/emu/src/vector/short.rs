//! 16-bit arithmetic, one value per register.
//!
//! The one idea to keep in mind: f16 sums and products are precise enough in f32 for one conversion to round them
//! once. Fused multiply-adds round the f32 sum to odd, so that the conversion is correct.

use super::float32;
use crate::half::{f16_to_f32, f32_to_f16};
use crate::lanes::*;

/// Fused multiply-add of three f16, rounded once.
#[inline(always)]
pub(super) fn fma16(a: u16, b: u16, c: u16) -> u16 {
    let [a, b, c] = [a, b, c].map(f16_to_f32);
    // Exact: 22 bits, no over- or underflow.
    let product = a * b;
    let sum = product + c;
    let of_c = sum - product;
    let lost = (product - (sum - of_c)) + (c - of_c);
    // False for NaN errors, which infinities and NaNs cause.
    let inexact = (lost > 0.0) | (lost < 0.0);
    let away = inexact & ((lost > 0.0) != (sum > 0.0));
    let odd = f32::from_bits((sum.to_bits() - u32::from(away)) | u32::from(inexact));
    f32_to_f16(if c.is_nan() { c } else { odd })
}

#[inline(always)]
fn multiply_add16(a: u16, b: u16, c: u16) -> u16 {
    let product = f32_to_f16(f16_to_f32(a) * f16_to_f32(b));
    f32_to_f16(f16_to_f32(product) + f16_to_f32(c))
}

#[inline(always)]
fn fract(a: f32) -> f32 {
    let fraction = a - a.floor();
    // The largest f16 below 1.
    if fraction > 0.999_511_7 { 0.999_511_7 } else { fraction }
}

#[inline(always)]
fn mantissa(a: f32) -> f32 {
    if !a.is_finite() || a == 0.0 { a } else { f32::from_bits(a.to_bits() & 0x807f_ffff | 0x3f00_0000) }
}

#[inline(always)]
fn exponent(a: f32) -> u32 {
    if !a.is_finite() || a == 0.0 { 0 } else { ((a.to_bits() >> 23 & 0xff) as i32 - 126) as u32 & 0xffff }
}

kernels! {
    f16_2 {
        "v_add_f16" = |a, b| a + b;
        "v_sub_f16" = |a, b| a - b;
        "v_subrev_f16" = |a, b| b - a;
        "v_mul_f16" = |a, b| a * b;
    }
    u16_3 {
        "v_fma_f16" = fma16;
        "v_fma_legacy_f16" = fma16;
        "v_mad_f16" = multiply_add16;
        "v_mad_legacy_f16" = multiply_add16;
        "v_mac_f16" = multiply_add16;
        "v_madmk_f16" = multiply_add16;
        "v_madak_f16" = multiply_add16;
        "v_mad_u16" = |a, b, c| a.wrapping_mul(b).wrapping_add(c);
        "v_mad_legacy_u16" = |a, b, c| a.wrapping_mul(b).wrapping_add(c);
        "v_min3_u16" = |a, b, c| a.min(b).min(c);
        "v_max3_u16" = |a, b, c| a.max(b).max(c);
        "v_med3_u16" = |a, b, c| a.min(b).max(a.max(b).min(c));
    }
    i16_3 {
        "v_mad_i16" = |a, b, c| a.wrapping_mul(b).wrapping_add(c);
        "v_mad_legacy_i16" = |a, b, c| a.wrapping_mul(b).wrapping_add(c);
        "v_min3_i16" = |a, b, c| a.min(b).min(c);
        "v_max3_i16" = |a, b, c| a.max(b).max(c);
        "v_med3_i16" = |a, b, c| a.min(b).max(a.max(b).min(c));
    }
    f16_1 {
        "v_floor_f16" = |a| a.floor();
        "v_ceil_f16" = |a| a.ceil();
        "v_trunc_f16" = |a| a.trunc();
        "v_rndne_f16" = |a| a.round_ties_even();
        "v_fract_f16" = fract;
        "v_frexp_mant_f16" = mantissa;
    }
    f16_to_u32_1 {
        "v_frexp_exp_i16_f16" = exponent;
    }
    each {
        "v_ldexp_f16" = |_, a, b, _, _| {
            let scaled = float32::ldexp(f16_to_f32(a as u16), i32::from(b as i16).clamp(-60, 60));
            u32::from(f32_to_f16(scaled))
        };
    }
    u16_2 {
        "v_add_u16" = |a, b| a.wrapping_add(b);
        "v_sub_u16" = |a, b| a.wrapping_sub(b);
        "v_subrev_u16" = |a, b| b.wrapping_sub(a);
        "v_add_i16" = |a, b| a.wrapping_add(b);
        "v_sub_i16" = |a, b| a.wrapping_sub(b);
        "v_mul_lo_u16" = |a, b| a.wrapping_mul(b);
        "v_lshlrev_b16" = |a, b| b << (a & 15);
        "v_lshrrev_b16" = |a, b| b >> (a & 15);
        "v_max_u16" = |a, b| a.max(b);
        "v_min_u16" = |a, b| a.min(b);
    }
    i16_2 {
        "v_ashrrev_i16" = |a, b| b >> (a & 15);
        "v_max_i16" = |a, b| a.max(b);
        "v_min_i16" = |a, b| a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::half::f64_to_f16;

    #[test]
    fn a_fused_multiply_add_is_rounded_once() {
        // In f64, product and sum of f16 are exact unless magnitudes differ greatly; rounding to odd then still
        // gives the correct result.
        let exact = |a: u16, b: u16, c: u16| {
            let [a, b, c] = [a, b, c].map(|it| f64::from(f16_to_f32(it)));
            f64_to_f16(a * b + c)
        };
        let nan = |it: u16| it & 0x7fff > 0x7c00;
        let same = |a: u16, b: u16, c: u16| {
            let (found, expected) = (fma16(a, b, c), exact(a, b, c));
            // With several NaNs, any may be the result; 0 times infinity also makes one.
            let made = f16_to_f32(a) * f16_to_f32(b);
            let several = [nan(a), nan(b), nan(c), made.is_nan() && !nan(a) && !nan(b)];
            let several = several.into_iter().filter(|it| *it).count() > 1;
            assert!(
                found == expected || several && nan(found) && nan(expected),
                "{a:#x} {b:#x} {c:#x}: {found:#x} {expected:#x}"
            );
        };
        let mut state = 1u64;
        let mut half = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
            (state >> 40) as u16
        };
        let edges =
            [0u16, 1, 2, 0x3ff, 0x400, 0x3bff, 0x3c00, 0x3c01, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff];
        let edges = edges.into_iter().flat_map(|it| [it, it | 0x8000]).collect::<Vec<_>>();
        for &a in &edges {
            for &b in &edges {
                for &c in &edges {
                    same(a, b, c);
                }
            }
        }
        for _ in 0..3_000_000 {
            let (a, b, c) = (half(), half(), half());
            same(a, b, c);
            // Terms of similar magnitude and opposite sign, which cancel.
            let c = f64_to_f16(-f64::from(f16_to_f32(a)) * f64::from(f16_to_f32(b))) ^ (c & 3);
            same(a, b, c);
        }
    }
}
