//! Read-modify-write operations: one line per operation.
//!
//! The one idea to keep in mind: an operation is a function of the old value and the data, 64-bit values that are
//! truncated to the operation's width. Memory applies it atomically.

use crate::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::raw::Shared;

/// Arguments: old value, data, second data.
pub(crate) type AtomicOp = fn(u64, u64, u64) -> u64;

fn single(a: u64, b: u64, f: impl Fn(f32, f32) -> f32) -> u64 {
    u64::from(f(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits())
}

fn double(a: u64, b: u64, f: impl Fn(f64, f64) -> f64) -> u64 {
    f(f64::from_bits(a), f64::from_bits(b)).to_bits()
}

fn halves(a: u64, b: u64, f: impl Fn(u16, u16) -> u16) -> u64 {
    u64::from(f(a as u16, b as u16)) | u64::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// Operation of a global or scalar mnemonic without prefix and `_x2`, and true if it is 64 bits wide.
#[rustfmt::skip]
pub(crate) fn global(name: &str) -> Option<(AtomicOp, bool)> {
    let (short, wide) = name.strip_suffix("_x2").map_or((name, false), |short| (short, true));
    let op: AtomicOp = match (short, wide) {
        ("swap", _) => |_, d, _| d,
        // Data order: new value, comparand.
        ("cmpswap", _) => |old, d, c| if old == c { d } else { old },
        ("add", _) => |old, d, _| old.wrapping_add(d),
        ("sub", _) => |old, d, _| old.wrapping_sub(d),
        ("smin", false) => |old, d, _| if (d as i32) < old as i32 { d } else { old },
        ("smax", false) => |old, d, _| if d as i32 > old as i32 { d } else { old },
        ("smin", true) => |old, d, _| if (d as i64) < old as i64 { d } else { old },
        ("smax", true) => |old, d, _| if d as i64 > old as i64 { d } else { old },
        ("umin", _) => |old, d, _| old.min(d),
        ("umax", _) => |old, d, _| old.max(d),
        ("and", _) => |old, d, _| old & d,
        ("or", _) => |old, d, _| old | d,
        ("xor", _) => |old, d, _| old ^ d,
        ("inc", _) => |old, d, _| if old >= d { 0 } else { old + 1 },
        ("dec", _) => |old, d, _| if old == 0 || old > d { d } else { old - 1 },
        ("add_f32", false) => |old, d, _| single(old, d, |a, b| a + b),
        ("pk_add_f16", false) => |old, d, _| halves(old, d, |a, b| f32_to_f16(f16_to_f32(a) + f16_to_f32(b))),
        ("pk_add_bf16", false) => |old, d, _| halves(old, d, |a, b| f32_to_bf16(bf16_to_f32(a) + bf16_to_f32(b))),
        ("add_f64", false) => return Some((|old, d, _| double(old, d, |a, b| a + b), true)),
        ("min_f64", false) => return Some((|old, d, _| double(old, d, f64::min), true)),
        ("max_f64", false) => return Some((|old, d, _| double(old, d, f64::max), true)),
        _ => return None,
    };
    Some((op, wide))
}

/// Operation of an LDS mnemonic without prefix, and true if it is 64 bits wide.
#[rustfmt::skip]
pub(crate) fn lds(name: &str) -> Option<(AtomicOp, bool)> {
    let plain = name.replace("_rtn", "").replace("2st64", "").replace("wrxchg2", "wrxchg");
    let wide = plain.ends_with("64");
    let op: AtomicOp = match plain.as_str() {
        "add_u32" | "add_u64" => |old, d, _| old.wrapping_add(d),
        "sub_u32" | "sub_u64" => |old, d, _| old.wrapping_sub(d),
        "rsub_u32" | "rsub_u64" => |old, d, _| d.wrapping_sub(old),
        "inc_u32" | "inc_u64" => |old, d, _| if old >= d { 0 } else { old + 1 },
        "dec_u32" | "dec_u64" => |old, d, _| if old == 0 || old > d { d } else { old - 1 },
        "min_i32" => |old, d, _| if (d as i32) < old as i32 { d } else { old },
        "max_i32" => |old, d, _| if d as i32 >= old as i32 { d } else { old },
        "min_i64" => |old, d, _| if (d as i64) < old as i64 { d } else { old },
        "max_i64" => |old, d, _| if d as i64 >= old as i64 { d } else { old },
        "min_u32" | "min_u64" => |old, d, _| old.min(d),
        "max_u32" | "max_u64" => |old, d, _| old.max(d),
        "and_b32" | "and_b64" => |old, d, _| old & d,
        "or_b32" | "or_b64" => |old, d, _| old | d,
        "xor_b32" | "xor_b64" => |old, d, _| old ^ d,
        "mskor_b32" | "mskor_b64" => |old, d, e| old & !d | e,
        "wrxchg_b32" | "wrxchg_b64" | "wrxchg" => |_, d, _| d,
        // Data order: comparand, new value.
        "cmpst_b32" | "cmpst_b64" => |old, d, e| if old == d { e } else { old },
        "cmpst_f32" => |old, d, e| if f32::from_bits(old as u32) == f32::from_bits(d as u32) { e } else { old },
        "cmpst_f64" => |old, d, e| if f64::from_bits(old) == f64::from_bits(d) { e } else { old },
        "min_f32" => |old, d, _| single(old, d, |a, b| if b < a { b } else { a }),
        "max_f32" => |old, d, _| single(old, d, |a, b| if b > a { b } else { a }),
        "min_f64" => |old, d, _| double(old, d, |a, b| if b < a { b } else { a }),
        "max_f64" => |old, d, _| double(old, d, |a, b| if b > a { b } else { a }),
        "add_f32" => |old, d, _| single(old, d, |a, b| a + b),
        "add_f64" => |old, d, _| double(old, d, |a, b| a + b),
        "pk_add_f16" => |old, d, _| halves(old, d, |a, b| f32_to_f16(f16_to_f32(a) + f16_to_f32(b))),
        "pk_add_bf16" => |old, d, _| halves(old, d, |a, b| f32_to_bf16(bf16_to_f32(a) + bf16_to_f32(b))),
        "wrap_b32" => |old, d, e| if old >= d { old - d } else { old.wrapping_add(e) },
        "condxchg32_b64" => |old, d, _| {
            let word = |old: u64, d: u64| if d >> 31 & 1 != 0 { d & 0x7fff_ffff } else { old & 0xffff_ffff };
            word(old, d) | word(old >> 32, d >> 32) << 32
        },
        _ => return None,
    };
    Some((op, wide))
}

/// Atomic read-modify-write of 32 or 64 bits; `None` when misaligned.
pub(crate) fn update(range: &Shared, at: usize, wide: bool, op: impl Fn(u64) -> u64) -> Option<u64> {
    if wide {
        range.update_u64(at, op)
    } else {
        range.update_u32(at, |old| op(u64::from(old)) as u32).map(u64::from)
    }
}
