//! Definition files: named expressions, metrics, tables.
//!
//! A statement begins at the left margin and its clauses are indented below it. An `on` clause defines a
//! variant for some GPUs; the last clause that names the GPU applies.
//!
//! ```text
//! let cycles = GRBM_GUI_ACTIVE / xcds
//! metric l2.read_bandwidth [GB/s] = 32[B/sector] * TCC_READ_SECTORS / time
//!     peak = machine.clock * machine.l2_channels * target.l2.width
//! metric l2.latency [cycle] = TCP_TCC_READ_REQ_LATENCY / TCP_TCC_READ_REQ
//!     on gfx940..gfx942 none "the counter was dropped"
//! table 17.1 value "L2 Cache" "L2 Speed-of-Light"
//!     row "Read bandwidth" l2.read_bandwidth on gfx950
//! stand-in l2.hit_rate = L2CacheHit
//! ```

mod derived;
mod reader;

use crate::parse::Expression;
use crate::unit::Unit;
use counters::{catalogue, derived as derived_counters};
use reader::Reader;
use std::collections::HashMap;
use std::sync::OnceLock;

/// An error of a definitions file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct DefinitionError {
    /// File.
    pub file: String,
    /// Line, 1-based.
    pub line: usize,
    /// Column, 1-based.
    pub column: usize,
    /// The error.
    pub message: String,
}

/// Definitions that cannot be used, with every error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongDefinitions(pub Vec<DefinitionError>);

impl std::fmt::Display for WrongDefinitions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the definitions of metrics are wrong")?;
        self.0.iter().try_for_each(|error| write!(f, "\n{error}"))
    }
}

impl std::error::Error for WrongDefinitions {}

/// Definition of a name on some targets.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) targets: u32,
    /// The expression, or why there is none.
    pub(crate) formula: Result<Expression, String>,
    pub(crate) text: String,
    pub(crate) file: usize,
    pub(crate) line: usize,
}

/// A named expression.
#[derive(Clone, Debug)]
pub(crate) struct Let {
    pub(crate) variants: Vec<Variant>,
}

/// A metric.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Name: `l2.hit_rate`.
    pub id: String,
    /// Unit as written: `GB/s`, `req/norm`.
    pub unit_text: String,
    pub(crate) unit: Unit,
    pub(crate) variants: Vec<Variant>,
    pub(crate) peaks: Vec<Variant>,
}

impl Metric {
    /// The formula on a target, or why there is none.
    pub fn formula(&self, target: &str) -> Result<&str, &str> {
        let v = variant(&self.variants, target).ok_or("not defined for the target")?;
        v.formula.as_ref().map(|_| v.text.as_str()).map_err(String::as_str)
    }

    /// The peak's formula on a target.
    pub fn peak_formula(&self, target: &str) -> Option<&str> {
        variant(&self.peaks, target).filter(|v| v.formula.is_ok()).map(|v| v.text.as_str())
    }

    /// Whether it is divided by the chosen normalisation.
    pub fn is_per_norm(&self) -> bool {
        self.unit.is_per_norm()
    }
}

/// Definition of a name on a target; on an unknown target the definition shared by all.
pub(crate) fn variant<'a>(list: &'a [Variant], target: &str) -> Option<&'a Variant> {
    let bits = catalogue().bits_of(target);
    let last = list.iter().rev().find(|v| v.targets & bits != 0)?;
    (last.targets & bits == bits).then_some(last)
}

/// Columns of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Average, peak, percent of peak.
    Speed,
    /// Average.
    Value,
    /// Average, minimum, maximum.
    Stats,
    /// Average, standard deviation, minimum, maximum.
    Aggregate,
    /// Minimum, quartiles, maximum.
    Box,
    /// Average as a whole number, for the memory chart.
    Chart,
    /// A row per L2 channel: minimum, quartiles, maximum.
    ChannelBox,
    /// A row per L2 channel, a column per metric: average.
    Channels,
}

const STYLES: &[(&str, Style)] = &[
    ("speed", Style::Speed),
    ("value", Style::Value),
    ("stats", Style::Stats),
    ("aggregate", Style::Aggregate),
    ("box", Style::Box),
    ("chart", Style::Chart),
    ("channel-box", Style::ChannelBox),
    ("channels", Style::Channels),
];

/// A row of a table, or a column of a table of channels.
#[derive(Clone, Debug)]
pub struct Row {
    /// Label.
    pub label: String,
    /// Metric.
    pub metric: String,
    /// Further cells of text.
    pub tags: Vec<String>,
    targets: u32,
    file: usize,
    line: usize,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Panel and table number: 17.2.
    pub id: (u16, u16),
    /// Title of the panel.
    pub panel: String,
    /// Title.
    pub title: String,
    /// Columns.
    pub style: Style,
    /// Headings of the rows' tags.
    pub tags: Vec<String>,
    rows: Vec<Row>,
}

impl Table {
    /// The rows on a target (on an unknown one those that all have), in order; a row's number is its place
    /// here.
    pub fn rows<'a>(&'a self, target: &str) -> impl Iterator<Item = &'a Row> + use<'a> {
        let bits = catalogue().bits_of(target);
        self.rows.iter().filter(move |r| bits != 0 && r.targets & bits == bits)
    }
}

