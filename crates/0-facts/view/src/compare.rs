//! What changed between two builds of the same kernels.
//!
//! The one idea to keep in mind: a change carries its own judgement (better, worse, neither) and whether a
//! threshold forbids it, so that text and JSON say the same.

use crate::{FileError, Finding};
use serde::Serialize;

/// Version of the JSON written by `diff --format json`.
pub const DIFF_SCHEMA: &str = "rockhound.diff/1";

/// All differences between two sets of kernels.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// [`DIFF_SCHEMA`].
    pub schema: &'static str,
    /// What was compared: the paths of the old build.
    pub old: String,
    /// The paths of the new build.
    pub new: String,
    /// Kernels in both that differ, what got worse first.
    pub changed: Vec<KernelComparison>,
    /// For each value that differs somewhere, in how many kernels and which way.
    pub totals: Vec<ChangeTotal>,
    /// Kernels in the new build only.
    pub added: Vec<KernelName>,
    /// Kernels in the old build only.
    pub removed: Vec<KernelName>,
    /// Kernels in both without a difference.
    pub unchanged: u64,
    /// Changes beyond a threshold.
    pub regressions: u64,
    /// Inputs that could not be read.
    pub errors: Vec<FileError>,
}

/// How often one value differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChangeTotal {
    /// Key, as thresholds name it.
    pub metric: String,
    /// Words for a reader.
    pub label: String,
    /// Kernels in which it got better.
    pub better: u64,
    /// Kernels in which it got worse.
    pub worse: u64,
    /// Kernels in which it differs without being either.
    pub different: u64,
}

/// A kernel by name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KernelName {
    /// Linker name.
    pub name: String,
    /// Demangled name.
    pub demangled: String,
    /// Processor with features.
    pub target: String,
}

/// One kernel that differs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct KernelComparison {
    /// In the old build.
    pub old: KernelName,
    /// In the new build.
    pub new: KernelName,
    /// Values that differ.
    pub changes: Vec<Change>,
    /// Findings only the new build has.
    pub appeared: Vec<Finding>,
    /// Findings only the old build has.
    pub gone: Vec<Finding>,
}

/// One value that differs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// Key, as thresholds name it: `vgprs`, `mix.mfma`, `findings.severe`.
    pub metric: String,
    /// Words for a reader: `VGPRs`.
    pub label: String,
    /// Unit; empty for counts.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Value in the old build; absent where it is not known.
    pub old: Option<f64>,
    /// Value in the new build.
    pub new: Option<f64>,
    /// What the change means.
    pub verdict: Verdict,
    /// The threshold it breaks, as written: `+4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaks: Option<String>,
}

/// What a change means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Costs less or allows more.
    Better,
    /// Costs more or allows less.
    Worse,
    /// Different; which is better depends.
    Neutral,
}
