//! Initial contents of buffers.

use crate::Element;

/// Contents by a rule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fill {
    /// 1.
    Ones,
    /// 0, 1, 2, …
    Arange,
    /// Evenly spread over a range, by default 0 to 1, or whole numbers of 0 to 99.
    Random {
        /// Start of the numbers.
        seed: u64,
        /// From the first up to the second.
        range: Option<[f64; 2]>,
    },
}

impl Fill {
    /// Bytes of this many elements.
    pub fn bytes(self, element: Element, count: u64) -> Vec<u8> {
        match self {
            Fill::Ones => element.bytes((0..count).map(|_| 1.0)),
            Fill::Arange => element.bytes((0..count).map(|number| number as f64)),
            Fill::Random { seed, range } => {
                let whole = element.is_whole();
                let [low, high] = range.unwrap_or([0.0, if whole { 100.0 } else { 1.0 }]);
                element.bytes((0..count).map(|number| {
                    let random = spread(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                    let number = low + (high - low) * random;
                    if whole { number.floor() } else { number }
                }))
            }
        }
    }
}

/// A number of 0 to 1 from a seed: the finisher of SplitMix64.
pub(crate) fn spread(seed: u64) -> f64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ bits >> 31) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_follow_their_rule() {
        let numbers = |name: &str, fill: Fill| {
            let element = Element::by_name(name).unwrap();
            element.numbers(&fill.bytes(element, 3))
        };
        assert_eq!(numbers("i8", Fill::Ones), [1.0; 3]);
        // The first output of SplitMix64 from seed 0 is e220a8397b1dcdaf.
        let random = Fill::Random { seed: 0, range: None };
        assert_eq!((numbers("f64", random)[0] * 1e6).floor(), 883_310.0);
        assert_eq!(numbers("i32", random)[0], 88.0);
        let between = Fill::Random { seed: 7, range: Some([-2.0, -1.0]) };
        assert!(numbers("f32", between).iter().all(|it| (-2.0..-1.0).contains(it)));
    }
}
