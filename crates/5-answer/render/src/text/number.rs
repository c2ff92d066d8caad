//! Numbers as people read them.
//!
//! The one idea to keep in mind: rounding must never hide a boundary, so bytes are only scaled when exact.

/// `16 KiB`, `1300 B`.
pub(crate) fn bytes(value: u64) -> String {
    match value {
        0 => "0 B".to_owned(),
        value if value.is_multiple_of(1 << 20) => format!("{} MiB", value >> 20),
        value if value.is_multiple_of(1 << 10) => format!("{} KiB", value >> 10),
        value => format!("{value} B"),
    }
}

/// `4`, `1.25`: at most two decimals, none that say nothing.
pub(crate) fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `25,182`.
pub(crate) fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 wave`, `3 waves`.
pub(crate) fn plural(value: &str, singular: &str) -> String {
    if value == "1" { format!("1 {singular}") } else { format!("{value} {singular}s") }
}

/// The same of words that take more than an `s`: `2 dispatches`.
pub(crate) fn plural_of(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// At most six characters: `16384`, `131.1k`, `8.389M`.
pub(crate) fn scaled(value: u64) -> String {
    if value < 100_000 {
        return value.to_string();
    }
    let mut scaled = value as f64;
    let mut unit = "";
    for next in ["k", "M", "G", "T", "P", "E"] {
        if scaled < 999.5 {
            break;
        }
        scaled /= 1000.0;
        unit = next;
    }
    let decimals = if scaled < 9.9995 {
        3
    } else if scaled < 99.995 {
        2
    } else {
        1
    };
    format!("{scaled:.decimals$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (value, expected) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1300, "1300 B"),
            (65536, "64 KiB"),
            (3 << 20, "3 MiB"),
        ] {
            assert_eq!(bytes(value), expected);
        }
        for (value, expected) in [(4.0, "4"), (1.25, "1.25"), (0.333, "0.33"), (10.0, "10"), (0.0, "0")] {
            assert_eq!(short(value), expected);
        }
        for (value, expected) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (25182, "25,182"), (1234567, "1,234,567")]
        {
            assert_eq!(thousands(value), expected);
        }
    }

    #[test]
    fn counts_take_six_characters() {
        for (value, expected) in [
            (0, "0"),
            (99_999, "99999"),
            (100_000, "100.0k"),
            (131_072, "131.1k"),
            (999_499, "999.5k"),
            (999_500, "1.000M"),
            (8_388_608, "8.389M"),
            (12_345_678, "12.35M"),
            (u64::MAX, "18.45E"),
        ] {
            assert_eq!(scaled(value), expected);
            assert!(scaled(value).len() <= 6);
        }
    }
}
