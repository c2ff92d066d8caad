//! Bytes of a lane in a range of memory.

use crate::fault::{Cause, Stop};
use crate::memory::{Hint, Memory};
use crate::raw::Shared;

/// The range that holds the bytes of a lane's access, and their offset in it.
pub(super) fn locate<'m>(
    memory: &'m Memory,
    hint: &mut Hint,
    address: u64,
    bytes: u64,
    lane: usize,
    access: &'static str,
) -> Result<(&'m Shared, usize), Box<Stop>> {
    memory.locate_near(hint, address, bytes).ok_or_else(|| {
        let nearest = memory.nearest(address);
        Stop::at(lane, Cause::Unmapped { access, address, bytes: bytes as u32, nearest })
    })
}

/// One, two or four bytes as a number.
#[inline(always)]
pub(super) fn shared_word(range: &Shared, at: usize, size: usize) -> u32 {
    match size {
        1 => u32::from(range.load_u8(at)),
        2 => u32::from(range.load_u16(at)),
        _ => range.load_u32(at),
    }
}

/// Stores the low one, two or four bytes of a number.
#[inline(always)]
pub(super) fn put_shared(range: &Shared, at: usize, size: usize, value: u32) {
    match size {
        1 => range.store_u8(at, value as u8),
        2 => range.store_u16(at, value as u16),
        _ => range.store_u32(at, value),
    }
}
