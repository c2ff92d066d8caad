//! Numbers whose bits are sums of bits of another, without carry.
//!
//! The one idea to keep in mind: what a number comes to is the sum of what its bytes come to, so a table for each byte is
//! all there is to it, however many bits are added.

/// How far a number is looked at.
const BYTES: usize = u64::BITS as usize / 8;

/// What 64-bit numbers come to: a number each whose bits are sums of theirs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sums(Box<[[u32; 256]; BYTES]>);

impl Sums {
    /// Those that a function comes to, which has to be such a sum.
    pub fn new(of: impl Fn(u64) -> u32) -> Sums {
        let byte = |byte: usize| std::array::from_fn(|value| of((value as u64) << (8 * byte)));
        Sums(Box::new(std::array::from_fn(byte)))
    }

    /// What a number comes to.
    #[inline]
    pub fn get(&self, number: u64) -> u32 {
        self.0.iter().zip(number.to_le_bytes()).fold(0, |sum, (adds, byte)| sum ^ adds[usize::from(byte)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_come_to_what_was_asked_for() {
        // Parities of some bits, one of them the highest.
        let masks = [0x8000_0000_0000_0001u64, 0xff00, 0x0f0f_0f0f_0f0f];
        let whole = |number: u64| -> u32 {
            masks.iter().enumerate().map(|(bit, mask)| ((number & mask).count_ones() & 1) << bit).sum()
        };
        let sums = Sums::new(whole);
        let mut state = 1u64;
        for _ in 0..1000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
            assert_eq!(sums.get(state), whole(state));
        }
    }
}
