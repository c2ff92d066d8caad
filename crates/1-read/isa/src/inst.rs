//! The instruction value: what a decoded or parsed instruction is, independent of where it came from.
//!
//! An [`Inst`] holds operands as values (register ranges, inline constants, literals), never raw fields, so
//! text and machine code give equal instructions and every consumer (printer, control-flow graph, liveness,
//! rules, emulator) reads the same thing. Every property of the opcode rather than of the one instruction is
//! stored once, in its [`OpInfo`] row.

use bitflags::bitflags;

pub use crate::field::Field;

/// A run of consecutive 32-bit registers of one file, for example `v[2:5]` or `vcc`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RegRange {
    /// Register file.
    pub file: RegFile,
    /// Number of 32-bit registers, at least 1.
    pub count: u8,
    /// Index of the first register within its file.
    pub first: u16,
}

/// Where a register lives. Two-dword registers such as `vcc` are files of two registers:
/// `vcc_lo` is index 0, `vcc_hi` index 1, `vcc` is index 0 with count 2.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum RegFile {
    /// `v0` to `v255`, one value per lane.
    Vgpr,
    /// `a0` to `a255`, one value per lane.
    Agpr,
    /// `s0` to `s101`.
    Sgpr,
    /// `ttmp0` to `ttmp15`.
    Ttmp,
    /// `flat_scratch`.
    FlatScratch,
    /// `xnack_mask`.
    XnackMask,
    /// `vcc`.
    Vcc,
    /// `m0`.
    M0,
    /// `exec`.
    Exec,
    /// Read-only bit `src_vccz`.
    SrcVccz,
    /// Read-only bit `src_execz`.
    SrcExecz,
    /// Read-only bit `src_scc`.
    SrcScc,
    /// `src_shared_base`.
    SrcSharedBase,
    /// `src_shared_limit`.
    SrcSharedLimit,
    /// `src_private_base`.
    SrcPrivateBase,
    /// `src_private_limit`.
    SrcPrivateLimit,
    /// `src_pops_exiting_wave_id`.
    SrcPopsExitingWaveId,
    /// `tba` (trap base address, where a target names it).
    Tba,
    /// `tma` (trap memory address, where a target names it).
    Tma,
    /// `src_lds_direct`.
    LdsDirect,
    /// The MODE register: rounding, denormals, exceptions. Never an operand, only an implicit access.
    Mode,
}

/// The inline floating-point constants, codes 240 to 248.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum InlineFloat {
    /// 0.5
    Half = 240,
    /// -0.5
    NegHalf,
    /// 1.0
    One,
    /// -1.0
    NegOne,
    /// 2.0
    Two,
    /// -2.0
    NegTwo,
    /// 4.0
    Four,
    /// -4.0
    NegFour,
    /// 1/(2*pi)
    InvTwoPi,
}

/// One operand value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A run of registers.
    Reg(RegRange),
    /// Inline integer constant, -16 to 64.
    Int(i8),
    /// Inline floating-point constant; its bits depend on the operand's type.
    Float(InlineFloat),
    /// 32-bit literal that follows the instruction.
    Literal(u32),
    /// Immediate field, sign- or zero-extended as the opcode says (`s_waitcnt`, `s_sleep`, SMEM offset,
    /// `s_movk_i32`, `hwreg`).
    Imm(i32),
    /// Branch target: byte offset from the start of the decoded code (may be outside it).
    Target(i32),
    /// The word `off`: no address register.
    Off,
    /// A source code no table names, kept as it was encoded.
    Invalid(u16),
}

/// Microcode format of one instruction, including the DPP, SDWA and literal forms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs, reason = "the manual's own names")]
pub enum Encoding {
    Sop1,
    Sop2,
    Sopc,
    Sopk,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vopc,
    Vop1Dpp,
    Vop2Dpp,
    Vop1Sdwa,
    Vop2Sdwa,
    VopcSdwa,
    Vop3,
    /// VOP3 with a scalar destination (carry out, `v_div_scale`, 64-bit multiply-add).
    Vop3Sd,
    Vop3p,
    /// MFMA and SMFMAC.
    Mai,
    /// gfx950 scaled MFMA, 16 bytes.
    Vop3px2,
    Ds,
    Flat,
    Global,
    Scratch,
    Mubuf,
    Mtbuf,
    /// Bytes that do not encode an instruction of the target.
    Unknown,
}

