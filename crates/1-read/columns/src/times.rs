//! Time stamps, which need all 64 bits of nanoseconds and may have fractions of a nanosecond.
//!
//! Whole nanoseconds and the fraction are in separate columns, so neither is rounded.

use crate::number::{NotANumber, number};
use crate::values::Values;

/// Whole nanoseconds, rounded down, and the fraction of one that remains.
pub type Time = (i64, f64);

/// Time stamps of a column, split so that neither 64 bits of nanoseconds nor a fraction of one is lost.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Times {
    /// Whole nanoseconds, rounded down.
    pub whole: Vec<Option<i64>>,
    /// The rest, at least 0 and below 1.
    pub fraction: Values,
}

impl Times {
    /// Appends a cell.
    pub fn push(&mut self, time: Option<Time>, expected: usize) {
        self.whole.push(time.map(|time| time.0));
        self.fraction.push(Some(time.map_or(0.0, |time| time.1)), expected);
    }
    /// Keeps the first rows.
    pub fn truncate(&mut self, rows: usize) {
        self.whole.truncate(rows);
        self.fraction.truncate(rows);
    }
}

/// The fractions of times as a column, which has no cells where all are whole.
pub fn fractions(times: impl Iterator<Item = Option<Time>>) -> Values {
    let fractions: Values = times.map(|time| Some(time.map_or(0.0, |time| time.1))).collect();
    if fractions.iter().all(|fraction| fraction == Some(0.0)) { Values::new() } else { fractions }
}

/// Parts of a nanosecond that are kept: profilers write three digits after the point, means of passes a few
/// more.
const PARTS: i128 = 1_000_000_000;

/// A time stamp: whole nanoseconds, rounded down, and the fraction that remains.
///
/// # Errors
/// If it is no number.
pub fn parse(field: &[u8]) -> Result<Option<Time>, NotANumber> {
    if let Ok(text) = std::str::from_utf8(field) {
        let text = text.trim();
        if let Ok(t) = text.parse::<i64>() {
            return Ok(Some((t, 0.0)));
        }
        // The digits may be more than a floating-point number holds.
        if let Some(parts) = decimal(text) {
            let whole = parts.div_euclid(PARTS);
            let fraction = parts.rem_euclid(PARTS) as f64 / PARTS as f64;
            return Ok(i64::try_from(whole).ok().map(|whole| (whole, fraction)));
        }
    }
    Ok(number(field)?.and_then(split))
}

/// A decimal number, with exponent or without, in parts of a nanosecond; `None` if it is malformed or too
/// large.
fn decimal(text: &str) -> Option<i128> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, number) = match number.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    let digits = || whole.bytes().chain(rest.bytes());
    if digits().next().is_none() || !digits().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Digits from here on are parts of a part; the first of them rounds.
    let kept = whole.len() as i64 + i64::from(exponent) + 9;
    let mut parts: i128 = 0;
    for (at, digit) in (0..).zip(digits().map(|b| i128::from(b - b'0'))) {
        if at < kept {
            parts = parts.checked_mul(10)?.checked_add(digit)?;
        } else {
            parts = parts.checked_add(i128::from(at == kept && digit >= 5))?;
            break;
        }
    }
    // Zeros that are not written.
    for _ in 0..(kept - (whole.len() + rest.len()) as i64).clamp(0, 64) {
        parts = parts.checked_mul(10)?;
    }
    Some(if negative { -parts } else { parts })
}

/// Difference of two times in nanoseconds, exact as written.
pub fn between(start: Time, end: Time) -> Option<f64> {
    let whole = end.0.checked_sub(start.0)?;
    if start.1 == 0.0 && end.1 == 0.0 {
        return Some(whole as f64);
    }
    // Fractions are decimal; the difference of binary fractions would not be an exact decimal.
    let parts = |fraction: f64| (fraction * PARTS as f64).round() as i128;
    let all = i128::from(whole) * PARTS + parts(end.1) - parts(start.1);
    if all.unsigned_abs() <= 1 << 53 {
        return Some(all as f64 / PARTS as f64);
    }
    let sign = if all < 0 { "-" } else { "" };
    let (all, parts) = (all.unsigned_abs(), PARTS as u128);
    format!("{sign}{}.{:09}", all / parts, all % parts).parse().ok()
}

/// A time as whole nanoseconds, rounded down, and the remaining fraction; `None` if it does not fit.
pub fn split(time: f64) -> Option<Time> {
    (time.abs() < 9.2e18).then(|| (time.floor() as i64, time - time.floor()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stamps_keep_their_fractions() {
        for (text, want) in [
            ("18515.25", Some((18_515, 0.25))),
            ("13386742234691895.75", Some((13_386_742_234_691_895, 0.75))),
            ("13386742234691895.0", Some((13_386_742_234_691_895, 0.0))),
            ("7.99999999999999999999", Some((8, 0.0))),
            ("-3.5", Some((-4, 0.5))),
            ("8.5e1", Some((85, 0.0))),
            ("1.3386742234691895e+16", Some((13_386_742_234_691_895, 0.0))),
            ("1.3386742234691895625E13", Some((13_386_742_234_691, 0.895_625))),
            ("5e-1", Some((0, 0.5))),
            ("1e-30", Some((0, 0.0))),
            ("9223372036854775807.5", Some((i64::MAX, 0.5))),
            ("9223372036854775808", None),
            ("1e300", None),
            ("", None),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(want), "{text}");
        }
        assert_eq!(parse(b"1.2.3"), Err(NotANumber));
        assert_eq!(parse(b"1e9e"), Err(NotANumber));
    }

    #[test]
    fn differences_are_those_of_the_numbers_as_written() {
        for (start, end, want) in [
            ("41551804040980.234", "41551804048853.695", 7873.461),
            ("41551804040980.234", "41551804048853.234", 7873.0),
            ("13386742234691895.1", "13386742234691895.3", 0.2),
            ("0.1", "20000000.4", 20_000_000.3),
            ("5.75", "5.25", -0.5),
            ("-3.5", "8.25", 11.75),
            ("1.3386742234691895e+16", "13386742234691896", 1.0),
        ] {
            let time = |text: &str| parse(text.as_bytes()).unwrap().unwrap();
            assert_eq!(between(time(start), time(end)), Some(want), "{start} to {end}");
        }
        assert_eq!(between((i64::MIN, 0.0), (i64::MAX, 0.0)), None);
    }
}
