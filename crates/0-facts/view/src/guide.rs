//! The guide to a recording: what limits the kernel, what to change first, and the commands to run next.
//!
//! A guide is short: one verdict, at most three findings and, after a second profile, the changes. Everything
//! else is in the [`Report`](crate::Report) it is made from.

use crate::{Finding, Known, Mark, Missing, Number, Verdict, listed};
use serde::Serialize;

/// Version of the JSON written by `guide --format json`.
pub const GUIDE_SCHEMA: &str = "rockhound.guide/1";

/// Guide to a recording.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Guide {
    /// [`GUIDE_SCHEMA`].
    pub schema: &'static str,
    /// Path of the recording, as given.
    pub path: String,
    /// Options that select the part of the recording that the guide covers: `-k 'gemm.*' -d '>10'`; absent
    /// for all of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub selection: String,
    /// GPU and whether it is emulated: `MI300X (gfx942)`, `MI300X (gfx942), emulated`.
    pub gpu: String,
    /// Limiter of the kernel that takes most time; the first screen of every report.
    pub verdict: GuideVerdict,
    /// The kernels that take most time, the verdict's first.
    pub kernels: Vec<GuideKernel>,
    /// Kernels that are not in `kernels`.
    pub more_kernels: u64,
    /// Changes since the base; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<GuideChanges>,
    /// Findings worth acting on, most time lost first; at most three.
    pub findings: Vec<GuideFinding>,
    /// Findings that are not among them.
    pub more_findings: u64,
    /// Next steps, in order.
    pub steps: Vec<GuideStep>,
    /// Reasons to trust the numbers less: lost time stamps, modelled counters.
    pub caveats: Vec<String>,
}

/// Limiter of a kernel, and its consequence.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuideVerdict {
    /// The kernel of the verdict: the one that takes most time.
    pub kernel: String,
    /// Percent of the time of the selected dispatches that it takes.
    pub time_percent: Number,
    /// One sentence: "at the roof of HBM bandwidth", "bound by latency".
    pub headline: String,
    /// Limiter: `HBM`, `vector f32`, `vector issue`, `latency`, `launch`; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_by: Option<String>,
    /// Other possible limiters: within the noise of the dispatches, or below the ceilings of the data sheet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<String>,
    /// Ceilings that do not stop it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<String>,
    /// Unrecorded inputs that could change the verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// Further grounds of the verdict, in sentences: the dispatches used, limits within the noise, missing
    /// inputs, substituted counters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The numbers of the verdict in a sentence, or the reason for a missing verdict.
    pub because: String,
    /// Percent of the nearest roof reached.
    pub percent_of_roof: Number,
    /// Speedup that the nearest roof allows.
    pub gap: Number,
    /// Trust in these two; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roof_trust: Option<Mark>,
    /// Trust in all its numbers; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Mark>,
    /// Consequence for the next change.
    pub meaning: String,
}

impl GuideVerdict {
    /// No verdict, for a reason.
    pub fn unknown(kernel: impl Into<String>, reason: Missing) -> Self {
        GuideVerdict {
            kernel: kernel.into(),
            time_percent: Number::Missing(reason.clone()),
            headline: "what stops it cannot be said".to_owned(),
            bound_by: None,
            or: Vec::new(),
            excluded: Vec::new(),
            lacks: Vec::new(),
            notes: Vec::new(),
            because: reason.to_string(),
            percent_of_roof: Number::Missing(reason.clone()),
            gap: Number::Missing(reason),
            roof_trust: None,
            trust: None,
            meaning: String::new(),
        }
    }
}

/// One of the kernels that take most time.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuideKernel {
    /// Name.
    pub name: String,
    /// Dispatches.
    pub dispatches: u64,
    /// Time of all of them, ns.
    pub time_ns: Number,
    /// Trust in the value; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_trust: Option<Mark>,
    /// Percent of the time of the selected dispatches.
    pub time_percent: Number,
    /// Trust in the percentage; absent if measured, and if there is only one kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_trust: Option<Mark>,
    /// Purpose of a kernel that the HIP runtime launches: `a copy (hipMemcpy)`; absent for kernels of the
    /// program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Limiter of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_by: Option<String>,
    /// Ceilings that do not limit it, if the recording allows no more precise verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<String>,
    /// Percent of the nearest roof reached.
    pub percent_of_roof: Number,
    /// Trust in the value; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roof_trust: Option<Mark>,
}

