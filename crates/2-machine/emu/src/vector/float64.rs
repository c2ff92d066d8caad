//! f64 arithmetic.
//!
//! The one idea to keep in mind: as for f32, the host's arithmetic equals the GPU's in the default mode.

use crate::lanes::*;

#[inline(always)]
fn fract(a: f64) -> f64 {
    let fraction = a - a.floor();
    if fraction >= 1.0 { f64::from_bits(0x3fef_ffff_ffff_ffff) } else { fraction }
}

kernels! {
    in place {
        f64_2 {
            "v_add_f64" = |a, b| a + b;
            "v_mul_f64" = |a, b| a * b;
        }
        f64_3 {
            "v_fma_f64" = |a, b, c| f64::mul_add(a, b, c);
            "v_fmac_f64" = |a, b, c| f64::mul_add(a, b, c);
        }
    }
    f64_1 {
        "v_trunc_f64" = |a| quiet(a.trunc());
        "v_ceil_f64" = |a| quiet(a.ceil());
        "v_floor_f64" = |a| quiet(a.floor());
        "v_rndne_f64" = |a| quiet(a.round_ties_even());
        "v_fract_f64" = fract;
        "v_frexp_mant_f64" = mantissa;
    }
    f64_word_1 {
        "v_frexp_exp_i32_f64" = exponent;
    }
    f64_by_word {
        "v_ldexp_f64" = |a, b| ldexp(a, b as i32);
        "v_trig_preop_f64" = trig_preop;
    }
}

#[inline(always)]
fn quiet(a: f64) -> f64 {
    if a.is_nan() { f64::from_bits(a.to_bits() | 1 << 51) } else { a }
}

#[inline(always)]
fn f64_word_1(o: &mut Pair, a: &Pair, _: &Pair, _: &Pair, _: &mut Extra, f: impl Fn(f64) -> u32) {
    f64_to_u32(o, a, f);
}

/// Adapter from f64 and 32 bits to f64.
#[inline(always)]
fn f64_by_word(o: &mut Pair, a: &Pair, b: &Pair, _: &Pair, _: &mut Extra, f: impl Fn(f64, u32) -> f64) {
    for lane in 0..LANES {
        set_wide(o, lane, f(f64::from_bits(wide(a, lane)), b[0].0[lane]).to_bits());
    }
}

#[inline(always)]
fn mantissa(a: f64) -> f64 {
    if !a.is_finite() || a == 0.0 {
        return a;
    }
    let normal = if a.abs() < f64::MIN_POSITIVE { a * 18_014_398_509_481_984.0 } else { a };
    f64::from_bits(normal.to_bits() & 0x800f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000)
}

#[inline(always)]
fn exponent(a: f64) -> u32 {
    if !a.is_finite() || a == 0.0 {
        return 0;
    }
    let denormal = a.abs() < f64::MIN_POSITIVE;
    let normal = if denormal { a * 18_014_398_509_481_984.0 } else { a };
    ((normal.to_bits() >> 52 & 0x7ff) as i32 - 1022 - if denormal { 54 } else { 0 }) as u32
}

/// `a * 2^n` with one rounding.
pub(super) fn ldexp(a: f64, n: i32) -> f64 {
    let power = |n: i32| f64::from_bits(((1023 + i64::from(n)) as u64) << 52);
    let mut n = n.clamp(-2200, 2200);
    let mut a = a;
    // Steps upwards are exact. Downwards only the last may round, so [`scale_down`] takes it from a normal value.
    while n > 1023 {
        a *= power(1023);
        n -= 1023;
    }
    if n >= -1022 {
        if n < 0 && a.is_finite() {
            return scale_down(a, n);
        }
        return a * power(n);
    }
    scale_down(a, n)
}

/// Scales down by a power of two; rounds once, also if the result is denormal.
fn scale_down(a: f64, n: i32) -> f64 {
    let (fraction, exponent) = (mantissa(a), exponent(a) as i32);
    if a == 0.0 || !a.is_finite() {
        return a;
    }
    let result = exponent + n;
    let power = |n: i32| f64::from_bits(((1023 + i64::from(n)) as u64) << 52);
    if result < -1080 {
        return 0.0f64.copysign(a);
    }
    // The first product is exact and normal; only the second may round.
    if result >= -1021 {
        fraction * 2.0 * power(result - 1)
    } else {
        fraction * power(result + 200) * power(-200)
    }
}

/// Bits of 2/pi after the binary point, most significant word first.
const TWO_OVER_PI: [u32; 40] = [
    0xa2f9_836e,
    0x4e44_1529,
    0xfc27_57d1,
    0xf534_ddc0,
    0xdb62_9599,
    0x3c43_9041,
    0xfe51_63ab,
    0xdebb_c561,
    0xb724_6e3a,
    0x424d_d2e0,
    0x0649_2eea,
    0x09d1_921c,
    0xfe1d_eb1c,
    0xb129_a73e,
    0xe882_35f5,
    0x2ebb_4484,
    0xe99c_7026,
    0xb45f_7e41,
    0x3991_d639,
    0x8353_39f4,
    0x9c84_5f8b,
    0xbdf9_283b,
    0x1ff8_97ff,
    0xde05_980f,
    0xef2f_118b,
    0x5a0a_6d1f,
    0x6d36_7ecf,
    0x27cb_09b7,
    0x4f46_3f66,
    0x9e5f_ea2d,
    0x7527_bac7,
    0xebe5_f17b,
    0x3d07_39f7,
    0x8a52_92ea,
    0x6bfb_5fb1,
    0x1f8d_5d08,
    0x5603_3046,
    0xfc7b_6bab,
    0xf0cf_bc20,
    0x9af4_361d,
];

/// A 53-bit piece of 2/pi, selected by the argument's exponent and the piece's number.
fn trig_preop(a: f64, piece: u32) -> f64 {
    let exponent = (a.to_bits() >> 52 & 0x7ff) as u32;
    let mut shift = (piece & 31) * 53;
    if exponent > 1077 {
        shift += exponent - 1077;
    }
    let mut bits = 0u64;
    for index in shift..shift + 53 {
        let word = TWO_OVER_PI.get(index as usize / 32).copied().unwrap_or(0);
        let bit = if index < 1201 { word >> (31 - index % 32) & 1 } else { 0 };
        bits = bits << 1 | u64::from(bit);
    }
    let scale = -53 - shift as i32 + if exponent >= 1968 { 128 } else { 0 };
    ldexp(bits as f64, scale)
}
