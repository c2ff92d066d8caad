//! Time stamps, which need all 64 bits of nanoseconds and may have fractions of one.
//!
//! The one idea to keep in mind: whole nanoseconds and the fraction stand in columns of their own, so neither is rounded.

use crate::number::number;
use crate::values::Values;

/// Whole nanoseconds, rounded down, and the fraction of one that remains.
pub(crate) type Time = (i64, f64);

/// Time stamps of a column, split so that neither 64 bits of nanoseconds nor a fraction of one is lost.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Times {
    /// Whole nanoseconds, rounded down.
    pub(crate) whole: Vec<Option<i64>>,
    /// The rest, at least 0 and below 1.
    pub(crate) fraction: Values,
}

impl Times {
    /// Appends a cell.
    pub(crate) fn push(&mut self, time: Option<Time>, expected: usize) {
        self.whole.push(time.map(|time| time.0));
        self.fraction.push(Some(time.map_or(0.0, |time| time.1)), expected);
    }
    /// Keeps the first rows.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.whole.truncate(rows);
        self.fraction.truncate(rows);
    }
}

/// The fractions of times as a column, which has no cells where all are whole.
pub(crate) fn fractions(times: impl Iterator<Item = Option<Time>>) -> Values {
    let fractions: Values = times.map(|time| Some(time.map_or(0.0, |time| time.1))).collect();
    if fractions.iter().all(|fraction| fraction == Some(0.0)) { Values::new() } else { fractions }
}

/// A time stamp: whole nanoseconds, rounded down, and the fraction that remains.
pub(crate) fn parse(field: &[u8]) -> Result<Option<Time>, ()> {
    if let Ok(text) = std::str::from_utf8(field) {
        let text = text.trim();
        if let Ok(t) = text.parse::<i64>() {
            return Ok(Some((t, 0.0)));
        }
        // The digits before the point may be more than a floating-point number holds.
        if let Some((whole, rest)) = text.split_once('.')
            && !rest.is_empty()
            && rest.bytes().all(|b| b.is_ascii_digit())
            && !text.starts_with('-')
            && let (Ok(whole), Ok(fraction)) = (whole.parse::<i64>(), format!("0.{rest}").parse::<f64>())
        {
            return Ok(Some(if fraction < 1.0 { (whole, fraction) } else { (whole.saturating_add(1), 0.0) }));
        }
    }
    Ok(number(field)?.and_then(split))
}

/// A time as whole nanoseconds, rounded down, and the fraction that remains; nothing where it does not fit.
pub(crate) fn split(time: f64) -> Option<Time> {
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
            ("1e300", None),
            ("", None),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(want), "{text}");
        }
        assert_eq!(parse(b"1.2.3"), Err(()));
    }
}
