//! What one encoding of one opcode looks like: the static shape of a table row.
//!
//! The one idea to keep in mind: a form says which bits of the encoding mean something for this opcode; the encoding
//! itself says where they are. Decoder, printer and encoder read the same forms.

use crate::generated::tables::FORMS;
use crate::inst::*;

/// Where an operand stands in its encoding, or how an immediate is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the manual's own field names")]
pub enum Field {
    Vdst,
    Sdst,
    Src0,
    Src1,
    Src2,
    Ssrc0,
    Ssrc1,
    Sdata,
    Sbase,
    Addr,
    Data,
    Data0,
    Data1,
    Saddr,
    Vaddr,
    Vdata,
    Srsrc,
    Soffset,
    /// Immediate written in decimal.
    Imm,
    /// Immediate written in hexadecimal.
    HexImm,
    /// Immediate written in decimal, omitted when 0.
    OptImm,
    /// Branch target.
    Target,
    /// Counters of `s_waitcnt`.
    Waitcnt,
    /// `sendmsg(…)`.
    Msg,
    /// `hwreg(…)`.
    Hwreg,
    /// `gpr_idx(…)`.
    GprIdx,
    /// The 32-bit literal that is part of the opcode (`v_madak`, `s_setreg_imm32`).
    Literal,
    /// Scalar memory offset: immediate, register, or both.
    Offset,
    /// The scalar data field as a number (`s_atc_probe`).
    Simm,
    /// Scales of a scaled MFMA, in its first eight bytes.
    Scale0,
    Scale1,
}

/// One encoding of one opcode.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) op: u16,
    pub(crate) encoding: Encoding,
    pub(crate) opcode: u16,
    /// Bit set of targets.
    pub(crate) targets: u8,
    /// The mnemonic carries `_e32` or `_e64`.
    pub(crate) suffix: bool,
    /// Modifier bits that mean something (see `fields::modifier_bits`).
    pub(crate) allow: u16,
    /// Modifier bits that may be anything.
    pub(crate) ignore: u16,
    /// Targets with an SDWA form.
    pub(crate) sdwa_targets: u8,
    /// Per source four bits (1 neg and abs, 2 sext, 4 ignored), then clamp, omod, no dst_sel.
    pub(crate) sdwa: u16,
    /// Targets with a DPP form.
    pub(crate) dpp_targets: u8,
    /// Per source four bits, as for SDWA.
    pub(crate) dpp: u8,
    /// Targets whose buffer form takes the lds bit.
    pub(crate) lds: u8,
}

/// Bits above the sources in [`Form::sdwa`].
pub(crate) const SDWA_CLAMP: u16 = 1 << 8;
pub(crate) const SDWA_OMOD: u16 = 1 << 9;
pub(crate) const SDWA_NO_DST: u16 = 1 << 10;
/// Source takes neg and abs, takes sext, ignores both.
pub(crate) const SOURCE_FLOAT: u16 = 1;
pub(crate) const SOURCE_INT: u16 = 2;
pub(crate) const SOURCE_IGNORES: u16 = 4;

pub(crate) const fn sdwa(targets: u8, bits: u16) -> (u8, u16) {
    (targets, bits)
}

pub(crate) const fn dpp(targets: u8, bits: u8) -> (u8, u8) {
    (targets, bits)
}

#[allow(clippy::too_many_arguments, reason = "one argument per column of the table")]
pub(crate) const fn form(
    op: u16,
    encoding: Encoding,
    opcode: u16,
    targets: u8,
    suffix: bool,
    allow: u16,
    ignore: u16,
    sdwa: (u8, u16),
    dpp: (u8, u8),
    lds: u8,
) -> Form {
    Form {
        op,
        encoding,
        opcode,
        targets,
        suffix,
        allow,
        ignore,
        sdwa_targets: sdwa.0,
        sdwa: sdwa.1,
        dpp_targets: dpp.0,
        dpp: dpp.1,
        lds,
    }
}

pub(crate) const fn spec(role: Role, ty: Ty, dwords: u8) -> OperandSpec {
    OperandSpec { role, ty, dwords }
}

#[allow(clippy::too_many_arguments, reason = "one argument per column of the table")]
pub(crate) const fn op(
    name: &'static str,
    class: Class,
    cost: Cost,
    operands: &'static [OperandSpec],
    fields: &'static [Field],
    reads: u8,
    writes: u8,
    mem: Option<Mem>,
    matrix: Option<Matrix>,
    flags: u16,
) -> OpInfo {
    OpInfo {
        name,
        class,
        cost,
        operands,
        fields,
        reads: Implicit::from_bits_truncate(reads),
        writes: Implicit::from_bits_truncate(writes),
        mem,
        matrix,
        flags: OpFlags::from_bits_truncate(flags),
    }
}

/// The row of bytes that are no instruction.
pub(crate) static UNKNOWN_INFO: OpInfo =
    op(".long", Class::Unknown, Cost::Internal, &[], &[], 0, 0, None, None, 0);

/// First index of an encoding's opcode space in a lookup table. Encodings that share a space share the index.
pub(crate) const fn slot(encoding: Encoding) -> usize {
    match encoding {
        Encoding::Sop2 => 0,
        Encoding::Sopk => 128,
        Encoding::Sop1 => 160,
        Encoding::Sopc => 416,
        Encoding::Sopp => 544,
        Encoding::Smem => 672,
        Encoding::Vop2 | Encoding::Vop2Sdwa | Encoding::Vop2Dpp => 928,
        Encoding::Vop1 | Encoding::Vop1Sdwa | Encoding::Vop1Dpp => 992,
        Encoding::Vopc | Encoding::VopcSdwa => 1248,
        Encoding::Vop3 | Encoding::Vop3Sd => 1504,
        Encoding::Vop3p | Encoding::Mai => 2528,
        Encoding::Ds => 2656,
        Encoding::Flat => 2912,
        Encoding::Scratch => 3040,
        Encoding::Global => 3168,
        Encoding::Mubuf => 3296,
        Encoding::Mtbuf => 3424,
        Encoding::Vop3px2 => 3440,
        Encoding::Unknown => SLOTS,
    }
}

/// Size of a lookup table.
pub(crate) const SLOTS: usize = 3568;

/// Per target, the form of every opcode of every space; `u16::MAX` where there is none.
pub(crate) static LOOKUP: [[u16; SLOTS]; 4] = lookup();

const fn lookup() -> [[u16; SLOTS]; 4] {
    let mut table = [[u16::MAX; SLOTS]; 4];
    let mut index = 0;
    while index < FORMS.len() {
        let form = &FORMS[index];
        let at = slot(form.encoding) + form.opcode as usize;
        let mut target = 0;
        while target < 4 {
            if form.targets & (1 << target) != 0 {
                assert!(table[target][at] == u16::MAX, "two forms share an opcode");
                table[target][at] = index as u16;
            }
            target += 1;
        }
        index += 1;
    }
    table
}
