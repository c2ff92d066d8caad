//! 16-bit floating-point numbers: conversions from and to the wider types.
//!
//! The one idea to keep in mind: all conversions are integer arithmetic without branches, so they vectorise.
//! Rounding is to nearest even unless the name says otherwise.

/// f16 to f32, exact; NaNs keep their payload and become quiet.
#[inline(always)]
pub(crate) fn f16_to_f32(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let rest = u32::from(half & 0x7fff) << 13;
    // 2^112 converts the exponent's bias and normalises denormals.
    let scaled = (f32::from_bits(rest) * f32::from_bits(0x7780_0000)).to_bits();
    let special = rest >= 0x0f80_0000;
    let quiet = if rest > 0x0f80_0000 { 0x0040_0000 } else { 0 };
    f32::from_bits(sign | if special { rest | 0x7f80_0000 | quiet } else { scaled })
}

/// f32 to f16, to nearest even.
#[inline(always)]
pub(crate) fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    // Normal results: add the rounding increment, then change the bias.
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_add(0xc800_0fff).wrapping_add(odd) >> 13;
    // Denormal results: the addition of 0.5 rounds at the right bit.
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let nan = 0x7e00 | magnitude >> 13 & 0x3ff;
    let result = if magnitude > 0x7f80_0000 {
        nan
    } else if magnitude >= 0x4780_0000 {
        0x7c00
    } else if magnitude < 0x3880_0000 {
        denormal
    } else {
        normal
    };
    sign | result as u16
}

/// f32 to f16, towards zero: finite values never become infinite.
#[inline(always)]
pub(crate) fn f32_to_f16_towards_zero(value: f32) -> u16 {
    let nearest = f32_to_f16(value);
    // A result too large in magnitude steps back by one code; that also turns an overflow into the largest finite
    // value.
    let back = f16_to_f32(nearest).abs() > value.abs();
    nearest - u16::from(back)
}

/// f64 to f16 with a single rounding to nearest even.
#[inline(always)]
pub(crate) fn f64_to_f16(value: f64) -> u16 {
    f32_to_f16(round_to_odd(value))
}

/// f64 to f32, rounded to odd: an inexact result has an odd last bit, so a later rounding to a narrower type is
/// correct.
#[inline(always)]
pub(crate) fn round_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || value.is_nan() || nearest.is_infinite() {
        return nearest;
    }
    let bits = nearest.to_bits();
    // Truncates towards zero; the odd neighbour is then the one with the last bit set.
    let truncated = if back.abs() > value.abs() { bits - 1 } else { bits };
    f32::from_bits(truncated | 1)
}

/// bf16 to f32, exact.
#[inline(always)]
pub(crate) fn bf16_to_f32(value: u16) -> f32 {
    f32::from_bits(u32::from(value) << 16)
}

/// f32 to bf16, to nearest even.
#[inline(always)]
pub(crate) fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let nan = bits >> 16 | 0x40;
    (if value.is_nan() { nan } else { rounded }) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_round_trip() {
        for half in 0..=u16::MAX {
            let is_nan = half & 0x7fff > 0x7c00;
            let expected = if is_nan { half | 0x200 } else { half };
            assert_eq!(f32_to_f16(f16_to_f32(half)), expected, "{half:#x}");
            assert_eq!(f64_to_f16(f64::from(f16_to_f32(half))), expected, "{half:#x}");
        }
    }

    #[test]
    fn halves_have_their_values() {
        for (half, value) in
            [(0x3c00, 1.0), (0x0001, 5.960_464_5e-8), (0x03ff, 6.097_555e-5), (0x7bff, 65504.0)]
        {
            assert_eq!(f16_to_f32(half), value);
        }
        assert_eq!(f16_to_f32(0xfc00), f32::NEG_INFINITY);
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        for (value, half) in [
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (1.0 + 1.1 / 2048.0, 0x3c01),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (2.980_232_2e-8, 0),
            (2.980_232_6e-8, 1),
            (8.940_697e-8, 2),
        ] {
            assert_eq!(f32_to_f16(value), half, "{value}");
            assert_eq!(f32_to_f16(-value), half | 0x8000, "-{value}");
        }
        assert_eq!(f32_to_f16_towards_zero(70000.0), 0x7bff);
        assert_eq!(f32_to_f16_towards_zero(f32::INFINITY), 0x7c00);
        assert_eq!(f32_to_f16_towards_zero(1.0 + 1.9 / 1024.0), 0x3c01);
        // Just above a tie: double rounding would give the tie, and then the even neighbour.
        assert_eq!(f64_to_f16(1.0 + 1.0 / 2048.0 + 1e-12), 0x3c01);
        assert_eq!(f32_to_bf16(f32::from_bits(0x3f80_8000)), 0x3f80);
        assert_eq!(f32_to_bf16(f32::from_bits(0x3f81_8000)), 0x3f82);
    }
}
