//! Dot products within a lane, and mixed-precision multiply-adds.
//!
//! The one idea to keep in mind: integer sums wrap, or saturate with clamp; floating-point sums round at every
//! step.

use crate::half::{bf16_to_f32, f16_to_f32, f32_to_f16};
use crate::lanes::*;

/// Sum of the products of the operands' fields of `width` bits.
#[inline(always)]
fn sum_unsigned(a: u32, b: u32, width: u32) -> u32 {
    let field = |v: u32, index: u32| v >> (index * width) & ((1 << width) - 1);
    (0..32 / width).fold(0u32, |sum, index| sum.wrapping_add(field(a, index).wrapping_mul(field(b, index))))
}

#[inline(always)]
fn sum_signed(a: u32, b: u32, width: u32) -> u32 {
    let field = |v: u32, index: u32| (v << (32 - width - index * width)) as i32 >> (32 - width);
    (0..32 / width).fold(0i32, |sum, index| sum.wrapping_add(field(a, index).wrapping_mul(field(b, index))))
        as u32
}

/// Adds two f16 products to an f32; each step rounds.
#[inline(always)]
fn dot2_f16(a: u32, b: u32, c: u32) -> u32 {
    let half = |v: u32| (f16_to_f32(v as u16), f16_to_f32((v >> 16) as u16));
    let ((a0, a1), (b0, b1)) = (half(a), half(b));
    (f32::from_bits(c) + a0 * b0 + a1 * b1).to_bits()
}

#[inline(always)]
fn dot2_bf16(a: u32, b: u32, c: u32) -> u32 {
    let half = |v: u32| (bf16_to_f32(v as u16), bf16_to_f32((v >> 16) as u16));
    let ((a0, a1), (b0, b1)) = (half(a), half(b));
    (a0 * b0 + a1 * b1 + f32::from_bits(c)).to_bits()
}

/// Mixed-precision fused multiply-add with an f16 result.
#[inline(always)]
fn mixed_half(a: f32, b: f32, c: f32) -> u32 {
    u32::from(f32_to_f16(f32::mul_add(a, b, c)))
}

kernels! {
    f32_3 {
        "v_fma_mix_f32" = |a, b, c| f32::mul_add(a, b, c);
    }
    f32_to_u32_3 {
        "v_fma_mixlo_f16" = mixed_half;
        "v_fma_mixhi_f16" = mixed_half;
    }
    u32_3 {
        "v_dot2_f32_f16" = dot2_f16;
        "v_dot2c_f32_f16" = dot2_f16;
        "v_dot2_f32_bf16" = dot2_bf16;
        "v_dot2c_f32_bf16" = dot2_bf16;
        "v_dot2_i32_i16" = |a, b, c| sum_signed(a, b, 16).wrapping_add(c);
        "v_dot2c_i32_i16" = |a, b, c| sum_signed(a, b, 16).wrapping_add(c);
        "v_dot2_u32_u16" = |a, b, c| sum_unsigned(a, b, 16).wrapping_add(c);
        "v_dot4_i32_i8" = |a, b, c| sum_signed(a, b, 8).wrapping_add(c);
        "v_dot4c_i32_i8" = |a, b, c| sum_signed(a, b, 8).wrapping_add(c);
        "v_dot4_u32_u8" = |a, b, c| sum_unsigned(a, b, 8).wrapping_add(c);
        "v_dot8_i32_i4" = |a, b, c| sum_signed(a, b, 4).wrapping_add(c);
        "v_dot8c_i32_i4" = |a, b, c| sum_signed(a, b, 4).wrapping_add(c);
        "v_dot8_u32_u4" = |a, b, c| sum_unsigned(a, b, 4).wrapping_add(c);
    }
}
