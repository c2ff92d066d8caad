//! What `analyze` shows: a recording (or several compared) as findings, charts and tables.
//!
//! The one idea to keep in mind: the field names here are the JSON schema of `docs/analyze-json.md`. A table
//! carries exact numbers; how many decimals a reader sees is the renderer's affair.

use crate::{Finding, Guide, Mark, MemoryChart, Missing, NotChecked, RooflineChart, WaveChart};
use serde::Serialize;

/// Version of the JSON written by `analyze --format json`.
pub const ANALYZE_SCHEMA: &str = "rockhound.analyze/1";

/// A number, or why there is none. In JSON a number, or an object `{"missing": "reason"}`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// Known; always finite.
    Known(f64),
    /// Not known.
    Missing(Missing),
}

impl Number {
    /// The value, if known.
    pub fn get(&self) -> Option<f64> {
        match self {
            Number::Known(value) => Some(*value),
            Number::Missing(_) => None,
        }
    }

    /// Why there is none.
    pub fn reason(&self) -> Option<&Missing> {
        match self {
            Number::Known(_) => None,
            Number::Missing(missing) => Some(missing),
        }
    }

    /// No number, for a reason as a phrase.
    pub fn missing(reason: impl Into<String>) -> Self {
        Number::Missing(Missing::Because(reason.into()))
    }
}

impl From<Result<f64, Missing>> for Number {
    fn from(value: Result<f64, Missing>) -> Self {
        match value {
            Ok(value) => Number::from(value),
            Err(missing) => Number::Missing(missing),
        }
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        if value.is_finite() { Number::Known(value) } else { Number::Missing(Missing::NotFinite) }
    }
}

/// A number with its unit: `GB/s`, `req per wave`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Quantity {
    /// The number.
    pub value: Number,
    /// Its unit; empty for plain counts.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unit: String,
}

impl Quantity {
    /// A number with its unit.
    pub fn new(value: impl Into<Number>, unit: impl Into<String>) -> Self {
        Quantity { value: value.into(), unit: unit.into() }
    }
}

/// A recording, or several compared with the first.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// [`ANALYZE_SCHEMA`].
    pub schema: &'static str,
    /// What was read; the first is the base of a comparison.
    pub recordings: Vec<Recording>,
    /// How values are averaged and normalised.
    pub settings: ReportSettings,
    /// What to do about it, in short; of a comparison, about the last recording and what changed. It has a JSON document of
    /// its own.
    #[serde(skip)]
    pub guide: Option<Guide>,
    /// What costs time, most time first. Of a comparison, about the last recording.
    pub findings: Vec<KernelFinding>,
    /// Rules that need evidence the recording lacks.
    pub not_checked: Vec<NotChecked>,
    /// Ceilings and the kernels below them; of a comparison, of the last recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roofline: Option<RooflineChart>,
    /// Blocks of the memory system with what flows between them; of a comparison, of the last recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_chart: Option<MemoryChart>,
    /// Waves in flight over the time of kernels, where that was modelled; of a comparison, of the last recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy_over_time: Option<WaveChart>,
    /// Tables by number.
    pub tables: Vec<Table>,
    /// Conditions that were to be judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionResult>,
    /// Why values are missing, each reason once.
    pub missing: Vec<MissingValues>,
    /// What was wrong with the recordings and what was assumed.
    pub notes: Vec<Note>,
}

/// One recording as far as its head says.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Recording {
    /// Name in column headings: the path's last parts that tell recordings apart.
    pub name: String,
    /// Path as given.
    pub path: String,
    /// Which profiler wrote it: `rocprof-compute folder, wide`.
    pub kind: String,
    /// GPU as the recording names it, or the target.
    pub gpu: String,
    /// Target.
    pub target: String,
    /// Kernels in the selection.
    pub kernels: u64,
    /// Dispatches in the selection.
    pub dispatches: u64,
    /// Dispatches recorded.
    pub recorded_dispatches: u64,
    /// Counters recorded, instances of one block counted once.
    pub counters: u64,
    /// Time of the selected dispatches together, ns.
    pub time_ns: Number,
    /// How far that can be trusted; absent where it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_trust: Option<Mark>,
    /// What was selected, in words; empty for everything.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub selection: String,
    /// The facts a reader wants first, a line each: `GPU`, `memory`, `system`, `command`.
    pub summary: Vec<MachineFact>,
    /// All facts of the machine, by name.
    pub machine: Vec<MachineFact>,
}

/// One fact of the machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MachineFact {
    /// Name as in `sysinfo.csv`.
    pub name: String,
    /// Value as recorded.
    pub value: String,
    /// Where it is from when the recording does not say: `data sheet of Instinct MI300X`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filled_from: Option<String>,
}

/// How values were computed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ReportSettings {
    /// `weighted` or `dispatches`.
    pub average: &'static str,
    /// `per_kernel`, `per_wave`, `per_cycle` or `per_second`.
    pub normalization: &'static str,
}

