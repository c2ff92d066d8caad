//! Trust in a value.
//!
//! A measured value has no mark; a value computed from several has the mark of the least certain one.

use serde::{Serialize, Serializer};
use std::fmt;

/// Trust in a value of an emulated recording. JSON has the text a reader sees: `modelled ±6 %`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mark {
    /// It follows from execution.
    Exact,
    /// Some workgroups ran for all.
    Sampled,
    /// From a model. The mean error against hardware in percent, if it was compared.
    Modelled(Option<f64>),
}

impl Mark {
    /// The mark of a value computed from two: the less certain mark and the larger error; the error is `None`
    /// if either is unknown.
    pub fn with(self, other: Mark) -> Mark {
        match (self, other) {
            (Mark::Modelled(a), Mark::Modelled(b)) => Mark::Modelled(a.zip(b).map(|(a, b)| a.max(b))),
            (Mark::Modelled(error), _) | (_, Mark::Modelled(error)) => Mark::Modelled(error),
            (Mark::Sampled, _) | (_, Mark::Sampled) => Mark::Sampled,
            (Mark::Exact, Mark::Exact) => Mark::Exact,
        }
    }
}

/// Largest mean error in percent at which a modelled number has the sign `~`.
const ABOUT: f64 = 10.0;

impl Mark {
    /// Prefix shown before a number; empty if exact.
    pub fn sign(self) -> &'static str {
        match self {
            Mark::Exact => "",
            Mark::Sampled => "°",
            Mark::Modelled(Some(error)) if error <= ABOUT => "~",
            Mark::Modelled(Some(_)) => "≈",
            Mark::Modelled(None) => "?",
        }
    }
}

/// A number and its mark; no mark if measured. It is shown with the sign as prefix.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Known {
    /// The number.
    pub value: f64,
    /// Its mark.
    pub trust: Option<Mark>,
}

impl Known {
    /// A number computed from this one alone.
    pub fn map(self, compute: impl FnOnce(f64) -> f64) -> Known {
        Known { value: compute(self.value), ..self }
    }

    /// A number computed from two.
    pub fn with(self, other: Known, compute: impl FnOnce(f64, f64) -> f64) -> Known {
        let trust = match (self.trust, other.trust) {
            (Some(one), Some(other)) => Some(one.with(other)),
            (one, other) => one.or(other),
        };
        Known { value: compute(self.value, other.value), trust }
    }

    /// The quotient of two; a measured or exact 0 keeps its mark, whatever the mark of the divisor.
    pub fn over(self, divisor: Known) -> Known {
        match self {
            Known { value: 0.0, trust: None | Some(Mark::Exact) } if divisor.value > 0.0 => self,
            _ => self.with(divisor, |a, b| a / b),
        }
    }

    /// The number as `text` writes it, with its sign.
    pub fn text(self, text: impl FnOnce(f64) -> String) -> String {
        format!("{}{}", self.trust.map_or("", Mark::sign), text(self.value))
    }
}

impl From<f64> for Known {
    fn from(value: f64) -> Known {
        Known { value, trust: None }
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.trust.map_or("", Mark::sign))?;
        fmt::Display::fmt(&self.value, f)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mark::Exact => write!(f, "exact"),
            Mark::Sampled => write!(f, "sampled"),
            Mark::Modelled(None) => write!(f, "modelled"),
            Mark::Modelled(Some(error)) => write!(f, "modelled ±{} %", Percent(*error)),
        }
    }
}

impl Serialize for Mark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Mark {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Mark".into()
    }

    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Trust in a number: `exact`, `sampled`, `modelled`, `modelled ±12 %`.",
            "type": "string",
            "pattern": "^(exact|sampled|modelled( ±[0-9.]+ %)?)$",
        })
    }
}

/// An error in percent, as shown: whole percents, tenths below one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Percent(pub f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 0.95 { write!(f, "{:.1}", self.0) } else { write!(f, "{:.0}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_less_sure_mark_stays() {
        let (rough, fine) = (Mark::Modelled(Some(20.0)), Mark::Modelled(Some(0.25)));
        for (marks, shown) in [
            (vec![Mark::Exact, Mark::Exact], "exact"),
            (vec![Mark::Exact, Mark::Sampled], "sampled"),
            (vec![Mark::Sampled, fine], "modelled ±0.2 %"),
            (vec![fine, Mark::Exact, rough], "modelled ±20 %"),
            (vec![rough, Mark::Modelled(None)], "modelled"),
        ] {
            let found = marks.iter().copied().reduce(Mark::with).unwrap();
            assert_eq!(found.to_string(), shown);
            let found = marks.into_iter().rev().reduce(Mark::with).unwrap();
            assert_eq!(found.to_string(), shown);
        }
    }

    #[test]
    fn numbers_are_shown_with_their_signs() {
        let (count, time) = (Known::from(3.0), Known { value: 2.0, trust: Some(Mark::Modelled(Some(20.0))) });
        let exact = |value| Known { value, trust: Some(Mark::Exact) };
        for (known, shown) in [
            (count, "3.0"),
            (time, "≈2.0"),
            (exact(3.0), "3.0"),
            (count.with(time, |a, b| a * b), "≈6.0"),
            (exact(3.0).over(time), "≈1.5"),
            (exact(0.0).over(time), "0.0"),
            (time.map(|it| it - 2.0).over(time), "≈0.0"),
        ] {
            assert_eq!(format!("{known:.1}"), shown);
            assert_eq!(known.text(|value| format!("{value:.1}")), shown);
        }
    }
}
