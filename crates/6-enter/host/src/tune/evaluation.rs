//! Result of one configuration.

use crate::process::{End, Limit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Result of one configuration, as the journal keeps it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Evaluation {
    /// Time of each run, microseconds; empty if it failed.
    pub runs_us: Vec<f64>,
    /// Other numbers of each run, by their names in the space file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<String, Vec<f64>>,
    /// Median time of each shape, microseconds, in the order of the space file; empty without shapes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes_us: Vec<f64>,
    /// Why it has no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Failed>,
    /// Time to build it, seconds.
    #[serde(default)]
    pub build_s: f64,
    /// Time to run it, seconds.
    #[serde(default)]
    pub run_s: f64,
}

/// A failure with its reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Failed {
    /// Kind.
    pub kind: Failure,
    /// The compiler's error, the fault, the limit.
    pub why: String,
}

/// Kinds of failures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// It does not build.
    Build,
    /// Its code cannot be fast or cannot run: it does not fit, or spills. It did not run.
    Rejected,
    /// It failed while it ran.
    Run,
    /// It took longer than the limit.
    Time,
    /// It used more memory than the limit.
    Memory,
    /// Its results are wrong.
    Wrong,
    /// It ended well and printed no time, several, or none that can be true.
    NoTime,
}

impl Failure {
    /// The kind of a program's failure; `None` if it ended well.
    pub fn of(end: &End) -> Option<Failure> {
        match end.limit {
            Some(Limit::Time) => Some(Failure::Time),
            Some(Limit::Memory) => Some(Failure::Memory),
            Some(Limit::Output | Limit::Stopped) => Some(Failure::Run),
            None => (!end.is_well()).then_some(Failure::Run),
        }
    }
}

impl Failure {
    /// All, as reports list them.
    pub const ALL: [Failure; 7] = [
        Failure::Build,
        Failure::Rejected,
        Failure::Run,
        Failure::Time,
        Failure::Memory,
        Failure::Wrong,
        Failure::NoTime,
    ];

    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            Failure::Build => "does not build",
            Failure::Rejected => "rejected by its code",
            Failure::Run => "fails while it runs",
            Failure::Time => "exceeds the time limit",
            Failure::Memory => "exceeds the memory limit",
            Failure::Wrong => "wrong results",
            Failure::NoTime => "no valid time",
        }
    }
}

impl Evaluation {
    /// One that failed.
    pub fn failed(kind: Failure, why: impl Into<String>) -> Evaluation {
        Evaluation { failed: Some(Failed { kind, why: why.into() }), ..Evaluation::default() }
    }

    /// One result for the runs of several shapes: the geometric mean over the shapes of each run.
    pub(super) fn over_shapes(shapes: Vec<Evaluation>) -> Evaluation {
        let means = |of: &dyn Fn(&Evaluation) -> Option<&Vec<f64>>| -> Vec<f64> {
            let all: Option<Vec<&Vec<f64>>> = shapes.iter().map(of).collect();
            let runs = all.iter().flatten().map(|it| it.len()).min().unwrap_or(0);
            let run = |at: usize| {
                let each: Vec<Option<f64>> = all.iter().flatten().map(|it| Some(it[at])).collect();
                tune::landscape::geometric_mean(&each).unwrap_or(0.0)
            };
            (0..runs).map(run).collect()
        };
        let names: Vec<String> =
            shapes.first().into_iter().flat_map(|it| it.numbers.keys().cloned()).collect();
        let numbers = names.into_iter().map(|name| {
            let runs = means(&|it| it.numbers.get(&name));
            (name, runs)
        });
        Evaluation {
            numbers: numbers.collect(),
            runs_us: means(&|it| Some(&it.runs_us)),
            shapes_us: shapes.iter().filter_map(Evaluation::time_us).collect(),
            ..Evaluation::default()
        }
    }

    /// Adds the runs of a repetition. A failed repetition is the result: the configuration does not always run.
    pub(super) fn add(&mut self, again: Evaluation) {
        if again.failed.is_some() {
            *self = again;
            return;
        }
        self.runs_us.extend(again.runs_us);
        for (name, runs) in again.numbers {
            self.numbers.entry(name).or_default().extend(runs);
        }
    }

    /// Median of the runs, microseconds, without a cold first one.
    pub fn time_us(&self) -> Option<f64> {
        if self.failed.is_some() {
            return None;
        }
        tune::race::centre(&self.runs_us).map(|it| it.value)
    }
}