/// A finding about one kernel of a recording.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct KernelFinding {
    /// Kernel.
    pub kernel: String,
    /// Percent of the selected time the kernel takes.
    pub time_percent: Number,
    /// How far that can be trusted; absent where it was measured, and where the kernel is all there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_trust: Option<Mark>,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
}

/// A table of numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Table {
    /// Number: `7.1`.
    pub id: String,
    /// Title of its panel: `Wavefront`.
    pub panel: String,
    /// Title.
    pub title: String,
    /// What a row's label is: `metric`, `kernel`, `channel`.
    pub label: String,
    /// Columns of the cells.
    pub columns: Vec<Column>,
    /// Rows.
    pub rows: Vec<Row>,
    /// What a reader should know about it: rows left out, where values are from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A column of cells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Column {
    /// Heading: `avg`.
    pub title: String,
    /// What its cells are.
    pub kind: ColumnKind,
    /// Unit of all its cells, where the rows do not have units of their own.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Which of the recordings its values are from.
    pub recording: usize,
}

impl Column {
    /// A column of the first recording.
    pub fn new(title: impl Into<String>, kind: ColumnKind, unit: impl Into<String>) -> Self {
        Column { title: title.into(), kind, unit: unit.into(), recording: 0 }
    }
}

/// What the cells of a column are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Words.
    Text,
    /// How far the row's values can be trusted, in words; where it has none, why not.
    Trust,
    /// What the row's label means, in words; the same wherever the label stands. In JSON it is text.
    #[serde(rename = "text")]
    Meaning,
    /// A number.
    Number,
    /// Percent of a whole, drawn as a bar.
    Percent,
    /// One of minimum, quartiles and maximum; five in a row are drawn as a box.
    Quartile,
}

impl ColumnKind {
    /// Whether its cells are words.
    pub const fn is_words(self) -> bool {
        matches!(self, ColumnKind::Text | ColumnKind::Trust | ColumnKind::Meaning)
    }
}

/// Percent below which a difference says little.
pub const LITTLE_PERCENT: f64 = 1.0;

/// A row.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct Row {
    /// Number: `2.1.20`, a kernel's index, a dispatch ID.
    pub id: String,
    /// Label.
    pub label: String,
    /// Metric it shows, for `rockhound metrics`, or name of a limit or change in files; empty where it shows none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub metric: String,
    /// Unit of its numbers.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Cells, one per column.
    pub cells: Vec<Cell>,
    /// What it says differs by less than [`LITTLE_PERCENT`]: text folds such rows into one.
    #[serde(skip)]
    pub little: bool,
}

/// A cell. In JSON: a text, a number or why there is none, an object with a change, or null.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// The column says nothing about the row.
    Empty,
    /// Words.
    Text(String),
    /// A number.
    Number(Number),
    /// A number with how it differs from the base.
    Change(Delta),
}

/// The column with the peaks of the machine.
const PEAK: &str = "peak";

impl Table {
    /// Why no cell has a value that was measured, by the first of the reasons; none where a cell has one, and of tables without
    /// rows. Peaks are facts of the machine.
    pub fn only_missing(&self) -> Option<&Missing> {
        let mut first = None;
        for row in &self.rows {
            let cells = row.cells.iter().enumerate();
            for (_, cell) in cells.filter(|(at, _)| self.columns.get(*at).is_none_or(|it| it.title != PEAK)) {
                match cell {
                    Cell::Number(Number::Missing(reason)) => first = first.or(Some(reason)),
                    Cell::Empty => {}
                    _ => return None,
                }
            }
        }
        first
    }
}

impl Cell {
    /// The number, if it is one and known.
    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Number(number) | Cell::Change(Delta { value: number, .. }) => number.get(),
            Cell::Empty | Cell::Text(_) => None,
        }
    }
}

/// A number of a later recording beside the base's.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Delta {
    /// The number.
    pub value: Number,
    /// Less the base's; absent where either is not known.
    pub change: Option<f64>,
    /// Percent of the base's; absent where the base is zero or either is not known.
    pub change_percent: Option<f64>,
    /// Whether the change is beyond the noise of the dispatches; absent where there are too few to tell.
    pub beyond_noise: Option<bool>,
}

/// A condition of `--fail-on`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConditionResult {
    /// As written.
    pub condition: String,
    /// Whether it is met; absent where its value is not known.
    pub met: Option<bool>,
    /// The value it was judged by, or why there is none.
    pub detail: String,
}

/// Values missing for one reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MissingValues {
    /// The reason.
    pub reason: String,
    /// Rows concerned: `17.2.3`.
    pub rows: Vec<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Something to know about the input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Note {
    /// `error`: part of the input is left out; `warning`: some values need care; `info`: what was assumed.
    pub kind: NoteKind,
    /// What, where, and what follows.
    pub text: String,
}

/// How much a note matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NoteKind {
    /// Part of the input was unreadable.
    Error,
    /// Some values are missing or need care.
    Warning,
    /// What was assumed.
    Info,
}
