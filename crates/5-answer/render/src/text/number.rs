//! Numbers as people read them.
//!
//! Rounding must never hide a boundary, so bytes are only scaled when exact.

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
