//! Variables of device code that host code knows: `hipMemcpyToSymbol` and similar.
//!
//! The host names a variable by the address of its shadow; a copy is one to or from the place behind that.

use super::{entries, put};
use crate::codes::Code;
use crate::launch::perform;
use crate::runtime::lock;
use crate::work::{Copy3, Work};

/// Copies to (or from) `bytes` of a variable from `offset` on.
fn copy(
    symbol: usize,
    memory: usize,
    bytes: usize,
    offset: usize,
    to_symbol: bool,
    stream: usize,
) -> Result<(), Code> {
    let (place, size) = lock().symbol(symbol)?;
    if offset.checked_add(bytes).is_none_or(|end| end > size) {
        return Err(Code::hipErrorInvalidValue);
    }
    let (to, from) = if to_symbol { (place + offset, memory) } else { (memory, place + offset) };
    perform(stream, Work::Copy(Copy3::flat(to, from, bytes)))
}

entries! {
    /// Address of a variable.
    fn hipGetSymbolAddress(address: *mut usize, symbol: usize) {
        let (place, _) = lock().symbol(symbol)?;
        // SAFETY: as the headers say; this holds for all entries here.
        unsafe { put(address, place) }
    }

    /// Size of a variable.
    fn hipGetSymbolSize(bytes: *mut usize, symbol: usize) {
        let (_, size) = lock().symbol(symbol)?;
        // SAFETY: as above.
        unsafe { put(bytes, size) }
    }

    /// Copies to a variable.
    fn hipMemcpyToSymbol = hipMemcpyToSymbol_spt(symbol: usize, from: usize, bytes: usize, offset: usize, _kind: u32) {
        copy(symbol, from, bytes, offset, true, 0)
    }

    /// The same in a stream.
    fn hipMemcpyToSymbolAsync = hipMemcpyToSymbolAsync_spt(
        symbol: usize, from: usize, bytes: usize, offset: usize, _kind: u32, stream: usize,
    ) {
        copy(symbol, from, bytes, offset, true, stream)
    }

    /// Copies from a variable.
    fn hipMemcpyFromSymbol = hipMemcpyFromSymbol_spt(to: usize, symbol: usize, bytes: usize, offset: usize, _kind: u32) {
        copy(symbol, to, bytes, offset, false, 0)
    }

    /// The same in a stream.
    fn hipMemcpyFromSymbolAsync = hipMemcpyFromSymbolAsync_spt(
        to: usize, symbol: usize, bytes: usize, offset: usize, _kind: u32, stream: usize,
    ) {
        copy(symbol, to, bytes, offset, false, stream)
    }
}
