//! Packed arithmetic: two 16-bit halves, or two f32.
//!
//! The one idea to keep in mind: `op_sel` selects halves when operands are fetched, so kernels combine equal
//! halves.

use super::short::fma16;
use crate::half::{f16_to_f32, f32_to_f16};
use crate::lanes::*;

#[inline(always)]
fn half2(f: impl Fn(f32, f32) -> f32) -> impl Fn(u16, u16) -> u16 {
    move |a, b| f32_to_f16(f(f16_to_f32(a), f16_to_f32(b)))
}

#[inline(always)]
fn signed(f: impl Fn(i16, i16) -> i16) -> impl Fn(u16, u16) -> u16 {
    move |a, b| f(a as i16, b as i16) as u16
}

kernels! {
    in place {
        packed_f32 {
            "v_pk_fma_f32" = |a, b, c| f32::mul_add(a, b, c);
            "v_pk_mul_f32" = |a, b, _| a * b;
            "v_pk_add_f32" = |a, b, _| a + b;
        }
    }
    packed2 {
        "v_pk_add_f16" = half2(|a, b| a + b);
        "v_pk_mul_f16" = half2(|a, b| a * b);
        "v_pk_add_i16" = |a, b| a.wrapping_add(b);
        "v_pk_sub_i16" = |a, b| a.wrapping_sub(b);
        "v_pk_add_u16" = |a, b| a.wrapping_add(b);
        "v_pk_sub_u16" = |a, b| a.wrapping_sub(b);
        "v_pk_mul_lo_u16" = |a, b| a.wrapping_mul(b);
        "v_pk_lshlrev_b16" = |a, b| b << (a & 15);
        "v_pk_lshrrev_b16" = |a, b| b >> (a & 15);
        "v_pk_ashrrev_i16" = |a, b| ((b as i16) >> (a & 15)) as u16;
        "v_pk_max_i16" = signed(|a, b| a.max(b));
        "v_pk_min_i16" = signed(|a, b| a.min(b));
        "v_pk_max_u16" = |a, b| a.max(b);
        "v_pk_min_u16" = |a, b| a.min(b);
    }
    packed3 {
        "v_pk_fma_f16" = fma16;
        "v_pk_fmac_f16" = fma16;
        "v_pk_mad_i16" = |a, b, c| a.wrapping_mul(b).wrapping_add(c);
        "v_pk_mad_u16" = |a, b, c| a.wrapping_mul(b).wrapping_add(c);
    }
    pair_of {
        "v_pk_mov_b32" = ();
    }
}

/// One register of each operand; selection has moved it to the operand's first row.
#[inline(always)]
fn pair_of(o: &mut Pair, a: &Pair, b: &Pair, _: &Pair, _: &mut Extra, (): ()) {
    o[0] = a[0];
    o[1] = b[0];
}
