//! Numbers that may be missing, with and without a unit.

use crate::Missing;
use serde::Serialize;

/// A number, or the reason why it is missing. In JSON a number, or an object `{"missing": "reason"}`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Number {
    /// Known; always finite.
    Known(f64),
    /// Not known.
    Missing(Missing),
}

impl Number {
    /// The value, if known.
    pub fn get(&self) -> Option<f64> {
        match self {
            Number::Known(value) => Some(*value),
            Number::Missing(_) => None,
        }
    }

    /// Why there is none.
    pub fn reason(&self) -> Option<&Missing> {
        match self {
            Number::Known(_) => None,
            Number::Missing(missing) => Some(missing),
        }
    }

    /// No number, for a reason as a phrase.
    pub fn missing(reason: impl Into<String>) -> Self {
        Number::Missing(Missing::Because(reason.into()))
    }
}

impl From<Result<f64, Missing>> for Number {
    fn from(value: Result<f64, Missing>) -> Self {
        match value {
            Ok(value) => Number::from(value),
            Err(missing) => Number::Missing(missing),
        }
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        if value.is_finite() { Number::Known(value) } else { Number::Missing(Missing::NotFinite) }
    }
}

/// A number with its unit: `GB/s`, `req per wave`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantity {
    /// The number.
    pub value: Number,
    /// Its unit; empty for plain counts.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unit: String,
}
