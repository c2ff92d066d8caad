//! How far a value can be trusted.
//!
//! The one idea to keep in mind: a value that was measured has no mark; what is computed from several values is as sure as the
//! least sure of them.

use serde::{Serialize, Serializer};
use std::fmt;

/// What a value of an emulated recording is. In JSON as it is said to a reader: `modelled ±6 %`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mark {
    /// It follows from execution.
    Exact,
    /// Some workgroups ran for all.
    Sampled,
    /// It comes from a model. How far it lies from hardware on average, in percent, where that was compared.
    Modelled(Option<f64>),
}

impl Mark {
    /// The mark of what is computed from two values: the less sure one, the larger error, and none where one is not known.
    pub fn with(self, other: Mark) -> Mark {
        match (self, other) {
            (Mark::Modelled(a), Mark::Modelled(b)) => Mark::Modelled(a.zip(b).map(|(a, b)| a.max(b))),
            (Mark::Modelled(error), _) | (_, Mark::Modelled(error)) => Mark::Modelled(error),
            (Mark::Sampled, _) | (_, Mark::Sampled) => Mark::Sampled,
            (Mark::Exact, Mark::Exact) => Mark::Exact,
        }
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
}
