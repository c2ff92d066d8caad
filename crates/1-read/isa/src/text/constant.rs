//! Numbers as operands: inline constant or literal, by the operand's type.
//!
//! The hardware knows the integers -16 to 64 and nine real numbers whose bits depend on the width of the
//! operand; a number is inline when its bits at that width are one of these, however it is written, and
//! otherwise the 32 bits that follow the instruction.

use super::Problem;
use super::operand::Kind;
use crate::{InlineFloat, Operand, Ty};

/// The inline real numbers with their bits as f16, bf16, f32 and f64.
const INLINE: [(InlineFloat, u16, u16, u32, u64); 9] = [
    (InlineFloat::Half, 0x3800, 0x3f00, 0x3f00_0000, 0x3fe0_0000_0000_0000),
    (InlineFloat::NegHalf, 0xb800, 0xbf00, 0xbf00_0000, 0xbfe0_0000_0000_0000),
    (InlineFloat::One, 0x3c00, 0x3f80, 0x3f80_0000, 0x3ff0_0000_0000_0000),
    (InlineFloat::NegOne, 0xbc00, 0xbf80, 0xbf80_0000, 0xbff0_0000_0000_0000),
    (InlineFloat::Two, 0x4000, 0x4000, 0x4000_0000, 0x4000_0000_0000_0000),
    (InlineFloat::NegTwo, 0xc000, 0xc000, 0xc000_0000, 0xc000_0000_0000_0000),
    (InlineFloat::Four, 0x4400, 0x4080, 0x4080_0000, 0x4010_0000_0000_0000),
    (InlineFloat::NegFour, 0xc400, 0xc080, 0xc080_0000, 0xc010_0000_0000_0000),
    (InlineFloat::InvTwoPi, 0x3118, 0x3e23, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
];

/// How the bits of a number are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    /// 16 bits whose real numbers are f16.
    F16,
    /// 16 bits whose real numbers are bf16.
    Bf16,
    /// 16 bits whose only inline constants, written as integers, are integers.
    I16,
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
}

fn width(ty: Ty, dwords: u8) -> Width {
    match ty {
        Ty::F16 | Ty::PkF16 => Width::F16,
        Ty::Bf16 | Ty::PkBf16 => Width::Bf16,
        Ty::B16 | Ty::U16 | Ty::I16 => Width::I16,
        Ty::PkF32 => Width::W32,
        Ty::B64 | Ty::U64 | Ty::I64 | Ty::F64 | Ty::Mask64 => Width::W64,
        _ if dwords == 2 => Width::W64,
        _ => Width::W32,
    }
}

fn inline_int(value: i64) -> Option<Operand> {
    (-16..=64).contains(&value).then_some(Operand::Int(value as i8))
}

fn inline_float(test: impl Fn(&(InlineFloat, u16, u16, u32, u64)) -> bool) -> Option<Operand> {
    INLINE.iter().find(|row| test(row)).map(|row| Operand::Float(row.0))
}

/// The number as an operand of type `ty`; `None` when `kind` is not a number.
pub(super) fn operand(kind: Kind, ty: Ty, dwords: u8) -> Result<Option<Operand>, Problem> {
    let width = width(ty, dwords);
    Ok(Some(match kind {
        Kind::Int(value) => integer(value, width)?,
        Kind::Real(value) => real(value, width),
        Kind::Literal(value) => Operand::Literal(fits_32(value)?),
        _ => return Ok(None),
    }))
}

/// The inline real number meant where no literal is possible: a 16-bit integer operand shows its bits, and
/// 1/(2*pi) is written with the digits of f32 for pairs of f32 too. Elsewhere both are read as literals.
pub(super) fn inline_without_literal(kind: Kind, ty: Ty) -> Option<Operand> {
    match kind {
        Kind::Int(value) if width(ty, 1) == Width::I16 => inline_float(|row| i64::from(row.1) == value),
        Kind::Real(value) => inline_float(|row| row.3 == (value as f32).to_bits()),
        _ => None,
    }
}

/// The 32 bits of a number that is always a literal.
pub(super) fn literal_bits(kind: Kind, ty: Ty) -> Result<u32, Problem> {
    Ok(match (kind, width(ty, 1)) {
        (Kind::Real(value), Width::F16) => u32::from(half(value as f32)),
        (Kind::Real(value), _) => (value as f32).to_bits(),
        (Kind::Int(value) | Kind::Literal(value), _) => fits_32(value)?,
        _ => return Err(Problem::BadNumber),
    })
}

/// The value as 32 bits, signed or not.
fn fits_32(value: i64) -> Result<u32, Problem> {
    if (-(1 << 31)..1 << 32).contains(&value) { Ok(value as u32) } else { Err(Problem::OutOfRange) }
}

fn integer(value: i64, width: Width) -> Result<Operand, Problem> {
    Ok(match width {
        Width::W64 => match inline_int(value).or_else(|| inline_float(|row| row.4 == value as u64)) {
            Some(inline) => inline,
            None => Operand::Literal(fits_32(value)?),
        },
        Width::W32 => {
            let bits = fits_32(value)?;
            inline_int(i64::from(bits as i32))
                .or_else(|| inline_float(|row| row.3 == bits))
                .unwrap_or(Operand::Literal(bits))
        }
        Width::F16 | Width::Bf16 | Width::I16 => {
            if !(-(1 << 15)..1 << 16).contains(&value) {
                return Ok(Operand::Literal(fits_32(value)?));
            }
            let bits = value as u16;
            inline_int(i64::from(bits as i16))
                .or_else(|| match width {
                    Width::F16 => inline_float(|row| row.1 == bits),
                    Width::Bf16 => inline_float(|row| row.2 == bits),
                    _ => None,
                })
                .unwrap_or(Operand::Literal(u32::from(bits)))
        }
    })
}

