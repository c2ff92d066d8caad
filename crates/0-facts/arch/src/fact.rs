//! One fact: its value and what it rests on.
//!
//! The one idea to keep in mind: arithmetic needs a [`Fact`], which is always there; what may be unknown is
//! [`Known`], and then the reason stands in its place.

use serde::Deserialize;

/// What a fact rests on.
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
    /// What it rests on.
    pub basis: Basis,
    /// What a reader of the number should know.
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
