//! Program counter samples of a kernel and of its instructions.
//!
//! Samples estimate where waves spend their time; they count no executions.

use crate::WaitShare;
use serde::Serialize;

/// Samples of a kernel, for its listing.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListingSamples {
    /// How they were taken: `stochastic`, `host trap`.
    pub method: String,
    /// Files they were read from.
    pub sources: Vec<String>,
    /// Dispatches with samples.
    pub dispatches: u64,
    /// Samples.
    pub count: u64,
    /// Of these, in code outside the listing: functions called.
    pub elsewhere: u64,
    /// Of these, samples that match several instructions with the same text, if the recording has no
    /// addresses.
    pub ambiguous: u64,
    /// Percent of the samples in which the instruction issued; absent where the method does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued: Option<f64>,
    /// Stall reasons of the other samples, most frequent first, in percent of all samples.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitShare>,
    /// The code object is not available: only instructions that were sampled are listed.
    pub sampled_only: bool,
}

/// The samples at one instruction.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineSamples {
    /// Samples.
    pub count: u64,
    /// Percent of the kernel's samples.
    pub share: f64,
    /// Percent of these samples in which it issued; absent where the method does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued: Option<f64>,
    /// Stall reasons of the other samples, most frequent first, in percent of the samples at this
    /// instruction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitShare>,
}
