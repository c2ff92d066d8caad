//! Peak arithmetic rates.
//!
//! A rate is per compute unit and cycle, so that a model's peak is a product of three facts.

use crate::element::ElementType;
use crate::fact::Fact;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Which unit of the SIMD computes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Vector ALU.
    Vector,
    /// Matrix unit.
    Matrix,
}

/// Operations per compute unit and cycle for one element type.
#[derive(Clone, Debug, PartialEq)]
pub struct PeakRate<'a> {
    /// Unit.
    pub unit: Unit,
    /// Element type.
    pub element: ElementType,
    /// The rate, a multiply-add counting two.
    pub rate: &'a Fact<u32>,
}

/// The rates of a target.
pub(crate) type Rates = BTreeMap<Unit, BTreeMap<ElementType, Fact<u32>>>;
