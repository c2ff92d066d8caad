//! Sub-dword addressing (SDWA): parts of a register as source and destination.
//!
//! The one idea to keep in mind: selectors 0 to 3 are bytes, 4 and 5 words, 6 the whole register.

use crate::lanes::{LANES, Pair, Row};
use isa::Sdwa;

/// Shift and width in bits of a selector.
fn part(select: u8) -> (u32, u32) {
    match select {
        0..=3 => (8 * u32::from(select), 8),
        4 | 5 => (16 * u32::from(select - 4), 16),
        _ => (0, 32),
    }
}

/// Selects a part of a source, zero- or sign-extended.
#[inline(always)]
pub(super) fn select(sdwa: Sdwa, index: usize, operand: &mut Pair) {
    let select = match index {
        0 => sdwa.src0_sel,
        1 => sdwa.src1_sel,
        _ => return,
    };
    let (shift, width) = part(select);
    let signed = sdwa.sext >> index & 1 != 0;
    if width == 32 {
        return;
    }
    for value in &mut operand[0].0 {
        let top = *value << (32 - width - shift);
        *value = if signed { (top as i32 >> (32 - width)) as u32 } else { top >> (32 - width) };
    }
}

/// Places the result in its part of the destination; the rest is 0, sign, or the old value.
#[inline(always)]
pub(super) fn place(sdwa: Sdwa, old: &Row, out: &mut Row) {
    let (shift, width) = part(sdwa.dst_sel);
    if width == 32 {
        return;
    }
    let mask = (1u32 << width) - 1;
    for lane in 0..LANES {
        let value = out.0[lane] & mask;
        out.0[lane] = match sdwa.dst_unused {
            0 => value << shift,
            1 => ((value << (32 - width)) as i32 >> (32 - width - shift)) as u32,
            _ => old.0[lane] & !(mask << shift) | value << shift,
        };
    }
}
