//! Vector ALU and matrix instructions in all their encodings.
//!
//! The form defines the valid modifier bits; a bit that is neither allowed nor ignored makes the instruction
//! unknown.

use super::Reader;
use crate::fields::{bits, modifier_bits, reg, scalar, source, vector};
use crate::form::{SDWA_CLAMP, SDWA_NO_DST, SDWA_OMOD, SOURCE_FLOAT, SOURCE_IGNORES, SOURCE_INT};
use crate::inst::*;

impl Reader<'_> {
    /// VOP1, VOP2, VOPC in their 32-bit form, with a literal perhaps.
    pub(super) fn vector32(&self, inst: &mut Inst) -> Option<()> {
        let w0 = self.w.w0;
        self.start(inst, 4, self.form.encoding);
        let code = w0 & 0x1ff;
        let mut literal = 0;
        if code == 255 || self.info.fields.contains(&Field::Literal) {
            inst.size = 8;
            literal = self.literal()?;
        }
        let accumulators = self.info.flags.contains(OpFlags::ACC_SOURCE);
        for (field, dwords) in self.fields() {
            let operand = match field {
                Field::Src0 if accumulators && code >= 256 => vector(true, code, dwords),
                Field::Src0 => source(code, dwords, literal),
                Field::Vdst => vector(accumulators, bits(w0, 17, 8), dwords),
                Field::Src1 => vector(false, bits(w0, 9, 8), dwords),
                Field::Literal => Operand::Literal(literal),
                // `v_readfirstlane`, the only one of VOP1 with a scalar destination, names it in the low
                // bits.
                Field::Sdst if self.form.encoding == Encoding::Vop1 => {
                    if bits(w0, 17, 8) > 127 {
                        return None;
                    }
                    scalar(bits(w0, 17, 7), dwords)
                }
                _ => reg(RegFile::Vcc, 0, 2),
            };
            inst.push(operand)?;
        }
        Some(())
    }

    pub(super) fn sdwa(&self, inst: &mut Inst) -> Option<()> {
        if self.form.sdwa_targets & self.isa.bit() == 0 || self.rest.len() < 8 {
            return None;
        }
        let (w0, w1) = (self.w.w0, self.w.w1);
        let compare = self.form.encoding == Encoding::Vopc;
        let encoding = match self.form.encoding {
            Encoding::Vop1 => Encoding::Vop1Sdwa,
            Encoding::Vop2 => Encoding::Vop2Sdwa,
            _ => Encoding::VopcSdwa,
        };
        self.start(inst, 8, encoding);
        let mut lane = Sdwa { dst_sel: 6, dst_unused: 0, src0_sel: 6, src1_sel: 6, sext: 0 };
        if !compare {
            if self.form.sdwa & SDWA_NO_DST == 0 {
                lane.dst_sel = bits(w1, 8, 3) as u8;
                lane.dst_unused = bits(w1, 11, 2) as u8;
                if lane.dst_sel == 7 || lane.dst_unused == 3 {
                    return None;
                }
            } else if bits(w1, 8, 3) != 6 {
                return None;
            }
            if bits(w1, 13, 1) != 0 {
                inst.mods.bits |= Bits::CLAMP;
            }
            inst.mods.omod = bits(w1, 14, 2) as u8;
            if (inst.mods.omod != 0 && self.form.sdwa & SDWA_OMOD == 0)
                || (bits(w1, 13, 1) != 0 && self.form.sdwa & SDWA_CLAMP == 0)
            {
                return None;
            }
        }
        let one_source = !self.info.fields.contains(&Field::Src1);
        for index in 0..2u32 {
            let select = w1 >> (16 + 8 * index) & 0xff;
            if index == 1 && one_source {
                if select & 0xbf != 0 {
                    return None;
                }
                break;
            }
            let kind = self.form.sdwa >> (4 * index) & 15;
            let (sext, neg, abs) = (select >> 3 & 1, select >> 4 & 1, select >> 5 & 1);
            if select & 7 == 7 {
                return None;
            }
            if kind & SOURCE_IGNORES == 0 {
                if (neg | abs != 0 && kind & SOURCE_FLOAT == 0) || (sext != 0 && kind & SOURCE_INT == 0) {
                    return None;
                }
                inst.mods.neg |= (neg << index) as u8;
                inst.mods.abs |= (abs << index) as u8;
                lane.sext |= (sext << index) as u8;
            } else if sext != 0 {
                return None;
            }
            *(if index == 0 { &mut lane.src0_sel } else { &mut lane.src1_sel }) = (select & 7) as u8;
        }
        inst.mods.lane = Lane::Sdwa(lane);
        for (field, dwords) in self.fields() {
            let operand = match field {
                Field::Vdst => vector(false, bits(w0, 17, 8), dwords),
                Field::Src0 => source(
                    if w1 >> 23 & 1 == 0 { 256 + (w1 & 0xff) } else { scalar_source(w1 & 0xff)? },
                    dwords,
                    0,
                ),
                Field::Src1 => {
                    let code = bits(w0, 9, 8);
                    source(if w1 >> 31 == 0 { 256 + code } else { scalar_source(code)? }, dwords, 0)
                }
                Field::Sdst if compare && w1 >> 15 & 1 != 0 => scalar(bits(w1, 8, 7), 2),
                _ => reg(RegFile::Vcc, 0, 2),
            };
            inst.push(operand)?;
        }
        Some(())
    }

    pub(super) fn dpp(&self, inst: &mut Inst) -> Option<()> {
        if self.form.dpp_targets & self.isa.bit() == 0 || self.rest.len() < 8 {
            return None;
        }
        let (w0, w1) = (self.w.w0, self.w.w1);
        let encoding =
            if self.form.encoding == Encoding::Vop1 { Encoding::Vop1Dpp } else { Encoding::Vop2Dpp };
        self.start(inst, 8, encoding);
        for index in 0..2u32 {
            let kind = u16::from(self.form.dpp) >> (4 * index) & 15;
            let (neg, abs) = (w1 >> (20 + 2 * index) & 1, w1 >> (21 + 2 * index) & 1);
            if kind & SOURCE_IGNORES != 0 {
                continue;
            }
            if neg | abs != 0 && kind & SOURCE_FLOAT == 0 {
                return None;
            }
            inst.mods.neg |= (neg << index) as u8;
            inst.mods.abs |= (abs << index) as u8;
        }
        inst.mods.lane = Lane::Dpp(Dpp {
            ctrl: bits(w1, 8, 9) as u16,
            row_mask: (w1 >> 28) as u8,
            bank_mask: bits(w1, 24, 4) as u8,
            bound_ctrl: bits(w1, 19, 1) != 0,
        });
        for (field, dwords) in self.fields() {
            let operand = match field {
                Field::Vdst => vector(false, bits(w0, 17, 8), dwords),
                Field::Src0 => vector(false, w1 & 0xff, dwords),
                Field::Src1 => vector(false, bits(w0, 9, 8), dwords),
                _ => reg(RegFile::Vcc, 0, 2),
            };
            inst.push(operand)?;
        }
        Some(())
    }

    fn long_source(&self, field: Field) -> u32 {
        match field {
            Field::Src0 => bits(self.w.w1, 0, 9),
            Field::Src1 => bits(self.w.w1, 9, 9),
            _ => bits(self.w.w1, 18, 9),
        }
    }

    /// The bits of modifiers; `None` if bits are set that the instruction does not have.
    fn long_modifiers(&self) -> Option<u16> {
        let mods = modifier_bits(self.w);
        (mods & !(self.form.allow | self.form.ignore) == 0).then_some(mods)
    }

    pub(super) fn vop3(&self, inst: &mut Inst) -> Option<()> {
        if self.rest.len() < 8 {
            return None;
        }
        let w0 = self.w.w0;
        let mods = self.long_modifiers()?;
        self.start(inst, 8, self.form.encoding);
        let used = mods & self.form.allow;
        if self.info.flags.contains(OpFlags::TRUTH_TABLE) {
            // The truth table is in the bits that are abs, omod and neg elsewhere.
            inst.mods.blgp = ((used & 7) << 3 | (used >> 8 & 3) << 6 | used >> 10) as u8;
            inst.mods.op_sel = (used >> 3 & 15) as u8;
        } else {
            inst.mods.abs = (used & 7) as u8;
            inst.mods.op_sel = (used >> 3 & 15) as u8;
            inst.mods.omod = (used >> 8 & 3) as u8;
            inst.mods.neg = (used >> 10) as u8;
            if used & 0x80 != 0 {
                inst.mods.bits |= Bits::CLAMP;
            }
        }
        if self.info.fields.is_empty() && w0 & 0xff != 0 {
            return None;
        }
        let carry = self.form.encoding == Encoding::Vop3Sd;
        for (field, dwords) in self.fields() {
            let operand = match field {
                Field::Vdst => vector(false, w0, dwords),
                Field::Sdst if carry => scalar(bits(w0, 8, 7), dwords),
                Field::Sdst => {
                    if w0 & 0x80 != 0 {
                        return None;
                    }
                    scalar(w0 & 0x7f, dwords)
                }
                _ => source(scalar_source(self.long_source(field))?, dwords, 0),
            };
            inst.push(operand)?;
        }
        Some(())
    }

    pub(super) fn vop3p(&self, inst: &mut Inst) -> Option<()> {
        if self.rest.len() < 8 {
            return None;
        }
        if self.form.encoding == Encoding::Mai {
            return self.mai(inst);
        }
        let w0 = self.w.w0;
        let mods = self.long_modifiers()?;
        let used = mods & self.form.allow;
        self.start(inst, 8, Encoding::Vop3p);
        inst.mods.abs = (used & 7) as u8;
        inst.mods.op_sel = (used >> 3 & 7) as u8;
        inst.mods.op_sel_hi = (used >> 8 & 3 | (used >> 6 & 1) << 2) as u8;
        inst.mods.neg = (used >> 10) as u8;
        if used & 0x80 != 0 {
            inst.mods.bits |= Bits::CLAMP;
        }
        if !self.info.fields.contains(&Field::Vdst) && w0 & 0xff != 0 {
            return None;
        }
        let (read, write) = (
            self.info.flags.contains(OpFlags::ACC_SOURCE),
            self.info.flags.contains(OpFlags::ACC_DESTINATION),
        );
        for (field, dwords) in self.fields() {
            let operand = match field {
                Field::Vdst => vector(write, w0, dwords),
                Field::Src0 if read && self.long_source(field) >= 256 => {
                    vector(true, self.long_source(field), dwords)
                }
                _ => source(scalar_source(self.long_source(field))?, dwords, 0),
            };
            inst.push(operand)?;
        }
        Some(())
    }

    pub(super) fn mai(&self, inst: &mut Inst) -> Option<()> {
        let w0 = self.w.w0;
        let mods = self.long_modifiers()?;
        self.start(inst, 8, Encoding::Mai);
        inst.mods.cbsz = (mods & 7) as u8;
        inst.mods.abid = (mods >> 3 & 15) as u8;
        inst.mods.blgp = (mods >> 10) as u8;
        let separate = !self.isa.has_unified_registers();
        let accumulate = separate || mods & 0x80 != 0;
        let formats = self.info.matrix.filter(|matrix| matrix.a == MatrixType::F8F6F4).is_some();
        let sparse = self.info.matrix.is_some_and(|matrix| matrix.sparse);
        for (field, dwords) in self.fields() {
            let operand = match field {
                Field::Vdst => vector(accumulate, w0, dwords),
                Field::Src0 | Field::Src1 => {
                    let code = self.long_source(field);
                    let (bit, format) =
                        if field == Field::Src0 { (0x100, inst.mods.cbsz) } else { (0x200, inst.mods.blgp) };
                    let dwords = if formats { f8f6f4_dwords(format) } else { dwords };
                    if code < 256 { source(code, dwords, 0) } else { vector(mods & bit != 0, code, dwords) }
                }
                Field::Scale0 | Field::Scale1 => continue,
                _ => {
                    let code = self.long_source(field);
                    match code {
                        256.. if sparse => vector(false, code, dwords),
                        256.. => vector(accumulate, code, dwords),
                        255 => return None,
                        _ => source(code, dwords, 0),
                    }
                }
            };
            inst.push(operand)?;
        }
        Some(())
    }
}

/// A scalar source of SDWA and of the long encodings: registers and inline constants, no literal.
fn scalar_source(code: u32) -> Option<u32> {
    (code != 255).then_some(code)
}

/// Registers of one matrix operand of `f8f6f4`, by its format code.
fn f8f6f4_dwords(format: u8) -> u8 {
    match format {
        2 | 3 => 6,
        4 => 4,
        // fp8 and bf8; the codes above 4 are reserved
        _ => 8,
    }
}