/// Unit to which an instruction issues; the columns of the instruction mix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// Vector ALU, matrix instructions excluded.
    Valu,
    /// Matrix core: MFMA, SMFMAC.
    Mfma,
    /// Scalar ALU, branches and waits excluded.
    Salu,
    /// Scalar memory.
    Smem,
    /// Vector memory load (global, flat, buffer, scratch).
    VmemLoad,
    /// Vector memory store.
    VmemStore,
    /// Vector memory atomic.
    VmemAtomic,
    /// LDS, including cross-lane `ds_bpermute`, `ds_swizzle`.
    Lds,
    /// Branch, call, return, `s_endpgm`.
    Branch,
    /// `s_waitcnt` and its kind.
    Wait,
    /// `s_barrier`.
    Barrier,
    /// `s_sendmsg`.
    Message,
    /// Cache control, `s_nop`, `s_sleep`, `s_setprio` and other control.
    Control,
    /// No instruction of the target.
    Unknown,
}

/// Issue cost class; `arch` gives the cycles of each class on each GPU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Cost {
    /// No execution unit: waits, nops, branches, messages.
    Internal,
    /// Scalar ALU.
    Scalar,
    /// Vector ALU at full rate (64 lanes in 4 cycles).
    Valu,
    /// Packed f32 or other double-pumped vector operation.
    ValuPk,
    /// f64 add, multiply, fused multiply-add, min, max, compare, convert.
    ValuF64,
    /// Transcendental f16/f32: exp, log, rcp, rsq, sqrt, sin, cos.
    Trans,
    /// Transcendental f64.
    TransF64,
    /// 32-bit integer multiply and other quarter-rate integer operations.
    ValuQuarter,
    /// Matrix instruction; cycles per shape in `arch`.
    Mfma,
    /// Memory instruction: address issue only.
    Memory,
}

/// Which memory a memory instruction reaches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Space {
    /// `global_`
    Global,
    /// `flat_`: global, LDS or scratch by address.
    Flat,
    /// `scratch_`
    Scratch,
    /// `buffer_` and `tbuffer_`
    Buffer,
    /// `ds_`
    Lds,
    /// `s_load`, `s_buffer_load` and scalar stores
    Scalar,
    /// global data share
    Gds,
}

/// Load, store or atomic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Access {
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Read-modify-write.
    Atomic,
    /// Memory to LDS without passing through registers (`global_load_lds_*`, `buffer_load … lds`).
    LoadToLds,
    /// Lane exchange through the LDS crossbar; touches no memory (`ds_bpermute_b32`, `ds_swizzle_b32`).
    Exchange,
}

/// Memory access of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mem {
    /// Address space.
    pub space: Space,
    /// Kind of access.
    pub access: Access,
    /// Bytes per lane (per wave for scalar memory) of one element.
    pub bytes: u8,
    /// Elements per lane: 2 for `ds_read2_*`, else 1.
    pub elements: u8,
}

/// Element type of a matrix operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the manual's own names")]
pub enum MatrixType {
    F64,
    F32,
    Xf32,
    F16,
    Bf16,
    I8,
    I32,
    Fp8,
    Bf8,
    /// gfx950 `f8f6f4`: the type is chosen per operand by `cbsz` and `blgp`.
    F8F6F4,
}

/// Shape of a matrix instruction: D\[M,N\] += A\[M,K\] x B\[K,N\], `blocks` times.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the manual's own names")]
pub struct Matrix {
    pub m: u8,
    pub n: u8,
    pub k: u8,
    pub blocks: u8,
    pub a: MatrixType,
    pub b: MatrixType,
    pub acc: MatrixType,
    /// SMFMAC: A is 4:2 sparse.
    pub sparse: bool,
    /// Takes block scales.
    pub scaled: bool,
}

