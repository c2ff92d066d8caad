//! Variables of device code that host code knows: `hipMemcpyToSymbol` and similar.
//!
//! The host names a variable by the address of its shadow; a copy is one to or from the place behind that.

use super::memory::{BY_ADDRESS, BY_COPY_ENGINES, FROM_HOST, TO_HOST, WITHIN_GPU, copy_in, copy_now};
use super::{Out, entries};
use crate::codes::Code;
use crate::memory::Kind;
use crate::runtime::lock;
use crate::work::Copy3;

/// Kinds of copies within memory of the GPU.
const WITHIN: [u32; 3] = [WITHIN_GPU, BY_COPY_ENGINES, BY_ADDRESS];

/// Whether a kind of copy fits one to (or from) a variable and memory of a kind, or memory that only the host has.
pub(super) fn is_kind(kind: u32, to_symbol: bool, memory: Option<Kind>) -> bool {
    let with_host = if to_symbol { FROM_HOST } else { TO_HOST };
    match memory {
        None => kind == with_host || kind == BY_ADDRESS,
        Some(Kind::Device | Kind::Mapped) => WITHIN.contains(&kind),
        Some(_) => kind == with_host || WITHIN.contains(&kind),
    }
}

/// A copy to (or from) `bytes` of a variable from `offset` on.
fn copy(
    (symbol, memory): (usize, usize),
    bytes: usize,
    offset: usize,
    to_symbol: bool,
    kind: u32,
) -> Result<Copy3, Code> {
    if !WITHIN.contains(&kind) && kind != if to_symbol { FROM_HOST } else { TO_HOST } {
        return Err(Code::hipErrorInvalidMemcpyDirection);
    }
    let (place, size) = lock().symbol(symbol)?;
    if offset.checked_add(bytes).is_none_or(|end| end > size) {
        return Err(Code::hipErrorInvalidValue);
    }
    let (to, from) = if to_symbol { (place + offset, memory) } else { (memory, place + offset) };
    Ok(Copy3::flat(to, from, bytes))
}

entries! {
    /// Address of a variable.
    fn hipGetSymbolAddress(address: Out<usize>, symbol: usize) {
        let (place, _) = lock().symbol(symbol)?;
        address.put(place)
    }

    /// Size of a variable.
    fn hipGetSymbolSize(bytes: Out<usize>, symbol: usize) {
        let (_, size) = lock().symbol(symbol)?;
        bytes.put(size)
    }

    /// Copies to a variable.
    fn hipMemcpyToSymbol = hipMemcpyToSymbol_spt(symbol: usize, from: usize, bytes: usize, offset: usize, kind: u32) {
        copy_now(copy((symbol, from), bytes, offset, true, kind)?)
    }

    /// The same in a stream.
    fn hipMemcpyToSymbolAsync = hipMemcpyToSymbolAsync_spt(
        symbol: usize, from: usize, bytes: usize, offset: usize, kind: u32, stream: usize,
    ) {
        copy_in(stream, copy((symbol, from), bytes, offset, true, kind)?)
    }

    /// Copies from a variable.
    fn hipMemcpyFromSymbol = hipMemcpyFromSymbol_spt(to: usize, symbol: usize, bytes: usize, offset: usize, kind: u32) {
        copy_now(copy((symbol, to), bytes, offset, false, kind)?)
    }

    /// The same in a stream.
    fn hipMemcpyFromSymbolAsync = hipMemcpyFromSymbolAsync_spt(
        to: usize, symbol: usize, bytes: usize, offset: usize, kind: u32, stream: usize,
    ) {
        copy_in(stream, copy((symbol, to), bytes, offset, false, kind)?)
    }
}
