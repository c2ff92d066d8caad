//! Integer semantics of instructions, as far as addresses need them.
//!
//! A row here is a promise that the result is exactly that arithmetic modulo 2^32; an instruction without a
//! row has an unknown result, which is always right.

use isa::Op;
use std::sync::OnceLock;

/// The arithmetic of an opcode on its sources in printed order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sem {
    /// No row: unknown result.
    Unknown,
    /// `a`
    Move,
    /// `a`, two registers.
    Move64,
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `b - a`
    SubRev,
    /// Upper word of an addition: `a + b + carry`.
    AddCarry,
    /// `a * b`
    Mul,
    /// `a * b + c`
    Mad,
    /// 64-bit `a * b + c`, signed or not.
    Mad64,
    /// `a << b`
    Shl,
    /// `b << a`
    ShlRev,
    /// `a >> b`
    Shr,
    /// `b >> a`
    ShrRev,
    /// Arithmetic `a >> b`.
    Ashr,
    /// Arithmetic `b >> a`.
    AshrRev,
    /// `a & b`
    And,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
    /// `(a << b) + c`
    ShlAdd,
    /// `(a + b) << c`
    AddShl,
    /// `(a << b) | c`
    ShlOr,
    /// `(a & b) | c`
    AndOr,
    /// `a | b | c`
    Or3,
    /// `a + b + c`
    Add3,
    /// `(a ^ b) + c`
    XorAdd,
    /// `(a << n) + b`
    ShlNAdd(u8),
    /// Bits `b` to `b + c` of `a`.
    Bfe,
    /// As above, with offset and width packed into `b`.
    BfeScalar,
    /// `b` plus the number of set bits of `a` below the lane, lanes 0 to 31.
    CountLow,
    /// As above, for lanes 32 to 63.
    CountHigh,
    /// `a` of the first active lane.
    FirstLane,
    /// 64-bit `b << a`.
    Shl64Rev,
    /// 64-bit `a << b`.
    Shl64,
    /// 64-bit `(a << b) + c`.
    ShlAdd64,
    /// Scalar load.
    Load,
}

const ROWS: &[(&str, Sem)] = &[
    ("v_mov_b32", Sem::Move),
    ("s_mov_b32", Sem::Move),
    ("s_movk_i32", Sem::Move),
    ("v_accvgpr_read_b32", Sem::Move),
    ("v_accvgpr_write_b32", Sem::Move),
    ("v_accvgpr_mov_b32", Sem::Move),
    ("v_mov_b64", Sem::Move64),
    ("s_mov_b64", Sem::Move64),
    ("v_add_u32", Sem::Add),
    ("v_add_co_u32", Sem::Add),
    ("v_add_i32", Sem::Add),
    ("s_add_u32", Sem::Add),
    ("s_add_i32", Sem::Add),
    ("s_addk_i32", Sem::Add),
    ("v_addc_co_u32", Sem::AddCarry),
    ("s_addc_u32", Sem::AddCarry),
    ("v_sub_u32", Sem::Sub),
    ("v_sub_co_u32", Sem::Sub),
    ("v_sub_i32", Sem::Sub),
    ("s_sub_u32", Sem::Sub),
    ("s_sub_i32", Sem::Sub),
    ("v_subrev_u32", Sem::SubRev),
    ("v_subrev_co_u32", Sem::SubRev),
    ("v_mul_lo_u32", Sem::Mul),
    ("v_mul_u32_u24", Sem::Mul),
    ("v_mul_i32_i24", Sem::Mul),
    ("s_mul_i32", Sem::Mul),
    ("s_mulk_i32", Sem::Mul),
    ("v_mad_u32_u24", Sem::Mad),
    ("v_mad_i32_i24", Sem::Mad),
    ("v_mad_u64_u32", Sem::Mad64),
    ("v_mad_i64_i32", Sem::Mad64),
    ("v_lshlrev_b32", Sem::ShlRev),
    ("s_lshl_b32", Sem::Shl),
    ("v_lshrrev_b32", Sem::ShrRev),
    ("s_lshr_b32", Sem::Shr),
    ("v_ashrrev_i32", Sem::AshrRev),
    ("s_ashr_i32", Sem::Ashr),
    ("v_and_b32", Sem::And),
    ("s_and_b32", Sem::And),
    ("v_or_b32", Sem::Or),
    ("s_or_b32", Sem::Or),
    ("v_xor_b32", Sem::Xor),
    ("s_xor_b32", Sem::Xor),
    ("v_lshl_add_u32", Sem::ShlAdd),
    ("v_add_lshl_u32", Sem::AddShl),
    ("v_lshl_or_b32", Sem::ShlOr),
    ("v_and_or_b32", Sem::AndOr),
    ("v_or3_b32", Sem::Or3),
    ("v_add3_u32", Sem::Add3),
    ("v_xad_u32", Sem::XorAdd),
    ("s_lshl1_add_u32", Sem::ShlNAdd(1)),
    ("s_lshl2_add_u32", Sem::ShlNAdd(2)),
    ("s_lshl3_add_u32", Sem::ShlNAdd(3)),
    ("s_lshl4_add_u32", Sem::ShlNAdd(4)),
    ("v_bfe_u32", Sem::Bfe),
    ("s_bfe_u32", Sem::BfeScalar),
    ("v_mbcnt_lo_u32_b32", Sem::CountLow),
    ("v_mbcnt_hi_u32_b32", Sem::CountHigh),
    ("v_readfirstlane_b32", Sem::FirstLane),
    ("v_lshlrev_b64", Sem::Shl64Rev),
    ("s_lshl_b64", Sem::Shl64),
    ("v_lshl_add_u64", Sem::ShlAdd64),
    ("s_load_dword", Sem::Load),
    ("s_load_dwordx2", Sem::Load),
    ("s_load_dwordx4", Sem::Load),
    ("s_load_dwordx8", Sem::Load),
    ("s_load_dwordx16", Sem::Load),
];

