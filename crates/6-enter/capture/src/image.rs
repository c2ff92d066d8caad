//! Bytes of GPU code that a program hands over as a bare pointer.

use host::code_in_memory::{length, mapping_end};
use std::ffi::c_void;

/// Structure that a program registers: `HIPF`, a version, the code.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Wrapper {
    magic: u32,
    version: u32,
    binary: *const c_void,
    unused: *const c_void,
}

/// `HIPF` as a number.
const MAGIC: u32 = 0x4849_5046;

/// The code that a program registers.
///
/// # Safety
/// `wrapper` is null or points to the compiler's wrapper, which stays as it is.
pub(crate) unsafe fn registered(wrapper: *const Wrapper) -> Option<&'static [u8]> {
    if wrapper.is_null() {
        return None;
    }
    // SAFETY: not null, and the compiler's.
    let wrapper = unsafe { wrapper.read_unaligned() };
    // SAFETY: a registered binary stays mapped; no kernel of it is launched later.
    if wrapper.magic == MAGIC { unsafe { at(wrapper.binary) } } else { None }
}

/// The bytes of a bundle, code object or compressed bundle.
///
/// # Safety
/// `start` is null or points to one of these, which stays as it is while the result is used.
pub(crate) unsafe fn at<'a>(start: *const c_void) -> Option<&'a [u8]> {
    if start.is_null() {
        return None;
    }
    let limit = mapping_end(start.addr())?.checked_sub(start.addr())?;
    // SAFETY: the mapping reaches that far, and the caller promises that it stays.
    let all = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), limit) };
    let bytes = length(all).unwrap_or(limit).min(limit);
    Some(&all[..bytes])
}
