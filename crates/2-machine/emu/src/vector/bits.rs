//! Bit operations and shifts.
//!
//! The one idea to keep in mind: a shift uses only as many bits of the amount as the width of the value needs.

use crate::lanes::*;

#[inline(always)]
fn extract(v: u32, at: u32, width: u32) -> u32 {
    (v >> (at & 31)) & ((1u32 << (width & 31)).wrapping_sub(1))
}

#[inline(always)]
fn extract_signed(v: u32, at: u32, width: u32) -> u32 {
    let width = width & 31;
    let field = (v as i32) >> (at & 31);
    if width == 0 { 0 } else { (field << (32 - width) >> (32 - width)) as u32 }
}

/// One of eight bytes, or a constant, by the selector of `v_perm_b32`.
#[inline(always)]
fn permuted(bytes: u64, select: u32) -> u32 {
    let sign = |byte: u32| if bytes >> (8 * byte + 7) & 1 != 0 { 0xff } else { 0 };
    match select {
        0..=7 => (bytes >> (8 * select)) as u32 & 0xff,
        8 => sign(1),
        9 => sign(3),
        10 => sign(5),
        11 => sign(7),
        12 => 0,
        _ => 0xff,
    }
}

#[inline(always)]
fn leading_zeros(v: u32) -> u32 {
    if v == 0 { u32::MAX } else { v.leading_zeros() }
}

/// Each result bit is the truth table's entry for three source bits.
#[inline(always)]
fn truth_table(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let mut result = 0;
    for row in 0..8 {
        let pick = |v: u32, bit: u32| if row >> bit & 1 != 0 { v } else { !v };
        if table >> row & 1 != 0 {
            result |= pick(a, 2) & pick(b, 1) & pick(c, 0);
        }
    }
    result
}

kernels! {
    in place {
        u32_1 {
            "v_not_b32" = |a| !a;
        }
        u32_2 {
            "v_and_b32" = |a, b| a & b;
            "v_or_b32" = |a, b| a | b;
            "v_xor_b32" = |a, b| a ^ b;
            "v_xnor_b32" = |a, b| !(a ^ b);
            "v_lshlrev_b32" = |a, b| b << (a & 31);
            "v_lshrrev_b32" = |a, b| b >> (a & 31);
            "v_ashrrev_i32" = |a, b| ((b as i32) >> (a & 31)) as u32;
        }
        u32_3 {
            "v_bfe_u32" = extract;
            "v_bfi_b32" = |a, b, c| a & b | !a & c;
            "v_lshl_or_b32" = |a, b, c| a << (b & 31) | c;
            "v_and_or_b32" = |a, b, c| a & b | c;
            "v_or3_b32" = |a, b, c| a | b | c;
        }
    }
    u32_1 {
        "v_bfrev_b32" = |a| a.reverse_bits();
        "v_ffbh_u32" = leading_zeros;
        "v_ffbl_b32" = |a| if a == 0 { u32::MAX } else { a.trailing_zeros() };
        "v_ffbh_i32" = |a| {
            let differing = if (a as i32) < 0 { !a } else { a };
            leading_zeros(differing)
        };
        "v_prng_b32" = |a| a << 1 ^ if a >> 31 != 0 { 0xc5 } else { 0 };
    }
    u32_2 {
        "v_bcnt_u32_b32" = |a, b| a.count_ones().wrapping_add(b);
        "v_bfm_b32" = |a, b| (1u32 << (a & 31)).wrapping_sub(1) << (b & 31);
    }
    u32_3 {
        "v_bfe_i32" = extract_signed;
        "v_alignbit_b32" = |a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32;
        "v_alignbyte_b32" = |a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32;
        "v_perm_b32" = |a, b, c| {
            let bytes = u64::from(a) << 32 | u64::from(b);
            permuted(bytes, c & 0xff)
                | permuted(bytes, c >> 8 & 0xff) << 8
                | permuted(bytes, c >> 16 & 0xff) << 16
                | permuted(bytes, c >> 24) << 24
        };
    }
    each {
        "v_cndmask_b32" = |lane, a, b, _, x| if x.mask_in >> lane & 1 != 0 { b } else { a };
        "v_mbcnt_lo_u32_b32" = |lane, a, b, _, _| {
            let below = if lane >= 32 { u32::MAX } else { (1u32 << lane) - 1 };
            (a & below).count_ones().wrapping_add(b)
        };
        "v_mbcnt_hi_u32_b32" = |lane, a, b, _, _| {
            let below = if lane >= 32 { (1u32 << (lane - 32)) - 1 } else { 0 };
            (a & below).count_ones().wrapping_add(b)
        };
        "v_bitop3_b32" = |_, a, b, c, x| truth_table(a, b, c, x.immediate);
        "v_bitop3_b16" = |_, a, b, c, x| truth_table(a, b, c, x.immediate) & 0xffff;
    }
}
