//! An instruction as written to an [`Inst`]: which encoding takes it, and what its operands are there.
//!
//! A mnemonic with a suffix names one encoding; without a suffix the first encoding that takes the operands
//! and modifiers wins, in the order the assembler tries them: the short one, VOP3, SDWA, DPP.

mod mods;

use super::constant;
use super::cursor::Cursor;
use super::expression::Symbols;
use super::modifiers::Modifiers;
use super::operand::{self, Kind, Raw};
use super::{ParsedInst, Problem, SymbolUse};
use crate::form::Form;
use crate::inst::Field;
use crate::{Bits, Encoding, Inst, Isa, MatrixType, Op, OpFlags, Operand, OperandSpec, RegFile, RegRange};

/// A problem and its column, if it has a specific one.
type Placed = (Option<usize>, Problem);

/// Most operands any instruction has.
const MOST_OPERANDS: usize = 6;

/// Operands and modifiers as written.
struct Written {
    raws: [Raw; MOST_OPERANDS],
    count: usize,
    modifiers: Modifiers,
}

impl Written {
    fn operands(&self) -> &[Raw] {
        &self.raws[..self.count]
    }
}

/// Which form of an opcode a suffix asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Suffix {
    None,
    E32,
    E64,
    Dpp,
    Sdwa,
}

/// Reads the instruction `name`, the cursor after the mnemonic.
pub(super) fn instruction(
    isa: Isa,
    name: &str,
    cursor: &mut Cursor<'_>,
    symbols: Symbols<'_>,
) -> Result<ParsedInst, Placed> {
    let mut buffer = [0u8; 64];
    let name = lower_case(name, &mut buffer).ok_or((None, Problem::UnknownMnemonic))?;
    let (op, suffix) = opcode(name).ok_or((None, Problem::UnknownMnemonic))?;
    let op = matrix_alias(isa, op);
    let written = written(cursor, symbols, op.info().mem.is_some())?;
    let mut first: Option<Placed> = None;
    for shape in [Shape::Plain, Shape::Sdwa, Shape::Dpp] {
        for form in op.forms().iter().filter(|form| fits(form, shape, suffix, isa)) {
            match Builder::new(isa, op, form, shape, &written).build() {
                Ok(parsed) => return Ok(parsed),
                Err(problem) => first = first.or(Some(problem)),
            }
        }
    }
    let none = if isa.has(op) { Problem::UnknownForm } else { Problem::UnknownMnemonic };
    Err(first.unwrap_or((None, none)))
}

/// The name in lower case; `None` if it is longer than any mnemonic.
fn lower_case<'b>(name: &'b str, buffer: &'b mut [u8; 64]) -> Option<&'b str> {
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Some(name);
    }
    let target = buffer.get_mut(..name.len())?;
    target.copy_from_slice(name.as_bytes());
    target.make_ascii_lowercase();
    std::str::from_utf8(target).ok()
}

/// Old or short spellings of mnemonics.
const ALIASES: [(&str, &str); 3] = [
    ("v_accvgpr_read", "v_accvgpr_read_b32"),
    ("v_accvgpr_write", "v_accvgpr_write_b32"),
    // The low half of a product has no sign.
    ("v_mul_lo_i32", "v_mul_lo_u32"),
];

fn opcode(name: &str) -> Option<(Op, Suffix)> {
    const SUFFIXES: [(&str, Suffix); 4] =
        [("_e32", Suffix::E32), ("_e64", Suffix::E64), ("_dpp", Suffix::Dpp), ("_sdwa", Suffix::Sdwa)];
    let known =
        |name| Op::by_name(ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name));
    if name.starts_with("v_") {
        for (text, suffix) in SUFFIXES {
            if let Some(op) = name.strip_suffix(text).and_then(known) {
                return Some((op, suffix));
            }
        }
    }
    known(name).map(|op| (op, Suffix::None))
}

/// Matrix instructions changed their spelling between targets (`…16x16x4f32`, `…16x16x4_f32`); the assembler
/// takes the spelling of another target for the same opcode, or for the same product where the opcode is
/// another too.
fn matrix_alias(isa: Isa, op: Op) -> Op {
    let info = op.info();
    let Some(form) = op.forms().first().filter(|_| info.matrix.is_some() && !isa.has(op)) else { return op };
    let same = isa.form(form.encoding, u32::from(form.opcode)).map(|form| Op(form.op));
    let is_same = |other: &Op| other.info().matrix == info.matrix;
    same.filter(is_same).or_else(|| Op::all().find(|other| is_same(other) && isa.has(*other))).unwrap_or(op)
}