/// Change of EXEC by an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mask {
    /// Turns lanes off.
    Narrow,
    /// Turns lanes back on.
    Widen,
    /// Turns some off and others on, as an `else` does.
    Swap,
    /// Any change.
    Reset,
}

const MASKS: &[(&str, Mask)] = &[
    ("s_and_saveexec_b64", Mask::Narrow),
    ("s_and_b64", Mask::Narrow),
    ("s_andn2_b64", Mask::Narrow),
    ("s_or_saveexec_b64", Mask::Widen),
    ("s_or_b64", Mask::Widen),
    ("s_andn2_saveexec_b64", Mask::Swap),
    ("s_andn1_saveexec_b64", Mask::Swap),
    ("s_xor_b64", Mask::Swap),
];

/// Values of named rows by opcode.
fn by_opcode<T: Copy>(rows: &[(&str, T)], absent: T) -> Vec<T> {
    let mut table = Vec::new();
    for (op, value) in rows.iter().filter_map(|(name, value)| Some((Op::by_name(name)?, *value))) {
        let at = usize::from(op.0);
        if table.len() <= at {
            table.resize(at + 1, absent);
        }
        table[at] = value;
    }
    table
}

/// The arithmetic of `op`.
pub(super) fn sem(op: Op) -> Sem {
    static TABLE: OnceLock<Vec<Sem>> = OnceLock::new();
    let table = TABLE.get_or_init(|| by_opcode(ROWS, Sem::Unknown));
    table.get(usize::from(op.0)).copied().unwrap_or(Sem::Unknown)
}

/// Effect of `op` on EXEC if `op` writes it.
pub(super) fn mask(op: Op) -> Mask {
    static TABLE: OnceLock<Vec<Mask>> = OnceLock::new();
    let table = TABLE.get_or_init(|| by_opcode(MASKS, Mask::Reset));
    match table.get(usize::from(op.0)).copied().unwrap_or(Mask::Reset) {
        Mask::Reset if op.info().name.starts_with("v_cmpx") => Mask::Narrow,
        known => known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_an_opcode() {
        let rows = ROWS.iter().map(|row| row.0).chain(MASKS.iter().map(|row| row.0));
        let unknown: Vec<&str> = rows.filter(|name| Op::by_name(name).is_none()).collect();
        assert_eq!(unknown, Vec::<&str>::new());
    }
}
