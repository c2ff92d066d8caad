//! Thread trace of a kernel and of its instructions.
//!
//! Counts are exact for the traced waves, which ran on one compute unit of each shader engine.

use serde::Serialize;

/// Thread trace of a kernel, for its listing.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListingTrace {
    /// Files it was read from.
    pub sources: Vec<String>,
    /// Dispatches that were traced.
    pub dispatches: u64,
    /// Number of traced waves; absent if the files lack it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waves: Option<u64>,
    /// Executions by these waves.
    pub hits: u64,
    /// Cycles of all instructions, including stalls.
    pub latency: u64,
    /// Of these, cycles in which the instruction could not issue.
    pub stall: u64,
    /// Cycles between instructions.
    pub idle: u64,
    /// Of the executions, those in code outside the listing: functions called.
    pub elsewhere: u64,
    /// The code object is not available: only instructions of the trace are listed.
    pub traced_only: bool,
}

/// The thread trace of one instruction.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineTrace {
    /// Executions by the traced waves.
    pub hits: u64,
    /// Cycles from the first try to issue to the end of the issue.
    pub latency: u64,
    /// Of these, cycles in which it could not issue.
    pub stall: u64,
    /// Percent of the kernel's stalled cycles.
    pub share: f64,
    /// Cycles between the instruction before and the first try to issue.
    pub idle: u64,
    /// For a wait: address of the memory instruction whose completion it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<u64>,
}
