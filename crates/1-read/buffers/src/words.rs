//! Words that may be addresses.

use std::ops::Range;

/// The 8-byte words in a range of addresses, each once, in order.
pub fn words_within(bytes: &[u8], span: &Range<u64>) -> Vec<u64> {
    let words = bytes.chunks_exact(8).filter_map(|it| Some(u64::from_le_bytes(it.try_into().ok()?)));
    let mut found: Vec<u64> = words.filter(|it| span.contains(it)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_once() {
        let bytes: Vec<u8> =
            [9u64, 5, 20, 9, 6].iter().flat_map(|it| it.to_le_bytes()).chain([1, 2]).collect();
        assert_eq!(words_within(&bytes, &(6..20)), [6, 9]);
    }
}