/// All definitions.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    pub(crate) files: Vec<String>,
    pub(crate) lets: HashMap<String, Let>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) by_id: HashMap<String, usize>,
    pub(crate) tables: Vec<Table>,
    /// Derived counters as metrics.
    pub(crate) derived: Vec<Metric>,
    /// Substitutes for a name, best first.
    pub(crate) stand_ins: HashMap<String, Vec<StandInDefinition>>,
}

/// Substitute for the value of a name.
#[derive(Clone, Debug)]
pub(crate) struct StandInDefinition {
    pub(crate) variant: Variant,
    /// Difference from the value it replaces.
    pub(crate) remark: Option<String>,
}

/// The files compiled into the program.
const BUILT_IN: &[(&str, &str)] = &[
    ("shared.metrics", include_str!("../data/shared.metrics")),
    ("dispatch.metrics", include_str!("../data/dispatch.metrics")),
    ("compute.metrics", include_str!("../data/compute.metrics")),
    ("lds.metrics", include_str!("../data/lds.metrics")),
    ("scalar.metrics", include_str!("../data/scalar.metrics")),
    ("vector-memory.metrics", include_str!("../data/vector-memory.metrics")),
    ("l2.metrics", include_str!("../data/l2.metrics")),
    ("roofline.metrics", include_str!("../data/roofline.metrics")),
    ("bandwidth.metrics", include_str!("../data/bandwidth.metrics")),
    ("rules.metrics", include_str!("../data/rules.metrics")),
    ("at-most.metrics", include_str!("../data/at-most.metrics")),
    ("tables.metrics", include_str!("../data/tables.metrics")),
    ("stand-ins.metrics", include_str!("../data/stand-ins.metrics")),
];

impl Definitions {
    /// The definitions compiled into the program.
    pub fn built_in() -> &'static Self {
        static BUILT: OnceLock<Definitions> = OnceLock::new();
        BUILT.get_or_init(|| {
            derived::definitions()
                .and_then(|derived| derived.with(BUILT_IN))
                .expect("the data files of this crate are well formed, which a test checks")
        })
    }

    /// These definitions and more. A later definition of a name replaces an earlier file's; within one file a
    /// name may occur once. All errors are returned.
    pub fn with(mut self, files: &[(&str, &str)]) -> Result<Self, WrongDefinitions> {
        let mut errors = Vec::new();
        for (name, text) in files {
            self.files.push((*name).to_string());
            let mut reader = Reader::new(self.files.len() - 1);
            for (i, line) in text.lines().enumerate() {
                if let Err((column, message)) = reader.line(&mut self, line, i + 1) {
                    errors.push(DefinitionError { file: (*name).to_string(), line: i + 1, column, message });
                }
            }
        }
        for t in &self.tables {
            for r in &t.rows {
                if !self.by_id.contains_key(&r.metric) {
                    errors.push(DefinitionError {
                        file: self.files[r.file].clone(),
                        line: r.line,
                        column: 1,
                        message: format!("unknown metric `{}`", r.metric),
                    });
                }
            }
        }
        for (name, list) in &self.stand_ins {
            if !self.lets.contains_key(name) && !self.by_id.contains_key(name) {
                errors.extend(list.iter().map(|it| DefinitionError {
                    file: self.files[it.variant.file].clone(),
                    line: it.variant.line,
                    column: 1,
                    message: format!("unknown name `{name}`"),
                }));
            }
        }
        if errors.is_empty() { Ok(self) } else { Err(WrongDefinitions(errors)) }
    }

    /// Metrics, in the order defined.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// A metric, also a derived counter by any of its names.
    pub fn metric(&self, id: &str) -> Option<&Metric> {
        match self.by_id.get(id) {
            Some(i) => Some(&self.metrics[*i]),
            None => self.derived(id),
        }
    }

    /// A derived counter by any of its names.
    pub fn derived(&self, name: &str) -> Option<&Metric> {
        let id = &derived_counters().find(name)?.name;
        self.derived.iter().find(|it| it.id == *id)
    }

    /// Substitutes for a name whose own counters are absent, on a target; best first, as written.
    pub fn stand_ins(&self, name: &str, target: &str) -> impl Iterator<Item = &str> {
        let bits = catalogue().bits_of(target);
        let all = self.stand_ins.get(name).into_iter().flatten();
        all.filter(move |it| it.variant.targets & bits == bits).map(|it| it.variant.text.as_str())
    }

    /// Definition of a name in formulas on a target: of a `let`, or of a metric.
    pub fn named_formula(&self, name: &str, target: &str) -> Option<&str> {
        match self.lets.get(name) {
            Some(l) => variant(&l.variants, target).filter(|v| v.formula.is_ok()).map(|v| v.text.as_str()),
            None => self.metric(name)?.formula(target).ok(),
        }
    }

    /// Tables, by number.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// A table.
    pub fn table(&self, id: (u16, u16)) -> Option<&Table> {
        self.tables.iter().find(|t| t.id == id)
    }
}
