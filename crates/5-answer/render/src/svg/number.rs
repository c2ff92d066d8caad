//! Numbers as charts show them: three digits and a prefix.
//!
//! A chart is for comparing at a glance; the tables have the exact numbers.

/// A number with a prefix of its unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scaled {
    /// Three digits.
    pub digits: String,
    /// `k`, `M`, `G`, …; empty for one.
    pub prefix: &'static str,
}

/// Prefixes by powers of a thousand.
const PREFIXES: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

impl Scaled {
    /// Scales a number.
    pub fn of(value: f64) -> Self {
        let mut size = value.abs();
        let mut at = 0;
        while size >= 999.5 && at + 1 < PREFIXES.len() {
            size /= 1000.0;
            at += 1;
        }
        let sign = if value < 0.0 { "-" } else { "" };
        Scaled { digits: format!("{sign}{}", short(size)), prefix: PREFIXES[at] }
    }
}

/// Three digits, none that say nothing: `0.497`, `65.2`, `1640`.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 {
        return format!("{value:.1e}");
    }
    let decimals = if size == 0.0 || size >= 99.95 {
        0
    } else if size >= 9.995 {
        1
    } else if size >= 0.9995 {
        2
    } else if size >= 0.001 {
        3
    } else {
        return format!("{value:.1e}");
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A rate whose unit has the prefix of a thousand million: 22,630 `Gflop/s` is `22.6 Tflop/s`.
pub fn rate(value: f64, unit: &str) -> String {
    match unit.strip_prefix('G') {
        Some(base) if value.abs() < 1e30 => {
            let scaled = Scaled::of(value * 1e9);
            format!("{} {}{base}", scaled.digits, scaled.prefix)
        }
        Some(_) => format!("{value:.1e} {unit}"),
        None => quantity(value, unit),
    }
}

/// A number with its unit: `5.80 M`, `371 MB`, `67.4 %`.
pub fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "%" => format!("{} %", short(value)),
        "" => {
            let scaled = Scaled::of(value);
            format!(
                "{}{}",
                scaled.digits,
                if scaled.prefix.is_empty() { String::new() } else { format!(" {}", scaled.prefix) }
            )
        }
        unit if unit.starts_with('G') => rate(value, unit),
        "cycle" if value.abs() < 1e6 => format!("{value:.0} {unit}"),
        unit => {
            let scaled = Scaled::of(value);
            format!("{} {}{unit}", scaled.digits, scaled.prefix)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (value, unit, text) in [
            (0.0, "", "0"),
            (0.4971, "", "0.497"),
            (65.21, "%", "65.2 %"),
            (100.0, "%", "100 %"),
            (1638.4, "GB/s", "1.64 TB/s"),
            (0.02, "GB/s", "20 MB/s"),
            (531.2, "Gflop/s", "531 Gflop/s"),
            (22630.4, "Gflop/s", "22.6 Tflop/s"),
            (371_211_840.0, "B", "371 MB"),
            (999.7, "", "1 k"),
            (-2312.8, "", "-2.31 k"),
            (0.00001, "", "1.0e-5"),
            (118.2, "cycle", "118 cycle"),
            (1e30, "", "1.0e12 E"),
            (1e300, "GB/s", "1.0e300 GB/s"),
        ] {
            assert_eq!(quantity(value, unit), text, "{value} {unit}");
        }
    }
}
