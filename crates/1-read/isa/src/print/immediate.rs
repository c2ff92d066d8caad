//! Constants and immediate fields as text.
//!
//! A literal that has the value of an inline constant is written `lit(…)`, so that the text assembles to the
//! same bytes; what counts as the same value depends on the operand's width.

use crate::inst::Field;
use crate::inst::InlineFloat;
use crate::isa::Isa;
use crate::names::{HARDWARE_REGISTERS, INDEX_MODES, MESSAGE_OPERATIONS, MESSAGES, name_of};

use super::{decimal, hex};

/// How an operand's constants are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Int16,
    Float16,
    /// 32 bits of any type.
    Word,
    Int64,
    Float64,
}

const NAMES: [&str; 9] = ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"];
const F16: [u16; 9] = [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118];
const F32: [u32; 9] = [
    0x3f00_0000,
    0xbf00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x4000_0000,
    0xc000_0000,
    0x4080_0000,
    0xc080_0000,
    0x3e22_f983,
];
/// High words; the low words are 0 (of 1/2π it is not, so a literal never equals it).
const F64: [u32; 8] =
    [0x3fe0_0000, 0xbfe0_0000, 0x3ff0_0000, 0xbff0_0000, 0x4000_0000, 0xc000_0000, 0x4010_0000, 0xc010_0000];

pub(super) fn float(value: InlineFloat, kind: Kind, out: &mut String) {
    let index = value as usize - InlineFloat::Half as usize;
    match kind {
        Kind::Int16 => hex(u32::from(F16[index]), out),
        Kind::Int64 | Kind::Float64 if value == InlineFloat::InvTwoPi => out.push_str("0.15915494309189532"),
        _ => out.push_str(NAMES[index]),
    }
}

const fn small(value: i64) -> bool {
    value >= -16 && value <= 64
}

pub(super) fn literal(value: u32, kind: Kind, out: &mut String) {
    let low = value as u16;
    let inline = match kind {
        Kind::Word => small(i64::from(value as i32)) || F32.contains(&value),
        Kind::Int16 => small(i64::from(value as i32)),
        Kind::Float16 => small(i64::from(low as i16)) || F16.contains(&low),
        Kind::Int64 => small(i64::from(value)),
        Kind::Float64 => {
            // The literal is the high word.
            match F64.iter().position(|&high| high == value) {
                Some(index) => out.push_str(NAMES[index]),
                None if value == 0 => out.push('0'),
                None => hex(value, out),
            }
            return;
        }
    };
    if inline {
        out.push_str("lit(");
        hex(value, out);
        out.push(')');
    } else if matches!(kind, Kind::Int16 | Kind::Float16) {
        hex(u32::from(low), out);
    } else {
        hex(value, out);
    }
}

/// A word by name or number if it equals an inline constant, else in hexadecimal.
pub(super) fn named(value: u32, out: &mut String) {
    if small(i64::from(value as i32)) {
        decimal(i64::from(value as i32), out);
    } else if let Some(index) = F32.iter().position(|&bits| bits == value) {
        out.push_str(NAMES[index]);
    } else {
        hex(value, out);
    }
}

/// An immediate field.
pub(super) fn field(isa: Isa, field: Field, value: i32, out: &mut String) {
    let word = value as u32;
    match field {
        Field::HexImm => hex(word, out),
        Field::Waitcnt => waitcnt(word, out),
        Field::Msg => message(word, out),
        Field::Hwreg => hwreg(isa, word, out),
        Field::GprIdx => gpr_idx(word, out),
        Field::Offset => signed_hex(value, out),
        Field::OptImm => decimal(i64::from(word), out),
        _ if word > 64 => hex(word, out),
        _ => decimal(i64::from(word), out),
    }
}

/// Scalar memory offsets: negative ones as `-0x10`.
pub(super) fn signed_hex(value: i32, out: &mut String) {
    if value < 0 {
        out.push('-');
    }
    hex(value.unsigned_abs(), out);
}

fn waitcnt(word: u32, out: &mut String) {
    let counters = [
        ("vmcnt(", (word & 15) | (word >> 10 & 0x30), 63),
        ("expcnt(", word >> 4 & 7, 7),
        ("lgkmcnt(", word >> 8 & 15, 15),
    ];
    let all = counters.iter().all(|&(_, value, most)| value == most);
    let mut first = true;
    for (name, value, most) in counters {
        if value != most || all {
            if !first {
                out.push(' ');
            }
            first = false;
            out.push_str(name);
            decimal(i64::from(value), out);
            out.push(')');
        }
    }
}

fn message(word: u32, out: &mut String) {
    let (id, op, stream) = (word & 15, word >> 4 & 7, word >> 8 & 3);
    let name = name_of(&MESSAGES, id);
    let (of_shader, of_system) = MESSAGE_OPERATIONS.split_at(4);
    let op_name = match id {
        2 if op == 0 => None,
        2 | 3 => name_of(of_shader, op),
        15 => name_of(of_system, op),
        _ => None,
    };
    // Only the messages of the geometry shader take a stream, and only with an operation.
    let streams = matches!(id, 2 | 3) && op != 0;
    match (name, op_name) {
        (Some(name), Some(op_name)) if streams || stream == 0 => {
            out.push_str("sendmsg(");
            out.push_str(name);
            out.push_str(", ");
            out.push_str(op_name);
            if streams {
                out.push_str(", ");
                decimal(i64::from(stream), out);
            }
            out.push(')');
        }
        (Some(name), None) if op == 0 && stream == 0 && !matches!(id, 2 | 3 | 15) => {
            out.push_str("sendmsg(");
            out.push_str(name);
            out.push(')');
        }
        _ if word & !0x37f != 0 => decimal(i64::from(word), out),
        _ => {
            out.push_str("sendmsg(");
            decimal(i64::from(id), out);
            out.push_str(", ");
            decimal(i64::from(op), out);
            out.push_str(", ");
            decimal(i64::from(stream), out);
            out.push(')');
        }
    }
}

fn hwreg(isa: Isa, word: u32, out: &mut String) {
    let (id, offset, width) = (word & 63, word >> 6 & 31, (word >> 11 & 31) + 1);
    out.push_str("hwreg(");
    match name_of(&HARDWARE_REGISTERS, id).filter(|_| id < isa.hardware_registers()) {
        Some(name) => out.push_str(name),
        None => decimal(i64::from(id), out),
    }
    if offset != 0 || width != 32 {
        out.push_str(", ");
        decimal(i64::from(offset), out);
        out.push_str(", ");
        decimal(i64::from(width), out);
    }
    out.push(')');
}

fn gpr_idx(word: u32, out: &mut String) {
    if word > 15 {
        hex(word, out);
        return;
    }
    out.push_str("gpr_idx(");
    let mut first = true;
    for (name, bit) in INDEX_MODES {
        if word & bit as u32 != 0 {
            if !first {
                out.push(',');
            }
            first = false;
            out.push_str(name);
        }
    }
    out.push(')');
}
