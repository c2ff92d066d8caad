//! Functions of scalar ALU instructions: one line per opcode.
//!
//! The one idea to keep in mind: operands are 64-bit values (32-bit ones zero-extended), and the result is
//! truncated to the destination's width. The last argument is SCC.

use isa::Op;

/// Arguments: first and second operand, old destination, SCC.
pub(crate) type ScalarOp = fn(u64, u64, u64, &mut bool) -> u64;

/// Arguments: source, old EXEC; returns the new EXEC.
pub(crate) type ExecOp = fn(u64, u64) -> u64;

fn non_zero(value: u64, scc: &mut bool) -> u64 {
    *scc = value != 0;
    value
}

fn signed_overflow(a: u64, b: u64, scc: &mut bool, f: impl Fn(i32, i32) -> (i32, bool)) -> u64 {
    let (value, overflow) = f(a as i32, b as i32);
    *scc = overflow;
    u64::from(value as u32)
}

fn carry(sum: u64, scc: &mut bool) -> u64 {
    *scc = sum >> 32 != 0;
    sum & 0xffff_ffff
}

fn test(scc: &mut bool, holds: bool) -> u64 {
    *scc = holds;
    0
}

/// Returns `a` if `first`, else `b`; SCC is set if `a` is chosen.
fn choose(a: u64, b: u64, scc: &mut bool, first: bool) -> u64 {
    *scc = first;
    if first { a } else { b }
}

fn low(v: u64) -> u64 {
    v & 0xffff_ffff
}

fn field(v: u64, spec: u64, bits: u32) -> u64 {
    let at = spec as u32 & (bits - 1);
    let width = (spec >> 16 & 0x7f) as u32;
    let shifted = v >> at;
    if width >= 64 { shifted } else { shifted & ((1 << width) - 1) }
}

fn signed_field(v: i64, spec: u64, bits: u32) -> u64 {
    let at = spec as u32 & (bits - 1);
    let width = (spec >> 16 & 0x7f) as u32;
    let shifted = v >> at;
    match width {
        0 => 0,
        64.. => shifted as u64,
        _ => (shifted << (64 - width) >> (64 - width)) as u64,
    }
}

/// Position as a result; -1 for none.
fn position(found: Option<u32>) -> u64 {
    found.map_or(0xffff_ffff, u64::from)
}

fn whole_quads(v: u64) -> u64 {
    let any = (v | v >> 1 | v >> 2 | v >> 3) & 0x1111_1111_1111_1111;
    any * 15
}

fn quad_mask(v: u64) -> u64 {
    (0..16).fold(0, |mask, quad| mask | u64::from(v >> (4 * quad) & 15 != 0) << quad)
}

fn doubled_bits(v: u64) -> u64 {
    (0..32).fold(0, |wide, bit| wide | (v >> bit & 1) * 3 << (2 * bit))
}

/// Number of leading bits equal to the sign; `None` if all are equal.
fn sign_run(v: u64, bits: u32) -> Option<u32> {
    let top = v << (64 - bits);
    let run = if (top as i64) < 0 { top.leading_ones() } else { top.leading_zeros() };
    (run < bits).then_some(run)
}

fn half(v: u64, high: bool) -> u64 {
    if high { v >> 16 & 0xffff } else { v & 0xffff }
}