/// Data type of an operand as the manual names it: decides literal and inline-constant bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the manual's own names")]
pub enum Ty {
    B8,
    B16,
    B32,
    B64,
    B96,
    B128,
    Any,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    Bf16,
    F32,
    F64,
    PkF16,
    PkBf16,
    PkI16,
    PkU16,
    PkF32,
    Mask64,
}

/// Whether an instruction reads or writes an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Role {
    /// Written.
    Dst,
    /// Read.
    Src,
    /// Read and written (`v_fmac`, `v_mac`, `v_swap`, d16 loads).
    DstSrc,
    /// Neither: immediate, branch target, `off`.
    None,
}

/// One operand position of an opcode, in printed order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandSpec {
    /// Role.
    pub role: Role,
    /// Data type.
    pub ty: Ty,
    /// Width in 32-bit registers when it is a register.
    pub dwords: u8,
}

bitflags! {
    /// Registers an opcode reads or writes without naming them as operands.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct Implicit: u8 {
        /// VCC.
        const VCC = 1;
        /// EXEC. Set in reads for every instruction that EXEC masks.
        const EXEC = 2;
        /// SCC.
        const SCC = 4;
        /// M0.
        const M0 = 8;
        /// MODE register: rounding, denormals.
        const MODE = 16;
        /// FLAT_SCRATCH.
        const FLAT_SCRATCH = 32;
    }
}

bitflags! {
    /// Properties of an opcode.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct OpFlags: u16 {
        /// Jumps always (`s_branch`, `s_setpc_b64`).
        const JUMP = 1;
        /// Jumps on a condition (`s_cbranch_*`).
        const COND_JUMP = 2;
        /// Ends the program.
        const END = 4;
        /// Calls (`s_swappc_b64`, `s_call_b64`).
        const CALL = 8;
        /// Target is in a register (`s_setpc_b64`, `s_swappc_b64`, `s_cbranch_g_fork`).
        const INDIRECT = 16;
        /// Writes half of the destination register and keeps the rest (`d16`, `mixhi`).
        const PARTIAL_DST = 32;
        /// Not masked by EXEC though it is a vector instruction (`v_readlane_b32`, `v_readfirstlane_b32`).
        const IGNORES_EXEC = 64;
        /// Atomic that returns the old value by opcode (`ds_*_rtn_*`).
        const RETURNS = 128;
        /// Floating-point arithmetic.
        const FLOAT = 256;
        /// The first operand of the row is present only when the instruction returns the old value (`sc0` or
        /// `glc`).
        const OPTIONAL_DST = 512;
        /// The modifier bits hold a truth table (`v_bitop3`).
        const TRUTH_TABLE = 1024;
        /// The source is an accumulation register (`v_accvgpr_read`, `v_accvgpr_mov`).
        const ACC_SOURCE = 2048;
        /// The destination is an accumulation register (`v_accvgpr_write`, `v_accvgpr_mov`).
        const ACC_DESTINATION = 4096;
        /// Never goes to the global data share (`ds_permute`, `ds_bpermute`).
        const NO_GDS = 8192;
    }
}

/// Everything that belongs to an opcode and not to one instruction.
#[derive(Debug)]
pub struct OpInfo {
    /// Mnemonic without encoding suffix: `v_add_f32`, not `v_add_f32_e32`.
    pub name: &'static str,
    /// Unit it issues to.
    pub class: Class,
    /// Issue cost.
    pub cost: Cost,
    /// Operands in printed order, destinations first.
    pub operands: &'static [OperandSpec],
    /// Position of each operand in the encoding, or the syntax of an immediate.
    pub fields: &'static [Field],
    /// Registers read without being named.
    pub reads: Implicit,
    /// Registers written without being named.
    pub writes: Implicit,
    /// Memory access, if it is one.
    pub mem: Option<Mem>,
    /// Matrix shape, if it is one.
    pub matrix: Option<Matrix>,
    /// Further properties.
    pub flags: OpFlags,
}

