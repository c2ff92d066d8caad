//! LDS, flat, global, scratch and buffer memory.
//!
//! Fields that an opcode does not use must be zero in LDS instructions and may be anything in the others;
//! which cache bits are valid differs between the generations.

use super::Reader;
use crate::fields::{bits, scalar, signed, source, vector};
use crate::inst::*;

impl Reader<'_> {
    pub(super) fn ds(&self, inst: &mut Inst) -> Option<()> {
        if self.rest.len() < 8 {
            return None;
        }
        let (w0, w1) = (self.w.w0, self.w.w1);
        self.start(inst, 8, Encoding::Ds);
        let accumulator = w0 >> 25 & 1 != 0;
        let mut unused = [true; 4];
        for (field, dwords) in self.fields() {
            let at = match field {
                Field::Addr => 0,
                Field::Data0 => 1,
                Field::Data1 => 2,
                _ => 3,
            };
            unused[at as usize] = false;
            // What global wave sync takes as its address is data.
            let data = at != 0 || self.info.mem.is_none();
            inst.push(vector(accumulator && data, bits(w1, 8 * at, 8), dwords))?;
        }
        for (at, unused) in unused.into_iter().enumerate() {
            if unused && bits(w1, 8 * at as u32, 8) != 0 {
                return None;
            }
        }
        if accumulator && (!self.isa.has_unified_registers() || inst.operand_count < 1) {
            return None;
        }
        if w0 >> 16 & 1 != 0 {
            // Lane exchange is a matter of the LDS crossbar.
            if self.info.flags.contains(OpFlags::NO_GDS) {
                return None;
            }
            inst.mods.bits |= Bits::GDS;
        }
        inst.mods.offset = (w0 & 0xffff) as i32;
        Some(())
    }

    pub(super) fn flat(&self, encoding: Encoding, inst: &mut Inst) -> Option<()> {
        if self.rest.len() < 8 {
            return None;
        }
        let (w0, w1) = (self.w.w0, self.w.w1);
        self.start(inst, 8, encoding);
        let accumulator = w1 >> 23 & 1 != 0;
        let saddr = bits(w1, 16, 7);
        // One bit with two meanings: an address register beside the scalar base, or before gfx940 the LDS as
        // destination.
        let svs = w0 >> 13 & 1 != 0;
        let to_lds = svs && self.form.lds & self.isa.bit() != 0;
        if w0 >> 16 & 1 != 0 {
            inst.mods.bits |= Bits::SC0;
        }
        if w0 >> 17 & 1 != 0 {
            inst.mods.bits |= Bits::NT;
        }
        if w0 >> 25 & 1 != 0 {
            inst.mods.bits |= Bits::SC1;
        }
        inst.mods.bits.set(Bits::LDS, to_lds);
        if self.float_atomic_forbids(inst.mods.bits) {
            return None;
        }
        if !self.isa.has_third_cache_bit() {
            inst.mods.bits.remove(Bits::SC1);
        }
        inst.mods.offset = match encoding {
            Encoding::Flat => bits(w0, 0, 13) as i32,
            _ => signed(bits(w0, 0, 13), 13),
        };
        let scratch = encoding == Encoding::Scratch;
        if accumulator {
            let returning = self.info.class == Class::VmemAtomic && inst.mods.bits.contains(Bits::SC0);
            let registers = self.info.fields.iter().any(|field| matches!(field, Field::Vdst | Field::Data));
            if !registers
                || to_lds
                || (!self.isa.has_unified_registers() && returning && encoding == Encoding::Global)
            {
                return None;
            }
        }
        if (svs && !to_lds && !(scratch && self.isa.has_sc_bits()))
            || (encoding == Encoding::Flat && saddr != 0)
        {
            return None;
        }
        for (index, (field, dwords)) in self.fields().enumerate() {
            let operand = match field {
                Field::Vdst if to_lds => continue,
                Field::Vdst => {
                    if index == 0
                        && self.info.flags.contains(OpFlags::OPTIONAL_DST)
                        && !inst.mods.bits.contains(Bits::SC0)
                    {
                        continue;
                    }
                    vector(accumulator, w1 >> 24, dwords)
                }
                Field::Data => vector(accumulator, bits(w1, 8, 8), dwords),
                Field::Addr => match encoding {
                    Encoding::Flat => vector(false, w1 & 0xff, 2),
                    Encoding::Global => vector(false, w1 & 0xff, if saddr == 0x7f { 2 } else { 1 }),
                    _ if self.isa.has_sc_bits() && !svs => Operand::Off,
                    _ if !self.isa.has_sc_bits() && saddr != 0x7f => Operand::Off,
                    _ => vector(false, w1 & 0xff, 1),
                },
                _ if saddr == 0x7f => Operand::Off,
                _ => scalar(saddr, dwords),
            };
            inst.push(operand)?;
        }
        Some(())
    }

    /// Floating-point atomics take fewer cache bits before gfx942, and return nothing on gfx908.
    fn float_atomic_forbids(&self, flags: Bits) -> bool {
        let float = self.info.class == Class::VmemAtomic && (77..=81).contains(&self.form.opcode);
        float
            && match (self.isa.returns_float_atomics(), self.isa.has_sc_bits()) {
                (false, _) => {
                    let flat = !matches!(self.form.encoding, Encoding::Mubuf);
                    flags.contains(Bits::SC0) || (flat && flags.contains(Bits::SC1))
                }
                (true, false) => flags.contains(Bits::SC1),
                (true, true) => false,
            }
    }

    /// Buffer opcodes that write back or invalidate a cache: only the scope bits of gfx942 mean something.
    fn cache_control(&self, inst: &mut Inst) -> Option<()> {
        let w0 = self.w.w0;
        let scope = bits(w0, 14, 2);
        let scoped = self.isa.has_sc_bits();
        let ignored = scoped || self.info.name == "buffer_wbl2";
        if bits(w0, 12, 2) != 0
            || bits(w0, 16, 1) != 0
            || self.w.w1 >> 23 & 1 != 0
            || (scope != 0 && !ignored)
        {
            return None;
        }
        self.start(inst, 8, Encoding::Mubuf);
        inst.mods.bits.set(Bits::SC0, scoped && scope & 1 != 0);
        inst.mods.bits.set(Bits::SC1, scoped && scope & 2 != 0);
        Some(())
    }

    pub(super) fn buffer(&self, encoding: Encoding, inst: &mut Inst) -> Option<()> {
        if self.rest.len() < 8 {
            return None;
        }
        let (w0, w1) = (self.w.w0, self.w.w1);
        if self.info.fields.is_empty() {
            return self.cache_control(inst);
        }
        self.start(inst, 8, encoding);
        let typed = encoding == Encoding::Mtbuf;
        let (offen, idxen) = (w0 >> 12 & 1 != 0, w0 >> 13 & 1 != 0);
        let mut flags = Bits::empty();
        flags.set(Bits::OFFEN, offen);
        flags.set(Bits::IDXEN, idxen);
        flags.set(Bits::SC0, w0 >> 14 & 1 != 0);
        let accumulator = w1 >> 23 & 1 != 0;
        let old = !self.isa.has_unified_registers();
        if typed {
            inst.mods.cbsz = bits(w0, 19, 4) as u8;
            inst.mods.abid = bits(w0, 23, 3) as u8;
            flags.set(Bits::NT, w1 >> 22 & 1 != 0);
            flags.set(Bits::SC1, w1 >> 21 & 1 != 0);
        } else {
            flags.set(Bits::NT, w0 >> 17 & 1 != 0);
            flags.set(Bits::SC1, w0 >> 15 & 1 != 0);
            flags.set(Bits::LDS, w0 >> 16 & 1 != 0);
        }
        if flags.contains(Bits::LDS) && self.form.lds & self.isa.bit() == 0 {
            return None;
        }
        let atomic = self.info.class == Class::VmemAtomic;
        if flags.contains(Bits::LDS) && accumulator {
            return None;
        }
        if self.float_atomic_forbids(flags) {
            return None;
        }
        if old {
            flags.remove(Bits::SC1);
            flags.set(Bits::TFE, accumulator);
            // Atomics and typed buffers report no residency.
            if accumulator && (atomic || typed || !self.info.fields.contains(&Field::Vdata)) {
                return None;
            }
        }
        // `buffer_store_lds_dword` exists with the bit only, and without an address register.
        let from_lds = self.form.lds != 0 && !self.info.fields.contains(&Field::Vdata);
        if from_lds && flags & (Bits::LDS | Bits::OFFEN | Bits::IDXEN) != Bits::LDS {
            return None;
        }
        inst.mods.bits = flags;
        inst.mods.offset = bits(w0, 0, 12) as i32;
        for (field, dwords) in self.fields() {
            let operand = match field {
                Field::Vdata if flags.contains(Bits::LDS) => continue,
                Field::Vdata => {
                    vector(accumulator && !old, bits(w1, 8, 8), dwords + u8::from(flags.contains(Bits::TFE)))
                }
                Field::Vaddr => match (offen, idxen) {
                    (false, false) => Operand::Off,
                    (true, true) => vector(false, w1 & 0xff, 2),
                    _ => vector(false, w1 & 0xff, 1),
                },
                Field::Srsrc => scalar(bits(w1, 16, 5) << 2, dwords),
                _ => {
                    let code = w1 >> 24;
                    if code == 255 {
                        return None;
                    }
                    source(code, 1, 0)
                }
            };
            inst.push(operand)?;
        }
        Some(())
    }
}
