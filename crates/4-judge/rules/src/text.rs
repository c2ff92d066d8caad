//! Numbers in words of findings.

/// A number of at most two decimals, without zeros at its end: `2.5`, `3`.
pub(crate) fn short_number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_padding() {
        for (value, text) in [(3.0, "3"), (0.25, "0.25"), (2.5, "2.5"), (10.0, "10"), (0.0, "0")] {
            assert_eq!(short_number(value), text);
        }
    }
}
