//! Scalar instructions: SOP1, SOP2, SOPC, SOPK, SOPP and scalar memory.
//!
//! A literal follows when a source says so; everything else is in the first word, or in the second for
//! memory.

use super::Reader;
use crate::fields::{bits, scalar, signed, source};
use crate::inst::*;

impl Reader<'_> {
    pub(super) fn scalar_alu(&self, inst: &mut Inst) -> Option<()> {
        let w0 = self.w.w0;
        self.start(inst, 4, self.form.encoding);
        let mut simm = false;
        for (field, dwords) in self.fields() {
            let operand = match field {
                Field::Ssrc0 | Field::Ssrc1 => {
                    let code = bits(w0, if field == Field::Ssrc0 { 0 } else { 8 }, 8);
                    let literal = if code == 255 {
                        inst.size = 8;
                        self.literal()?
                    } else {
                        0
                    };
                    source(code, dwords, literal)
                }
                Field::Sdst => scalar(bits(w0, 16, 7), dwords),
                Field::Literal => {
                    inst.size = 8;
                    Operand::Literal(self.literal()?)
                }
                Field::Target => {
                    simm = true;
                    self.target(inst)
                }
                Field::GprIdx if self.form.encoding == Encoding::Sopc => Operand::Imm(bits(w0, 8, 8) as i32),
                _ => {
                    simm = true;
                    Operand::Imm(bits(w0, 0, 16) as i32)
                }
            };
            inst.push(operand)?;
        }
        if self.form.encoding == Encoding::Sopp && !simm && w0 & 0xffff != 0 {
            return None;
        }
        Some(())
    }

    pub(super) fn smem(&self, inst: &mut Inst) -> Option<()> {
        if self.rest.len() < 8 {
            return None;
        }
        let (w0, w1) = (self.w.w0, self.w.w1);
        self.start(inst, 8, Encoding::Smem);
        let (immediate, register) = (w0 >> 17 & 1 != 0, w0 >> 14 & 1 != 0);
        if immediate && !self.info.fields.contains(&Field::Offset) {
            return None;
        }
        for (field, dwords) in self.fields() {
            let operand = match field {
                Field::Sdata => scalar(bits(w0, 6, 7), dwords),
                Field::Simm => Operand::Imm(bits(w0, 6, 7) as i32),
                Field::Sbase => scalar(bits(w0, 0, 6) << 1, dwords),
                _ => match (immediate, register) {
                    (true, false) => Operand::Imm(signed(bits(w1, 0, 21), 21)),
                    (true, true) => {
                        inst.mods.offset = signed(bits(w1, 0, 21), 21);
                        scalar(w1 >> 25, 1)
                    }
                    (false, true) => scalar(w1 >> 25, 1),
                    (false, false) => scalar(bits(w1, 0, 7), 1),
                },
            };
            inst.push(operand)?;
        }
        if w0 >> 16 & 1 != 0 && self.info.mem.is_some() {
            inst.mods.bits |= Bits::SC0;
        }
        Some(())
    }
}
