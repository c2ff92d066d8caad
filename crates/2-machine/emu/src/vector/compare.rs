//! Comparisons: one bit per lane.
//!
//! The one idea to keep in mind: the mnemonic names the relation that gives 1. `n…` are negations, so they are
//! true for NaN operands.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    clippy::double_comparisons,
    clippy::nonminimal_bool,
    reason = "the negated comparisons are what the names say"
)]

use crate::half::f16_to_f32;
use crate::lanes::*;

#[inline(always)]
fn float16(o: &mut Pair, a: &Pair, b: &Pair, c: &Pair, x: &mut Extra, f: impl Fn(f32, f32) -> bool) {
    test32(o, a, b, c, x, |p, q| f(f16_to_f32(p as u16), f16_to_f32(q as u16)));
}

#[inline(always)]
fn float32(o: &mut Pair, a: &Pair, b: &Pair, c: &Pair, x: &mut Extra, f: impl Fn(f32, f32) -> bool) {
    test32(o, a, b, c, x, |p, q| f(f32::from_bits(p), f32::from_bits(q)));
}

#[inline(always)]
fn float64(o: &mut Pair, a: &Pair, b: &Pair, c: &Pair, x: &mut Extra, f: impl Fn(f64, f64) -> bool) {
    test64(o, a, b, c, x, |p, q| f(f64::from_bits(p), f64::from_bits(q)));
}

/// True if the number's class is in the set: signalling NaN, quiet NaN, then from -infinity to +infinity.
#[inline(always)]
fn class(
    negative: bool,
    exponent_all: bool,
    exponent_none: bool,
    fraction: bool,
    quiet: bool,
    set: u32,
) -> bool {
    let bit = if exponent_all {
        match (fraction, quiet) {
            (true, false) => 0,
            (true, true) => 1,
            _ => {
                if negative {
                    2
                } else {
                    9
                }
            }
        }
    } else {
        let distance = match (exponent_none, fraction) {
            (false, _) => 1,
            (true, true) => 2,
            (true, false) => 3,
        };
        if negative { 2 + distance } else { 9 - distance }
    };
    set >> bit & 1 != 0
}

#[inline(always)]
fn class16(v: u32, set: u32) -> bool {
    class(v & 0x8000 != 0, v & 0x7c00 == 0x7c00, v & 0x7c00 == 0, v & 0x3ff != 0, v & 0x200 != 0, set)
}

#[inline(always)]
fn class32(v: u32, set: u32) -> bool {
    let exponent = v >> 23 & 0xff;
    class(v >> 31 != 0, exponent == 0xff, exponent == 0, v & 0x7f_ffff != 0, v & 0x40_0000 != 0, set)
}

#[inline(always)]
fn class64(v: u64, set: u64) -> bool {
    let exponent = v >> 52 & 0x7ff;
    class(v >> 63 != 0, exponent == 0x7ff, exponent == 0, v << 12 != 0, v >> 51 & 1 != 0, set as u32)
}