fn real(value: f64, width: Width) -> Operand {
    let single = (value as f32).to_bits();
    match width {
        Width::W64 => {
            let bits = value.to_bits();
            inline_int(bits as i64)
                .or_else(|| inline_float(|row| row.4 == bits))
                .unwrap_or(Operand::Literal((bits >> 32) as u32))
        }
        Width::W32 => inline_int(i64::from(single as i32))
            .or_else(|| inline_float(|row| row.3 == single))
            .unwrap_or(Operand::Literal(single)),
        Width::F16 | Width::I16 => {
            let bits = half(value as f32);
            inline_int(i64::from(bits as i16))
                .or_else(|| inline_float(|row| row.1 == bits))
                .unwrap_or(Operand::Literal(u32::from(bits)))
        }
        Width::Bf16 => {
            // Round to nearest, ties to even.
            let bits = ((single.wrapping_add(0x7fff + (single >> 16 & 1))) >> 16) as u16;
            inline_int(i64::from(bits as i16))
                .or_else(|| inline_float(|row| row.2 == bits))
                .unwrap_or(Operand::Literal(u32::from(bits)))
        }
    }
}

/// f32 to f16, to nearest, ties to even.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00;
    }
    // 65520 and above round to infinity.
    if magnitude >= 0x477f_f000 {
        return sign | 0x7c00;
    }
    if magnitude < 0x3880_0000 {
        // Below the smallest normal: the value in units of 2^-24, which f32 addition rounds.
        let units = f32::from_bits(magnitude) * 16_777_216.0;
        return sign | round_even(units) as u16;
    }
    let rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    sign | ((rounded - 0x3800_0000) >> 13) as u16
}

/// A small non-negative number to the nearest integer, ties to even.
fn round_even(value: f32) -> u32 {
    // 2^23 leaves no bit for fractions, so adding it rounds.
    let shifted = value + 8_388_608.0;
    (shifted - 8_388_608.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_the_constants_of_their_type() {
        use Operand::{Float, Int, Literal};
        let cases = [
            (Kind::Int(64), Ty::U32, 1, Ok(Int(64))),
            (Kind::Int(65), Ty::U32, 1, Ok(Literal(65))),
            (Kind::Int(-16), Ty::F32, 1, Ok(Int(-16))),
            (Kind::Int(-17), Ty::I32, 1, Ok(Literal(0xffff_ffef))),
            (Kind::Int(0xffff_ffff), Ty::B32, 1, Ok(Int(-1))),
            (Kind::Int(0x3f80_0000), Ty::B32, 1, Ok(Float(InlineFloat::One))),
            (Kind::Int(1 << 32), Ty::B32, 1, Err(Problem::OutOfRange)),
            (Kind::Int(0x3ff0_0000_0000_0000), Ty::F64, 2, Ok(Float(InlineFloat::One))),
            (Kind::Int(0xffff_ffff), Ty::B64, 2, Ok(Literal(0xffff_ffff))),
            (Kind::Int(0x3c00), Ty::F16, 1, Ok(Float(InlineFloat::One))),
            (Kind::Int(0x3c00), Ty::U16, 1, Ok(Literal(0x3c00))),
            (Kind::Int(-100), Ty::I16, 1, Ok(Literal(0xff9c))),
            (Kind::Int(0xffff), Ty::I16, 1, Ok(Int(-1))),
            (Kind::Real(0.0), Ty::F32, 1, Ok(Int(0))),
            (Kind::Real(0.5), Ty::U32, 1, Ok(Float(InlineFloat::Half))),
            (Kind::Real(10.0), Ty::F32, 1, Ok(Literal(0x4120_0000))),
            (Kind::Real(1.5), Ty::F64, 2, Ok(Literal(0x3ff8_0000))),
            (Kind::Real(-4.0), Ty::F64, 2, Ok(Float(InlineFloat::NegFour))),
            (Kind::Real(10.0), Ty::F16, 1, Ok(Literal(0x4900))),
            (Kind::Real(1.0), Ty::U16, 1, Ok(Float(InlineFloat::One))),
            (Kind::Real(0.15915494), Ty::F32, 1, Ok(Float(InlineFloat::InvTwoPi))),
            (Kind::Real(0.15915494), Ty::F16, 1, Ok(Float(InlineFloat::InvTwoPi))),
            (Kind::Real(0.15915494309189532), Ty::F64, 2, Ok(Float(InlineFloat::InvTwoPi))),
            (Kind::Real(1.0), Ty::Bf16, 1, Ok(Float(InlineFloat::One))),
            (Kind::Literal(1), Ty::U32, 1, Ok(Literal(1))),
        ];
        for (kind, ty, dwords, expected) in cases {
            assert_eq!(operand(kind, ty, dwords), expected.map(Some), "{kind:?} {ty:?}");
        }
        assert_eq!(operand(Kind::Off, Ty::U32, 1), Ok(None));
    }

    #[test]
    fn halves_are_rounded_to_even() {
        let cases = [
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (1e9, 0x7c00),
            (6.1035156e-5, 0x0400),
            (5.9604645e-8, 0x0001),
            (2.9802322e-8, 0x0000),
            (8.940697e-8, 0x0002),
            (1.0004883, 0x3c00),
            (1.0014648, 0x3c02),
            (f32::NAN, 0x7e00),
            (f32::NEG_INFINITY, 0xfc00),
        ];
        for (value, expected) in cases {
            assert_eq!(half(value), expected, "{value}");
        }
    }
}
