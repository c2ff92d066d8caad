//! One encoding of one opcode: the static shape of a table row.
//!
//! A form says which bits of the encoding mean something for this opcode; the encoding itself says where they
//! are. Decoder, printer and encoder read the same forms.

use crate::inst::*;

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

pub(crate) const fn form(
    (op, encoding, opcode, targets): (u16, Encoding, u16, u8),
    suffix: bool,
    (allow, ignore): (u16, u16),
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

pub(crate) const fn op(
    name: &'static str,
    (class, cost): (Class, Cost),
    (operands, fields): (&'static [OperandSpec], &'static [Field]),
    (reads, writes): (u8, u8),
    (mem, matrix): (Option<Mem>, Option<Matrix>),
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

/// The row for bytes that do not encode an instruction.
pub(crate) static UNKNOWN_INFO: OpInfo =
    op(".long", (Class::Unknown, Cost::Internal), (&[], &[]), (0, 0), (None, None), 0);