fn written(cursor: &mut Cursor<'_>, symbols: Symbols<'_>, is_memory: bool) -> Result<Written, Placed> {
    let blank = Raw { kind: Kind::Off, neg: false, abs: false, sext: false, at: 0 };
    let mut written = Written { raws: [blank; MOST_OPERANDS], count: 0, modifiers: Modifiers::default() };
    while cursor.next_visible().is_some() {
        let at = cursor.at();
        let placed = |problem| (Some(at), problem);
        let rest = cursor.rest().as_bytes();
        // `scc` is a cache bit of memory instructions and a register of others.
        let register = matches!(rest, [b'v' | b's' | b'a', b'0'..=b'9' | b'[', ..])
            || !is_memory && matches!(rest, [b's', b'c', b'c', ..]);
        if register || !written.modifiers.read(cursor, symbols).map_err(placed)? {
            let raw = operand::read(cursor, symbols).map_err(|problem| match problem {
                Problem::Expected(_) | Problem::MissingOperand => (Some(cursor.at()), problem),
                _ => placed(problem),
            })?;
            *written.raws.get_mut(written.count).ok_or((Some(at), Problem::TooManyOperands))? = raw;
            written.count += 1;
        }
        if cursor.take(b',') && cursor.next_visible().is_none() {
            return Err((Some(cursor.at()), Problem::MissingOperand));
        }
    }
    Ok(written)
}

/// The forms of one table row: the plain one, SDWA, DPP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Plain,
    Sdwa,
    Dpp,
}

/// The target has the form in this shape, and the suffix does not ask for another.
fn fits(form: &Form, shape: Shape, suffix: Suffix, isa: Isa) -> bool {
    let (targets, named) = match shape {
        Shape::Plain => (
            form.targets,
            match suffix {
                Suffix::None => true,
                Suffix::E32 => is_short(form.encoding),
                Suffix::E64 => matches!(form.encoding, Encoding::Vop3 | Encoding::Vop3Sd),
                Suffix::Dpp | Suffix::Sdwa => false,
            },
        ),
        Shape::Sdwa => (form.sdwa_targets, matches!(suffix, Suffix::None | Suffix::Sdwa)),
        Shape::Dpp => (form.dpp_targets, matches!(suffix, Suffix::None | Suffix::Dpp)),
    };
    named && targets & isa.bit() != 0
}

/// The 32-bit vector encodings, which have SDWA and DPP forms.
fn is_short(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc)
}

/// One try to put what is written into one encoding.
struct Builder<'w> {
    isa: Isa,
    op: Op,
    form: &'static Form,
    shape: Shape,
    written: &'w Written,
    operands: [Operand; MOST_OPERANDS],
    count: usize,
    symbol: Option<(u8, SymbolUse)>,
    has_literal: bool,
    neg: u8,
    abs: u8,
    sext: u8,
}

impl<'w> Builder<'w> {
    fn new(isa: Isa, op: Op, form: &'static Form, shape: Shape, written: &'w Written) -> Self {
        Builder {
            isa,
            op,
            form,
            shape,
            written,
            operands: [Operand::Off; MOST_OPERANDS],
            count: 0,
            symbol: None,
            has_literal: false,
            neg: 0,
            abs: 0,
            sext: 0,
        }
    }

    fn build(mut self) -> Result<ParsedInst, Placed> {
        let info = self.op.info();
        let bits = self.written.modifiers.bits;
        let to_lds = bits.contains(Bits::LDS) && self.form.lds & self.isa.bit() != 0;
        let returns = !info.flags.contains(OpFlags::OPTIONAL_DST) || bits.contains(Bits::SC0);
        let mut raws = self.written.operands().iter();
        for (at, (field, spec)) in info.fields.iter().zip(info.operands).enumerate() {
            if at == 0 && !returns || matches!(field, Field::Vdata | Field::Vdst) && to_lds {
                continue;
            }
            let Some(raw) = raws.next() else {
                if matches!(field, Field::OptImm | Field::Offset) {
                    self.push(Operand::Imm(0));
                    continue;
                }
                return Err((None, Problem::MissingOperand));
            };
            let operand = self.operand(*field, *spec, raw).map_err(|problem| (Some(raw.at), problem))?;
            self.push(operand);
        }
        if let Some(extra) = raws.next() {
            return Err((Some(extra.at), Problem::TooManyOperands));
        }
        let mods = self.mods().map_err(|problem| (None, problem))?;
        let encoding = self.encoding();
        let size = self.size(encoding);
        for operand in &mut self.operands {
            if let Operand::Target(target) = operand {
                *target = target.saturating_add(i32::from(size));
            }
        }
        let inst = Inst {
            offset: 0,
            size,
            encoding,
            op: self.op,
            operand_count: self.count as u8,
            operands: self.operands,
            mods,
        };
        Ok(ParsedInst { inst, symbol: self.symbol })
    }