kernels! {
    float16 {
        "v_cmp_f_f16" = |_, _| false;
        "v_cmp_lt_f16" = |a, b| a < b;
        "v_cmp_eq_f16" = |a, b| a == b;
        "v_cmp_le_f16" = |a, b| a <= b;
        "v_cmp_gt_f16" = |a, b| a > b;
        "v_cmp_lg_f16" = |a, b| a < b || a > b;
        "v_cmp_ge_f16" = |a, b| a >= b;
        "v_cmp_o_f16" = |a, b| !a.is_nan() && !b.is_nan();
        "v_cmp_u_f16" = |a, b| a.is_nan() || b.is_nan();
        "v_cmp_nge_f16" = |a, b| !(a >= b);
        "v_cmp_nlg_f16" = |a, b| !(a < b || a > b);
        "v_cmp_ngt_f16" = |a, b| !(a > b);
        "v_cmp_nle_f16" = |a, b| !(a <= b);
        "v_cmp_neq_f16" = |a, b| a != b;
        "v_cmp_nlt_f16" = |a, b| !(a < b);
        "v_cmp_tru_f16" = |_, _| true;
    }
    float32 {
        "v_cmp_f_f32" = |_, _| false;
        "v_cmp_lt_f32" = |a, b| a < b;
        "v_cmp_eq_f32" = |a, b| a == b;
        "v_cmp_le_f32" = |a, b| a <= b;
        "v_cmp_gt_f32" = |a, b| a > b;
        "v_cmp_lg_f32" = |a, b| a < b || a > b;
        "v_cmp_ge_f32" = |a, b| a >= b;
        "v_cmp_o_f32" = |a, b| !a.is_nan() && !b.is_nan();
        "v_cmp_u_f32" = |a, b| a.is_nan() || b.is_nan();
        "v_cmp_nge_f32" = |a, b| !(a >= b);
        "v_cmp_nlg_f32" = |a, b| !(a < b || a > b);
        "v_cmp_ngt_f32" = |a, b| !(a > b);
        "v_cmp_nle_f32" = |a, b| !(a <= b);
        "v_cmp_neq_f32" = |a, b| a != b;
        "v_cmp_nlt_f32" = |a, b| !(a < b);
        "v_cmp_tru_f32" = |_, _| true;
    }
    float64 {
        "v_cmp_f_f64" = |_, _| false;
        "v_cmp_lt_f64" = |a, b| a < b;
        "v_cmp_eq_f64" = |a, b| a == b;
        "v_cmp_le_f64" = |a, b| a <= b;
        "v_cmp_gt_f64" = |a, b| a > b;
        "v_cmp_lg_f64" = |a, b| a < b || a > b;
        "v_cmp_ge_f64" = |a, b| a >= b;
        "v_cmp_o_f64" = |a, b| !a.is_nan() && !b.is_nan();
        "v_cmp_u_f64" = |a, b| a.is_nan() || b.is_nan();
        "v_cmp_nge_f64" = |a, b| !(a >= b);
        "v_cmp_nlg_f64" = |a, b| !(a < b || a > b);
        "v_cmp_ngt_f64" = |a, b| !(a > b);
        "v_cmp_nle_f64" = |a, b| !(a <= b);
        "v_cmp_neq_f64" = |a, b| a != b;
        "v_cmp_nlt_f64" = |a, b| !(a < b);
        "v_cmp_tru_f64" = |_, _| true;
    }
    test32 {
        "v_cmp_f_i16" = |_, _| false;
        "v_cmp_lt_i16" = |a, b| (a as i16) < (b as i16);
        "v_cmp_eq_i16" = |a, b| (a as i16) == (b as i16);
        "v_cmp_le_i16" = |a, b| (a as i16) <= (b as i16);
        "v_cmp_gt_i16" = |a, b| (a as i16) > (b as i16);
        "v_cmp_ne_i16" = |a, b| (a as i16) != (b as i16);
        "v_cmp_ge_i16" = |a, b| (a as i16) >= (b as i16);
        "v_cmp_t_i16" = |_, _| true;
    }
    test32 {
        "v_cmp_f_u16" = |_, _| false;
        "v_cmp_lt_u16" = |a, b| (a as u16) < (b as u16);
        "v_cmp_eq_u16" = |a, b| (a as u16) == (b as u16);
        "v_cmp_le_u16" = |a, b| (a as u16) <= (b as u16);
        "v_cmp_gt_u16" = |a, b| (a as u16) > (b as u16);
        "v_cmp_ne_u16" = |a, b| (a as u16) != (b as u16);
        "v_cmp_ge_u16" = |a, b| (a as u16) >= (b as u16);
        "v_cmp_t_u16" = |_, _| true;
    }
    test32 {
        "v_cmp_f_i32" = |_, _| false;
        "v_cmp_lt_i32" = |a, b| (a as i32) < (b as i32);
        "v_cmp_eq_i32" = |a, b| (a as i32) == (b as i32);
        "v_cmp_le_i32" = |a, b| (a as i32) <= (b as i32);
        "v_cmp_gt_i32" = |a, b| (a as i32) > (b as i32);
        "v_cmp_ne_i32" = |a, b| (a as i32) != (b as i32);
        "v_cmp_ge_i32" = |a, b| (a as i32) >= (b as i32);
        "v_cmp_t_i32" = |_, _| true;
    }
    test32 {
        "v_cmp_f_u32" = |_, _| false;
        "v_cmp_lt_u32" = |a, b| a < b;
        "v_cmp_eq_u32" = |a, b| a == b;
        "v_cmp_le_u32" = |a, b| a <= b;
        "v_cmp_gt_u32" = |a, b| a > b;
        "v_cmp_ne_u32" = |a, b| a != b;
        "v_cmp_ge_u32" = |a, b| a >= b;
        "v_cmp_t_u32" = |_, _| true;
    }
    test64 {
        "v_cmp_f_i64" = |_, _| false;
        "v_cmp_lt_i64" = |a, b| (a as i64) < (b as i64);
        "v_cmp_eq_i64" = |a, b| (a as i64) == (b as i64);
        "v_cmp_le_i64" = |a, b| (a as i64) <= (b as i64);
        "v_cmp_gt_i64" = |a, b| (a as i64) > (b as i64);
        "v_cmp_ne_i64" = |a, b| (a as i64) != (b as i64);
        "v_cmp_ge_i64" = |a, b| (a as i64) >= (b as i64);
        "v_cmp_t_i64" = |_, _| true;
    }
    test64 {
        "v_cmp_f_u64" = |_, _| false;
        "v_cmp_lt_u64" = |a, b| a < b;
        "v_cmp_eq_u64" = |a, b| a == b;
        "v_cmp_le_u64" = |a, b| a <= b;
        "v_cmp_gt_u64" = |a, b| a > b;
        "v_cmp_ne_u64" = |a, b| a != b;
        "v_cmp_ge_u64" = |a, b| a >= b;
        "v_cmp_t_u64" = |_, _| true;
    }
    test32 {
        "v_cmp_class_f16" = class16;
        "v_cmp_class_f32" = class32;
    }
    test64 {
        "v_cmp_class_f64" = class64;
    }
}
