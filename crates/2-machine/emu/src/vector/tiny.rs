//! Conversions from and to 8-bit floating-point numbers.
//!
//! The one idea to keep in mind: bits 0 to 3 of the kernel's immediate are `op_sel`; bit 8 is set for targets
//! with OCP formats. Stochastic rounding adds the random bits below the last place and truncates.

use crate::lanes::*;
use crate::minifloat::{BF8, BF8_FNUZ, FP8, FP8_FNUZ, Format};

#[inline(always)]
fn format(x: &Extra, wide_exponent: bool) -> Format {
    match (x.immediate >> 8 & 1 != 0, wide_exponent) {
        (true, false) => FP8,
        (true, true) => BF8,
        (false, false) => FP8_FNUZ,
        (false, true) => BF8_FNUZ,
    }
}

#[inline(always)]
fn decode(o: &mut Pair, a: &Pair, _: &Pair, _: &Pair, x: &mut Extra, wide_exponent: bool) {
    let format = format(x, wide_exponent);
    for lane in 0..LANES {
        o[0].0[lane] = format.decode(a[0].0[lane] & 0xff).to_bits();
        o[1].0[lane] = format.decode(a[0].0[lane] >> 8 & 0xff).to_bits();
    }
}

/// Converts two values to one half of the register; the other half is kept.
#[inline(always)]
fn encode_pair(o: &mut Pair, a: &Pair, b: &Pair, old: &Pair, x: &mut Extra, wide_exponent: bool) {
    let (format, saturate) = (format(x, wide_exponent), x.mode.fp16_overflow());
    let shift = if x.immediate & 8 != 0 { 16 } else { 0 };
    for lane in 0..LANES {
        let code = |pair: &Pair| format.encode(f32::from_bits(pair[0].0[lane]), None, saturate);
        let both = code(a) | code(b) << 8;
        o[0].0[lane] = old[0].0[lane] & !(0xffff << shift) | both << shift;
    }
}

/// Converts one value to one byte of the register; the others are kept.
#[inline(always)]
fn encode_byte(o: &mut Pair, a: &Pair, b: &Pair, old: &Pair, x: &mut Extra, wide_exponent: bool) {
    let (format, saturate) = (format(x, wide_exponent), x.mode.fp16_overflow());
    let shift = 8 * (x.immediate >> 2 & 3);
    for lane in 0..LANES {
        let code = format.encode(f32::from_bits(a[0].0[lane]), Some(b[0].0[lane]), saturate);
        o[0].0[lane] = old[0].0[lane] & !(0xff << shift) | code << shift;
    }
}

kernels! {
    decode {
        "v_cvt_f32_fp8" = false;
        "v_cvt_f32_bf8" = true;
        "v_cvt_pk_f32_fp8" = false;
        "v_cvt_pk_f32_bf8" = true;
    }
    encode_pair {
        "v_cvt_pk_fp8_f32" = false;
        "v_cvt_pk_bf8_f32" = true;
    }
    encode_byte {
        "v_cvt_sr_fp8_f32" = false;
        "v_cvt_sr_bf8_f32" = true;
    }
}
