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

    /// The same hash with bits of a mask that change by chance from one page of 256 consecutive numbers to the next.
    pub fn scattered(mut self, mask: u32) -> XorHash {
        for (byte, table) in self.0.iter_mut().enumerate().skip(1) {
            for (value, hash) in table.iter_mut().enumerate().skip(1) {
                *hash ^= by_chance((byte << 8 | value) as u64) as u32 & mask;
            }
        }
        self
    }

    /// Hash of a number.
    #[inline]
    pub fn get(&self, number: u64) -> u32 {
        self.0.iter().zip(number.to_le_bytes()).fold(0, |sum, (table, byte)| sum ^ table[usize::from(byte)])
    }
}

/// A number that looks random (splitmix64), the same in every run.
fn by_chance(number: u64) -> u64 {
    let value = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_pages_share_values_as_by_chance() {
        // 1,024 numbers of 128 values, eight numbers of a page next to each other.
        let hash = XorHash::new(|number| (number >> 5 & 127) as u32).scattered(127);
        let mut counts = [0i32; 128];
        (0..1 << 16).step_by(32).for_each(|number| counts[hash.get(number) as usize] += 1);
        assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
        let variance = counts.iter().map(|count| (count - 16).pow(2)).sum::<i32>() / 128;
        assert!((10..22).contains(&variance), "{variance}");
        // Lines of one page are distinct, and of the bits outside of the mask nothing changes.
        let page: std::collections::BTreeSet<u32> =
            (0..256).step_by(32).map(|it| hash.get(0x700 + it)).collect();
        assert_eq!(page.len(), 8);
        let high = XorHash::new(|number| (number >> 5 & 127) as u32).scattered(15);
        assert!((0..1 << 16).all(|number| u64::from(high.get(number) >> 4) == number >> 9 & 7));
    }

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
