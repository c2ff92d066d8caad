//! Findings compared with a baseline and with exceptions.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the JSON written by `--write-baseline`.
pub const BASELINE_SCHEMA: &str = "rockhound.baseline/1";

/// Position of a finding relative to a baseline and exceptions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GateState {
    /// The baseline lacks it.
    New,
    /// The baseline has it with a lower severity or a better value.
    Worse,
    /// The baseline has it.
    Known,
    /// An exception allows it.
    Allowed,
}

impl GateState {
    /// The word used in every format: `new`, `worse`, `known`, `allowed`.
    pub const fn as_str(self) -> &'static str {
        match self {
            GateState::New => "new",
            GateState::Worse => "worse",
            GateState::Known => "known",
            GateState::Allowed => "allowed",
        }
    }
}

/// Judgement of a gate on one finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateMark {
    /// Relative to the baseline or the exceptions.
    pub state: GateState,
    /// Reason of the exception, or what got worse; empty for others.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Last day of the exception, `2027-01-31`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

impl GateMark {
    /// True if the finding does not fail the gate.
    pub fn is_accepted(&self) -> bool {
        matches!(self.state, GateState::Known | GateState::Allowed)
    }

    /// The mark in words: `allowed until 2027-01-31: rarely launched`.
    pub fn words(&self) -> String {
        let mut words = self.state.as_str().to_owned();
        if let Some(until) = &self.until {
            words += &format!(" until {until}");
        }
        if !self.reason.is_empty() {
            words += &format!(": {}", self.reason);
        }
        words
    }
}

/// Findings of a run, for later runs to be compared with.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Baseline {
    /// [`BASELINE_SCHEMA`].
    pub schema: String,
    /// Command that wrote it: `inspect`, `tunedb lint`.
    pub command: String,
    /// Findings, equal ones joined, by rule, kernel and place.
    pub findings: Vec<BaselineFinding>,
}

/// Findings of one rule at one place.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BaselineFinding {
    /// Rule.
    pub rule: String,
    /// Linker name of the kernel, problem or check; empty if the finding is about none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    /// Target of the code, or file; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Highest severity among them.
    pub severity: String,
    /// Number of findings.
    pub count: u64,
    /// Worst values among them, by name, of the numbers that tell whether the finding got worse.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, f64>,
}

impl BaselineFinding {
    /// Rule, kernel and place as one phrase: `RES001 in acc (gfx942)`.
    pub fn words(&self) -> String {
        let mut words = self.rule.clone();
        if !self.kernel.is_empty() {
            words += &format!(" in {}", self.kernel);
        }
        if !self.place.is_empty() {
            words += &format!(" ({})", self.place);
        }
        words
    }
}

/// An exception that was not applied.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleException {
    /// Rule and kernel or place as written: `RES001 in acc*`.
    pub exception: String,
    /// Its reason.
    pub reason: String,
    /// Last day, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// Comparison of all findings with a baseline and exceptions.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateSummary {
    /// File of the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Findings that the baseline has.
    pub known: u64,
    /// Findings that it lacks.
    pub new: u64,
    /// Findings that got worse.
    pub worse: u64,
    /// Findings that only the baseline has, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// File of the exceptions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Findings that an exception allows.
    pub allowed: u64,
    /// Exceptions whose last day has passed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expired: Vec<IdleException>,
    /// Exceptions that match no finding.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<IdleException>,
}
