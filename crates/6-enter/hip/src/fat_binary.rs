//! The GPU code of a registered binary.

use host::code_in_memory::{length, mapping_end};
use std::ffi::c_void;

/// Structure that a program registers: `HIPF`, a version, the bundle.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Wrapper {
    pub(crate) magic: u32,
    pub(crate) version: u32,
    pub(crate) binary: *const c_void,
    pub(crate) unused: *const c_void,
}

/// `HIPF` as a number.
pub(crate) const MAGIC: u32 = 0x4849_5046;

/// The bytes of a bundle, code object or compressed bundle.
///
/// # Safety
/// `start` points to one of these, or at least to readable memory of 64 bytes, that stays as it is for the
/// life of the process.
pub(crate) unsafe fn bytes(start: *const u8) -> Option<&'static [u8]> {
    if start.is_null() {
        return None;
    }
    let limit = mapping_end(start.addr())?.checked_sub(start.addr())?;
    // SAFETY: the mapping reaches that far, and the caller promises that it stays.
    let all = unsafe { std::slice::from_raw_parts(start, limit) };
    let length = length(all).unwrap_or(limit).min(limit);
    Some(&all[..length])
}
