//! Machine code to instructions.
//!
//! The one idea to keep in mind: the leading bits choose the encoding, the opcode bits index a table, and the row's
//! fields are read one after the other. Whatever is not an instruction of the target becomes one unknown word and
//! decoding goes on behind it, as the disassembler of LLVM does.

use crate::fields::{Words, bits, modifier_bits, reg, scalar, signed, source, vector};
use crate::form::{
    Field, Form, SDWA_CLAMP, SDWA_NO_DST, SDWA_OMOD, SOURCE_FLOAT, SOURCE_IGNORES, SOURCE_INT,
};
use crate::inst::*;
use crate::isa::Isa;

/// Decodes the instruction at `offset`. Past the end it gives an unknown instruction of size 0.
pub fn decode(isa: Isa, code: &[u8], offset: u32) -> Inst {
    let rest = code.get(offset as usize..).unwrap_or(&[]);
    if rest.len() < 4 {
        return unknown(offset, rest.len() as u8, rest);
    }
    let words = Words { w0: word(rest, 0), w1: word(rest, 4) };
    decode_words(isa, words, rest, offset).unwrap_or_else(|| unknown(offset, 4, rest))
}

/// Decodes everything.
pub fn decode_all(isa: Isa, code: &[u8]) -> Vec<Inst> {
    let mut list = Vec::with_capacity(code.len() / 6);
    list.extend(Decoder::new(isa, code));
    list
}

/// Decodes one instruction after the other.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    isa: Isa,
    code: &'a [u8],
    offset: u32,
}

impl<'a> Decoder<'a> {
    /// A decoder that starts at the first byte. Code beyond 2 GiB is not read: branch targets are 32-bit offsets.
    pub fn new(isa: Isa, code: &'a [u8]) -> Self {
        Decoder { isa, code: &code[..code.len().min(i32::MAX as usize & !3)], offset: 0 }
    }
}

impl Iterator for Decoder<'_> {
    type Item = Inst;

    #[inline]
    fn next(&mut self) -> Option<Inst> {
        if self.offset as usize >= self.code.len() {
            return None;
        }
        let inst = decode(self.isa, self.code, self.offset);
        self.offset += u32::from(inst.size);
        Some(inst)
    }
}

#[inline]
fn word(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..at + 4) {
        Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

fn unknown(offset: u32, size: u8, rest: &[u8]) -> Inst {
    let mut value = 0;
    for (index, &byte) in rest.iter().take(4).enumerate() {
        value |= u32::from(byte) << (8 * index);
    }
    let mut inst = empty(offset, size, Encoding::Unknown, Op::UNKNOWN.0);
    inst.operands[0] = Operand::Literal(value);
    inst.operand_count = 1;
    inst
}

#[inline]
fn empty(offset: u32, size: u8, encoding: Encoding, op: u16) -> Inst {
    Inst {
        offset,
        size,
        encoding,
        op: Op(op),
        operand_count: 0,
        operands: [Operand::Off; 6],
        mods: Mods::default(),
    }
}

impl Inst {
    /// Appends an operand; `None` if it is no operand at all.
    #[inline]
    fn push(&mut self, operand: Operand) -> Option<()> {
        if let Operand::Invalid(_) = operand {
            return None;
        }
        *self.operands.get_mut(usize::from(self.operand_count))? = operand;
        self.operand_count += 1;
        Some(())
    }
}

/// Context of one instruction while its fields are read.
struct Reader<'a> {
    isa: Isa,
    w: Words,
    rest: &'a [u8],
    offset: u32,
    info: &'static OpInfo,
    form: &'static Form,
}

