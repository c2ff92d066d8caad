//! Transcendental functions.
//!
//! The one idea to keep in mind: the hardware is accurate to about one unit in the last place and its exact bits are
//! not published; here the result is computed in f64 and rounded, which is the correctly rounded value but for very
//! rare ties. The f32 forms that take no denormals flush them, as the hardware does.

use crate::half::{f16_to_f32, f64_to_f16};
use crate::lanes::*;
use std::f64::consts::TAU;

/// Denormals become zeros of the same sign.
#[inline(always)]
fn flush(v: f32) -> f32 {
    if v.abs() < f32::MIN_POSITIVE { 0.0f32.copysign(v) } else { v }
}

/// Sine and cosine take turns, not radians; far away they are constant.
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
    // Half turns are exact zeros.
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

/// f32 functions without denormals.
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

/// Base 2 logarithm; the host's is exact for powers of two.
#[inline(always)]
fn log2(v: f64) -> f64 {
    if v < 0.0 { f64::NAN } else { v.log2() }
}

kernels! {
    flushed {
        "v_exp_f32" = f64::exp2;
        "v_exp_legacy_f32" = f64::exp2;
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
        "v_exp_f16" = f64::exp2;
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
