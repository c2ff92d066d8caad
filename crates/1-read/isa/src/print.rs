//! Instructions to assembly text, character for character what LLVM's disassembler prints.
//!
//! The mnemonic and the operands come from the row, the modifiers behind them from the encoding; each
//! encoding's modifiers have one order. Text goes into the caller's string without other allocation.

mod immediate;
mod modifiers;

use crate::inst::*;
use crate::isa::Isa;

impl Inst {
    /// Appends the instruction's text: mnemonic and operands, no comment, no line end. A branch shows its
    /// distance in words as the encoding has it; an undecodable word is a `.long`.
    pub fn write_text(&self, isa: Isa, out: &mut String) {
        if self.is_unknown() {
            match self.operands.first() {
                Some(Operand::Literal(value)) if self.size == 4 => {
                    out.push_str(".long 0x");
                    hex_padded(*value, 8, out);
                }
                Some(Operand::Literal(value)) => {
                    out.push_str(".byte ");
                    for index in 0..self.size {
                        if index > 0 {
                            out.push_str(", ");
                        }
                        out.push_str("0x");
                        hex_padded(value >> (8 * index) & 0xff, 2, out);
                    }
                }
                _ => out.push_str(".long"),
            }
            return;
        }
        let info = self.info();
        out.push_str(info.name);
        match self.encoding {
            Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa => out.push_str("_sdwa"),
            Encoding::Vop1Dpp | Encoding::Vop2Dpp => out.push_str("_dpp"),
            Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc if self.op.has_suffix(isa, self.encoding) => {
                out.push_str("_e32");
            }
            Encoding::Vop3 | Encoding::Vop3Sd if self.op.has_suffix(isa, self.encoding) => {
                out.push_str("_e64")
            }
            _ => {}
        }
        let mut source = 0;
        let mut first = true;
        let mut lines = self.operands_with_specs();
        for (operand, field) in self.operands_with_fields() {
            let Some((_, spec)) = lines.next() else { break };
            if field == Field::OptImm && *operand == Operand::Imm(0) {
                continue;
            }
            out.push_str(if first { " " } else { ", " });
            first = false;
            if matches!(field, Field::Src0 | Field::Src1 | Field::Src2) {
                self.write_source(isa, operand, *spec, source, out);
                source += 1;
            } else {
                self.write_operand(isa, operand, *spec, field, out);
            }
        }
        self.write_modifiers(isa, out);
    }

    /// The instruction's text as a new string.
    pub fn text(&self, isa: Isa) -> String {
        let mut out = String::with_capacity(64);
        self.write_text(isa, &mut out);
        out
    }

    /// A source with its neg, abs and sext.
    fn write_source(&self, isa: Isa, operand: &Operand, spec: OperandSpec, index: u8, out: &mut String) {
        let bit = 1u8 << index;
        let wraps = match self.encoding {
            Encoding::Vop3p => self.is_mix(),
            Encoding::Mai | Encoding::Vop3px2 => false,
            _ => true,
        };
        let (neg, abs) = (wraps && self.mods.neg & bit != 0, wraps && self.mods.abs & bit != 0);
        let sext = matches!(self.mods.lane, Lane::Sdwa(sdwa) if sdwa.sext & bit != 0);
        let immediate = matches!(operand, Operand::Int(_) | Operand::Float(_) | Operand::Literal(_));
        let spelled = neg && !abs && immediate;
        if spelled {
            out.push_str("neg(");
        } else if neg {
            out.push('-');
        }
        if abs {
            out.push('|');
        }
        if sext {
            out.push_str("sext(");
        }
        let field = [Field::Src0, Field::Src1, Field::Src2][usize::from(index.min(2))];
        self.write_operand(isa, operand, spec, field, out);
        if sext {
            out.push(')');
        }
        if abs {
            out.push('|');
        }
        if spelled {
            out.push(')');
        }
    }

    /// `v_fma_mix`: neg_hi is abs, and op_sel_hi chooses between f16 and f32.
    pub(crate) fn is_mix(&self) -> bool {
        self.info().name.starts_with("v_fma_mix")
    }

