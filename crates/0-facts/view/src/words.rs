//! Lists and counts in words.

/// `HBM`, `HBM or L2`, `HBM, L2 or LDS`.
pub fn listed<T: AsRef<str>>(items: &[T], last: &str) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match &items[..] {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., end] => format!("{} {last} {end}", all.join(", ")),
    }
}

/// `1 workgroup`, `2 workgroups`; the plural takes an `s`.
pub fn counted(count: impl Into<f64>, noun: &str) -> String {
    let count = count.into();
    let text = format!("{count:.0}");
    if text == "1" { format!("{text} {noun}") } else { format!("{text} {noun}s") }
}

/// `870 ns`, `17.4 us`, `3.36 ms`: three digits.
pub fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => return format!("{ns:.0} ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        for (ns, text) in [
            (870.0, "870 ns"),
            (1234.0, "1.23 us"),
            (17_440.0, "17.4 us"),
            (3_356_652.0, "3.36 ms"),
            (2e9, "2.00 s"),
        ] {
            assert_eq!(duration(ns), text);
        }
    }

    #[test]
    fn lists_and_counts_are_english() {
        for (items, text) in [
            (&[][..], ""),
            (&["HBM"], "HBM"),
            (&["HBM", "L2"], "HBM or L2"),
            (&["HBM", "L2", "LDS"], "HBM, L2 or LDS"),
        ] {
            assert_eq!(listed(items, "or"), text);
        }
        for (count, text) in [(0.0, "0 waves"), (1.0, "1 wave"), (1.2, "1 wave"), (304.0, "304 waves")] {
            assert_eq!(counted(count, "wave"), text);
        }
    }
}
