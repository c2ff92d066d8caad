//! Output of `metrics --list-sets`: sets of metrics that one run of the application reads.

use serde::Serialize;

/// Version of the JSON written by `metrics --list-sets --format json`.
pub const SETS_SCHEMA: &str = "rockhound.sets/1";

/// All sets.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sets {
    /// The sets.
    pub sets: Vec<SetCard>,
}

/// One set.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetCard {
    /// Name, as `--set` takes it.
    pub name: &'static str,
    /// Its metrics on any target.
    #[serde(skip)]
    pub metrics: Vec<&'static str>,
    /// Requirements on each target.
    pub targets: Vec<SetOnTarget>,
    /// Title.
    pub title: &'static str,
}

/// Requirements of a set on a target.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetOnTarget {
    /// Counters it needs.
    pub counters: Vec<String>,
    /// Metrics that have a value there.
    pub metrics: Vec<&'static str>,
    /// Runs of the application; absent where they cannot be planned.
    pub passes: Option<usize>,
    /// Target.
    pub target: String,
}
