//! Contents of memory that nothing has written: a pattern that depends on the place in its range.
//!
//! A dword that still holds the pattern of its place has not been written, whoever might have written it: a kernel, a
//! copy, or the host behind our back. Written data equals the pattern once in 2^32 dwords. The pattern does not depend on
//! addresses, so that two runs read the same.

use crate::raw::Shared;

/// The dword at an offset.
fn dword(at: u64) -> u32 {
    // The mixer of SplitMix64: neighbouring places have unrelated values.
    let mut value = (at / 4 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (value ^ value >> 31) as u32
}

/// Fills new memory with the pattern.
pub fn fill_unwritten(bytes: &mut [u8]) {
    for (part, at) in bytes.chunks_mut(4).zip((0..).step_by(4)) {
        part.copy_from_slice(&dword(at).to_le_bytes()[..part.len()]);
    }
}

/// Whether all dwords that `size` bytes at an offset touch hold the pattern. A dword of which the range, of `length`
/// bytes, has only a part counts as written: too few bits to tell.
pub(crate) fn is_unwritten(range: &Shared, length: u64, at: usize, size: u64) -> bool {
    let (first, end) = (at as u64 / 4 * 4, (at as u64 + size).next_multiple_of(4));
    size > 0 && end <= length && (first..end).step_by(4).all(|at| range.load_u32(at as usize) == dword(at))
}
