//! Elements of matrix operands: from packed registers to one number per lane.
//!
//! The one idea to keep in mind: element `j` of all lanes becomes one row of numbers, so unpacking vectorises.

use crate::half::{bf16_to_f32, f16_to_f32};
use crate::lanes::{LANES, Row};
use crate::minifloat::{BF6, BF8, BF8_FNUZ, FP4, FP6, FP8, FP8_FNUZ, Format};
use isa::{Isa, MatrixType};

/// Type of a matrix operand's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Element {
    F64,
    F32,
    /// f32 of which the product uses 10 bits of mantissa.
    Xf32,
    F16,
    Bf16,
    I8,
    Mini(Format),
}

impl Element {
    /// The element of an operand type; `code` chooses where the instruction leaves it open.
    pub(super) fn of(ty: MatrixType, code: u8, isa: Isa) -> Option<Element> {
        let standard = isa == Isa::Gfx950;
        Some(match ty {
            MatrixType::F64 => Element::F64,
            MatrixType::F32 => Element::F32,
            MatrixType::Xf32 => Element::Xf32,
            MatrixType::F16 => Element::F16,
            MatrixType::Bf16 => Element::Bf16,
            MatrixType::I8 => Element::I8,
            MatrixType::I32 => return None,
            MatrixType::Fp8 => Element::Mini(if standard { FP8 } else { FP8_FNUZ }),
            MatrixType::Bf8 => Element::Mini(if standard { BF8 } else { BF8_FNUZ }),
            MatrixType::F8F6F4 => Element::Mini(*[FP8, BF8, FP6, BF6, FP4].get(usize::from(code))?),
        })
    }

    /// Bits of one element.
    pub(super) fn bits(self) -> usize {
        match self {
            Element::F64 => 64,
            Element::F32 | Element::Xf32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::I8 => 8,
            Element::Mini(format) => format.bits() as usize,
        }
    }

    /// Raw bits of element `j` in a lane; elements may cross registers.
    fn raw(self, rows: &[Row], j: usize, lane: usize) -> u32 {
        let (bit, width) = (j * self.bits(), self.bits());
        let word = |index: usize| rows.get(index).map_or(0, |row| row.0[lane]);
        let (index, shift) = (bit / 32, bit % 32);
        let pair =
            u64::from(word(index)) | if shift + width > 32 { u64::from(word(index + 1)) << 32 } else { 0 };
        (pair >> shift) as u32 & (((1u64 << width) - 1) as u32)
    }

    /// Element `j` of every lane as f32.
    #[inline(always)]
    pub(super) fn single(self, rows: &[Row], j: usize) -> [f32; LANES] {
        let mut out = [0.0; LANES];
        match self {
            Element::F32 | Element::Xf32 => {
                let row = rows.get(j).unwrap_or(&Row::ZERO);
                let keep = if self == Element::Xf32 { !0x1fff } else { !0 };
                let half = if self == Element::Xf32 { 0xfff } else { 0 };
                for lane in 0..LANES {
                    let bits = row.0[lane];
                    // To nearest even on the bits that stay.
                    let odd = if half != 0 { bits >> 13 & 1 } else { 0 };
                    out[lane] = f32::from_bits(bits.wrapping_add(half + odd) & keep);
                }
            }
            Element::F16 | Element::Bf16 => {
                let row = rows.get(j / 2).unwrap_or(&Row::ZERO);
                let shift = 16 * (j % 2);
                for lane in 0..LANES {
                    let half = (row.0[lane] >> shift) as u16;
                    out[lane] = if self == Element::F16 { f16_to_f32(half) } else { bf16_to_f32(half) };
                }
            }
            Element::Mini(format) => {
                for (lane, value) in out.iter_mut().enumerate() {
                    *value = format.decode(self.raw(rows, j, lane));
                }
            }
            Element::F64 | Element::I8 => {}
        }
        out
    }

    /// Element `j` of every lane as an integer.
    #[inline(always)]
    pub(super) fn integer(self, rows: &[Row], j: usize) -> [i32; LANES] {
        let row = rows.get(j / 4).unwrap_or(&Row::ZERO);
        let shift = 8 * (j % 4);
        let mut out = [0; LANES];
        for (value, bits) in out.iter_mut().zip(&row.0) {
            *value = i32::from((bits >> shift) as i8);
        }
        out
    }

    /// Element `j` of every lane as f64.
    #[inline(always)]
    pub(super) fn double(rows: &[Row], j: usize) -> [f64; LANES] {
        let mut out = [0.0; LANES];
        if let Some([low, high]) = rows.get(2 * j..).and_then(<[Row]>::first_chunk) {
            for lane in 0..LANES {
                out[lane] = f64::from_bits(u64::from(low.0[lane]) | u64::from(high.0[lane]) << 32);
            }
        }
        out
    }
}