/// Defines a table of functions by opcode, and the opcodes in it.
macro_rules! table {
    ($(#[$doc:meta])* $table:ident: $ty:ty { $( $( $name:literal )|+ => $function:expr, )* }) => {
        $(#[$doc])*
        pub(crate) static $table: &[(Op, $ty)] = &[ $( $( (Op::named($name), $function), )+ )* ];
    };
}

#[rustfmt::skip]
table! {
    /// Functions of the scalar ALU. An unknown mnemonic does not compile.
    OPERATIONS: ScalarOp {
        "s_add_u32" => |a, b, _, c| carry(a + b, c),
        "s_sub_u32" => |a, b, _, c| { *c = b > a; low(a.wrapping_sub(b)) },
        "s_add_i32" => |a, b, _, c| signed_overflow(a, b, c, i32::overflowing_add),
        "s_sub_i32" => |a, b, _, c| signed_overflow(a, b, c, i32::overflowing_sub),
        "s_addc_u32" => |a, b, _, c| carry(a + b + u64::from(*c), c),
        "s_subb_u32" => |a, b, _, c| {
            let bit = u64::from(*c);
            *c = b + bit > a;
            low(a.wrapping_sub(b).wrapping_sub(bit))
        },
        "s_min_i32" => |a, b, _, c| choose(a, b, c, (a as i32) < b as i32),
        "s_min_u32" => |a, b, _, c| choose(a, b, c, a < b),
        "s_max_i32" => |a, b, _, c| choose(a, b, c, a as i32 >= b as i32),
        "s_max_u32" => |a, b, _, c| choose(a, b, c, a >= b),
        "s_cselect_b32" | "s_cselect_b64" => |a, b, _, c| if *c { a } else { b },
        "s_and_b32" | "s_and_b64" => |a, b, _, c| non_zero(a & b, c),
        "s_or_b32" | "s_or_b64" => |a, b, _, c| non_zero(a | b, c),
        "s_xor_b32" | "s_xor_b64" => |a, b, _, c| non_zero(a ^ b, c),
        "s_andn2_b32" | "s_andn2_b64" => |a, b, _, c| non_zero(a & !b, c),
        "s_orn2_b32" => |a, b, _, c| non_zero(low(a | !b), c),
        "s_orn2_b64" => |a, b, _, c| non_zero(a | !b, c),
        "s_nand_b32" => |a, b, _, c| non_zero(low(!(a & b)), c),
        "s_nand_b64" => |a, b, _, c| non_zero(!(a & b), c),
        "s_nor_b32" => |a, b, _, c| non_zero(low(!(a | b)), c),
        "s_nor_b64" => |a, b, _, c| non_zero(!(a | b), c),
        "s_xnor_b32" => |a, b, _, c| non_zero(low(!(a ^ b)), c),
        "s_xnor_b64" => |a, b, _, c| non_zero(!(a ^ b), c),
        "s_lshl_b32" => |a, b, _, c| non_zero(low(a << (b & 31)), c),
        "s_lshl_b64" => |a, b, _, c| non_zero(a << (b & 63), c),
        "s_lshr_b32" => |a, b, _, c| non_zero(a >> (b & 31), c),
        "s_lshr_b64" => |a, b, _, c| non_zero(a >> (b & 63), c),
        "s_ashr_i32" => |a, b, _, c| non_zero(u64::from((a as i32 >> (b & 31)) as u32), c),
        "s_ashr_i64" => |a, b, _, c| non_zero((a as i64 >> (b & 63)) as u64, c),
        "s_bfm_b32" => |a, b, _, _| low(((1 << (a & 31)) - 1) << (b & 31)),
        "s_bfm_b64" => |a, b, _, _| ((1 << (a & 63)) - 1) << (b & 63),
        "s_mul_i32" => |a, b, _, _| low(a.wrapping_mul(b)),
        "s_bfe_u32" => |a, b, _, c| non_zero(field(a, b, 32), c),
        "s_bfe_i32" => |a, b, _, c| non_zero(low(signed_field(i64::from(a as i32), b, 32)), c),
        "s_bfe_u64" => |a, b, _, c| non_zero(field(a, b, 64), c),
        "s_bfe_i64" => |a, b, _, c| non_zero(signed_field(a as i64, b, 64), c),
        "s_absdiff_i32" => |a, b, _, c| non_zero(u64::from((a as i32).wrapping_sub(b as i32).wrapping_abs() as u32), c),
        "s_mul_hi_u32" => |a, b, _, _| a * b >> 32,
        "s_mul_hi_i32" => |a, b, _, _| u64::from((i64::from(a as i32) * i64::from(b as i32) >> 32) as u32),
        "s_lshl1_add_u32" => |a, b, _, c| carry((a << 1) + b, c),
        "s_lshl2_add_u32" => |a, b, _, c| carry((a << 2) + b, c),
        "s_lshl3_add_u32" => |a, b, _, c| carry((a << 3) + b, c),
        "s_lshl4_add_u32" => |a, b, _, c| carry((a << 4) + b, c),
        "s_pack_ll_b32_b16" => |a, b, _, _| half(a, false) | half(b, false) << 16,
        "s_pack_lh_b32_b16" => |a, b, _, _| half(a, false) | half(b, true) << 16,
        "s_pack_hh_b32_b16" => |a, b, _, _| half(a, true) | half(b, true) << 16,
        "s_movk_i32" | "s_mov_b32" | "s_mov_b64" => |a, _, _, _| a,
        "s_cmovk_i32" => |k, _, old, c| if *c { k } else { old },
        "s_cmov_b32" | "s_cmov_b64" => |a, _, old, c| if *c { a } else { old },
        "s_cmpk_eq_i32" | "s_cmpk_eq_u32" | "s_cmp_eq_i32" | "s_cmp_eq_u32" | "s_cmp_eq_u64" => |a, b, _, c| test(c, a == b),
        "s_cmpk_lg_i32" | "s_cmpk_lg_u32" | "s_cmp_lg_i32" | "s_cmp_lg_u32" | "s_cmp_lg_u64" => |a, b, _, c| test(c, a != b),
        "s_cmpk_gt_i32" | "s_cmp_gt_i32" => |a, b, _, c| test(c, a as i32 > b as i32),
        "s_cmpk_ge_i32" | "s_cmp_ge_i32" => |a, b, _, c| test(c, a as i32 >= b as i32),
        "s_cmpk_lt_i32" | "s_cmp_lt_i32" => |a, b, _, c| test(c, (a as i32) < b as i32),
        "s_cmpk_le_i32" | "s_cmp_le_i32" => |a, b, _, c| test(c, a as i32 <= b as i32),
        "s_cmpk_gt_u32" | "s_cmp_gt_u32" => |a, b, _, c| test(c, a > b),
        "s_cmpk_ge_u32" | "s_cmp_ge_u32" => |a, b, _, c| test(c, a >= b),
        "s_cmpk_lt_u32" | "s_cmp_lt_u32" => |a, b, _, c| test(c, a < b),
        "s_cmpk_le_u32" | "s_cmp_le_u32" => |a, b, _, c| test(c, a <= b),
        "s_bitcmp0_b32" => |a, b, _, c| test(c, a >> (b & 31) & 1 == 0),
        "s_bitcmp1_b32" => |a, b, _, c| test(c, a >> (b & 31) & 1 != 0),
        "s_bitcmp0_b64" => |a, b, _, c| test(c, a >> (b & 63) & 1 == 0),
        "s_bitcmp1_b64" => |a, b, _, c| test(c, a >> (b & 63) & 1 != 0),
        "s_addk_i32" => |k, _, old, c| signed_overflow(old, k, c, i32::overflowing_add),
        "s_mulk_i32" => |k, _, old, _| low(old.wrapping_mul(k)),
        "s_not_b32" => |a, _, _, c| non_zero(low(!a), c),
        "s_not_b64" => |a, _, _, c| non_zero(!a, c),
        "s_wqm_b32" | "s_wqm_b64" => |a, _, _, c| non_zero(whole_quads(a), c),
        "s_brev_b32" => |a, _, _, _| u64::from((a as u32).reverse_bits()),
        "s_brev_b64" => |a, _, _, _| a.reverse_bits(),
        "s_bcnt0_i32_b32" => |a, _, _, c| non_zero(u64::from((a as u32).count_zeros()), c),
        "s_bcnt0_i32_b64" => |a, _, _, c| non_zero(u64::from(a.count_zeros()), c),
        "s_bcnt1_i32_b32" | "s_bcnt1_i32_b64" => |a, _, _, c| non_zero(u64::from(a.count_ones()), c),
        "s_ff0_i32_b32" => |a, _, _, _| position((a as u32 != u32::MAX).then(|| a.trailing_ones())),
        "s_ff0_i32_b64" => |a, _, _, _| position((a != u64::MAX).then(|| a.trailing_ones())),
        "s_ff1_i32_b32" | "s_ff1_i32_b64" => |a, _, _, _| position((a != 0).then(|| a.trailing_zeros())),
        "s_flbit_i32_b32" => |a, _, _, _| position((a != 0).then(|| (a as u32).leading_zeros())),
        "s_flbit_i32_b64" => |a, _, _, _| position((a != 0).then(|| a.leading_zeros())),
        "s_flbit_i32" => |a, _, _, _| position(sign_run(a, 32)),
        "s_flbit_i32_i64" => |a, _, _, _| position(sign_run(a, 64)),
        "s_sext_i32_i8" => |a, _, _, _| u64::from(i32::from(a as i8) as u32),
        "s_sext_i32_i16" => |a, _, _, _| u64::from(i32::from(a as i16) as u32),
        "s_bitset0_b32" => |a, _, old, _| old & !(1 << (a & 31)),
        "s_bitset0_b64" => |a, _, old, _| old & !(1 << (a & 63)),
        "s_bitset1_b32" => |a, _, old, _| old | 1 << (a & 31),
        "s_bitset1_b64" => |a, _, old, _| old | 1 << (a & 63),
        "s_quadmask_b32" | "s_quadmask_b64" => |a, _, _, c| non_zero(quad_mask(a), c),
        "s_abs_i32" => |a, _, _, c| non_zero(u64::from((a as i32).wrapping_abs() as u32), c),
        "s_bitreplicate_b64_b32" => |a, _, _, _| doubled_bits(a),
    }
}

table! {
    /// New EXEC of `s_*_saveexec_b64` and `s_*_wrexec_b64`; the latter also write it to the destination.
    EXEC_OPERATIONS: ExecOp {
        "s_and_saveexec_b64" => |s, exec| s & exec,
        "s_or_saveexec_b64" => |s, exec| s | exec,
        "s_xor_saveexec_b64" => |s, exec| s ^ exec,
        "s_andn2_saveexec_b64" | "s_andn2_wrexec_b64" => |s, exec| s & !exec,
        "s_orn2_saveexec_b64" => |s, exec| s | !exec,
        "s_nand_saveexec_b64" => |s, exec| !(s & exec),
        "s_nor_saveexec_b64" => |s, exec| !(s | exec),
        "s_xnor_saveexec_b64" => |s, exec| !(s ^ exec),
        "s_andn1_saveexec_b64" | "s_andn1_wrexec_b64" => |s, exec| !s & exec,
        "s_orn1_saveexec_b64" => |s, exec| !s | exec,
    }
}

/// Function of an opcode in a table; `None` if absent.
pub(crate) fn find<T: Copy>(table: &[(Op, T)], op: Op) -> Option<T> {
    table.iter().find(|row| row.0 == op).map(|row| row.1)
}
