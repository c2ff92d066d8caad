//! Named values of the assembly language: special registers, wait counters, hardware registers, messages,
//! lane swizzles.
//!
//! Each is a small table of names, and one function per kind packs the named parts into the instruction's
//! immediate field.

use super::Problem;
use super::cursor::Cursor;
use super::expression::{self, Symbols, Value};
use crate::names::{HARDWARE_REGISTERS, INDEX_MODES, MESSAGE_OPERATIONS, MESSAGES};
use crate::{RegFile, RegRange};

/// Registers of a special name (`vcc`, `exec`, …).
pub(crate) fn special_register(name: &str) -> Option<RegRange> {
    use RegFile::*;
    let (file, first, count) = match name {
        "vcc" => (Vcc, 0, 2),
        "vcc_lo" => (Vcc, 0, 1),
        "vcc_hi" => (Vcc, 1, 1),
        "exec" => (Exec, 0, 2),
        "exec_lo" => (Exec, 0, 1),
        "exec_hi" => (Exec, 1, 1),
        "m0" => (M0, 0, 1),
        "flat_scratch" => (FlatScratch, 0, 2),
        "flat_scratch_lo" => (FlatScratch, 0, 1),
        "flat_scratch_hi" => (FlatScratch, 1, 1),
        "xnack_mask" => (XnackMask, 0, 2),
        "xnack_mask_lo" => (XnackMask, 0, 1),
        "xnack_mask_hi" => (XnackMask, 1, 1),
        "vccz" | "src_vccz" => (SrcVccz, 0, 1),
        "execz" | "src_execz" => (SrcExecz, 0, 1),
        "scc" | "src_scc" => (SrcScc, 0, 1),
        "shared_base" | "src_shared_base" => (SrcSharedBase, 0, 1),
        "shared_limit" | "src_shared_limit" => (SrcSharedLimit, 0, 1),
        "private_base" | "src_private_base" => (SrcPrivateBase, 0, 1),
        "private_limit" | "src_private_limit" => (SrcPrivateLimit, 0, 1),
        "pops_exiting_wave_id" | "src_pops_exiting_wave_id" => (SrcPopsExitingWaveId, 0, 1),
        "lds_direct" | "src_lds_direct" => (LdsDirect, 0, 1),
        "tba" => (Tba, 0, 2),
        "tba_lo" => (Tba, 0, 1),
        "tba_hi" => (Tba, 1, 1),
        "tma" => (Tma, 0, 2),
        "tma_lo" => (Tma, 0, 1),
        "tma_hi" => (Tma, 1, 1),
        _ => return None,
    };
    Some(RegRange::new(file, first, count))
}

/// Wait counters of `s_waitcnt`: name, and its bits in the immediate as (shift, width) parts from low to
/// high.
const COUNTERS: [(&str, &[(u32, u32)]); 3] =
    [("vmcnt", &[(0, 4), (14, 2)]), ("expcnt", &[(4, 3)]), ("lgkmcnt", &[(8, 4)])];

/// The immediate of `s_waitcnt` when no counter is waited for.
const ALL_COUNTERS: i64 = 0xcf7f;