/// An opcode: index of its row in the generated table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Op(pub u16);

bitflags! {
    /// One-bit modifiers.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Bits: u16 {
        /// `clamp`
        const CLAMP = 1;
        /// `sc0` (gfx940 and later) or `glc`
        const SC0 = 2;
        /// `sc1` (gfx940 and later) or `scc`
        const SC1 = 4;
        /// `nt` (gfx940 and later) or `slc`
        const NT = 8;
        /// `offen`
        const OFFEN = 16;
        /// `idxen`
        const IDXEN = 32;
        /// `lds`
        const LDS = 64;
        /// `gds`
        const GDS = 128;
        /// `tfe`
        const TFE = 256;
        /// `nv` (SMEM)
        const NV = 512;
    }
}

/// Sub-dword selection of SDWA.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sdwa {
    /// 0..3 byte, 4..5 word, 6 dword.
    pub dst_sel: u8,
    /// 0 pad, 1 sign-extend, 2 preserve.
    pub dst_unused: u8,
    /// Selection of src0.
    pub src0_sel: u8,
    /// Selection of src1.
    pub src1_sel: u8,
    /// Bit 0: `sext(src0)`, bit 1: `sext(src1)`.
    pub sext: u8,
}

/// Data-parallel primitive: lane exchange on src0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dpp {
    /// `dpp_ctrl` as encoded.
    pub ctrl: u16,
    /// Row mask, 4 bits.
    pub row_mask: u8,
    /// Bank mask, 4 bits.
    pub bank_mask: u8,
    /// `bound_ctrl:0` is set.
    pub bound_ctrl: bool,
}

/// SDWA or DPP part of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Lane {
    /// Neither.
    #[default]
    None,
    /// SDWA.
    Sdwa(Sdwa),
    /// DPP.
    Dpp(Dpp),
}

/// Modifiers of one instruction. Bit *i* of a source mask is source *i* in printed order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mods {
    /// One-bit modifiers.
    pub bits: Bits,
    /// Negated sources (`neg_lo` for packed and matrix instructions).
    pub neg: u8,
    /// `abs` of sources; `neg_hi` for packed instructions.
    pub abs: u8,
    /// `op_sel`; bit 3 is the destination.
    pub op_sel: u8,
    /// `op_sel_hi`.
    pub op_sel_hi: u8,
    /// Output multiplier: 0 none, 1 `mul:2`, 2 `mul:4`, 3 `div:2`.
    pub omod: u8,
    /// `cbsz` of matrix instructions, or the data format of MTBUF.
    pub cbsz: u8,
    /// `abid` of matrix instructions, or the number format of MTBUF.
    pub abid: u8,
    /// `blgp` of matrix instructions (`neg` for f64), or `bitop3`'s truth table.
    pub blgp: u8,
    /// Address offset in bytes (memory), or `offset0 | offset1 << 8` (two-address LDS).
    pub offset: i32,
    /// SDWA or DPP.
    pub lane: Lane,
}

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inst {
    /// Byte offset from the start of the decoded code.
    pub offset: u32,
    /// Size in bytes: 4, 8, 12 or 16 (`Unknown`: 4, or less at the end of the code).
    pub size: u8,
    /// Microcode format.
    pub encoding: Encoding,
    /// Opcode.
    pub op: Op,
    /// How many of `operands` are in use.
    pub operand_count: u8,
    /// Operands in printed order; those beyond `operand_count` are `Operand::Off`.
    pub operands: [Operand; 6],
    /// Modifiers.
    pub mods: Mods,
}

impl Inst {
    /// The operands in printed order.
    pub fn operands(&self) -> &[Operand] {
        &self.operands[..usize::from(self.operand_count).min(6)]
    }
}

impl RegRange {
    /// A run of `count` registers of `file` from `first`.
    pub const fn new(file: RegFile, first: u16, count: u8) -> Self {
        RegRange { file, count, first }
    }

    /// Indices of the registers of the run.
    pub fn indices(self) -> std::ops::Range<u16> {
        self.first..self.first + u16::from(self.count)
    }
}
