//! Output of `tune`: searches of tuning spaces.

use crate::{NamedValue, duration};
use serde::Serialize;

/// Version of the JSON written by `tune --format json`.
pub const TUNE_SCHEMA: &str = "rockhound.tune/1";

/// The part of an answer that only `tune` has.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Searches {
    /// One per space: a space file has one, a script one per autotuned kernel and key.
    pub searches: Vec<SearchResult>,
}

/// The search of one space.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchResult {
    /// Name of the study, or the kernel with its key.
    pub name: String,
    /// The objective: `modelled time of the kernel on an emulated Instinct MI300X`.
    pub objective: String,
    /// Unit of the objective: `us` for a time, else empty.
    pub unit: String,
    /// Valid configurations.
    pub configurations: u64,
    /// Combinations of all values, if they can be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub combinations: Option<u64>,
    /// Configurations that were run or rejected.
    pub tried: u64,
    /// Of these, configurations without a time.
    pub failed: u64,
    /// What came out.
    pub verdict: SearchVerdict,
    /// The configuration in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Configured>,
    /// The fastest configuration that passed its proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<Configured>,
    /// The winner compared with the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<Gain>,
    /// Steps of the proof that the winner is right and faster.
    pub proof: Vec<ProofStep>,
    /// The best value after each run that improved it.
    pub convergence: Vec<Improvement>,
    /// Results along the pairs of parameters that explain most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub landscapes: Vec<Landscape>,
    /// What to write where: text per form, such as `-D` options.
    pub outputs: Vec<NamedValue>,
}

/// Outcome of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchVerdict {
    /// A configuration is faster than the start.
    Faster,
    /// None is faster than the start.
    NoFaster,
    /// No start was given: the fastest found.
    Fastest,
    /// No configuration has a time.
    Nothing,
}

impl SearchVerdict {
    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            SearchVerdict::Faster => "a faster configuration",
            SearchVerdict::NoFaster => "no faster than the start",
            SearchVerdict::Fastest => "the fastest found; no start to compare with was given",
            SearchVerdict::Nothing => "no configuration has a time",
        }
    }
}

/// A configuration with its time.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Configured {
    /// Its values.
    pub values: Vec<NamedValue>,
    /// Median of the objective in its unit, which is microseconds for a time; absent if it failed.
    pub value: Option<f64>,
    /// Medians of the numbers of a run, where the objective is not the time alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<NamedNumber>,
    /// Times it was measured.
    pub runs: u64,
    /// Standard deviation, from the median of absolute deviations, in percent of the median; absent for fewer than
    /// four runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_percent: Option<f64>,
}

/// A value of an objective for people: a duration for `us`, else a number of at most five digits.
pub fn objective_words(value: f64, unit: &str) -> String {
    if unit == "us" {
        return duration(value * 1e3);
    }
    match value.abs() {
        0.0 => "0".to_owned(),
        it if !(1e-3..1e6).contains(&it) => format!("{value:.4e}"),
        it => {
            let decimals = (4 - it.log10().floor() as i32).clamp(0, 7) as usize;
            let text = format!("{value:.decimals$}");
            if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        }
    }
}

impl Configured {
    /// Its value in words.
    pub fn value_words(&self, unit: &str) -> String {
        match self.value {
            Some(it) => objective_words(it, unit),
            None if unit == "us" => "no time".to_owned(),
            None => "no value".to_owned(),
        }
    }

    /// `BLOCK_M=64 BLOCK_N=128`.
    pub fn words(&self) -> String {
        let words: Vec<String> = self.values.iter().map(|it| format!("{}={}", it.name, it.value)).collect();
        words.join(" ")
    }
}

/// A number of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedNumber {
    /// Name in the space file; `time` in microseconds.
    pub name: String,
    /// Median.
    pub value: f64,
}

/// The winner compared with the start.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gain {
    /// Objective of the start divided by that of the winner: the speedup, if it is the time.
    pub speedup: f64,
    /// Lower end of its confidence interval; absent where equal runs give equal times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// How it was found: `start and winner in turn, 16 runs each, bootstrap of the ratio of medians, 95 %`.
    pub method: String,
}

impl Gain {
    /// `1.250x (1.210 to 1.290)`.
    pub fn words(&self) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) => format!("{:.3}x ({low:.3} to {high:.3})", self.speedup),
            _ => format!("{:.3}x", self.speedup),
        }
    }
}

/// A step of the proof.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProofStep {
    /// Its subject.
    pub what: ProofOf,
    /// What came of it.
    pub outcome: ProofOutcome,
    /// In words.
    pub text: String,
}

/// Subject of a step of a proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProofOf {
    /// The start's own results.
    Start,
    /// The fastest of configurations near the best.
    Fastest,
    /// Results of a candidate.
    Results,
    /// Races and reads of unwritten memory of a candidate.
    Mistakes,
    /// The start takes the same time at the end as at the beginning.
    Steady,
    /// The winner is faster than the start.
    Faster,
}

impl ProofOf {
    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            ProofOf::Start => "results of the start",
            ProofOf::Fastest => "fastest of those near it",
            ProofOf::Results => "results",
            ProofOf::Mistakes => "races, unwritten memory",
            ProofOf::Steady => "steady times",
            ProofOf::Faster => "faster than the start",
        }
    }

    /// Whether a failed step means wrong results.
    pub const fn is_of_results(self) -> bool {
        matches!(self, ProofOf::Results | ProofOf::Mistakes)
    }
}

/// Outcome of a step of a proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProofOutcome {
    /// Passed.
    Passed,
    /// Failed: the configuration is not the winner.
    Failed,
    /// Not done, with the reason.
    NotDone,
}

impl ProofOutcome {
    /// For people.
    pub const fn word(self) -> &'static str {
        match self {
            ProofOutcome::Passed => "passed",
            ProofOutcome::Failed => "FAILED",
            ProofOutcome::NotDone => "not done",
        }
    }
}

/// Results along two parameters.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Landscape {
    /// The first parameter.
    pub a: String,
    /// Its values.
    pub a_values: Vec<String>,
    /// The second.
    pub b: String,
    /// Its values.
    pub b_values: Vec<String>,
    /// Pairs of values with results.
    pub cells: Vec<LandscapeCell>,
}

/// Results that share the values of two parameters.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LandscapeCell {
    /// Place of the value of the first.
    pub a: u32,
    /// Place of the value of the second.
    pub b: u32,
    /// Best value, in the unit of the objective.
    pub best: f64,
    /// Results.
    pub results: u32,
}

/// A run that improved the best.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Improvement {
    /// Number of the run, from 1.
    pub run: u64,
    /// The best value from this run on, in the unit of the objective.
    pub value: f64,
}
