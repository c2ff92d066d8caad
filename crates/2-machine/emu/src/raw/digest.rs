//! Part of `raw`: digest of bytes that threads share, as fast as the memory is read.

use super::Shared;
use std::ops::Range;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Odd numbers with as many ones as zeros, one for each lane.
const FACTORS: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];

/// A digest of 256 bits of a sequence of numbers: four lanes that each take every fourth number. Every step is
/// invertible, so a number that differs alone always changes the digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Digest([u64; 4]);

impl Digest {
    /// The digest of nothing.
    pub(crate) const EMPTY: Digest = Digest(FACTORS);

    #[inline(always)]
    fn mix(lane: u64, value: u64, factor: u64) -> u64 {
        let mixed = (lane ^ value).wrapping_mul(factor);
        mixed ^ mixed >> 29
    }

    /// Adds a digest, all of whose lanes count.
    pub(crate) fn join(&mut self, other: Digest) {
        for (lane, (value, factor)) in self.0.iter_mut().zip(other.0.into_iter().zip(FACTORS)) {
            *lane = Digest::mix(*lane, value, factor);
        }
    }

    /// Adds a number.
    pub(crate) fn add(&mut self, value: u64) {
        for (lane, factor) in self.0.iter_mut().zip(FACTORS) {
            *lane = Digest::mix(*lane, value, factor);
        }
    }
}

impl Shared {
    /// Adds bytes of the range to a digest.
    pub(crate) fn digest(&self, bytes: Range<usize>, digest: &mut Digest) {
        let length = bytes.len();
        let start = self.at(bytes.start, length);
        digest.add(length as u64);
        let first = start.align_offset(8).min(length);
        let words = (length - first) / 8;
        // SAFETY: the byte is inside the range; atomics may alias each other.
        let byte = |at: usize| u64::from(unsafe { AtomicU8::from_ptr(start.add(at)) }.load(Relaxed));
        // SAFETY: the word is inside the range and aligned.
        let word = |at: usize| unsafe { AtomicU64::from_ptr(start.add(first + 8 * at).cast()) }.load(Relaxed);
        let mut lanes = digest.0;
        for group in 0..words / 4 {
            for (lane, state) in lanes.iter_mut().enumerate() {
                *state = Digest::mix(*state, word(4 * group + lane), FACTORS[lane]);
            }
        }
        digest.0 = lanes;
        (words / 4 * 4..words).for_each(|at| digest.add(word(at)));
        (0..first).chain(first + 8 * words..length).for_each(|at| digest.add(byte(at)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts() {
        for length in [0, 1, 7, 8, 31, 32, 33, 100] {
            let shared = Shared::zeroed(length);
            let of = |shared: &Shared| {
                let mut digest = Digest::EMPTY;
                shared.digest(0..length, &mut digest);
                digest
            };
            let zero = of(&shared);
            let mut seen = std::collections::HashSet::from([zero]);
            for at in 0..length {
                shared.store_u8(at, 1);
                assert!(seen.insert(of(&shared)), "byte {at} of {length}");
                shared.store_u8(at, 0);
            }
            assert_eq!(of(&shared), zero);
        }
    }
}
