//! Elements of matrix operands: from packed registers to one number per lane.
//!
//! The one idea to keep in mind: element `j` of all lanes becomes one row of numbers, so unpacking vectorises.

use crate::half::bf16_to_f32;
use crate::lanes::{LANES, Row, RowOps, wide};
use crate::minifloat::{BF6, BF8, BF8_FNUZ, FP4, FP6, FP8, FP8_FNUZ, Format};
use isa::{Isa, MatrixType};

/// Type of a matrix operand's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Element {
    F64,
    F32,
    /// f32 whose mantissa is rounded to 10 bits.
    Xf32,
    F16,
    Bf16,
    I8,
    Mini(Format),
}

impl Element {
    /// Element of an operand type; `code` selects the format if the instruction has a choice.
    pub(super) fn of(ty: MatrixType, code: u8, isa: Isa) -> Option<Element> {
        let standard = isa.has_ocp_fp8();
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

    /// Distinct number of an element type.
    pub(super) fn number(self) -> u8 {
        const MINI: [Format; 7] = [FP8, BF8, FP6, BF6, FP4, FP8_FNUZ, BF8_FNUZ];
        match self {
            Element::F64 => 0,
            Element::F32 => 1,
            Element::Xf32 => 2,
            Element::F16 => 3,
            Element::Bf16 => 4,
            Element::I8 => 5,
            Element::Mini(format) => 6 + MINI.iter().take_while(|it| **it != format).count() as u8,
        }
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

    /// Values of all codes, for formats narrow enough for a look-up table.
    pub(super) fn numbers(self) -> Vec<f32> {
        match self {
            Element::Mini(format) => (0..256).map(|code| format.decode(code)).collect(),
            _ => Vec::new(),
        }
    }

    /// Unpacks the elements of all lanes to f32; `numbers` is the table from [`Element::numbers`].
    #[inline(always)]
    pub(super) fn single(self, row_ops: &RowOps, rows: &[Row], numbers: &[f32], out: &mut [[f32; LANES]]) {
        if self == Element::F16 {
            // A register holds two elements.
            for (row, [low, high]) in rows.iter().zip(out.as_chunks_mut().0) {
                (row_ops.halves)(row, low, high);
            }
            return;
        }
        for (j, out) in out.iter_mut().enumerate() {
            self.element(rows, numbers, j, out);
        }
    }

    /// Element `j` of all lanes as f32.
    #[inline(always)]
    fn element(self, rows: &[Row], numbers: &[f32], j: usize, out: &mut [f32; LANES]) {
        let bit = j * self.bits();
        let row = rows.get(bit / 32).unwrap_or(&Row::ZERO);
        match self {
            Element::F32 => {
                for lane in 0..LANES {
                    out[lane] = f32::from_bits(row.0[lane]);
                }
            }
            Element::Xf32 => {
                // Rounds to nearest even.
                for lane in 0..LANES {
                    let bits = row.0[lane];
                    let odd = bits >> 13 & 1;
                    out[lane] = f32::from_bits(bits.wrapping_add(0xfff + odd) & !0x1fff);
                }
            }
            Element::Bf16 => {
                for lane in 0..LANES {
                    out[lane] = bf16_to_f32((row.0[lane] >> (bit % 32)) as u16);
                }
            }
            Element::Mini(format) => {
                // An element may cross a register boundary.
                let (shift, width) = (bit % 32, format.bits());
                let next = rows.get(bit / 32 + 1).unwrap_or(&Row::ZERO);
                let Some(numbers) = numbers.first_chunk::<256>() else { return };
                for lane in 0..LANES {
                    let both = u64::from(row.0[lane]) | u64::from(next.0[lane]) << 32;
                    out[lane] = numbers[(both >> shift) as usize & ((1 << width) - 1) & 255];
                }
            }
            Element::F64 | Element::F16 | Element::I8 => {}
        }
    }

    /// Signed byte `j` of all lanes.
    #[inline(always)]
    pub(super) fn integer(rows: &[Row], j: usize, out: &mut [i32; LANES]) {
        let row = rows.get(j / 4).unwrap_or(&Row::ZERO);
        for lane in 0..LANES {
            out[lane] = i32::from((row.0[lane] >> (8 * (j % 4))) as i8);
        }
    }

    /// Element `j` of all lanes as f64.
    #[inline(always)]
    pub(super) fn double(rows: &[Row], j: usize, out: &mut [f64; LANES]) {
        if let Some(pair) = rows.get(2 * j..).and_then(<[Row]>::first_chunk) {
            for lane in 0..LANES {
                out[lane] = f64::from_bits(wide(pair, lane));
            }
        }
    }
}
