//! Verdicts on variants of a kernel: whether each is right, and whether it is faster than the base.

use crate::{Known, Mark, NamedValue, counted, duration};
use serde::Serialize;

/// Version of the JSON written by `judge --format json`.
pub const JUDGE_SCHEMA: &str = "rockhound.judge/1";

/// The part of the answer of `judge`.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdicts {
    /// GPU and whether it is emulated.
    pub gpu: String,
    /// Input sets on which all variants ran: shapes times seeds.
    pub cases: u64,
    /// The variant that the others are compared with.
    pub base: String,
    /// Modelled time of a launch of the base, us; the first shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_us: Option<f64>,
    /// The candidates, in the order given.
    pub candidates: Vec<Candidate>,
}

impl Verdicts {
    /// The base's time, the GPU and the input sets in words.
    pub fn about(&self) -> String {
        let time = self.base_us.map(|it| duration(it * 1e3));
        let gpu = Some(self.gpu.clone()).filter(|it| !it.is_empty());
        let parts = [time, gpu, Some(counted(self.cases, "input set"))];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Verdict on a candidate, worst first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CandidateVerdict {
    /// It could not be built or launched.
    NotRun,
    /// It runs for ever, or very much longer than the base.
    Hangs,
    /// Its results depend on something besides the inputs, or it reads or writes what it must not.
    Unsafe,
    /// Its results differ from the base's.
    Wrong,
    /// The time claimed for it is impossible.
    Impossible,
    /// Right, and slower than the base.
    Slower,
    /// Right, and not faster than the error of the times.
    NotFaster,
    /// Right and faster.
    Faster,
}

impl CandidateVerdict {
    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            CandidateVerdict::NotRun => "not run",
            CandidateVerdict::Hangs => "hangs",
            CandidateVerdict::Unsafe => "unsafe",
            CandidateVerdict::Wrong => "wrong",
            CandidateVerdict::Impossible => "impossible claim",
            CandidateVerdict::Slower => "right, and slower",
            CandidateVerdict::NotFaster => "right, and not faster",
            CandidateVerdict::Faster => "right, and faster",
        }
    }

    /// True if it gives the base's results, and may be used.
    pub const fn is_right(self) -> bool {
        matches!(self, CandidateVerdict::Slower | CandidateVerdict::NotFaster | CandidateVerdict::Faster)
    }
}

/// A variant that was judged.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Candidate {
    /// Name of its file, or its path where two have one name.
    pub name: String,
    /// Verdict.
    pub verdict: CandidateVerdict,
    /// Its grounds in a sentence.
    pub because: String,
    /// Inputs that show it: `seed 2, N=1000`; absent if every input does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// Modelled time of a launch, us; the first shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_us: Option<f64>,
    /// Trust in the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Mark>,
    /// Time of the base divided by its own; of several shapes the geometric mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speedup: Option<f64>,
    /// Limiter of the base, and its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bound_by: Vec<String>,
    /// Work of a launch that changed: before and after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<WorkChange>,
    /// Facts to know besides: the order of sums, the largest difference.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<NamedValue>,
}

impl Candidate {
    /// Its time in words, with the sign of its trust.
    pub fn time_words(&self) -> Option<String> {
        let sign = self.trust.map_or("", Mark::sign);
        self.time_us.map(|it| format!("{sign}{}", duration(it * 1e3)))
    }

    /// Its speedup in words: `≈1.25x`.
    pub fn speedup_words(&self) -> Option<String> {
        self.speedup.map(|value| format!("{:.2}x", Known { value, trust: self.trust }))
    }

    /// The verdict in words: `right, and faster, ≈1.25x`.
    pub fn words(&self) -> String {
        let speedup = self.speedup_words().filter(|_| self.verdict.is_right());
        let speedup = speedup.map_or_else(String::new, |it| format!(", {it}"));
        format!("{}{speedup}", self.verdict.words())
    }

    /// Its limit and the base's in words: `latency before, HBM now`.
    pub fn limit_words(&self) -> Option<String> {
        let [before, after] = &self.bound_by[..] else { return None };
        Some(if before == after { after.clone() } else { format!("{before} before, {after} now") })
    }
}

impl WorkChange {
    /// The change in percent; `None` where there was none before.
    pub fn percent(&self) -> Option<f64> {
        (self.before != 0.0).then(|| 100.0 * (self.after / self.before - 1.0))
    }
}

/// Work of one launch, in the base and in a candidate.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkChange {
    /// Id of the metric: `instructions.vmem`.
    pub metric: String,
    /// Its name: `vector memory instructions`.
    pub name: String,
    /// In the base.
    pub before: f64,
    /// In the candidate.
    pub after: f64,
}
