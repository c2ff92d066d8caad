//! Numbers of tables: a fixed number of decimals, aligned at the point.
//!
//! A number never reads as zero unless it is zero, and whole numbers show no decimals.

use view::thousands;

/// A number in two parts, aligned at the boundary between them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Figure {
    /// Up to the point.
    pub(crate) whole: String,
    /// The decimal point and the digits after it.
    pub(crate) part: String,
}

impl Figure {
    /// Both parts.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.whole, self.part)
    }
}

/// Formats a number.
pub(crate) fn figure(value: f64, decimals: usize) -> Figure {
    let size = value.abs();
    let sign = if value < 0.0 { "-" } else { "" };
    if size >= 1e15 {
        return Figure { whole: format!("{value:.3e}"), part: String::new() };
    }
    let least = 10f64.powi(-i32::try_from(decimals).unwrap_or(i32::MAX));
    if size > 0.0 && size < least / 2.0 {
        let part = if decimals == 0 { String::new() } else { format!(".{:0>decimals$}", 1) };
        let (bound, whole) = if decimals == 0 { ("1", "") } else { ("0", "") };
        return Figure {
            whole: format!("{whole}{}{sign}{bound}", if sign.is_empty() { "<" } else { ">" }),
            part,
        };
    }
    let rounded = format!("{size:.decimals$}");
    let (whole, part) = rounded.split_once('.').unwrap_or((&rounded, ""));
    let whole = whole.parse::<u64>().map_or_else(|_| whole.to_owned(), thousands);
    // A fraction that rounds to a whole number keeps its zeros.
    let part = if part.is_empty() || size.fract() == 0.0 { String::new() } else { format!(".{part}") };
    Figure { whole: format!("{sign}{whole}"), part }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        for (value, decimals, text) in [
            (0.0, 2, "0"),
            (3.0, 2, "3"),
            (22630.4, 2, "22,630.40"),
            (0.004, 2, "<0.01"),
            (-0.004, 2, ">-0.01"),
            (0.006, 2, "0.01"),
            (2.999, 2, "3.00"),
            (0.2, 0, "<1"),
            (-1234567.891, 1, "-1,234,567.9"),
            (1.5e16, 2, "1.500e16"),
            (99.5, 0, "100"),
        ] {
            assert_eq!(figure(value, decimals).text(), text, "{value} {decimals}");
        }
    }
}
