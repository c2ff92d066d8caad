//! Order of texts with their numbers as numbers.

/// Bytes that all texts begin with, without a number that they end in the middle of.
pub(super) fn common<'a>(mut texts: impl Iterator<Item = &'a str>) -> usize {
    let first = texts.next().unwrap_or_default().as_bytes();
    let mut same = first.len();
    for text in texts {
        let equal = first[..same].iter().zip(text.as_bytes()).take_while(|(a, b)| a == b).count();
        same = equal;
    }
    while same > 0 && first[same - 1].is_ascii_digit() {
        same -= 1;
    }
    same
}

/// The beginning of a text as numbers: of two texts for which they differ, the one of the smaller comes
/// first.
///
/// A run of digits is encoded as `0`, its length without leading zeros, these two in a byte, and its total
/// length; other bytes are kept.
pub(super) fn beginning(mut text: &[u8]) -> [u64; 2] {
    let mut out = Vec::with_capacity(48);
    while let (true, Some((first, rest))) = (out.len() < 16, text.split_first()) {
        if !first.is_ascii_digit() {
            out.push(*first);
            text = rest;
            continue;
        }
        let (run, rest) = text.split_at(digits(text));
        let numeral = &run[zeros(run)..];
        let length = |it: &[u8]| u8::try_from(it.len()).unwrap_or(u8::MAX);
        out.extend([b'0', length(numeral)]);
        // Runs too long for a byte are compared as text.
        if numeral.len() >= usize::from(u8::MAX) {
            break;
        }
        out.extend(
            numeral.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | (digit - b'0'))),
        );
        out.push(length(run));
        if run.len() >= usize::from(u8::MAX) {
            break;
        }
        text = rest;
    }
    out.resize(16, 0);
    let half = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    [half(&out[..8]), half(&out[8..])]
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|it| it.is_ascii_digit()).count()
}

fn zeros(text: &[u8]) -> usize {
    text.iter().take_while(|it| **it == b'0').count()
}

/// Compares texts with their numbers as numbers.
pub(super) fn compare(a: &str, b: &str) -> std::cmp::Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let Some(mut from) = a.iter().zip(b).position(|(x, y)| x != y) else { return a.len().cmp(&b.len()) };
    // Texts differ within a number as a rule, so the comparison begins where that number does.
    while from > 0 && a[from - 1].is_ascii_digit() {
        from -= 1;
    }
    let (mut a, mut b) = (&a[from..], &b[from..]);
    loop {
        let (x, y) = (digits(a), digits(b));
        if x > 0 && y > 0 {
            let (p, q) = (zeros(&a[..x]), zeros(&b[..y]));
            let order = (x - p).cmp(&(y - q)).then_with(|| a[p..x].cmp(&b[q..y])).then_with(|| x.cmp(&y));
            if order.is_ne() {
                return order;
            }
            (a, b) = (&a[x..], &b[y..]);
            continue;
        }
        match (a.split_first(), b.split_first()) {
            (Some((x, rest)), Some((y, more))) if x == y => (a, b) = (rest, more),
            (x, y) => return x.map(|it| it.0).cmp(&y.map(|it| it.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    #[test]
    fn numbers_are_compared_as_numbers() {
        let mut texts = vec!["b1", "a10", "a9", "a09", "a", "a9b", "a_1", "a-1", "", "10", "9"];
        texts.sort_by(|a, b| compare(a, b));
        assert_eq!(texts, ["", "9", "10", "a", "a-1", "a9", "a9b", "a09", "a10", "a_1", "b1"]);
        let long = |zeros: usize, numeral: &str| format!("{}{numeral}", "0".repeat(zeros));
        for (a, b) in
            [(long(300, "1"), long(299, "1")), (long(0, &"7".repeat(300)), long(0, &"7".repeat(299)))]
        {
            assert_eq!(
                (beginning(a.as_bytes()), compare(&a, &b)),
                (beginning(b.as_bytes()), Ordering::Greater)
            );
        }
    }

    proptest! {
        #[test]
        fn beginnings_are_in_the_order_of_their_texts(texts in prop::collection::vec("[0019a_,]{0,24}", 2..5)) {
            let same = common(texts.iter().map(String::as_str));
            for (a, b) in texts.iter().zip(&texts[1..]) {
                let order = beginning(&a.as_bytes()[same..]).cmp(&beginning(&b.as_bytes()[same..]));
                prop_assert!(order.is_eq() || order == compare(a, b), "{a:?} {b:?} after {same}");
            }
        }
    }
}
