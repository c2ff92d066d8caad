//! One fact: its value and its source.
//!
//! Arithmetic needs a [`Fact`], which always has a value; a value that may be unknown is [`Known`], which has
//! a reason instead.

use serde::Deserialize;

/// Source of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Printed by a profiler on that GPU.
    Recorded,
    /// Measured by a microbenchmark.
    Measured,
    /// Public data sheet, tuning guide or instruction manual.
    Vendor,
    /// A published model of hardware of its kind, not of this GPU.
    Published,
    /// LLVM's description of the target.
    Llvm,
    /// Follows from other facts by arithmetic.
    Derived,
}

/// A known value.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact<T> {
    /// The value, in the unit its name says.
    pub value: T,
    /// Source of the value.
    pub basis: Basis,
    /// Remark for readers of the number.
    pub note: Option<String>,
}

/// A value that may be unknown.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
pub enum Known<T> {
    /// Known.
    Fact(Fact<T>),
    /// Not known, or the GPU has no such thing.
    #[serde(rename_all = "lowercase")]
    Missing(Missing),
}

/// Why a fact is absent.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Missing {
    /// The reason, as a phrase.
    pub missing: String,
}

impl<T> Known<T> {
    /// The value, or the reason why there is none.
    pub fn get(&self) -> Result<&T, &str> {
        match self {
            Known::Fact(fact) => Ok(&fact.value),
            Known::Missing(reason) => Err(&reason.missing),
        }
    }
}

impl<T: Copy> Known<T> {
    /// The value, if known.
    pub fn value(&self) -> Option<T> {
        self.get().ok().copied()
    }
}
