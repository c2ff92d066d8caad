//! Conversions between number types.
//!
//! The one idea to keep in mind: conversions to integers truncate and saturate, and NaN gives 0. All others round
//! to nearest even, unless the name says otherwise.

use crate::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, f32_to_f16_towards_zero};
use crate::lanes::*;

/// [-1, 1] to a signed 16-bit integer.
#[inline(always)]
fn signed_norm(v: f32) -> u32 {
    let v = if v.is_nan() { 0.0 } else { v.clamp(-1.0, 1.0) };
    (v * 32767.0).round_ties_even() as i32 as u32 & 0xffff
}

/// [0, 1] to an unsigned 16-bit integer.
#[inline(always)]
fn unsigned_norm(v: f32) -> u32 {
    let v = if v.is_nan() { 0.0 } else { v.clamp(0.0, 1.0) };
    (v * 65535.0).round_ties_even() as u32
}

#[inline(always)]
fn to_half(v: f32) -> u32 {
    u32::from(f32_to_f16(v))
}

/// f32 to f16, rounded stochastically: adds random bits below the last place, then truncates.
#[inline(always)]
fn stochastic_half(v: f32, random: u32) -> u32 {
    if !v.is_finite() {
        return to_half(v);
    }
    let moved = f32::from_bits(v.to_bits().wrapping_add(random >> 19));
    u32::from(f32_to_f16_towards_zero(moved))
}

#[inline(always)]
fn stochastic_bf16(v: f32, random: u32) -> u32 {
    if !v.is_finite() {
        return u32::from(f32_to_bf16(v));
    }
    v.to_bits().wrapping_add(random >> 16) >> 16
}

/// Converts both signed halves to unsigned bytes with saturation.
#[inline(always)]
fn saturate_bytes(v: u32) -> u32 {
    let byte = |half: u32| (half as i16).clamp(0, 255) as u32;
    byte(v) | byte(v >> 16) << 8
}

/// Replaces one byte of the third operand.
#[inline(always)]
fn put_byte(value: u32, index: u32, into: u32) -> u32 {
    let shift = 8 * (index & 3);
    into & !(0xff << shift) | value << shift
}

#[inline(always)]
fn wide_from(o: &mut Pair, a: &Pair, _: &Pair, _: &Pair, _: &mut Extra, f: impl Fn(u32) -> f64) {
    u32_to_f64(o, a, f);
}

#[inline(always)]
fn narrow_from(o: &mut Pair, a: &Pair, _: &Pair, _: &Pair, _: &mut Extra, f: impl Fn(f64) -> u32) {
    f64_to_u32(o, a, f);
}

kernels! {
    in place {
        u32_to_f32_1 {
            "v_cvt_f32_i32" = |a| a as i32 as f32;
            "v_cvt_f32_u32" = |a| a as f32;
        }
    }
    u32_to_f32_1 {
        "v_cvt_f32_f16" = |a| f16_to_f32(a as u16);
        "v_cvt_f32_bf16" = |a| bf16_to_f32(a as u16);
        "v_cvt_f32_ubyte0" = |a| (a & 0xff) as f32;
        "v_cvt_f32_ubyte1" = |a| (a >> 8 & 0xff) as f32;
        "v_cvt_f32_ubyte2" = |a| (a >> 16 & 0xff) as f32;
        "v_cvt_f32_ubyte3" = |a| (a >> 24) as f32;
        "v_cvt_off_f32_i4" = |a| ((a << 28) as i32 >> 28) as f32 / 16.0;
    }
    f32_to_u32_1 {
        "v_cvt_u32_f32" = |a| a as u32;
        "v_cvt_i32_f32" = |a| a as i32 as u32;
        "v_cvt_rpi_i32_f32" = |a| (f64::from(a) + 0.5).floor() as i32 as u32;
        "v_cvt_flr_i32_f32" = |a| a.floor() as i32 as u32;
        "v_cvt_f16_f32" = to_half;
    }
    f32_to_u32_2 {
        "v_cvt_pknorm_i16_f32" = |a, b| signed_norm(a) | signed_norm(b) << 16;
        "v_cvt_pknorm_u16_f32" = |a, b| unsigned_norm(a) | unsigned_norm(b) << 16;
        "v_cvt_pkrtz_f16_f32" = |a, b| u32::from(f32_to_f16_towards_zero(a)) | u32::from(f32_to_f16_towards_zero(b)) << 16;
        "v_cvt_pk_f16_f32" = |a, b| to_half(a) | to_half(b) << 16;
        "v_cvt_pk_bf16_f32" = |a, b| u32::from(f32_to_bf16(a)) | u32::from(f32_to_bf16(b)) << 16;
        "v_cvt_sr_f16_f32" = |a, b| stochastic_half(a, b.to_bits());
        "v_cvt_sr_bf16_f32" = |a, b| stochastic_bf16(a, b.to_bits());
    }
    f16_to_u32_1 {
        "v_cvt_u16_f16" = |a| u32::from(a as u16);
        "v_cvt_i16_f16" = |a| u32::from(a as i16 as u16);
        "v_cvt_norm_i16_f16" = signed_norm;
        "v_cvt_norm_u16_f16" = unsigned_norm;
    }
    f16_to_u32_2 {
        "v_cvt_pknorm_i16_f16" = |a, b| signed_norm(a) | signed_norm(b) << 16;
        "v_cvt_pknorm_u16_f16" = |a, b| unsigned_norm(a) | unsigned_norm(b) << 16;
    }
    u32_to_f16_1 {
        "v_cvt_f16_u16" = |a| f32::from(a as u16);
        "v_cvt_f16_i16" = |a| f32::from(a as i16);
    }
    u32_1 {
        "v_sat_pk_u8_i16" = saturate_bytes;
    }
    u32_2 {
        "v_cvt_pk_u16_u32" = |a, b| a.min(0xffff) | b.min(0xffff) << 16;
        "v_cvt_pk_i16_i32" = |a, b| {
            let half = |v: u32| (v as i32).clamp(-32768, 32767) as u32 & 0xffff;
            half(a) | half(b) << 16
        };
        "v_pack_b32_f16" = |a, b| a & 0xffff | b << 16;
    }
    u32_3 {
        "v_cvt_pk_u8_f32" = |a, b, c| put_byte(u32::from(f32::from_bits(a) as u8), b, c);
        "v_cvt_pkaccum_u8_f32" = |a, b, c| put_byte(u32::from(f32::from_bits(a) as u8), b, c);
    }
    wide_from {
        "v_cvt_f64_i32" = |a| f64::from(a as i32);
        "v_cvt_f64_u32" = |a| f64::from(a);
        "v_cvt_f64_f32" = |a| f64::from(f32::from_bits(a));
    }
    narrow_from {
        "v_cvt_i32_f64" = |a| a as i32 as u32;
        "v_cvt_u32_f64" = |a| a as u32;
        "v_cvt_f32_f64" = |a| (a as f32).to_bits();
    }
}

#[cfg(test)]
mod tests;