fn decode_words(isa: Isa, w: Words, rest: &[u8], offset: u32) -> Option<Inst> {
    use Encoding as E;
    let (encoding, opcode) = match w.w0 >> 26 {
        0..=31 => match w.w0 >> 25 {
            0x3e => (E::Vopc, bits(w.w0, 17, 8)),
            0x3f => (E::Vop1, bits(w.w0, 9, 8)),
            opcode => (E::Vop2, opcode),
        },
        32..=47 => match w.w0 >> 23 {
            0x17d => (E::Sop1, bits(w.w0, 8, 8)),
            0x17e => (E::Sopc, bits(w.w0, 16, 7)),
            0x17f => (E::Sopp, bits(w.w0, 16, 7)),
            top if top >> 5 == 0xb => (E::Sopk, bits(w.w0, 23, 5)),
            top => (E::Sop2, top & 0x7f),
        },
        0x30 => (E::Smem, bits(w.w0, 18, 8)),
        0x34 if w.w0 >> 23 == 0x1a7 => (E::Vop3p, bits(w.w0, 16, 7)),
        0x34 => (E::Vop3, bits(w.w0, 16, 10)),
        0x36 => (E::Ds, bits(w.w0, 17, 8)),
        0x37 => match bits(w.w0, 14, 2) {
            0 => (E::Flat, bits(w.w0, 18, 7)),
            1 => (E::Scratch, bits(w.w0, 18, 7)),
            2 => (E::Global, bits(w.w0, 18, 7)),
            _ => return None,
        },
        0x38 => (E::Mubuf, bits(w.w0, 18, 7)),
        0x3a => (E::Mtbuf, bits(w.w0, 15, 4)),
        _ => return None,
    };
    if encoding == E::Vop3p
        && opcode == SCALE_OPCODE
        && let Some(inst) = scaled(isa, w, rest, offset)
    {
        return Some(inst);
    }
    let form = isa.form(encoding, opcode)?;
    let info = Op(form.op).info();
    let reader = Reader { isa, w, rest, offset, info, form };
    match encoding {
        E::Sop1 | E::Sop2 | E::Sopc | E::Sopk | E::Sopp => reader.scalar_alu(),
        E::Vop1 if info.fields.is_empty() => (bits(w.w0, 17, 8) == 0).then(|| reader.start(4, E::Vop1)),
        E::Vop1 | E::Vop2 | E::Vopc => match w.w0 & 0x1ff {
            249 => reader.sdwa(),
            250 => reader.dpp(),
            _ => reader.vector32(),
        },
        E::Vop3 => reader.vop3(),
        E::Vop3p => reader.vop3p(),
        E::Smem => reader.smem(),
        E::Ds => reader.ds(),
        E::Flat | E::Scratch | E::Global => reader.flat(encoding),
        E::Mubuf | E::Mtbuf => reader.buffer(encoding),
        _ => None,
    }
}

/// VOP3P opcode of the first half of a scaled MFMA.
const SCALE_OPCODE: u32 = 44;

/// A scaled MFMA: eight bytes with the scales, then an MFMA.
fn scaled(isa: Isa, w: Words, rest: &[u8], offset: u32) -> Option<Inst> {
    let tail = rest.get(8..16)?;
    let mfma = Words { w0: word(tail, 0), w1: word(tail, 4) };
    if mfma.w0 >> 23 != 0x1a7 {
        return None;
    }
    let form = isa.form(Encoding::Vop3px2, bits(mfma.w0, 16, 7))?;
    let info = Op(form.op).info();
    let reader = Reader { isa, w: mfma, rest: tail, offset, info, form };
    let mut inst = reader.mai()?;
    // The second half is marked by this number in the field of `abid`.
    if inst.mods.abid != 1 {
        return None;
    }
    inst.mods.abid = 0;
    inst.size = 16;
    inst.encoding = Encoding::Vop3px2;
    for code in [bits(w.w1, 0, 9), bits(w.w1, 9, 9)] {
        if code == 255 {
            return None;
        }
        inst.push(source(code, 1, 0))?;
    }
    let mods = modifier_bits(w);
    // The scales' byte selectors; the low bit of each is op_sel, the high bit op_sel_hi.
    inst.mods.op_sel = (mods >> 3 & 7) as u8;
    inst.mods.op_sel_hi = (mods >> 8 & 3) as u8 | ((mods >> 6 & 1) << 2) as u8;
    Some(inst)
}

/// Registers of one matrix operand of `f8f6f4`, by its format code.
pub(crate) fn f8f6f4_dwords(format: u8) -> u8 {
    match format {
        2 | 3 => 6,
        4 => 4,
        // fp8 and bf8; the codes above 4 are reserved
        _ => 8,
    }
}

