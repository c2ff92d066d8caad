//! Sign, scale and clamp of floating-point rows, and flushing of denormals.
//!
//! The one idea to keep in mind: each function works on the bits of one format and leaves other formats
//! unchanged.

use super::Format;
use crate::half::{f16_to_f32, f32_to_f16};
use crate::lanes::{LANES, Mode, Pair, halves, set_wide, wide};

/// Absolute value, then negation. In packed operands `neg` is the low half's sign and `abs` the high half's.
#[inline(always)]
pub(super) fn sign(format: Format, packed: bool, neg: bool, abs: bool, operand: &mut Pair) {
    if !neg && !abs {
        return;
    }
    if packed {
        let (low, high): (u32, u32) = match format {
            Format::Packed16 => (if neg { 0x8000 } else { 0 } | if abs { 0x8000_0000 } else { 0 }, 0),
            Format::F32 | Format::Mixed => (if neg { 0x8000_0000 } else { 0 }, 0),
            Format::Packed32 => (if neg { 0x8000_0000 } else { 0 }, if abs { 0x8000_0000 } else { 0 }),
            _ => return,
        };
        for lane in 0..LANES {
            operand[0].0[lane] ^= low;
            operand[1].0[lane] ^= high;
        }
        return;
    }
    let (row, bit) = match format {
        Format::F16 => (0, 0x8000),
        Format::F32 | Format::Mixed => (0, 0x8000_0000),
        Format::F64 => (1, 0x8000_0000),
        _ => return,
    };
    let (keep, flip) = (if abs { !bit } else { u32::MAX }, if neg { bit } else { 0 });
    for value in &mut operand[row].0 {
        *value = *value & keep ^ flip;
    }
}

/// Applies a function of one value to all values of a format.
#[inline(always)]
fn map(format: Format, out: &mut Pair, narrow: impl Fn(f32) -> f32, double: impl Fn(f64) -> f64) {
    let half = |value: u16| f32_to_f16(narrow(f16_to_f32(value)));
    match format {
        Format::F16 => {
            for value in &mut out[0].0 {
                *value = u32::from(half(*value as u16));
            }
        }
        Format::Packed16 => {
            for value in &mut out[0].0 {
                *value = halves(*value, half);
            }
        }
        Format::F32 | Format::Mixed | Format::Packed32 => {
            let rows = if format == Format::Packed32 { 2 } else { 1 };
            for row in &mut out[..rows] {
                for value in &mut row.0 {
                    *value = narrow(f32::from_bits(*value)).to_bits();
                }
            }
        }
        Format::F64 => {
            for lane in 0..LANES {
                let value = f64::from_bits(wide(out, lane));
                set_wide(out, lane, double(value).to_bits());
            }
        }
        Format::Bits => {}
    }
}

/// Output multiplier: 1 doubles, 2 quadruples, 3 halves.
#[inline(always)]
pub(super) fn scale(format: Format, omod: u8, out: &mut Pair) {
    let factor = match omod {
        1 => 2.0f32,
        2 => 4.0,
        3 => 0.5,
        _ => return,
    };
    map(format, out, |value| value * factor, |value| value * f64::from(factor));
}

/// Clamps to [0, 1]; NaN becomes 0 if the mode says so.
#[inline(always)]
pub(super) fn clamp(format: Format, mode: Mode, out: &mut Pair) {
    let zero_nan = mode.dx10_clamp();
    // Adding 0 converts -0 to +0.
    map(
        format,
        out,
        |value| match value.is_nan() {
            true => {
                if zero_nan {
                    0.0
                } else {
                    value
                }
            }
            false => value.clamp(0.0, 1.0) + 0.0,
        },
        |value| match value.is_nan() {
            true => {
                if zero_nan {
                    0.0
                } else {
                    value
                }
            }
            false => value.clamp(0.0, 1.0) + 0.0,
        },
    );
}

/// Replaces denormals by zeros of the same sign.
#[inline(always)]
fn flush_rows(format: Format, out: &mut Pair) {
    match format {
        Format::F16 | Format::Packed16 => {
            for value in &mut out[0].0 {
                let low = if *value & 0x7c00 == 0 { 0x8000 } else { 0xffff };
                let high = if *value & 0x7c00_0000 == 0 { 0x8000_0000 } else { 0xffff_0000 };
                *value &= low | high;
            }
        }
        Format::F32 | Format::Mixed | Format::Packed32 => {
            let rows = if format == Format::Packed32 { 2 } else { 1 };
            for row in &mut out[..rows] {
                for value in &mut row.0 {
                    *value &= if *value & 0x7f80_0000 == 0 { 0x8000_0000 } else { u32::MAX };
                }
            }
        }
        Format::F64 => {
            let [low, high] = out;
            for lane in 0..LANES {
                let keep = if high.0[lane] & 0x7ff0_0000 == 0 { 0 } else { u32::MAX };
                low.0[lane] &= keep;
                high.0[lane] &= keep | 0x8000_0000;
            }
        }
        Format::Bits => {}
    }
}

#[inline(always)]
fn keeps(format: Format, mode: Mode, bit: u8) -> bool {
    match format {
        Format::Bits => true,
        Format::F32 | Format::Mixed | Format::Packed32 => mode.denormal32() & bit != 0,
        Format::F16 | Format::F64 | Format::Packed16 => mode.denormal64() & bit != 0,
    }
}

/// True if the mode flushes denormal sources.
#[inline(always)]
pub(super) fn flushes(format: Format, mode: Mode) -> bool {
    !keeps(format, mode, 1)
}

/// Flushes denormal sources if the mode says so.
#[inline(always)]
pub(super) fn flush(format: Format, mode: Mode, operand: &mut Pair) {
    if !keeps(format, mode, 1) {
        flush_rows(format, operand);
    }
}

/// Flushes denormal results if the mode says so.
#[inline(always)]
pub(super) fn flush_result(format: Format, mode: Mode, out: &mut Pair) {
    if !keeps(format, mode, 2) {
        flush_rows(format, out);
    }
}
