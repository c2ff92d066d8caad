//! Integer arithmetic with the clamp bit: results out of range become the nearest in range.
//!
//! The one idea to keep in mind: the name of such a kernel is the mnemonic and ` clamp`. Other integer opcodes
//! have no clamp.

use crate::lanes::*;

#[inline(always)]
fn low24(v: u32) -> u64 {
    u64::from(v & 0x00ff_ffff)
}

#[inline(always)]
fn signed24(v: u32) -> i64 {
    i64::from(((v << 8) as i32) >> 8)
}

#[inline(always)]
fn unsigned(v: u64) -> u32 {
    v.min(u64::from(u32::MAX)) as u32
}

#[inline(always)]
fn signed(v: i64) -> u32 {
    v.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32 as u32
}

/// Sum of products of unsigned fields of `width` bits.
#[inline(always)]
fn dot_unsigned(a: u32, b: u32, c: u32, width: u32) -> u32 {
    let field = |v: u32, index: u32| u64::from(v >> (index * width) & ((1 << width) - 1));
    unsigned((0..32 / width).fold(u64::from(c), |sum, index| sum + field(a, index) * field(b, index)))
}

#[inline(always)]
fn dot_signed(a: u32, b: u32, c: u32, width: u32) -> u32 {
    let field = |v: u32, index: u32| i64::from((v << (32 - width - index * width)) as i32 >> (32 - width));
    signed((0..32 / width).fold(i64::from(c as i32), |sum, index| sum + field(a, index) * field(b, index)))
}

kernels! {
    u32_2 {
        "v_add_u32 clamp" = |a, b| a.saturating_add(b);
        "v_sub_u32 clamp" = |a, b| a.saturating_sub(b);
        "v_subrev_u32 clamp" = |a, b| b.saturating_sub(a);
        "v_mul_u32_u24 clamp" = |a, b| unsigned(low24(a) * low24(b));
        "v_mul_i32_i24 clamp" = |a, b| signed(signed24(a) * signed24(b));
    }
    i32_2 {
        "v_add_i32 clamp" = |a, b| a.saturating_add(b);
        "v_sub_i32 clamp" = |a, b| a.saturating_sub(b);
    }
    carry {
        "v_add_co_u32 clamp" = |a, b, _| (a.saturating_add(b), a.overflowing_add(b).1);
        "v_sub_co_u32 clamp" = |a, b, _| (a.saturating_sub(b), b > a);
        "v_subrev_co_u32 clamp" = |a, b, _| (b.saturating_sub(a), a > b);
    }
    u32_3 {
        "v_mad_u32_u24 clamp" = |a, b, c| unsigned(low24(a) * low24(b) + u64::from(c));
        "v_mad_i32_i24 clamp" = |a, b, c| signed(signed24(a) * signed24(b) + i64::from(c as i32));
        "v_mad_u32_u16 clamp" = |a, b, c| ((a & 0xffff) * (b & 0xffff)).saturating_add(c);
        "v_mad_i32_i16 clamp" = |a, b, c| (i32::from(a as i16) * i32::from(b as i16)).saturating_add(c as i32) as u32;
        "v_add3_u32 clamp" = |a, b, c| a.saturating_add(b).saturating_add(c);
        "v_sad_u32 clamp" = |a, b, c| a.abs_diff(b).saturating_add(c);
        "v_dot2_i32_i16 clamp" = |a, b, c| dot_signed(a, b, c, 16);
        "v_dot2_u32_u16 clamp" = |a, b, c| dot_unsigned(a, b, c, 16);
        "v_dot4_i32_i8 clamp" = |a, b, c| dot_signed(a, b, c, 8);
        "v_dot4_u32_u8 clamp" = |a, b, c| dot_unsigned(a, b, c, 8);
        "v_dot8_i32_i4 clamp" = |a, b, c| dot_signed(a, b, c, 4);
        "v_dot8_u32_u4 clamp" = |a, b, c| dot_unsigned(a, b, c, 4);
    }
    u16_2 {
        "v_add_u16 clamp" = |a, b| a.saturating_add(b);
        "v_sub_u16 clamp" = |a, b| a.saturating_sub(b);
        "v_subrev_u16 clamp" = |a, b| b.saturating_sub(a);
        "v_mul_lo_u16 clamp" = |a, b| a.saturating_mul(b);
    }
    i16_2 {
        "v_add_i16 clamp" = |a, b| a.saturating_add(b);
        "v_sub_i16 clamp" = |a, b| a.saturating_sub(b);
    }
    u16_3 {
        "v_mad_u16 clamp" = |a, b, c| (u32::from(a) * u32::from(b) + u32::from(c)).min(0xffff) as u16;
    }
    i16_3 {
        "v_mad_i16 clamp" = |a, b, c| {
            (i32::from(a) * i32::from(b) + i32::from(c)).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
        };
    }
    packed2 {
        "v_pk_add_u16 clamp" = |a, b| a.saturating_add(b);
        "v_pk_sub_u16 clamp" = |a, b| a.saturating_sub(b);
        "v_pk_add_i16 clamp" = |a, b| (a as i16).saturating_add(b as i16) as u16;
        "v_pk_sub_i16 clamp" = |a, b| (a as i16).saturating_sub(b as i16) as u16;
        "v_pk_mul_lo_u16 clamp" = |a, b| a.saturating_mul(b);
    }
    packed3 {
        "v_pk_mad_u16 clamp" = |a, b, c| (u32::from(a) * u32::from(b) + u32::from(c)).min(0xffff) as u16;
        "v_pk_mad_i16 clamp" = |a, b, c| {
            let sum = i32::from(a as i16) * i32::from(b as i16) + i32::from(c as i16);
            sum.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as u16
        };
    }
}
