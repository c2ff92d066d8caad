//! The modifiers behind the operands, in the order of each encoding.
//!
//! A modifier with its default value is not written, and the defaults differ between encodings (`op_sel_hi`
//! is all ones for packed instructions and all zeros for `v_fma_mix`).

use crate::form::SDWA_NO_DST;
use crate::inst::*;
use crate::isa::Isa;
use crate::mtbuf::{DATA_FORMATS, NUMBER_FORMATS};

use super::immediate::signed_hex;
use super::{decimal, hex};

impl Inst {
    pub(super) fn write_modifiers(&self, isa: Isa, out: &mut String) {
        match self.encoding {
            Encoding::Vop3 | Encoding::Vop3Sd => self.vop3_modifiers(isa, out),
            Encoding::Vop3p => self.packed_modifiers(isa, out),
            Encoding::Mai | Encoding::Vop3px2 => self.matrix_modifiers(isa, out),
            Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa => self.sdwa_modifiers(isa, out),
            Encoding::Vop1Dpp | Encoding::Vop2Dpp => self.dpp_modifiers(isa, out),
            Encoding::Ds => self.ds_modifiers(isa, out),
            Encoding::Flat | Encoding::Global | Encoding::Scratch => {
                if self.mods.offset != 0 {
                    number(" offset:", self.mods.offset, out);
                }
                self.cache_modifiers(isa, out);
                if self.mods.bits.contains(Bits::LDS) {
                    out.push_str(" lds");
                }
            }
            Encoding::Mubuf | Encoding::Mtbuf => self.buffer_modifiers(isa, out),
            Encoding::Smem => {
                if self.mods.offset != 0 && matches!(self.operands().last(), Some(Operand::Reg(_))) {
                    out.push_str(" offset:");
                    signed_hex(self.mods.offset, out);
                }
                if self.mods.bits.contains(Bits::SC0) {
                    out.push_str(" glc");
                }
            }
            _ => {}
        }
    }

    fn sources(&self) -> usize {
        self.info()
            .fields
            .iter()
            .filter(|field| matches!(field, Field::Src0 | Field::Src1 | Field::Src2))
            .count()
    }

    fn clamp_and_omod(&self, out: &mut String) {
        if self.mods.bits.contains(Bits::CLAMP) {
            out.push_str(" clamp");
        }
        out.push_str(["", " mul:2", " mul:4", " div:2"][usize::from(self.mods.omod & 3)]);
    }

    fn vop3_modifiers(&self, _isa: Isa, out: &mut String) {
        if self.info().name.starts_with("v_bitop3") && self.mods.blgp != 0 {
            out.push_str(" bitop3:");
            let table = self.mods.blgp;
            if table <= 9 { decimal(i64::from(table), out) } else { hex(u32::from(table), out) }
        }
        if self.info().name.starts_with("v_permlane") {
            // The lane swaps spell their two bits as DPP modifiers.
            for (bit, word) in [(2, " bound_ctrl:1"), (1, " fi:1")] {
                if self.mods.op_sel & bit != 0 {
                    out.push_str(word);
                }
            }
        } else if self.mods.op_sel != 0 {
            // The text of these has a place for a third source that they do not have.
            let third = matches!(
                self.info().name,
                "v_cvt_sr_fp8_f32"
                    | "v_cvt_sr_bf8_f32"
                    | "v_cvt_scalef32_pk_fp4_f16"
                    | "v_cvt_scalef32_pk_fp4_bf16"
            );
            let sources = if third { 3 } else { self.sources() };
            let bits = (0..sources).map(|index| if index < 3 { self.mods.op_sel >> index & 1 } else { 0 });
            list(" op_sel:[", bits.chain([self.mods.op_sel >> 3 & 1]), out);
        }
        self.clamp_and_omod(out);
    }

    fn packed_modifiers(&self, isa: Isa, out: &mut String) {
        let sources = self.sources();
        let all = (1u8 << sources) - 1;
        let Some(form) = self.op.form(isa, self.encoding) else { return };
        let bits = |mask: u8| (0..sources).map(move |index| mask >> index & 1);
        if self.mods.op_sel & all != 0 {
            list(" op_sel:[", bits(self.mods.op_sel), out);
        }
        let mix = self.is_mix();
        let default = if mix { 0 } else { all };
        // Bits 8, 9 and 6 of the modifiers are op_sel_hi.
        if form.allow & 0x340 != 0 && self.mods.op_sel_hi & all != default {
            list(" op_sel_hi:[", bits(self.mods.op_sel_hi), out);
        }
        if !mix {
            if self.mods.neg & all != 0 {
                list(" neg_lo:[", bits(self.mods.neg), out);
            }
            if self.mods.abs & all != 0 {
                list(" neg_hi:[", bits(self.mods.abs), out);
            }
        }
        if self.mods.bits.contains(Bits::CLAMP) {
            out.push_str(" clamp");
        }
    }

