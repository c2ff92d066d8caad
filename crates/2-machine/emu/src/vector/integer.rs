//! Integer arithmetic.
//!
//! The one idea to keep in mind: arithmetic wraps. Saturation by the clamp bit has kernels of its own in
//! `saturate`, except for opcodes that always saturate.

use crate::lanes::*;

#[inline(always)]
fn low24(v: u32) -> u32 {
    v & 0x00ff_ffff
}

#[inline(always)]
fn signed24(v: u32) -> i32 {
    ((v << 8) as i32) >> 8
}

#[inline(always)]
fn absolute_difference(a: u32, b: u32) -> u32 {
    a.abs_diff(b)
}

/// Byte `index` of a word.
#[inline(always)]
fn byte(v: u32, index: u32) -> u32 {
    v >> (8 * index) & 0xff
}

/// Adds absolute differences of four bytes to `c`; with `skip_zero`, without bytes that are 0 in the reference
/// `b`.
#[inline(always)]
fn sad8(a: u32, b: u32, c: u32, skip_zero: bool) -> u32 {
    let mut sum = c;
    for index in 0..4 {
        let (p, q) = (byte(a, index), byte(b, index));
        if !skip_zero || q != 0 {
            sum = sum.wrapping_add(p.abs_diff(q));
        }
    }
    sum
}

/// Four sums of absolute differences between the reference and four overlapping windows.
#[inline(always)]
fn quad_sad(o: &mut Pair, a: &Pair, b: &Pair, c: &Pair, _: &mut Extra, masked: bool) {
    for lane in 0..LANES {
        let (window, reference, sums) = (wide(a, lane), b[0].0[lane], wide(c, lane));
        let mut result = 0u64;
        for index in 0..4 {
            let sum = sad8(
                (window >> (8 * index)) as u32,
                reference,
                (sums >> (16 * index)) as u32 & 0xffff,
                masked,
            );
            result |= u64::from(sum.min(0xffff)) << (16 * index);
        }
        set_wide(o, lane, result);
    }
}

/// Product of two words plus a 64-bit addend: 64-bit result and carry.
#[inline(always)]
fn multiply_add_wide(
    o: &mut Pair,
    a: &Pair,
    b: &Pair,
    c: &Pair,
    x: &mut Extra,
    f: impl Fn(u32, u32, u64) -> (u64, bool),
) {
    for lane in 0..LANES {
        set_wide(o, lane, f(a[0].0[lane], b[0].0[lane], wide(c, lane)).0);
    }
    x.mask_out = mask_of(|lane| f(a[0].0[lane], b[0].0[lane], wide(c, lane)).1);
}

/// Shift of a 64-bit operand by a word; `f` takes the amount first.
#[inline(always)]
fn shift_wide(o: &mut Pair, a: &Pair, b: &Pair, _: &Pair, _: &mut Extra, f: impl Fn(u32, u64) -> u64) {
    for lane in 0..LANES {
        set_wide(o, lane, f(a[0].0[lane], wide(b, lane)));
    }
}

/// Works on dwords, because each is a row and pairs need not be combined.
#[inline(always)]
fn shift_add_wide(
    o: &mut Pair,
    a: &Pair,
    b: &Pair,
    c: &Pair,
    _: &mut Extra,
    f: impl Fn([u32; 2], u32, [u32; 2]) -> [u32; 2],
) {
    let [low, high] = o;
    for lane in 0..LANES {
        let pair = |pair: &Pair| [pair[0].0[lane], pair[1].0[lane]];
        [low.0[lane], high.0[lane]] = f(pair(a), b[0].0[lane], pair(c));
    }
}

/// `(a << (shift & 7)) + c`.
#[inline(always)]
fn shifted_sum([a_low, a_high]: [u32; 2], shift: u32, [c_low, c_high]: [u32; 2]) -> [u32; 2] {
    let shift = shift & 7;
    let (low, high) = (a_low << shift, a_high << shift | a_low >> 1 >> (31 - shift));
    let sum = low.wrapping_add(c_low);
    [sum, high.wrapping_add(c_high).wrapping_add(u32::from(sum < low))]
}

#[inline(always)]
fn median<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    a.min(b).max(a.max(b).min(c))
}

#[inline(always)]
fn saturate8(v: i32, low: i32, high: i32) -> u32 {
    (v.clamp(low, high) & 0xff) as u32
}

