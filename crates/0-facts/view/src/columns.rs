//! A recording as columns: every value as recorded, before any computation.
//!
//! All columns have the same dispatches in the same order.

use crate::{Mark, Note};
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON of a recording's columns.
pub const COLUMNS_SCHEMA: &str = "rockhound.columns/1";

/// A recording as columns.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Columns {
    /// [`COLUMNS_SCHEMA`].
    pub schema: &'static str,
    /// Path as given.
    pub path: String,
    /// Profiler that wrote it: `rocprof-compute folder, wide`.
    pub kind: String,
    /// Machine facts under the names of `sysinfo.csv`, as recorded.
    pub machine: BTreeMap<String, String>,
    /// The emulator that made it; absent for recordings of a GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulated_by: Option<String>,
    /// The profiler's settings, lists joined with spaces.
    pub settings: BTreeMap<String, String>,
    /// Number of dispatches, the length of every column.
    pub dispatches: usize,
    /// Properties of the dispatches first, then counters, then further columns.
    pub columns: Vec<DataColumn>,
    /// Problems of the input.
    pub notes: Vec<Note>,
}

/// One column.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataColumn {
    /// Name, unique in the recording: `kernel`, `TCC_HIT`, `TCC_HIT[3]`, `SQ_IFETCH_LEVEL/SQ_WAVES`.
    pub name: String,
    /// Kind of data.
    pub kind: DataKind,
    /// Name of the counter, without instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter: Option<String>,
    /// Instance of the counter's block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<u32>,
    /// Level counter in whose run of the application the counter was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Trust in the values; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Mark>,
    /// Reason for `null` cells; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingCells>,
    /// A cell per dispatch.
    pub values: DataCells,
}

/// Kind of data a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DataKind {
    /// A property of the dispatch: its kernel, grid, times.
    Dispatch,
    /// A hardware counter.
    Counter,
    /// A further column of the recording.
    Extra,
}

/// Cells without a value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingCells {
    /// How many.
    pub cells: usize,
    /// Why.
    pub reason: String,
}

/// The cells of a column; `None` is `null` in JSON.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum DataCells {
    /// Names.
    Text(Vec<String>),
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
}
