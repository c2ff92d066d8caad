//! Output of `metrics`: definitions of metrics, the counters they need, and the number of runs that read
//! them.

use serde::Serialize;

/// Version of the JSON written by `metrics --format json`.
pub const METRICS_SCHEMA: &str = "rockhound.metrics/2";

/// The part of an answer that only `metrics` has: definitions, of one target or of all.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricsReport {
    /// Some were named, and text shows a card for each instead of a list.
    #[serde(skip)]
    pub named: bool,
    /// Targets with what all their metrics need.
    pub targets: Vec<TargetMetrics>,
    /// The requested metrics together, on each target.
    pub asked: Vec<TargetMetrics>,
    /// Metrics, with the rows that show them.
    pub metrics: Vec<MetricCard>,
    /// Requested counters.
    pub counters: Vec<CounterCard>,
}

/// Needs of the metrics of a target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetMetrics {
    /// Target.
    pub target: String,
    /// Metrics that have a value on it.
    pub metrics: u64,
    /// Counters they need, each block's instances counted once.
    pub counters: u64,
    /// Runs of the application in which those are read; absent when they cannot be planned.
    pub passes: Option<u64>,
}

/// One metric.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricCard {
    /// Name: `l2.hit_rate`.
    pub metric: String,
    /// Unit, with `norm` for the chosen normalisation.
    pub unit: String,
    /// Meaning of a derived counter; a metric is explained by its formulas.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub meaning: String,
    /// Other names that profilers have for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Metrics for which it substitutes if their own counters were not recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stands_in_for: Vec<String>,
    /// Rows that show it, with their labels and tables.
    pub rows: Vec<MetricRow>,
    /// Definition, per group of targets that share it.
    pub variants: Vec<MetricVariant>,
}

/// A row that shows a metric.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricRow {
    /// Number: `17.1.4`; if targets differ, the number of the table: `17.1`.
    pub id: String,
    /// Label.
    pub label: String,
    /// Title of the table.
    pub table: String,
}

/// A metric's definition on some targets.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricVariant {
    /// Targets.
    pub targets: Vec<String>,
    /// Formula, or why there is none.
    pub formula: Result<String, String>,
    /// Formula of the peak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<String>,
    /// Definitions of the names in the formulas.
    pub names: Vec<NamedFormula>,
    /// Substitutes for it, or for a name in its formulas, if counters were not recorded; best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stand_ins: Vec<NamedFormula>,
    /// Counters it needs.
    pub counters: Vec<CounterCard>,
    /// Runs of the application in which those are read.
    pub passes: Option<u64>,
}

/// A name of a formula.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedFormula {
    /// Name.
    pub name: String,
    /// Definition of the name.
    pub formula: String,
}

/// A hardware counter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterCard {
    /// Name.
    pub name: String,
    /// Block that counts it, and the number of counters that block has.
    pub block: String,
    /// Counters one instance of the block reads in one run.
    pub block_limit: u64,
    /// Unit.
    pub unit: String,
    /// Meaning of the counter.
    pub meaning: String,
    /// Targets that have it.
    pub targets: Vec<String>,
    /// Metrics that need it; filled in if the counter itself was requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used_by: Vec<String>,
}