    fn write_operand(&self, isa: Isa, operand: &Operand, spec: OperandSpec, field: Field, out: &mut String) {
        match *operand {
            Operand::Reg(range) => register(range, out),
            Operand::Off => out.push_str("off"),
            Operand::Int(value) => decimal(i64::from(value), out),
            Operand::Float(value) => immediate::float(value, self.source_kind(spec), out),
            Operand::Literal(value) if field == Field::Literal => {
                if self.encoding == Encoding::Sopk {
                    immediate::named(value, out);
                } else {
                    hex(value, out);
                }
            }
            Operand::Literal(value) => immediate::literal(value, self.source_kind(spec), out),
            Operand::Imm(value) => immediate::field(isa, field, value, out),
            Operand::Target(target) => {
                let words = target.wrapping_sub(self.offset as i32).wrapping_sub(4) >> 2;
                decimal(i64::from(words as u16), out);
            }
            Operand::Invalid(code) => {
                out.push_str("invalid");
                decimal(i64::from(code), out);
            }
        }
    }

    /// How constants of this operand are written.
    fn source_kind(&self, spec: OperandSpec) -> immediate::Kind {
        use immediate::Kind;
        let scalar =
            matches!(self.encoding, Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc | Encoding::Sopk);
        match spec.ty {
            // Scalar sources are words whatever part of them the opcode uses.
            _ if scalar && spec.dwords == 1 => Kind::Word,
            Ty::I16 | Ty::U16 | Ty::B16 => Kind::Int16,
            Ty::F16 => Kind::Float16,
            Ty::F64 => Kind::Float64,
            Ty::B64 | Ty::U64 | Ty::I64 => Kind::Int64,
            _ => Kind::Word,
        }
    }
}

/// `v1`, `s[2:3]`, `vcc`, `exec_lo`.
pub(crate) fn register(range: RegRange, out: &mut String) {
    let letter = match range.file {
        RegFile::Vgpr => "v",
        RegFile::Agpr => "a",
        RegFile::Sgpr => "s",
        RegFile::Ttmp => "ttmp",
        other => {
            out.push_str(file_name(other));
            if range.count == 1 && has_halves(other) {
                out.push_str(if range.first == 0 { "_lo" } else { "_hi" });
            }
            return;
        }
    };
    out.push_str(letter);
    if range.count == 1 {
        decimal(i64::from(range.first), out);
    } else {
        out.push('[');
        decimal(i64::from(range.first), out);
        out.push(':');
        decimal(i64::from(range.first) + i64::from(range.count) - 1, out);
        out.push(']');
    }
}

const fn has_halves(file: RegFile) -> bool {
    matches!(
        file,
        RegFile::FlatScratch
            | RegFile::XnackMask
            | RegFile::Vcc
            | RegFile::Exec
            | RegFile::Tba
            | RegFile::Tma
    )
}

/// Name of a register file that is not numbered.
pub(crate) const fn file_name(file: RegFile) -> &'static str {
    match file {
        RegFile::Vgpr => "v",
        RegFile::Agpr => "a",
        RegFile::Sgpr => "s",
        RegFile::Ttmp => "ttmp",
        RegFile::FlatScratch => "flat_scratch",
        RegFile::XnackMask => "xnack_mask",
        RegFile::Vcc => "vcc",
        RegFile::M0 => "m0",
        RegFile::Exec => "exec",
        RegFile::SrcVccz => "src_vccz",
        RegFile::SrcExecz => "src_execz",
        RegFile::SrcScc => "src_scc",
        RegFile::SrcSharedBase => "src_shared_base",
        RegFile::SrcSharedLimit => "src_shared_limit",
        RegFile::SrcPrivateBase => "src_private_base",
        RegFile::SrcPrivateLimit => "src_private_limit",
        RegFile::SrcPopsExitingWaveId => "src_pops_exiting_wave_id",
        RegFile::Tba => "tba",
        RegFile::Tma => "tma",
        RegFile::LdsDirect => "src_lds_direct",
        RegFile::Mode => "mode",
    }
}

impl std::fmt::Display for RegRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        register(*self, &mut text);
        f.write_str(&text)
    }
}

pub(crate) fn decimal(value: i64, out: &mut String) {
    // Numbers of registers.
    match value {
        0..=9 => return out.push(char::from(b'0' + value as u8)),
        10..=99 => {
            let pair = [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8];
            return out.push_str(std::str::from_utf8(&pair).unwrap_or_default());
        }
        _ => {}
    }
    if value < 0 {
        out.push('-');
    }
    let mut rest = value.unsigned_abs();
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}

pub(crate) fn hex(value: u32, out: &mut String) {
    out.push_str("0x");
    hex_padded(value, 1, out);
}

fn hex_padded(value: u32, width: u32, out: &mut String) {
    let digits = (8 - value.leading_zeros() / 4).max(width);
    for index in (0..digits).rev() {
        out.push(char::from(b"0123456789abcdef"[(value >> (4 * index) & 15) as usize]));
    }
}
