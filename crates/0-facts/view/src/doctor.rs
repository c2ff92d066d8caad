//! The part of an answer that only `doctor` has: machines, environments and commands with their checks.
//!
//! A check with unreadable inputs is [`HostVerdict::Unknown`] with instructions to find out, never a pass.

use crate::GateMark;
use serde::Serialize;

/// Version of the JSON written by `doctor --format json`.
pub const DOCTOR_SCHEMA: &str = "rockhound.doctor/2";

/// Verdict of a check.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HostVerdict {
    /// As wanted.
    Pass,
    /// Not read.
    Unknown,
    /// Likely costs time, or sources disagree.
    Warn,
    /// Costs time or breaks programs.
    Fail,
}

impl HostVerdict {
    /// All, worst first.
    pub const ALL: [HostVerdict; 4] =
        [HostVerdict::Fail, HostVerdict::Warn, HostVerdict::Unknown, HostVerdict::Pass];

    /// The word used in every format: `pass`, `warn`, `fail`, `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            HostVerdict::Pass => "pass",
            HostVerdict::Unknown => "unknown",
            HostVerdict::Warn => "warn",
            HostVerdict::Fail => "fail",
        }
    }
}

/// One value read, with its source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reading {
    /// File, command or variable.
    pub from: String,
    /// Value as read.
    pub value: String,
}

/// One check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostCheck {
    /// Name of the check: `numa-balancing`.
    pub check: &'static str,
    /// Rule it belongs to: `SYS001`.
    pub rule: &'static str,
    /// Subject of the check, as a phrase.
    pub title: &'static str,
    /// HostVerdict.
    pub verdict: HostVerdict,
    /// The finding, or the reason why the state is unknown.
    pub message: String,
    /// Judgement of a gate: known, allowed, new or worse; absent without baseline and exceptions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateMark>,
    /// Values the check read.
    pub readings: Vec<Reading>,
    /// Expected state.
    pub wanted: &'static str,
    /// Why.
    pub why: &'static str,
    /// Workloads for which it matters: `benchmark`, `training`, ...
    pub profiles: Vec<&'static str>,
    /// Where that was read.
    pub source: &'static str,
    /// Command that sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Command that undoes that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// Instructions to find out the unknown value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub find_out: Option<&'static str>,
}

/// One line about a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostFact {
    /// For example `GPUs`.
    pub name: &'static str,
    /// Value, or the reason why it is unknown.
    pub value: String,
    /// Whether it is known.
    pub known: bool,
}

/// One machine, environment or command, examined.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Examined {
    /// Name: of the machine, the bundle or the file.
    pub name: String,
    /// Sources read: `/proc and /sys`, `amd-smi static`.
    pub sources: Vec<String>,
    /// Facts about the machine.
    pub facts: Vec<HostFact>,
    /// Checks, worst first.
    pub checks: Vec<HostCheck>,
    /// Further notes: entries of a bundle that were refused, outputs that were not understood.
    pub notes: Vec<String>,
}

impl Examined {
    /// Number of checks with each verdict.
    pub fn count(&self, verdict: HostVerdict) -> usize {
        self.checks.iter().filter(|check| check.verdict == verdict).count()
    }
}

/// A fact in which a machine of a fleet differs from most.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OddOne {
    /// Machine.
    pub machine: String,
    /// Fact or check.
    pub fact: String,
    /// Its value.
    pub value: String,
    /// The value of most machines.
    pub usual: String,
    /// Number of machines with that value.
    pub usual_count: usize,
}

/// The part of an answer that only `doctor` has.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machines {
    /// Work for which the machines were judged; absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<&'static str>,
    /// Machines in the order given.
    pub machines: Vec<Examined>,
    /// Differences within a fleet; empty unless requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub odd: Vec<OddOne>,
}
