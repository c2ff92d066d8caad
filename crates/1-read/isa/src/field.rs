//! Fields of an encoding that hold operands.

/// Position of an operand in its encoding, or the syntax of an immediate.
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
