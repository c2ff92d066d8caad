//! Result of one configuration.

use serde::{Deserialize, Serialize};

/// Result of one configuration, as the journal keeps it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Evaluation {
    /// Time of each run, microseconds; empty if it failed.
    pub runs_us: Vec<f64>,
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

    /// Median of the runs, microseconds, without a cold first one.
    pub fn time_us(&self) -> Option<f64> {
        if self.failed.is_some() {
            return None;
        }
        tune::race::centre(&self.runs_us).map(|it| it.value)
    }
}