    fn matrix_modifiers(&self, isa: Isa, out: &mut String) {
        let bits = |mask: u8| (0..3).map(move |index| mask >> index & 1);
        if self.encoding == Encoding::Vop3px2 {
            if self.mods.op_sel & 7 != 0 {
                list(" op_sel:[", bits(self.mods.op_sel), out);
            }
            list(" op_sel_hi:[", bits(self.mods.op_sel_hi), out);
        }
        if self.mods.cbsz != 0 {
            number(" cbsz:", i32::from(self.mods.cbsz), out);
        }
        if self.mods.abid != 0 {
            number(" abid:", i32::from(self.mods.abid), out);
        }
        if self.mods.blgp != 0 {
            let double = self.info().matrix.is_some_and(|matrix| matrix.a == MatrixType::F64);
            if double && isa.has_sc_bits() {
                list(" neg:[", bits(self.mods.blgp), out);
            } else {
                number(" blgp:", i32::from(self.mods.blgp), out);
            }
        }
    }

    fn sdwa_modifiers(&self, isa: Isa, out: &mut String) {
        let Lane::Sdwa(sdwa) = self.mods.lane else { return };
        self.clamp_and_omod(out);
        let no_dst = self.op.form(isa, self.encoding).is_some_and(|form| form.sdwa & SDWA_NO_DST != 0);
        let select = |code: u8| {
            ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"]
                .get(usize::from(code))
                .unwrap_or(&"")
        };
        if self.encoding != Encoding::VopcSdwa && !no_dst {
            out.push_str(" dst_sel:");
            out.push_str(select(sdwa.dst_sel));
            out.push_str(" dst_unused:");
            out.push_str(
                ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"]
                    .get(usize::from(sdwa.dst_unused))
                    .unwrap_or(&""),
            );
        }
        out.push_str(" src0_sel:");
        out.push_str(select(sdwa.src0_sel));
        if self.info().fields.contains(&Field::Src1) {
            out.push_str(" src1_sel:");
            out.push_str(select(sdwa.src1_sel));
        }
    }

    fn dpp_modifiers(&self, isa: Isa, out: &mut String) {
        let Lane::Dpp(dpp) = self.mods.lane else { return };
        let double = isa.has_row_newbcast() && self.is_double();
        match dpp.ctrl {
            ctrl if double && !(0x150..=0x15f).contains(&ctrl) => {
                out.push_str("  /* DP ALU dpp only supports row_newbcast */");
            }
            ctrl @ 0..=0xff => list(" quad_perm:[", (0..4).map(|index| (ctrl >> (2 * index) & 3) as u8), out),
            ctrl @ 0x101..=0x10f => number(" row_shl:", i32::from(ctrl & 15), out),
            ctrl @ 0x111..=0x11f => number(" row_shr:", i32::from(ctrl & 15), out),
            ctrl @ 0x121..=0x12f => number(" row_ror:", i32::from(ctrl & 15), out),
            0x130 => out.push_str(" wave_shl:1"),
            0x134 => out.push_str(" wave_rol:1"),
            0x138 => out.push_str(" wave_shr:1"),
            0x13c => out.push_str(" wave_ror:1"),
            0x140 => out.push_str(" row_mirror"),
            0x141 => out.push_str(" row_half_mirror"),
            0x142 => out.push_str(" row_bcast:15"),
            0x143 => out.push_str(" row_bcast:31"),
            0x150..=0x15f if !isa.has_row_newbcast() => {
                out.push_str(
                    "  /* row_newbcast/row_share is not supported on ASICs earlier than GFX90A/GFX10 */",
                );
            }
            ctrl @ 0x150..=0x15f => number(" row_newbcast:", i32::from(ctrl & 15), out),
            0x160..=0x16f => out.push_str(" /* row_xmask is not supported on ASICs earlier than GFX10 */"),
            _ => out.push_str(" /* Invalid dpp_ctrl value */"),
        }
        out.push_str(" row_mask:");
        hex(u32::from(dpp.row_mask), out);
        out.push_str(" bank_mask:");
        hex(u32::from(dpp.bank_mask), out);
        if dpp.bound_ctrl {
            out.push_str(" bound_ctrl:1");
        }
    }

    /// Any operand of 64 bits: such instructions take only one kind of DPP from gfx90a on.
    fn is_double(&self) -> bool {
        self.info().operands.iter().any(|spec| spec.dwords == 2 && spec.ty != Ty::Mask64)
    }

    fn ds_modifiers(&self, isa: Isa, out: &mut String) {
        let offset = self.mods.offset as u32;
        if self.info().mem.is_some_and(|mem| mem.elements == 2) {
            if offset & 0xff != 0 {
                number(" offset0:", (offset & 0xff) as i32, out);
            }
            if offset >> 8 & 0xff != 0 {
                number(" offset1:", (offset >> 8 & 0xff) as i32, out);
            }
        } else if self.info().name == "ds_swizzle_b32" {
            self.swizzle(offset, out);
        } else if offset != 0 {
            number(" offset:", offset as i32, out);
        }
        let gws = self.info().name.starts_with("ds_gws");
        if self.mods.bits.contains(Bits::GDS) && (gws || isa.has_gds()) {
            out.push_str(" gds");
        }
    }

