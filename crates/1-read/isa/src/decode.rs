//! Machine code to instructions.
//!
//! The leading bits choose the encoding, the opcode bits index a table, and the row's fields are read one
//! after the other. Whatever is not an instruction of the target becomes one unknown word and decoding goes
//! on behind it, as the disassembler of LLVM does.

mod memory;
mod scalar;
mod vector;

use crate::fields::{Words, bits, modifier_bits, signed, source};
use crate::form::Form;
use crate::inst::*;
use crate::isa::Isa;

/// Decodes the instruction at `offset`. Past the end it gives an unknown instruction of size 0.
#[inline]
pub fn decode(isa: Isa, code: &[u8], offset: u32) -> Inst {
    let mut inst = Inst {
        offset,
        size: 0,
        encoding: Encoding::Unknown,
        op: Op::UNKNOWN,
        operand_count: 0,
        operands: [Operand::Off; 6],
        mods: Mods::default(),
    };
    decode_into(isa, code, &mut inst);
    inst
}

/// Decodes the instruction at the offset that the otherwise empty instruction has.
fn decode_into(isa: Isa, code: &[u8], inst: &mut Inst) {
    let rest = code.get(inst.offset as usize..).unwrap_or(&[]);
    if rest.len() >= 4 {
        let words = Words { w0: word(rest, 0), w1: word(rest, 4) };
        if decode_words(isa, words, rest, inst).is_some() {
            return;
        }
    }
    let mut value = 0;
    for (index, &byte) in rest.iter().take(4).enumerate() {
        value |= u32::from(byte) << (8 * index);
    }
    inst.size = rest.len().min(4) as u8;
    inst.encoding = Encoding::Unknown;
    inst.op = Op::UNKNOWN;
    inst.operands = [Operand::Off; 6];
    inst.operands[0] = Operand::Literal(value);
    inst.operand_count = 1;
    inst.mods = Mods::default();
}

/// Decodes everything.
pub fn decode_all(isa: Isa, code: &[u8]) -> Vec<Inst> {
    // No instruction is shorter than four bytes: the list never moves.
    let mut list = Vec::with_capacity(code.len() / 4);
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
    /// A decoder that starts at the first byte. Code beyond 2 GiB is not read: branch targets are 32-bit
    /// offsets.
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

impl Inst {
    /// Appends an operand; `None` if its encoding is invalid.
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
    info: &'static OpInfo,
    form: &'static Form,
}

#[inline]
fn decode_words(isa: Isa, w: Words, rest: &[u8], inst: &mut Inst) -> Option<()> {
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
    if encoding == E::Vop3p && opcode == SCALE_OPCODE {
        let untouched = *inst;
        if scaled(isa, w, rest, inst).is_some() {
            return Some(());
        }
        // No scaled MFMA after all: what the attempt filled in is none of this instruction's.
        *inst = untouched;
    }
    let form = isa.form(encoding, opcode)?;
    let info = Op(form.op).info();
    let reader = Reader { isa, w, rest, info, form };
    match encoding {
        E::Sop1 | E::Sop2 | E::Sopc | E::Sopk | E::Sopp => reader.scalar_alu(inst),
        E::Vop1 if info.fields.is_empty() => {
            reader.start(inst, 4, E::Vop1);
            (bits(w.w0, 17, 8) == 0).then_some(())
        }
        E::Vop1 | E::Vop2 | E::Vopc => match w.w0 & 0x1ff {
            249 => reader.sdwa(inst),
            250 => reader.dpp(inst),
            _ => reader.vector32(inst),
        },
        E::Vop3 => reader.vop3(inst),
        E::Vop3p => reader.vop3p(inst),
        E::Smem => reader.smem(inst),
        E::Ds => reader.ds(inst),
        E::Flat | E::Scratch | E::Global => reader.flat(encoding, inst),
        E::Mubuf | E::Mtbuf => reader.buffer(encoding, inst),
        _ => None,
    }
}

/// VOP3P opcode of the first half of a scaled MFMA.
const SCALE_OPCODE: u32 = 44;

/// A scaled MFMA: eight bytes with the scales, then an MFMA.
fn scaled(isa: Isa, w: Words, rest: &[u8], inst: &mut Inst) -> Option<()> {
    let tail = rest.get(8..16)?;
    let mfma = Words { w0: word(tail, 0), w1: word(tail, 4) };
    if mfma.w0 >> 23 != 0x1a7 {
        return None;
    }
    let form = isa.form(Encoding::Vop3px2, bits(mfma.w0, 16, 7))?;
    let info = Op(form.op).info();
    let reader = Reader { isa, w: mfma, rest: tail, info, form };
    reader.mai(inst)?;
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
    // The two scales' byte selectors; the low bit of each is op_sel, the high bit op_sel_hi. A third scale
    // does not exist.
    inst.mods.op_sel = (mods >> 3 & 3) as u8;
    inst.mods.op_sel_hi = (mods >> 8 & 3) as u8;
    Some(())
}

impl Reader<'_> {
    #[inline]
    fn start(&self, inst: &mut Inst, size: u8, encoding: Encoding) {
        inst.size = size;
        inst.encoding = encoding;
        inst.op = Op(self.form.op);
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

    fn target(&self, inst: &Inst) -> Operand {
        let words = signed(bits(self.w.w0, 0, 16), 16);
        Operand::Target((inst.offset as i32).wrapping_add(4).wrapping_add(words * 4))
    }
}