    fn push(&mut self, operand: Operand) {
        self.operands[self.count] = operand;
        self.count += 1;
    }

    fn encoding(&self) -> Encoding {
        match (self.shape, self.form.encoding) {
            (Shape::Sdwa, Encoding::Vop1) => Encoding::Vop1Sdwa,
            (Shape::Sdwa, Encoding::Vop2) => Encoding::Vop2Sdwa,
            (Shape::Sdwa, Encoding::Vopc) => Encoding::VopcSdwa,
            (Shape::Dpp, Encoding::Vop1) => Encoding::Vop1Dpp,
            (Shape::Dpp, Encoding::Vop2) => Encoding::Vop2Dpp,
            (_, encoding) => encoding,
        }
    }

    fn size(&self, encoding: Encoding) -> u8 {
        use Encoding::*;
        match encoding {
            Sop1 | Sop2 | Sopc | Sopk | Sopp | Vop1 | Vop2 | Vopc => {
                if self.has_literal {
                    8
                } else {
                    4
                }
            }
            Vop3px2 => 16,
            _ => 8,
        }
    }

    /// Which source in printed order a field is, for the source masks.
    fn source(field: Field) -> Option<u8> {
        match field {
            Field::Src0 => Some(0),
            Field::Src1 => Some(1),
            Field::Src2 => Some(2),
            _ => None,
        }
    }

    fn operand(&mut self, field: Field, spec: OperandSpec, raw: &Raw) -> Result<Operand, Problem> {
        let mut kind = raw.kind;
        if raw.neg || raw.abs || raw.sext {
            let source = Self::source(field).ok_or(Problem::WrongModifier)?;
            let bit = 1 << source;
            match (self.shape, self.form.encoding) {
                // The short encodings have no modifiers, but a number can take its sign itself.
                (Shape::Plain, encoding) if is_short(encoding) => {
                    kind = match (kind, raw.sext) {
                        (Kind::Real(value), false) => {
                            let value = if raw.abs { value.abs() } else { value };
                            Kind::Real(if raw.neg { -value } else { value })
                        }
                        _ => return Err(Problem::WrongModifier),
                    };
                }
                (Shape::Sdwa, _) => {
                    self.sext |= if raw.sext { bit } else { 0 };
                    self.neg |= if raw.neg { bit } else { 0 };
                    self.abs |= if raw.abs { bit } else { 0 };
                }
                (_, Encoding::Vop3p | Encoding::Mai) if !self.is_mix() => return Err(Problem::WrongModifier),
                _ if raw.sext => return Err(Problem::WrongModifier),
                _ => {
                    self.neg |= if raw.neg { bit } else { 0 };
                    self.abs |= if raw.abs { bit } else { 0 };
                }
            }
        }
        match field {
            Field::Imm
            | Field::HexImm
            | Field::OptImm
            | Field::Waitcnt
            | Field::Msg
            | Field::Hwreg
            | Field::GprIdx
            | Field::Simm => immediate(kind),
            Field::Target => match kind {
                // A number counts instructions words after this one.
                Kind::Int(words) => {
                    match i16::try_from(words).or(u16::try_from(words).map(|words| words as i16)) {
                        Ok(words) => Ok(Operand::Target(i32::from(words) * 4)),
                        Err(_) => Err(Problem::OutOfRange),
                    }
                }
                Kind::Symbol(text) => {
                    self.symbol = Some((self.count as u8, text));
                    Ok(Operand::Target(0))
                }
                _ => Err(Problem::WrongOperand),
            },
            Field::Literal => {
                self.has_literal = true;
                match constant::operand(kind, spec.ty, spec.dwords)? {
                    Some(_) => Ok(Operand::Literal(constant::literal_bits(kind, spec.ty)?)),
                    None => self.symbol_literal(kind),
                }
            }
            Field::Offset => match kind {
                Kind::Int(value) => Ok(Operand::Imm(i32::try_from(value).map_err(|_| Problem::OutOfRange)?)),
                Kind::Reg(range) if is_scalar(range.file) => Ok(Operand::Reg(range)),
                _ => Err(Problem::WrongOperand),
            },
            _ => self.value(field, spec, kind),
        }
    }