/// The value of `name(…)`, the cursor at the parenthesis. Wait counters take the further counters that
/// follow.
pub(crate) fn field(name: &str, cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<i64, Problem> {
    match name {
        "hwreg" => hwreg(cursor, symbols),
        "sendmsg" => message(cursor, symbols),
        "gpr_idx" => index_mode(cursor),
        _ if counter(name).is_some() => wait(name, cursor, symbols),
        _ => Err(Problem::UnknownName),
    }
}

fn open(cursor: &mut Cursor<'_>) -> Result<(), Problem> {
    if cursor.take(b'(') { Ok(()) } else { Err(Problem::Expected("(")) }
}

fn close(cursor: &mut Cursor<'_>) -> Result<(), Problem> {
    if cursor.take(b')') { Ok(()) } else { Err(Problem::Expected(")")) }
}

/// A number, or a name of the table.
fn part(cursor: &mut Cursor<'_>, symbols: Symbols<'_>, table: &[(&str, i64)]) -> Result<i64, Problem> {
    cursor.next_visible();
    let at = cursor.at();
    let name = cursor.name();
    if let Some((_, value)) = table.iter().find(|(known, _)| *known == name) {
        return Ok(*value);
    }
    cursor.go(at);
    match expression::read(cursor, symbols) {
        Some(Value::Known(value)) => Ok(value),
        Some(Value::Open) => Err(Problem::UnknownName),
        None => Err(Problem::BadNumber),
    }
}

fn in_range(value: i64, low: i64, high: i64) -> Result<i64, Problem> {
    if (low..=high).contains(&value) { Ok(value) } else { Err(Problem::OutOfRange) }
}

fn pack_hwreg(id: i64, offset: i64, size: i64) -> Result<i64, Problem> {
    Ok(in_range(id, 0, 63)? | in_range(offset, 0, 31)? << 6 | (in_range(size, 1, 32)? - 1) << 11)
}

fn hwreg(cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<i64, Problem> {
    open(cursor)?;
    let id = part(cursor, symbols, &HARDWARE_REGISTERS)?;
    let (mut offset, mut size) = (0, 32);
    if cursor.take(b',') {
        offset = part(cursor, symbols, &[])?;
        if !cursor.take(b',') {
            return Err(Problem::Expected(","));
        }
        size = part(cursor, symbols, &[])?;
    }
    close(cursor)?;
    pack_hwreg(id, offset, size)
}

/// `{id: HW_REG_MODE, offset: 4, size: 1}`, the cursor at the brace.
pub(crate) fn structured_hwreg(cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<i64, Problem> {
    cursor.take(b'{');
    let (mut id, mut offset, mut size) = (0, 0, 32);
    while !cursor.take(b'}') {
        cursor.next_visible();
        let name = cursor.name();
        if !cursor.take(b':') {
            return Err(Problem::Expected(":"));
        }
        let value = part(cursor, symbols, &HARDWARE_REGISTERS)?;
        match name {
            "id" => id = value,
            "offset" => offset = value,
            "size" => size = value,
            _ => return Err(Problem::UnknownName),
        }
        cursor.take(b',');
    }
    pack_hwreg(id, offset, size)
}

fn message(cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<i64, Problem> {
    open(cursor)?;
    let mut value = in_range(part(cursor, symbols, &MESSAGES)?, 0, 15)?;
    if cursor.take(b',') {
        value |= in_range(part(cursor, symbols, &MESSAGE_OPERATIONS)?, 0, 7)? << 4;
        if cursor.take(b',') {
            value |= in_range(part(cursor, symbols, &[])?, 0, 3)? << 8;
        }
    }
    close(cursor)?;
    Ok(value)
}

fn index_mode(cursor: &mut Cursor<'_>) -> Result<i64, Problem> {
    open(cursor)?;
    let mut value = 0;
    while cursor.next_visible() != Some(b')') {
        let name = cursor.name();
        let Some((_, bit)) = INDEX_MODES.iter().find(|(known, _)| *known == name) else {
            return Err(Problem::UnknownName);
        };
        value |= bit;
        if !cursor.take(b',') {
            break;
        }
    }
    close(cursor)?;
    Ok(value)
}

/// The counter of a name and whether too large values are cut to its most.
fn counter(name: &str) -> Option<(&'static [(u32, u32)], bool)> {
    let plain = name.strip_suffix("_sat");
    let found = COUNTERS.iter().find(|(known, _)| *known == plain.unwrap_or(name))?;
    Some((found.1, plain.is_some()))
}

/// `vmcnt(0) & lgkmcnt(1)`: counters in any order, separated by blanks, `&` or `,`.
fn wait(first: &str, cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<i64, Problem> {
    let mut value = ALL_COUNTERS;
    let mut name = first;
    loop {
        let (parts, cut) = counter(name).ok_or(Problem::UnknownName)?;
        open(cursor)?;
        let mut count = part(cursor, symbols, &[])?;
        close(cursor)?;
        let most = (1i64 << parts.iter().map(|(_, width)| width).sum::<u32>()) - 1;
        if cut {
            count = count.min(most);
        }
        count = in_range(count, 0, most)?;
        for (shift, width) in parts {
            let mask = (1i64 << width) - 1;
            value = value & !(mask << shift) | (count & mask) << shift;
            count >>= width;
        }
        let separated = cursor.take(b'&') || cursor.take(b',');
        cursor.next_visible();
        let at = cursor.at();
        name = cursor.name();
        if counter(name).is_none() {
            cursor.go(at);
            return if separated { Err(Problem::Expected("vmcnt, expcnt or lgkmcnt")) } else { Ok(value) };
        }
    }
}

/// `swizzle(MODE, …)` of `ds_swizzle_b32`, the cursor after `swizzle`.
pub(crate) fn swizzle(cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<i64, Problem> {
    open(cursor)?;
    cursor.next_visible();
    let mode = cursor.name();
    let mut next = |low: i64, high: i64| {
        if !cursor.take(b',') {
            return Err(Problem::Expected(","));
        }
        in_range(part(cursor, symbols, &[])?, low, high)
    };
    let group = |size: i64| if size.count_ones() == 1 { Ok(size) } else { Err(Problem::OutOfRange) };
    let mask = |and: i64, or: i64, xor: i64| and | or << 5 | xor << 10;
    let value = match mode {
        "QUAD_PERM" => 0x8000 | next(0, 3)? | next(0, 3)? << 2 | next(0, 3)? << 4 | next(0, 3)? << 6,
        "BROADCAST" => {
            let size = group(next(2, 32)?)?;
            mask(32 - size, next(0, size - 1)?, 0)
        }
        "SWAP" => mask(31, 0, group(next(1, 16)?)?),
        "REVERSE" => mask(31, 0, group(next(2, 32)?)? - 1),
        "FFT" => 0xe000 | next(0, 31)?,
        "ROTATE" => 0xc000 | next(0, 1)? << 10 | next(0, 31)? << 5,
        "BITMASK_PERM" => {
            if !cursor.take(b',') {
                return Err(Problem::Expected(","));
            }
            cursor.next_visible();
            let text = cursor.quoted().filter(|text| text.len() == 5).ok_or(Problem::BadOperand)?;
            let mut value = 0;
            for (bit, lane) in text.bytes().rev().enumerate() {
                value |= match lane {
                    b'0' => 0,
                    b'1' => mask(0, 1, 0),
                    b'p' => mask(1, 0, 0),
                    b'i' => mask(1, 0, 1),
                    _ => return Err(Problem::BadOperand),
                } << bit;
            }
            value
        }
        _ => return Err(Problem::UnknownName),
    };
    close(cursor)?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_fields_pack_as_the_assembler_packs_them() {
        let cases = [
            ("hwreg(HW_REG_MODE)", Ok(0xf801)),
            ("hwreg(HW_REG_MODE, 0, 4)", Ok(0x1801)),
            ("hwreg(0x14,3,1)", Ok(0x00d4)),
            ("hwreg(HW_REG_NONE)", Err(Problem::UnknownName)),
            ("hwreg(64)", Err(Problem::OutOfRange)),
            ("hwreg(1, 2)", Err(Problem::Expected(","))),
            ("sendmsg(MSG_INTERRUPT)", Ok(1)),
            ("sendmsg(MSG_GS, GS_OP_EMIT, 1)", Ok(0x122)),
            ("sendmsg(MSG_SYSMSG, SYSMSG_OP_TTRACE_PC)", Ok(0x4f)),
            ("gpr_idx(SRC0,DST)", Ok(9)),
            ("gpr_idx()", Ok(0)),
            ("vmcnt(0)", Ok(0x0f70)),
            ("vmcnt(63)", Ok(0xcf7f)),
            ("vmcnt(17) lgkmcnt(2)", Ok(0x4271)),
            ("lgkmcnt(1) & vmcnt(2)", Ok(0x0172)),
            ("expcnt(0), lgkmcnt(0)", Ok(0xc00f)),
            ("vmcnt_sat(100)", Ok(0xcf7f)),
            ("vmcnt(100)", Err(Problem::OutOfRange)),
            ("vmcnt(0) & 3", Err(Problem::Expected("vmcnt, expcnt or lgkmcnt"))),
            ("nothing(0)", Err(Problem::UnknownName)),
        ];
        for (text, expected) in cases {
            let mut cursor = Cursor::new(text);
            let name = cursor.name();
            assert_eq!(field(name, &mut cursor, &|_| None), expected, "{text}");
        }
    }

    #[test]
    fn swizzles_pack_as_the_assembler_packs_them() {
        let cases = [
            ("(QUAD_PERM,3,2,1,0)", Ok(0x801b)),
            ("(BROADCAST,8,3)", Ok(0x0078)),
            ("(SWAP,16)", Ok(0x401f)),
            ("(REVERSE,32)", Ok(0x7c1f)),
            ("(BITMASK_PERM,\"01pip\")", Ok(0x0907)),
            ("(FFT,3)", Ok(0xe003)),
            ("(ROTATE,1,3)", Ok(0xc460)),
            ("(BROADCAST,3,1)", Err(Problem::OutOfRange)),
            ("(BITMASK_PERM,\"01px\")", Err(Problem::BadOperand)),
            ("(SOMETHING,3)", Err(Problem::UnknownName)),
        ];
        for (text, expected) in cases {
            assert_eq!(swizzle(&mut Cursor::new(text), &|_| None), expected, "{text}");
        }
    }
}
