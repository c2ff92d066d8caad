//! Operands, resolved at decode.
//!
//! The one idea to keep in mind: constants are spread to rows at decode, so an operand of a vector instruction is
//! a reference to rows in nearly every case.

use crate::lanes::{Pair, Row};
use codeobj::Descriptor;
use isa::{InlineFloat, Operand, RegFile, RegRange, Ty};
use std::collections::HashMap;

/// Index of `flat_scratch_lo` among the scalar registers.
pub(crate) const FLAT_SCRATCH: u8 = 102;
/// Index of `vcc_lo`.
pub(crate) const VCC: u8 = 106;
/// Index of `m0`.
pub(crate) const M0: u8 = 124;
/// Index of `exec_lo`.
pub(crate) const EXEC: u8 = 126;
/// No scalar register.
pub(crate) const NONE: u8 = u8::MAX;

/// Values computed at each read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Special {
    Vccz,
    Execz,
    Scc,
    SharedBase,
    SharedLimit,
    PrivateBase,
    PrivateLimit,
}

/// Source of an operand's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Src {
    /// No operand.
    None,
    /// Vector registers, from this row.
    Row(u16),
    /// Scalar registers, from this one.
    Scalar(u8),
    /// Entry of the constant pool.
    Constant(u16),
    /// Computed at each read.
    Special(Special),
}

/// Constants of a program, each spread over all lanes.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    pub(crate) rows: Vec<Pair>,
    index: HashMap<u64, u16>,
}

impl Pool {
    /// Pool index of a 64-bit value; `None` if the pool is full.
    pub(crate) fn constant(&mut self, value: u64) -> Option<u16> {
        if let Some(&index) = self.index.get(&value) {
            return Some(index);
        }
        let index = u16::try_from(self.rows.len()).ok()?;
        self.rows.push([Row([value as u32; 64]), Row([(value >> 32) as u32; 64])]);
        self.index.insert(value, index);
        Some(index)
    }

    /// Value of a pool entry.
    #[inline(always)]
    pub(crate) fn value(&self, index: u16) -> u64 {
        let [low, high] = &self.rows[usize::from(index)];
        u64::from(low.0[0]) | u64::from(high.0[0]) << 32
    }
}

/// Layout of the vector registers in rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files {
    /// Row of `a0`.
    pub(crate) accumulators: u16,
}

impl Files {
    /// Layout by the kernel descriptor.
    pub(crate) fn of(descriptor: &Descriptor) -> Files {
        let offset = descriptor.accum_offset;
        Files { accumulators: if offset == 0 { 256 } else { offset.min(256) as u16 } }
    }

    /// First row of a run of vector registers; `None` for others.
    pub(crate) fn row(self, range: RegRange) -> Option<u16> {
        match range.file {
            RegFile::Vgpr => Some(range.first),
            RegFile::Agpr => Some(self.accumulators + range.first),
            _ => None,
        }
    }
}

/// Index of a scalar register among the 128 operand codes.
pub(crate) fn scalar_index(range: RegRange) -> Option<u8> {
    let base = match range.file {
        RegFile::Sgpr => 0,
        RegFile::FlatScratch => u16::from(FLAT_SCRATCH),
        RegFile::XnackMask => 104,
        RegFile::Vcc => u16::from(VCC),
        RegFile::Ttmp => 108,
        RegFile::M0 => u16::from(M0),
        RegFile::Exec => u16::from(EXEC),
        _ => return None,
    };
    u8::try_from(base + range.first).ok()
}

/// Resolves a source operand of a type; `None` if it is not supported.
pub(crate) fn source(operand: Operand, ty: Ty, files: Files, pool: &mut Pool) -> Option<Src> {
    Some(match operand {
        Operand::Reg(range) => match range.file {
            RegFile::Vgpr | RegFile::Agpr => Src::Row(files.row(range)?),
            RegFile::SrcVccz => Src::Special(Special::Vccz),
            RegFile::SrcExecz => Src::Special(Special::Execz),
            RegFile::SrcScc => Src::Special(Special::Scc),
            RegFile::SrcSharedBase => Src::Special(Special::SharedBase),
            RegFile::SrcSharedLimit => Src::Special(Special::SharedLimit),
            RegFile::SrcPrivateBase => Src::Special(Special::PrivateBase),
            RegFile::SrcPrivateLimit => Src::Special(Special::PrivateLimit),
            _ => Src::Scalar(scalar_index(range)?),
        },
        Operand::Int(value) => Src::Constant(pool.constant(i64::from(value) as u64)?),
        Operand::Imm(value) => Src::Constant(pool.constant(i64::from(value) as u64)?),
        Operand::Float(float) => Src::Constant(pool.constant(inline_float(float, ty))?),
        Operand::Literal(value) => Src::Constant(pool.constant(literal(value, ty))?),
        Operand::Off => Src::None,
        Operand::Target(_) | Operand::Invalid(_) => return None,
    })
}

/// 64-bit value of a literal by operand type; for f64 the literal is the high half.
fn literal(value: u32, ty: Ty) -> u64 {
    match ty {
        Ty::F64 => u64::from(value) << 32,
        Ty::I64 => i64::from(value as i32) as u64,
        _ => u64::from(value),
    }
}

/// Bits of an inline floating-point constant by operand type. Operations on 16-bit integers get the float32, of which
/// `op_sel` chooses a half; LLVM's `getInlineEncodingV216` says so, against the manuals.
fn inline_float(float: InlineFloat, ty: Ty) -> u64 {
    let wide: f64 = match float {
        InlineFloat::Half => 0.5,
        InlineFloat::NegHalf => -0.5,
        InlineFloat::One => 1.0,
        InlineFloat::NegOne => -1.0,
        InlineFloat::Two => 2.0,
        InlineFloat::NegTwo => -2.0,
        InlineFloat::Four => 4.0,
        InlineFloat::NegFour => -4.0,
        InlineFloat::InvTwoPi => {
            return match ty {
                Ty::F64 | Ty::B64 | Ty::U64 | Ty::I64 => 0x3fc4_5f30_6dc9_c882,
                Ty::F16 | Ty::PkF16 => 0x3118,
                Ty::Bf16 | Ty::PkBf16 => 0x3e23,
                _ => 0x3e22_f983,
            };
        }
    };
    match ty {
        Ty::F64 | Ty::B64 | Ty::U64 | Ty::I64 => wide.to_bits(),
        Ty::F16 | Ty::PkF16 => u64::from(crate::half::f32_to_f16(wide as f32)),
        Ty::Bf16 | Ty::PkBf16 => u64::from((wide as f32).to_bits() >> 16),
        _ => u64::from((wide as f32).to_bits()),
    }
}