    /// A register, a constant or `off`.
    fn value(&mut self, field: Field, spec: OperandSpec, kind: Kind) -> Result<Operand, Problem> {
        match kind {
            Kind::Reg(range) => self.register(field, spec, range),
            Kind::Off if matches!(field, Field::Addr | Field::Saddr | Field::Vaddr) => Ok(Operand::Off),
            Kind::Off => Err(Problem::WrongOperand),
            _ => {
                if !self.takes_constant(field) {
                    return Err(Problem::WrongOperand);
                }
                let operand = match constant::operand(kind, spec.ty, spec.dwords)? {
                    Some(operand) => operand,
                    None => return self.symbol_literal(kind),
                };
                if matches!(operand, Operand::Literal(_)) {
                    if !self.takes_literal(field) {
                        return constant::inline_without_literal(kind, spec.ty).ok_or(Problem::WrongOperand);
                    }
                    self.has_literal = true;
                }
                Ok(operand)
            }
        }
    }

    fn symbol_literal(&mut self, kind: Kind) -> Result<Operand, Problem> {
        match kind {
            Kind::Symbol(text) => {
                self.has_literal = true;
                self.symbol = Some((self.count as u8, text));
                Ok(Operand::Literal(0))
            }
            _ => Err(Problem::WrongOperand),
        }
    }

    fn takes_constant(&self, field: Field) -> bool {
        match field {
            Field::Ssrc0 | Field::Ssrc1 => true,
            Field::Soffset => true,
            Field::Src0 => self.shape != Shape::Dpp,
            Field::Src1 | Field::Src2 => !is_short(self.form.encoding) || self.shape == Shape::Sdwa,
            _ => false,
        }
    }

    fn takes_literal(&self, field: Field) -> bool {
        match self.form.encoding {
            Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc => true,
            encoding => is_short(encoding) && self.shape == Shape::Plain && field == Field::Src0,
        }
    }

    fn register(&self, field: Field, spec: OperandSpec, range: RegRange) -> Result<Operand, Problem> {
        let vector = matches!(range.file, RegFile::Vgpr | RegFile::Agpr);
        let short = is_short(self.form.encoding);
        let fits = match field {
            Field::Vdst => vector,
            Field::Sdst if short && self.form.encoding != Encoding::Vop1 && self.shape == Shape::Plain => {
                range.file == RegFile::Vcc
            }
            Field::Sdst | Field::Sdata | Field::Sbase | Field::Srsrc => !vector,
            Field::Src1 | Field::Src0 if self.shape == Shape::Dpp => vector,
            Field::Src1 if short && self.shape == Shape::Plain => vector,
            Field::Src2 if short => range.file == RegFile::Vcc,
            Field::Ssrc0 | Field::Ssrc1 | Field::Soffset => !vector,
            Field::Addr | Field::Data | Field::Data0 | Field::Data1 | Field::Vaddr | Field::Vdata => vector,
            Field::Saddr => !vector,
            _ => true,
        };
        if !fits {
            return Err(Problem::WrongOperand);
        }
        let fixed = !matches!(field, Field::Addr | Field::Saddr | Field::Vaddr | Field::Vdata)
            && !self.op.info().matrix.is_some_and(|matrix| matrix.a == MatrixType::F8F6F4);
        let sized =
            vector || matches!(range.file, RegFile::Sgpr | RegFile::Ttmp | RegFile::Vcc | RegFile::Exec);
        if fixed && sized && spec.dwords != 0 && range.count != spec.dwords {
            return Err(Problem::WrongWidth);
        }
        // Special values have no width of their own.
        let special = matches!(
            range.file,
            RegFile::SrcVccz
                | RegFile::SrcExecz
                | RegFile::SrcScc
                | RegFile::SrcSharedBase
                | RegFile::SrcSharedLimit
                | RegFile::SrcPrivateBase
                | RegFile::SrcPrivateLimit
                | RegFile::SrcPopsExitingWaveId
        );
        let count = if special { spec.dwords.clamp(1, 2) } else { range.count };
        Ok(Operand::Reg(RegRange { count, ..range }))
    }

    /// `v_fma_mix` and its kind: packed encoding, but the modifiers of ordinary sources.
    fn is_mix(&self) -> bool {
        self.op.info().name.starts_with("v_fma_mix") || self.op.info().name.starts_with("v_mad_mix")
    }
}

/// A 16-bit immediate, signed or not.
fn immediate(kind: Kind) -> Result<Operand, Problem> {
    match kind {
        Kind::Int(value) | Kind::Field(value) if (-(1 << 15)..1 << 16).contains(&value) => {
            Ok(Operand::Imm(i32::from(value as u16)))
        }
        Kind::Int(_) | Kind::Field(_) => Err(Problem::OutOfRange),
        _ => Err(Problem::WrongOperand),
    }
}

fn is_scalar(file: RegFile) -> bool {
    !matches!(file, RegFile::Vgpr | RegFile::Agpr | RegFile::LdsDirect)
}
