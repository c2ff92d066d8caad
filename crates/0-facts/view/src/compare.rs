//! Changes between two builds of the same kernels.
//!
//! A change carries its own judgement (better, worse, neither) and whether a threshold forbids it, so that
//! text and JSON say the same.

use crate::Finding;
use serde::Serialize;

/// Version of the JSON written by `diff --format json`.
pub const DIFF_SCHEMA: &str = "rockhound.diff/2";

/// All differences between two builds, the inputs of the answer.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Kernels in both that differ, regressions first.
    pub changed: Vec<KernelComparison>,
    /// For each value that differs, the number of kernels by direction.
    pub totals: Vec<ChangeTotal>,
    /// Kernels in the new build only.
    pub added: Vec<KernelName>,
    /// Kernels in the old build only.
    pub removed: Vec<KernelName>,
    /// Kernels in both without a difference.
    pub unchanged: u64,
    /// Changes beyond a threshold.
    pub regressions: u64,
    /// Changed kernels that text shows.
    #[serde(skip)]
    pub shown: usize,
}

/// How often one value differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeTotal {
    /// Key, as thresholds name it.
    pub metric: String,
    /// Words for a reader.
    pub label: String,
    /// Kernels in which it got better.
    pub better: u64,
    /// Kernels in which it got worse.
    pub worse: u64,
    /// Kernels in which it differs, neither better nor worse.
    pub different: u64,
}

/// A kernel by name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelComparison {
    /// In the old build.
    pub old: KernelName,
    /// In the new build.
    pub new: KernelName,
    /// All changes weighed against each other.
    pub balance: Balance,
    /// Values that differ.
    pub changes: Vec<Change>,
    /// Matched loops whose iterations differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<LoopComparison>,
    /// Findings only the new build has.
    pub appeared: Vec<Finding>,
    /// Findings only the old build has.
    pub gone: Vec<Finding>,
}

/// Overall effect of the changes of a kernel.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Balance {
    /// Better or worse if all relevant changes agree; else neither.
    pub verdict: Verdict,
    /// In words: improvements, regressions, and the values that stay the same.
    pub words: String,
}

/// A loop in both builds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoopComparison {
    /// Nesting depth, from 1.
    pub depth: u32,
    /// An iteration in the old build.
    pub old: LoopSide,
    /// An iteration in the new build.
    pub new: LoopSide,
}

/// Work of one iteration of a loop, excluding nested loops.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoopSide {
    /// Number of the loop on the card.
    pub id: u32,
    /// Instructions.
    pub instructions: u32,
    /// Matrix instructions.
    pub mfma: u32,
    /// Bytes per lane loaded from memory.
    pub load_bytes: u64,
    /// Bytes per lane stored to memory.
    pub store_bytes: u64,
    /// Bytes per lane read from and written to the LDS.
    pub lds_bytes: u64,
    /// Barriers.
    pub barriers: u32,
}

impl LoopSide {
    /// True if two iterations do the same work, whatever the numbers of their loops.
    pub fn does_the_same(&self, other: &LoopSide) -> bool {
        *self == LoopSide { id: self.id, ..other.clone() }
    }
}

/// One value that differs.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// Key, as thresholds name it: `vgprs`, `mix.mfma`, `findings.severe`.
    pub metric: String,
    /// Words for a reader: `VGPRs`.
    pub label: String,
    /// Unit; empty for counts.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Value in the old build; absent if it is unknown.
    pub old: Option<f64>,
    /// Value in the new build.
    pub new: Option<f64>,
    /// Judgement of the change.
    pub verdict: Verdict,
    /// Reason why a difference is not judged: `waves unchanged`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<&'static str>,
    /// The threshold it breaks, as written: `+4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaks: Option<String>,
}

/// Judgement of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Costs less or allows more.
    Better,
    /// Costs more or allows less.
    Worse,
    /// Different; which is better depends on the case.
    Neutral,
}

impl Verdict {
    /// The word used in every format: `better`, `worse`, `neutral`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Neutral => "neutral",
        }
    }
}
