//! Modifiers as written to the modifiers of the instruction.
//!
//! The table row says which modifiers the encoding takes; everything written beyond them is an error, and
//! everything not written has the value the assembler gives it.

use super::{Builder, Shape, is_short};
use crate::form::SDWA_NO_DST;
use crate::text::Problem;
use crate::{Bits, Dpp, Encoding, Lane, Mods, Sdwa};

impl Builder<'_> {
    pub(super) fn mods(&self) -> Result<Mods, Problem> {
        let written = &self.written.modifiers;
        let encoding = self.form.encoding;
        let mut mods = Mods {
            bits: written.bits,
            neg: self.neg,
            abs: self.abs,
            omod: written.omod,
            cbsz: written.cbsz,
            abid: written.abid,
            blgp: written.blgp,
            ..Mods::default()
        };
        // The lane swaps spell their `op_sel` bits as DPP modifiers.
        let swap = encoding == Encoding::Vop3 && self.op.info().name.starts_with("v_permlane");
        let has_dpp = if swap { written.dpp.is_some() } else { written.has_dpp() || written.fi };
        refuse(has_dpp != (self.shape == Shape::Dpp))?;
        refuse(written.has_sdwa() && self.shape != Shape::Sdwa)?;
        if self.shape == Shape::Plain && is_short(encoding) {
            let modified = !written.bits.is_empty() || written.omod != 0 || written.op_sel.is_some();
            refuse(modified)?;
        }
        mods.lane = self.lane();
        self.encoding_mods(&mut mods, swap)?;
        let two = written.offset0.is_some() || written.offset1.is_some();
        let offset = match two {
            true => written.offset0.unwrap_or(0) | written.offset1.unwrap_or(0) << 8,
            false => written.offset.unwrap_or(0),
        };
        mods.offset = offset as i32;
        let memory = matches!(
            encoding,
            Encoding::Ds
                | Encoding::Flat
                | Encoding::Global
                | Encoding::Scratch
                | Encoding::Mubuf
                | Encoding::Mtbuf
                | Encoding::Smem
        );
        refuse(!memory && (two || written.offset.is_some()))?;
        Ok(mods)
    }

    /// The SDWA or DPP part.
    fn lane(&self) -> Lane {
        let written = &self.written.modifiers;
        match self.shape {
            Shape::Dpp => {
                let dpp =
                    written.dpp.unwrap_or(Dpp { ctrl: 0, row_mask: 15, bank_mask: 15, bound_ctrl: false });
                Lane::Dpp(Dpp {
                    row_mask: written.row_mask.unwrap_or(15),
                    bank_mask: written.bank_mask.unwrap_or(15),
                    bound_ctrl: written.bound_ctrl,
                    ..dpp
                })
            }
            Shape::Sdwa => {
                // What is not written: whole registers, and the rest of the destination kept.
                let no_destination =
                    self.form.encoding == Encoding::Vopc || self.form.sdwa & SDWA_NO_DST != 0;
                Lane::Sdwa(Sdwa {
                    dst_sel: written.dst_sel.unwrap_or(6),
                    dst_unused: written.dst_unused.unwrap_or(if no_destination { 0 } else { 2 }),
                    src0_sel: written.src0_sel.unwrap_or(6),
                    src1_sel: written.src1_sel.unwrap_or(6),
                    sext: self.sext,
                })
            }
            Shape::Plain => Lane::None,
        }
    }

    /// Modifiers that only some encodings have; `swap` is a lane swap.
    fn encoding_mods(&self, mods: &mut Mods, swap: bool) -> Result<(), Problem> {
        let written = &self.written.modifiers;
        let encoding = self.form.encoding;
        let sources =
            self.op.info().fields.iter().filter(|field| Self::source(**field).is_some()).count() as u32;
        let allow = Allowed(self.form.allow);
        match encoding {
            Encoding::Vop3p => {
                mods.neg |= written.neg_lo;
                mods.abs |= written.neg_hi;
                mods.op_sel = written.op_sel.unwrap_or(0);
                refuse(mods.op_sel & !7 & !allow.op_sel() != 0)?;
                let all = if self.is_mix() { 0 } else { (1 << sources) - 1 };
                mods.op_sel_hi = written.op_sel_hi.unwrap_or(all) & allow.op_sel_hi();
                mods.op_sel &= allow.op_sel();
                refuse(mods.neg & !allow.neg() != 0 || mods.abs & !allow.abs() != 0)?;
            }
            Encoding::Vop3px2 | Encoding::Mai => {
                // Two scales; the assembler takes a third selector and drops it.
                mods.op_sel = written.op_sel.unwrap_or(0) & 3;
                mods.op_sel_hi = written.op_sel_hi.unwrap_or(0) & 3;
                let neg = written.neg_lo | written.neg_hi;
                refuse(neg != 0 || mods.blgp & !allow.neg() != 0 || mods.cbsz & !allow.abs() != 0)?;
            }
            Encoding::Vop3 | Encoding::Vop3Sd => {
                let op_sel = written.op_sel.unwrap_or(0);
                // The entry after the sources is the destination, bit 3, where no byte selection uses bit 2.
                let low = (1 << sources.min(3)) - 1;
                let direct = op_sel >> (sources + 1) != 0 || allow.op_sel() & !(low | 8) != 0;
                mods.op_sel =
                    if direct { op_sel } else { op_sel & low | (op_sel & !low) << (3 - sources.min(3)) };
                if swap {
                    mods.op_sel |= u8::from(written.fi) | u8::from(written.bound_ctrl) << 1;
                }
                mods.blgp |= written.bitop3;
                let signs = mods.neg & !allow.neg() != 0 || mods.abs & !allow.abs() != 0;
                let clamp = mods.bits.contains(Bits::CLAMP) && !allow.clamp();
                refuse(
                    signs || clamp || mods.omod & !allow.omod() != 0 || mods.op_sel & !allow.op_sel() != 0,
                )?;
            }
            Encoding::Mtbuf => {
                mods.cbsz = written.dfmt.unwrap_or(1);
                mods.abid = written.nfmt.unwrap_or(0);
            }
            _ => refuse(written.op_sel.is_some())?,
        }
        Ok(())
    }
}

fn refuse(wrong: bool) -> Result<(), Problem> {
    if wrong { Err(Problem::WrongModifier) } else { Ok(()) }
}

/// Modifier bits of a form in the long vector encodings (see [`Form::allow`]).
#[derive(Clone, Copy)]
struct Allowed(u16);

impl Allowed {
    fn abs(self) -> u8 {
        (self.0 & 7) as u8
    }

    fn op_sel(self) -> u8 {
        (self.0 >> 3 & 15) as u8
    }

    fn op_sel_hi(self) -> u8 {
        (self.0 >> 8 & 3 | (self.0 >> 6 & 1) << 2) as u8
    }

    fn clamp(self) -> bool {
        self.0 & 0x80 != 0
    }

    fn omod(self) -> u8 {
        (self.0 >> 8 & 3) as u8
    }

    fn neg(self) -> u8 {
        (self.0 >> 10 & 7) as u8
    }
}