impl Reader<'_> {
    #[inline]
    fn start(&self, size: u8, encoding: Encoding) -> Inst {
        empty(self.offset, size, encoding, self.form.op)
    }

    /// Field and width of each operand.
    #[inline]
    fn fields(&self) -> impl Iterator<Item = (Field, u8)> + use<> {
        let info = self.info;
        info.fields.iter().zip(info.operands).map(|(&field, spec)| (field, spec.dwords))
    }

    /// The word behind a 32-bit encoding, when it is there.
    fn literal(&self) -> Option<u32> {
        (self.rest.len() >= 8).then_some(self.w.w1)
    }

    fn target(&self) -> Operand {
        let words = signed(bits(self.w.w0, 0, 16), 16);
        Operand::Target((self.offset as i32).wrapping_add(4).wrapping_add(words * 4))
    }

    fn scalar_alu(&self) -> Option<Inst> {
        let w0 = self.w.w0;
        let mut inst = self.start(4, self.form.encoding);
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
                    self.target()
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
        Some(inst)
    }

    /// VOP1, VOP2, VOPC in their 32-bit form, with a literal perhaps.
    fn vector32(&self) -> Option<Inst> {
        let w0 = self.w.w0;
        let mut inst = self.start(4, self.form.encoding);
        let code = w0 & 0x1ff;
        let mut literal = 0;
        if code == 255 || self.info.fields.contains(&Field::Literal) {
            inst.size = 8;
            literal = self.literal()?;
        }
        let accumulators = self.form.encoding == Encoding::Vop1 && self.info.name.starts_with("v_accvgpr");
        for (field, dwords) in self.fields() {
            let operand = match field {
                Field::Src0 if accumulators && code >= 256 => vector(true, code, dwords),
                Field::Src0 => source(code, dwords, literal),
                Field::Vdst => vector(accumulators, bits(w0, 17, 8), dwords),
                Field::Src1 => vector(false, bits(w0, 9, 8), dwords),
                Field::Literal => Operand::Literal(literal),
                // `v_readfirstlane`, the only one of VOP1 with a scalar destination, names it in the low bits.
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
        Some(inst)
    }

    fn sdwa(&self) -> Option<Inst> {
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
        let mut inst = self.start(8, encoding);
        let mut lane = Sdwa { dst_sel: 6, dst_unused: 0, src0_sel: 6, src1_sel: 6, sext: 0 };
        if !compare {
            if self.form.sdwa & SDWA_NO_DST == 0 {
                lane.dst_sel = bits(w1, 8, 3) as u8;
                lane.dst_unused = bits(w1, 11, 2) as u8;
                if lane.dst_sel == 7 || lane.dst_unused == 3 {
                    return None;
                }
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
        Some(inst)
    }

    fn dpp(&self) -> Option<Inst> {
        if self.form.dpp_targets & self.isa.bit() == 0 || self.rest.len() < 8 {
            return None;
        }
        let (w0, w1) = (self.w.w0, self.w.w1);
        let encoding =
            if self.form.encoding == Encoding::Vop1 { Encoding::Vop1Dpp } else { Encoding::Vop2Dpp };
        let mut inst = self.start(8, encoding);
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
        Some(inst)
    }

    fn long_source(&self, field: Field) -> u32 {
        match field {
            Field::Src0 => bits(self.w.w1, 0, 9),
            Field::Src1 => bits(self.w.w1, 9, 9),
            _ => bits(self.w.w1, 18, 9),
        }
    }

    fn vop3(&self) -> Option<Inst> {
        if self.rest.len() < 8 {
            return None;
        }
        let w0 = self.w.w0;
        let mods = modifier_bits(self.w);
        if mods & !(self.form.allow | self.form.ignore) != 0 {
            return None;
        }
        let mut inst = self.start(8, self.form.encoding);
        let used = mods & self.form.allow;
        if self.info.name.starts_with("v_bitop3") {
            // The truth table lies in the bits that are abs, omod and neg elsewhere.
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
                _ => {
                    let code = self.long_source(field);
                    if code == 255 {
                        return None;
                    }
                    source(code, dwords, 0)
                }
            };
            inst.push(operand)?;
        }
        Some(inst)
    }

    fn vop3p(&self) -> Option<Inst> {
        if self.rest.len() < 8 {
            return None;
        }
        if self.form.encoding == Encoding::Mai {
            return self.mai();
        }
        let w0 = self.w.w0;
        let mods = modifier_bits(self.w);
        if mods & !(self.form.allow | self.form.ignore) != 0 {
            return None;
        }
        let used = mods & self.form.allow;
        let mut inst = self.start(8, Encoding::Vop3p);
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
        let (read, write) = (self.info.name == "v_accvgpr_read_b32", self.info.name == "v_accvgpr_write_b32");
        for (field, dwords) in self.fields() {
            let operand = match field {
                Field::Vdst => vector(write, w0, dwords),
                Field::Src0 if read && self.long_source(field) >= 256 => {
                    vector(true, self.long_source(field), dwords)
                }
                _ => {
                    let code = self.long_source(field);
                    if code == 255 {
                        return None;
                    }
                    source(code, dwords, 0)
                }
            };
            inst.push(operand)?;
        }
        Some(inst)
    }

    fn mai(&self) -> Option<Inst> {
        let w0 = self.w.w0;
        let mods = modifier_bits(self.w);
        if mods & !(self.form.allow | self.form.ignore) != 0 {
            return None;
        }
        let mut inst = self.start(8, Encoding::Mai);
        inst.mods.cbsz = (mods & 7) as u8;
        inst.mods.abid = (mods >> 3 & 15) as u8;
        inst.mods.blgp = (mods >> 10) as u8;
        let separate = self.isa == Isa::Gfx908;
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
        Some(inst)
    }

    fn smem(&self) -> Option<Inst> {
        if self.rest.len() < 8 {
            return None;
        }
        let (w0, w1) = (self.w.w0, self.w.w1);
        let mut inst = self.start(8, Encoding::Smem);
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
        Some(inst)
    }

    fn ds(&self) -> Option<Inst> {
        if self.rest.len() < 8 {
            return None;
        }
        let (w0, w1) = (self.w.w0, self.w.w1);
        let mut inst = self.start(8, Encoding::Ds);
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
            inst.push(vector(accumulator && at != 0, bits(w1, 8 * at, 8), dwords))?;
        }
        for (at, unused) in unused.into_iter().enumerate() {
            if unused && bits(w1, 8 * at as u32, 8) != 0 {
                return None;
            }
        }
        if accumulator && (self.isa == Isa::Gfx908 || inst.operand_count < 1) {
            return None;
        }
        if w0 >> 16 & 1 != 0 {
            // Lane exchange is a matter of the LDS crossbar.
            if self.info.name.ends_with("permute_b32") {
                return None;
            }
            inst.mods.bits |= Bits::GDS;
        }
        inst.mods.offset = (w0 & 0xffff) as i32;
        Some(inst)
    }

    fn flat(&self, encoding: Encoding) -> Option<Inst> {
        if self.rest.len() < 8 {
            return None;
        }
        let (w0, w1) = (self.w.w0, self.w.w1);
        let mut inst = self.start(8, encoding);
        let accumulator = w1 >> 23 & 1 != 0;
        let saddr = bits(w1, 16, 7);
        let svs = w0 >> 13 & 1 != 0;
        if w0 >> 16 & 1 != 0 {
            inst.mods.bits |= Bits::SC0;
        }
        if w0 >> 17 & 1 != 0 {
            inst.mods.bits |= Bits::NT;
        }
        if w0 >> 25 & 1 != 0 {
            inst.mods.bits |= Bits::SC1;
        }
        if self.float_atomic_forbids(inst.mods.bits) {
            return None;
        }
        if self.isa == Isa::Gfx908 {
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
            if !registers || (self.isa == Isa::Gfx908 && returning && encoding == Encoding::Global) {
                return None;
            }
        }
        if (svs && !(scratch && self.isa.has_sc_bits())) || (encoding == Encoding::Flat && saddr != 0) {
            return None;
        }
        for (index, (field, dwords)) in self.fields().enumerate() {
            let operand = match field {
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
        Some(inst)
    }

    /// Floating-point atomics take fewer cache bits before gfx942, and return nothing on gfx908.
    fn float_atomic_forbids(&self, flags: Bits) -> bool {
        let float = self.info.class == Class::VmemAtomic && (77..=81).contains(&self.form.opcode);
        float
            && match self.isa {
                Isa::Gfx908 => {
                    let flat = !matches!(self.form.encoding, Encoding::Mubuf);
                    flags.contains(Bits::SC0) || (flat && flags.contains(Bits::SC1))
                }
                Isa::Gfx90a => flags.contains(Bits::SC1),
                _ => false,
            }
    }

    /// Buffer opcodes that write back or invalidate a cache: only the scope bits of gfx942 mean something.
    fn cache_control(&self) -> Option<Inst> {
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
        let mut inst = self.start(8, Encoding::Mubuf);
        inst.mods.bits.set(Bits::SC0, scoped && scope & 1 != 0);
        inst.mods.bits.set(Bits::SC1, scoped && scope & 2 != 0);
        Some(inst)
    }

    fn buffer(&self, encoding: Encoding) -> Option<Inst> {
        if self.rest.len() < 8 {
            return None;
        }
        let (w0, w1) = (self.w.w0, self.w.w1);
        if self.info.fields.is_empty() {
            return self.cache_control();
        }
        let mut inst = self.start(8, encoding);
        let typed = encoding == Encoding::Mtbuf;
        let (offen, idxen) = (w0 >> 12 & 1 != 0, w0 >> 13 & 1 != 0);
        let mut flags = Bits::empty();
        flags.set(Bits::OFFEN, offen);
        flags.set(Bits::IDXEN, idxen);
        flags.set(Bits::SC0, w0 >> 14 & 1 != 0);
        let accumulator = w1 >> 23 & 1 != 0;
        let old = self.isa == Isa::Gfx908;
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
        // `buffer_store_lds_dword` exists with the bit only, and not coherent with the system.
        let from_lds = self.form.lds != 0 && !self.info.fields.contains(&Field::Vdata);
        if from_lds && flags & (Bits::LDS | Bits::SC1) != Bits::LDS {
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
        Some(inst)
    }
}

/// A scalar source of SDWA: registers and inline constants, no literal.
fn scalar_source(code: u32) -> Option<u32> {
    (code != 255).then_some(code)
}