    /// `ds_swizzle` names its pattern.
    fn swizzle(&self, pattern: u32, out: &mut String) {
        if pattern == 0 {
            return;
        }
        out.push_str(" offset:");
        if pattern >= 0xe000 {
            number("swizzle(FFT,", (pattern & 31) as i32, out);
            out.push(')');
            return;
        }
        if pattern >= 0xc000 {
            number("swizzle(ROTATE,", (pattern >> 10 & 1) as i32, out);
            number(",", (pattern >> 5 & 31) as i32, out);
            out.push(')');
            return;
        }
        if pattern & 0x8000 != 0 && pattern & 0x7f00 == 0 {
            list("swizzle(QUAD_PERM,", (0..4).map(|index| (pattern >> (2 * index) & 3) as u8), out);
            out.pop();
            out.push(')');
            return;
        }
        let (and, or, xor) = (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31);
        if pattern & 0x8000 != 0 {
            number("", pattern as i32, out);
        } else if and == 31 && or == 0 && xor.is_power_of_two() {
            number("swizzle(SWAP,", xor as i32, out);
            out.push(')');
        } else if and == 31 && or == 0 && (xor + 1).is_power_of_two() && xor > 1 {
            number("swizzle(REVERSE,", xor as i32 + 1, out);
            out.push(')');
        } else if xor == 0 && (32 - and).is_power_of_two() && and != 31 && or < 32 - and {
            number("swizzle(BROADCAST,", 32 - and as i32, out);
            number(",", or as i32, out);
            out.push(')');
        } else {
            out.push_str("swizzle(BITMASK_PERM,\"");
            for bit in (0..5).rev() {
                let at = |mask: u32| mask >> bit & 1 != 0;
                out.push(match (at(and), at(or), at(xor)) {
                    (false, false, false) => '0',
                    (false, _, _) if at(or) != at(xor) => '1',
                    (false, _, _) => '0',
                    (true, false, false) => 'p',
                    (true, false, true) => 'i',
                    (true, true, false) => '1',
                    (true, true, true) => '0',
                });
            }
            out.push_str("\")");
        }
    }

    fn cache_modifiers(&self, isa: Isa, out: &mut String) {
        let names = if isa.has_sc_bits() { [" sc0", " nt", " sc1"] } else { [" glc", " slc", " scc"] };
        for (bit, name) in [Bits::SC0, Bits::NT, Bits::SC1].into_iter().zip(names) {
            if self.mods.bits.contains(bit) {
                out.push_str(name);
            }
        }
    }

    fn buffer_modifiers(&self, isa: Isa, out: &mut String) {
        if self.encoding == Encoding::Mtbuf {
            self.format(out);
        }
        if self.info().fields.contains(&Field::Vaddr) {
            if self.mods.bits.contains(Bits::IDXEN) {
                out.push_str(" idxen");
            }
            if self.mods.bits.contains(Bits::OFFEN) {
                out.push_str(" offen");
            }
        }
        if self.mods.offset != 0 {
            number(" offset:", self.mods.offset, out);
        }
        // The one store from LDS names its space first.
        let store = !self.info().fields.contains(&Field::Vdata);
        if store && self.mods.bits.contains(Bits::LDS) {
            out.push_str(" lds");
        }
        self.cache_modifiers(isa, out);
        if !store && self.mods.bits.contains(Bits::LDS) {
            out.push_str(" lds");
        }
        if self.mods.bits.contains(Bits::TFE) {
            out.push_str(" tfe");
        }
    }

    fn format(&self, out: &mut String) {
        let (data, number) = (self.mods.cbsz & 15, self.mods.abid & 7);
        if data == 1 && number == 0 {
            return;
        }
        out.push_str(" format:[");
        if data != 1 {
            out.push_str("BUF_DATA_FORMAT_");
            out.push_str(DATA_FORMATS[usize::from(data)]);
        }
        if number != 0 {
            if data != 1 {
                out.push(',');
            }
            out.push_str("BUF_NUM_FORMAT_");
            out.push_str(NUMBER_FORMATS[usize::from(number)]);
        }
        out.push(']');
    }
}

fn number(prefix: &str, value: i32, out: &mut String) {
    out.push_str(prefix);
    decimal(i64::from(value), out);
}

fn list(prefix: &str, values: impl Iterator<Item = u8>, out: &mut String) {
    out.push_str(prefix);
    for (index, value) in values.enumerate() {
        if index > 0 {
            out.push(',');
        }
        decimal(i64::from(value), out);
    }
    out.push(']');
}
