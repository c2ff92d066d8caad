//! Bit fields: from source codes and register fields to operands.
//!
//! All encodings share one numbering of sources (0 to 127 scalar, 128 to 255 constants and special values,
//! 256 to 511 vector registers), so one function decodes them all. A code that names nothing gives
//! [`Operand::Invalid`], which makes the whole instruction unknown.

use crate::inst::{InlineFloat, Operand, RegFile, RegRange};

/// Number of scalar registers a kernel can name.
const SGPRS: u32 = 102;

/// The instruction's first four words; those beyond the end of the code are 0.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    pub(crate) w0: u32,
    pub(crate) w1: u32,
}

/// Modifier bits of VOP3, VOP3P and MAI as one number: bits 8 to 15 of the first word, 27 to 31 of the
/// second.
#[inline]
pub(crate) const fn modifier_bits(w: Words) -> u16 {
    ((w.w0 >> 8 & 0xff) | (w.w1 >> 27) << 8) as u16
}

#[inline]
pub(crate) const fn bits(word: u32, low: u32, width: u32) -> u32 {
    word >> low & ((1 << width) - 1)
}

#[inline]
pub(crate) const fn reg(file: RegFile, first: u32, count: u8) -> Operand {
    Operand::Reg(RegRange { file, first: first as u16, count })
}

/// A run of vector registers.
#[inline]
pub(crate) fn vector(accumulator: bool, first: u32, count: u8) -> Operand {
    let first = first & 0xff;
    if first + u32::from(count) > 256 {
        return Operand::Invalid(first as u16 | 256);
    }
    reg(if accumulator { RegFile::Agpr } else { RegFile::Vgpr }, first, count)
}

/// A scalar register of the codes 0 to 127. Wide operands must be aligned; the hardware drops the low bits.
#[inline]
pub(crate) fn scalar(code: u32, count: u8) -> Operand {
    let align = match count {
        0 | 1 => 0,
        2 => 1,
        _ => 3,
    };
    let wide = u32::from(count);
    match code {
        0..SGPRS => {
            let first = code & !align;
            if first + wide > SGPRS + 2 || (wide <= 2 && first + wide > SGPRS) {
                return Operand::Invalid(code as u16);
            }
            reg(RegFile::Sgpr, first, count)
        }
        108..=123 => {
            let first = (code - 108) & !align;
            if first + wide > 16 {
                return Operand::Invalid(code as u16);
            }
            reg(RegFile::Ttmp, first, count)
        }
        _ => special(code, count),
    }
}

/// Named scalar registers: one half, or both halves of a pair.
#[inline]
fn special(code: u32, count: u8) -> Operand {
    let file = match code {
        102 | 103 => RegFile::FlatScratch,
        104 | 105 => RegFile::XnackMask,
        106 | 107 => RegFile::Vcc,
        126 | 127 => RegFile::Exec,
        124 if count == 1 => return reg(RegFile::M0, 0, 1),
        _ => return Operand::Invalid(code as u16),
    };
    match count {
        1 => reg(file, code & 1, 1),
        2 if code & 1 == 0 => reg(file, 0, 2),
        _ => Operand::Invalid(code as u16),
    }
}

/// A source code of nine bits.
#[inline]
pub(crate) fn source(code: u32, count: u8, literal: u32) -> Operand {
    match code {
        256..=511 => vector(false, code - 256, count),
        0..=127 => scalar(code, count),
        128..=192 => Operand::Int((code - 128) as i8),
        193..=208 => Operand::Int(-((code - 192) as i8)),
        255 => Operand::Literal(literal),
        _ => constant(code, count),
    }
}

#[inline]
fn constant(code: u32, count: u8) -> Operand {
    let file = match code {
        240 => return Operand::Float(InlineFloat::Half),
        241 => return Operand::Float(InlineFloat::NegHalf),
        242 => return Operand::Float(InlineFloat::One),
        243 => return Operand::Float(InlineFloat::NegOne),
        244 => return Operand::Float(InlineFloat::Two),
        245 => return Operand::Float(InlineFloat::NegTwo),
        246 => return Operand::Float(InlineFloat::Four),
        247 => return Operand::Float(InlineFloat::NegFour),
        248 => return Operand::Float(InlineFloat::InvTwoPi),
        235 => RegFile::SrcSharedBase,
        236 => RegFile::SrcSharedLimit,
        237 => RegFile::SrcPrivateBase,
        238 => RegFile::SrcPrivateLimit,
        239 => RegFile::SrcPopsExitingWaveId,
        251 => RegFile::SrcVccz,
        252 => RegFile::SrcExecz,
        253 => RegFile::SrcScc,
        254 if count == 1 => RegFile::LdsDirect,
        _ => return Operand::Invalid(code as u16),
    };
    if count > 2 { Operand::Invalid(code as u16) } else { reg(file, 0, count.max(1)) }
}

/// Sign-extends the low `width` bits.
#[inline]
pub(crate) const fn signed(value: u32, width: u32) -> i32 {
    ((value << (32 - width)) as i32) >> (32 - width)
}
