//! XOR hash: each output bit is the parity of some input bits.
//!
//! The hash of a number is the XOR of the hashes of its bytes, so one table per byte suffices for any set of
//! bits.

/// Bytes of an input.
const BYTES: usize = u64::BITS as usize / 8;

/// An XOR hash of 64-bit numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct XorHash(Box<[[u32; 256]; BYTES]>);

impl XorHash {
    /// The hash that a function computes, which has to be linear over XOR.
    pub fn new(of: impl Fn(u64) -> u32) -> XorHash {
        let byte = |byte: usize| std::array::from_fn(|value| of((value as u64) << (8 * byte)));
        XorHash(Box::new(std::array::from_fn(byte)))
    }

    /// Hash of a number.
    #[inline]
    pub fn get(&self, number: u64) -> u32 {
        self.0.iter().zip(number.to_le_bytes()).fold(0, |sum, (table, byte)| sum ^ table[usize::from(byte)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_give_the_requested_parities() {
        // Parities of some bits, one of them the highest.
        let masks = [0x8000_0000_0000_0001u64, 0xff00, 0x0f0f_0f0f_0f0f];
        let whole = |number: u64| -> u32 {
            masks.iter().enumerate().map(|(bit, mask)| ((number & mask).count_ones() & 1) << bit).sum()
        };
        let hash = XorHash::new(whole);
        let mut state = 1u64;
        for _ in 0..1000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
            assert_eq!(hash.get(state), whole(state));
        }
    }
}