kernels! {
    in place {
        u32_1 {
            "v_mov_b32" = |a| a;
            "v_accvgpr_read_b32" = |a| a;
            "v_accvgpr_write_b32" = |a| a;
            "v_accvgpr_mov_b32" = |a| a;
        }
        u64_1 {
            "v_mov_b64" = |a| a;
        }
        u32_2 {
            "v_add_u32" = |a, b| a.wrapping_add(b);
            "v_sub_u32" = |a, b| a.wrapping_sub(b);
            "v_subrev_u32" = |a, b| b.wrapping_sub(a);
            "v_add_i32" = |a, b| a.wrapping_add(b);
            "v_sub_i32" = |a, b| a.wrapping_sub(b);
            "v_mul_u32_u24" = |a, b| low24(a).wrapping_mul(low24(b));
            "v_mul_i32_i24" = |a, b| signed24(a).wrapping_mul(signed24(b)) as u32;
            "v_mul_lo_u32" = |a, b| a.wrapping_mul(b);
            "v_min_u32" = |a, b| a.min(b);
            "v_max_u32" = |a, b| a.max(b);
        }
        i32_2 {
            "v_min_i32" = |a, b| a.min(b);
            "v_max_i32" = |a, b| a.max(b);
        }
        u32_3 {
            "v_mad_u32_u24" = |a, b, c| low24(a).wrapping_mul(low24(b)).wrapping_add(c);
            "v_mad_i32_i24" = |a, b, c| (signed24(a).wrapping_mul(signed24(b)) as u32).wrapping_add(c);
            "v_add3_u32" = |a, b, c| a.wrapping_add(b).wrapping_add(c);
            "v_lshl_add_u32" = |a, b, c| a.wrapping_shl(b).wrapping_add(c);
            "v_add_lshl_u32" = |a, b, c| a.wrapping_add(b).wrapping_shl(c);
            "v_xad_u32" = |a, b, c| (a ^ b).wrapping_add(c);
        }
        shift_add_wide {
            "v_lshl_add_u64" = shifted_sum;
            "v_lshl_add_u64 unshifted" = |a, _, c| shifted_sum(a, 0, c);
        }
    }
    u32_2 {
        "v_mul_hi_u32_u24" = |a, b| (u64::from(low24(a)) * u64::from(low24(b)) >> 32) as u32;
        "v_mul_hi_i32_i24" = |a, b| (i64::from(signed24(a)) * i64::from(signed24(b)) >> 32) as u32;
        "v_mul_hi_u32" = |a, b| (u64::from(a) * u64::from(b) >> 32) as u32;
        "v_mul_hi_i32" = |a, b| (i64::from(a as i32) * i64::from(b as i32) >> 32) as u32;
    }
    u32_3 {
        "v_mad_u32_u16" = |a, b, c| ((a & 0xffff) * (b & 0xffff)).wrapping_add(c);
        "v_mad_i32_i16" = |a, b, c| (i32::from(a as i16) * i32::from(b as i16)).wrapping_add(c as i32) as u32;
        "v_min3_u32" = |a, b, c| a.min(b).min(c);
        "v_max3_u32" = |a, b, c| a.max(b).max(c);
        "v_med3_u32" = median;
        "v_sad_u8" = |a, b, c| sad8(a, b, c, false);
        "v_msad_u8" = |a, b, c| sad8(a, b, c, true);
        "v_sad_hi_u8" = |a, b, c| (sad8(a, b, 0, false) << 16).wrapping_add(c);
        "v_sad_u16" = |a, b, c| c
            .wrapping_add(absolute_difference(a & 0xffff, b & 0xffff))
            .wrapping_add(absolute_difference(a >> 16, b >> 16));
        "v_sad_u32" = |a, b, c| absolute_difference(a, b).wrapping_add(c);
        "v_lerp_u8" = |a, b, c| {
            let mut result = 0;
            for index in 0..4 {
                let sum = byte(a, index) + byte(b, index) + (byte(c, index) & 1);
                result |= (sum >> 1) << (8 * index);
            }
            result
        };
        "v_ashr_pk_i8_i32" = |a, b, c| {
            let shifted = |v: u32| saturate8((v as i32) >> (c & 31), -128, 127);
            shifted(a) | shifted(b) << 8
        };
        "v_ashr_pk_u8_i32" = |a, b, c| {
            let shifted = |v: u32| saturate8((v as i32) >> (c & 31), 0, 255);
            shifted(a) | shifted(b) << 8
        };
    }
    i32_3 {
        "v_min3_i32" = |a, b, c| a.min(b).min(c);
        "v_max3_i32" = |a, b, c| a.max(b).max(c);
        "v_med3_i32" = median;
    }
    carry {
        "v_add_co_u32" = |a, b, _| a.overflowing_add(b);
        "v_sub_co_u32" = |a, b, _| a.overflowing_sub(b);
        "v_subrev_co_u32" = |a, b, _| b.overflowing_sub(a);
        "v_addc_co_u32" = |a, b, bit| {
            let sum = u64::from(a) + u64::from(b) + u64::from(bit);
            (sum as u32, sum >> 32 != 0)
        };
        "v_subb_co_u32" = |a, b, bit| (a.wrapping_sub(b).wrapping_sub(bit), u64::from(b) + u64::from(bit) > u64::from(a));
        "v_subbrev_co_u32" = |a, b, bit| (b.wrapping_sub(a).wrapping_sub(bit), u64::from(a) + u64::from(bit) > u64::from(b));
    }
    multiply_add_wide {
        "v_mad_u64_u32" = |a, b, c| (u64::from(a) * u64::from(b)).overflowing_add(c);
        "v_mad_i64_i32" = |a, b, c: u64| {
            let (sum, overflow) = (i64::from(a as i32) * i64::from(b as i32)).overflowing_add(c as i64);
            (sum as u64, overflow)
        };
    }
    shift_wide {
        "v_lshlrev_b64" = |a, b| b << (a & 63);
        "v_lshrrev_b64" = |a, b| b >> (a & 63);
        "v_ashrrev_i64" = |a, b| ((b as i64) >> (a & 63)) as u64;
    }
    quad_sad {
        "v_qsad_pk_u16_u8" = false;
        "v_mqsad_pk_u16_u8" = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_dwords_carry() {
        for shift in 0..8 {
            for a in [0u64, 1, 0x8000_0000, 0xffff_ffff, 0x1_0000_0000, 0x1234_5678_9abc_def0, u64::MAX] {
                for c in [0u64, 1, 0x7fff_ffff, 0xffff_ffff, 0x8000_0000_0000_0000, u64::MAX] {
                    let split = |value: u64| [value as u32, (value >> 32) as u32];
                    let expected = (a << shift).wrapping_add(c);
                    assert_eq!(
                        shifted_sum(split(a), shift, split(c)),
                        split(expected),
                        "{a:#x} {shift} {c:#x}"
                    );
                }
            }
        }
    }
}