impl GuideKernel {
    /// The limiter with the fraction of the nearest roof: `HBM (≈73 %)`; `None` if unknown.
    pub fn bound(&self) -> Option<String> {
        if let Some(runtime) = &self.runtime {
            return Some(runtime.clone());
        }
        let Some(by) = &self.bound_by else {
            return (!self.excluded.is_empty()).then(|| format!("not {}", listed(&self.excluded, "or")));
        };
        Some(match self.percent_of_roof.get() {
            Some(value) => format!("{by} ({:.0} %)", Known { value, trust: self.roof_trust }),
            None => by.clone(),
        })
    }
}

/// A finding worth acting on.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuideFinding {
    /// Kernel and finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Other kernels with a finding of the same rule.
    pub also_in: u64,
}

/// Changes since the base.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuideChanges {
    /// Path of the base, as given.
    pub base: String,
    /// Time of all selected dispatches.
    pub total: GuideTotal,
    /// The only kernel of each recording that the other lacks; they may be one kernel under two names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposed: Option<GuidePair>,
    /// Kernels that both have, most time first.
    pub kernels: Vec<GuideChange>,
    /// Kernels only the new recording has.
    pub new_kernels: Vec<String>,
    /// Kernels only the base has.
    pub gone_kernels: Vec<String>,
    /// Findings only the new recording has.
    pub appeared: Vec<Finding>,
    /// Findings only the base has.
    pub gone: Vec<Finding>,
}

/// Time of all selected dispatches, in the base and in the new recording.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuideTotal {
    /// In the base, ns.
    pub before_ns: Number,
    /// Trust in the value; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_trust: Option<Mark>,
    /// In the new recording, ns.
    pub after_ns: Number,
    /// Trust in the value; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_trust: Option<Mark>,
    /// Percent of the base's time; absent if either is unknown.
    pub change_percent: Option<f64>,
}

/// Kernels of two recordings that may be the same, in the syntax of `--match OLD=NEW`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuidePair {
    /// Name or part of it in the base.
    pub old: String,
    /// In the new recording.
    pub new: String,
}

/// Change of one kernel.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuideChange {
    /// Name in the new recording.
    pub kernel: String,
    /// Mean time of a dispatch in the base, ns.
    pub before_ns: Number,
    /// Trust in the value; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_trust: Option<Mark>,
    /// In the new recording.
    pub after_ns: Number,
    /// Trust in the value; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_trust: Option<Mark>,
    /// Percent of the base's time; absent if either is unknown.
    pub change_percent: Option<f64>,
    /// Marks of the signed numbers in the text, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trust: Vec<Mark>,
    /// Whether the change is beyond the noise of the dispatches; absent if there are too few dispatches to
    /// decide.
    pub beyond_noise: Option<bool>,
    /// Judgement of the change; neutral within the noise.
    pub verdict: Verdict,
    /// Limiter before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_before: Option<String>,
    /// Limiter now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_now: Option<String>,
    /// The change in words, including changes in the work of a dispatch.
    pub text: String,
}

/// Purpose of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    /// Record what is missing.
    Record,
    /// Read more about what was found.
    Look,
    /// Calculate what a change would give.
    Try,
    /// A change of the program that no command can make.
    Change,
    /// Compare with what was.
    Compare,
}

/// One thing to do next.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuideStep {
    /// Purpose of the step.
    pub kind: StepKind,
    /// Why, as a phrase: "what each instruction did".
    pub why: String,
    /// Command line, quoted for a shell; empty where no command does it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
}

impl GuideStep {
    /// A step with its command.
    pub fn new(kind: StepKind, why: impl Into<String>, command: impl Into<String>) -> Self {
        GuideStep { kind, why: why.into(), command: command.into() }
    }
}
