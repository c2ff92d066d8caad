//! Why a value is absent.

use serde::{Serialize, Serializer};
use std::fmt;

/// Reason why a value is missing. In JSON `{"missing": "reason"}`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Missing {
    /// The recording lacks these counters or other columns.
    Columns(Vec<String>),
    /// The recording lacks these columns and the given number of further ones.
    SomeColumns(Vec<String>, usize),
    /// No dispatch is selected.
    Dispatches,
    /// A spread needs two dispatches, and only one was recorded.
    SecondDispatch,
    /// No dispatch has all the counters that the value is computed from.
    CommonDispatch,
    /// The recording has no times.
    Durations,
    /// The divisor is 0 in every dispatch.
    DivisorIsZero,
    /// The value is not finite.
    NotFinite,
    /// The recording lacks this fact of the machine.
    MachineFact(String),
    /// The target of the GPU is unknown.
    TargetFacts,
    /// The wave slots of the GPU are unknown.
    WaveSlots,
    /// No rate with a known ceiling was recorded.
    Rate,
    /// Nothing defines this metric.
    Definition(String),
    /// One trace was read, and ranks are compared.
    Ranks,
    /// An emulated recording has no counters that only time decides.
    EmulatedTime,
    /// Another reason, as a phrase: from a data file or from the code that reports it.
    Because(String),
}

impl Missing {
    /// A reason as a phrase.
    pub fn because(reason: impl Into<String>) -> Missing {
        Missing::Because(reason.into())
    }

    /// The missing inputs as a phrase: "TCC_HIT, TCC_MISS"; the reason if it already names them.
    pub fn needed(&self) -> String {
        match self {
            Missing::Columns(names) => names.join(", "),
            Missing::SecondDispatch => "two dispatches or more".to_owned(),
            _ => self.to_string(),
        }
    }

    /// The same reason, with a few of many columns named.
    pub fn shortened(self) -> Missing {
        const MOST: usize = 3;
        match self {
            Missing::Columns(mut names) if names.len() > MOST + 1 => {
                let more = names.split_off(MOST).len();
                Missing::SomeColumns(names, more)
            }
            other => other,
        }
    }

    /// Combines reasons: all missing columns together, or the first other reason.
    pub fn together<'a>(reasons: impl IntoIterator<Item = &'a Missing>) -> Option<Missing> {
        let mut all: Vec<String> = Vec::new();
        for reason in reasons {
            match reason {
                Missing::Columns(names) => all.extend(names.iter().cloned()),
                other => return Some(other.clone()),
            }
        }
        let mut seen = std::collections::HashSet::new();
        all.retain(|name| seen.insert(name.clone()));
        (!all.is_empty()).then_some(Missing::Columns(all))
    }
}

impl From<String> for Missing {
    fn from(reason: String) -> Missing {
        Missing::Because(reason)
    }
}

impl From<&str> for Missing {
    fn from(reason: &str) -> Missing {
        Missing::Because(reason.to_owned())
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Columns(names) => write!(out, "needs {}: not recorded", names.join(", ")),
            Missing::SomeColumns(names, more) => {
                write!(out, "needs {} and {more} more counters, which were not recorded", names.join(", "))
            }
            Missing::Dispatches => write!(out, "no dispatch is selected"),
            Missing::SecondDispatch => write!(out, "needs two dispatches or more"),
            Missing::CommonDispatch => write!(out, "no dispatch has all the counters it is computed from"),
            Missing::Durations => write!(out, "the durations of the dispatches are not known"),
            Missing::DivisorIsZero => write!(out, "the divisor is 0 in every dispatch"),
            Missing::NotFinite => write!(out, "the value is not finite"),
            Missing::MachineFact(name) => write!(out, "the recording does not say `{name}`"),
            Missing::TargetFacts => write!(out, "facts of the GPU target"),
            Missing::WaveSlots => write!(out, "the GPU's wave slots are not known"),
            Missing::Rate => write!(out, "no rate with a known ceiling was recorded"),
            Missing::Definition(metric) => write!(out, "there is no metric `{metric}`"),
            Missing::Ranks => write!(out, "traces of several ranks"),
            Missing::EmulatedTime => write!(out, "what only time decides"),
            Missing::Because(reason) => out.write_str(reason),
        }
    }
}

impl Serialize for Missing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written {
            missing: String,
        }
        Written { missing: self.to_string() }.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Missing {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Missing".into()
    }

    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A value that cannot be given, and why.",
            "type": "object",
            "properties": { "missing": { "type": "string" } },
            "required": ["missing"],
            "additionalProperties": false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &[&str]) -> Missing {
        Missing::Columns(names.iter().map(|it| it.to_string()).collect())
    }

    #[test]
    fn columns_are_taken_together_and_other_reasons_stand_first() {
        let (a, b) = (columns(&["A", "B"]), columns(&["B", "C"]));
        for (reasons, expected) in [
            (vec![], None),
            (vec![&a], Some(columns(&["A", "B"]))),
            (vec![&a, &b], Some(columns(&["A", "B", "C"]))),
            (vec![&a, &Missing::Durations, &b], Some(Missing::Durations)),
        ] {
            assert_eq!(Missing::together(reasons), expected);
        }
    }

    #[test]
    fn many_columns_are_shortened() {
        for (names, expected) in [
            (&["A", "B", "C", "D"][..], "needs A, B, C, D: not recorded"),
            (&["A", "B", "C", "D", "E"], "needs A, B, C and 2 more counters, which were not recorded"),
        ] {
            assert_eq!(columns(names).shortened().to_string(), expected);
        }
        assert_eq!(Missing::Durations.shortened(), Missing::Durations);
    }
}
