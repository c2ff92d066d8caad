//! Definition files: named expressions, metrics, tables.
//!
//! The one idea to keep in mind: a statement begins at the left margin and its clauses are indented below it. What
//! differs on a GPU is an `on` clause; the last one that names the GPU counts.
//!
//! ```text
//! let cycles = GRBM_GUI_ACTIVE / xcds
//! metric l2.read_bandwidth [GB/s] = 32[B/sector] * TCC_READ_SECTORS / time
//!     peak = machine.clock * machine.l2_channels * target.l2.width
//! metric l2.latency [cycle] = TCP_TCC_READ_REQ_LATENCY / TCP_TCC_READ_REQ
//!     on gfx940..gfx942 none "the counter was dropped"
//! table 17.1 value "L2 Cache" "L2 Speed-of-Light"
//!     row "Read bandwidth" l2.read_bandwidth on gfx950
//! ```

use crate::parse::{self, Expression};
use crate::unit::Unit;
use counters::{Catalogue, catalogue};
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
    /// What is wrong.
    pub message: String,
}

/// What a name means on some targets.
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

pub(crate) fn variant<'a>(list: &'a [Variant], target: &str) -> Option<&'a Variant> {
    let bit = catalogue().target_bit(target);
    list.iter().rev().find(|v| v.targets & bit != 0)
}

/// What the columns of a table are.
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
    /// The rows on a target, in order; a row's number is its place here.
    pub fn rows<'a>(&'a self, target: &str) -> impl Iterator<Item = &'a Row> + use<'a> {
        let bit = catalogue().target_bit(target);
        self.rows.iter().filter(move |r| r.targets & bit != 0)
    }
}

/// All definitions.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    pub(crate) files: Vec<String>,
    pub(crate) lets: HashMap<String, Let>,
    metrics: Vec<Metric>,
    by_id: HashMap<String, usize>,
    tables: Vec<Table>,
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
];

impl Definitions {
    /// The definitions compiled into the program.
    pub fn built_in() -> &'static Self {
        static BUILT: OnceLock<Definitions> = OnceLock::new();
        BUILT.get_or_init(|| {
            Self::default()
                .with(BUILT_IN)
                .expect("the data files of this crate are well formed, which a test checks")
        })
    }

    /// These definitions and more. A later definition of a name takes the place of an earlier file's; within one
    /// file a name may stand once. All errors are returned.
    pub fn with(mut self, files: &[(&str, &str)]) -> Result<Self, Vec<DefinitionError>> {
        let mut errors = Vec::new();
        for (name, text) in files {
            self.files.push((*name).to_string());
            let mut reader =
                Reader { file: self.files.len() - 1, seen: HashMap::new(), current: Current::Nothing };
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
        if errors.is_empty() { Ok(self) } else { Err(errors) }
    }

    /// Metrics, in the order defined.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// A metric.
    pub fn metric(&self, id: &str) -> Option<&Metric> {
        self.by_id.get(id).map(|i| &self.metrics[*i])
    }

    /// What a name used in formulas stands for on a target: that of a `let`, or a metric's.
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

enum Current {
    Nothing,
    Let(String),
    Metric(String),
    Table((u16, u16)),
}

struct Reader {
    file: usize,
    /// Names this file has defined.
    seen: HashMap<String, usize>,
    current: Current,
}

type Fault = (usize, String);

fn fault<T>(column: usize, message: impl Into<String>) -> Result<T, Fault> {
    Err((column, message.into()))
}

/// The words of a line with their columns; a text in quotes is one word without its quotes.
struct Words<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    fn column(&self) -> usize {
        self.line[..self.at].chars().count() + 1
    }
    fn space(&mut self) {
        let rest = &self.line[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }
    fn next(&mut self) -> Option<&'a str> {
        self.space();
        let rest = &self.line[self.at..];
        if rest.is_empty() || rest.starts_with(['"', '=', '[']) {
            return None;
        }
        let end = rest.find(|c: char| c.is_whitespace() || c == '=' || c == '[').unwrap_or(rest.len());
        self.at += end;
        Some(&rest[..end])
    }
    fn quoted(&mut self) -> Option<&'a str> {
        self.space();
        let inner = self.line[self.at..].strip_prefix('"')?;
        let end = inner.find('"')?;
        self.at += end + 2;
        Some(&inner[..end])
    }
    fn bracket(&mut self) -> Option<&'a str> {
        self.space();
        let inner = self.line[self.at..].strip_prefix('[')?;
        let end = inner.find(']')?;
        self.at += end + 2;
        Some(&inner[..end])
    }
    /// What follows `=`, and its column.
    fn formula(&mut self) -> Result<(&'a str, usize), Fault> {
        self.space();
        if !self.line[self.at..].starts_with('=') {
            return fault(self.column(), "expected `=`");
        }
        self.at += 1;
        self.space();
        Ok((self.line[self.at..].trim_end(), self.column()))
    }
    fn end(&mut self) -> Result<(), Fault> {
        self.space();
        if self.at < self.line.len() { fault(self.column(), "nothing more is expected here") } else { Ok(()) }
    }
}

impl Reader {
    fn line(&mut self, d: &mut Definitions, line: &str, number: usize) -> Result<(), Fault> {
        let plain = line.trim_end();
        if plain.trim_start().starts_with('#') || plain.trim().is_empty() {
            return Ok(());
        }
        let mut w = Words { line: plain, at: 0 };
        if plain.starts_with(' ') {
            return self.clause(d, &mut w, number);
        }
        self.current = Current::Nothing;
        match w.next() {
            Some("let") => {
                let column = w.column() + 1;
                let name = w.next().filter(|n| is_name(n)).ok_or((column, "expected a name".to_string()))?;
                self.once(name, number, column)?;
                let (text, column) = w.formula()?;
                let v = self.variant(u32::MAX, text, column, number)?;
                d.lets.insert(name.to_string(), Let { variants: vec![v] });
                self.current = Current::Let(name.to_string());
            }
            Some("metric") => {
                let column = w.column() + 1;
                let id = w.next().filter(|n| is_name(n)).ok_or((column, "expected a name".to_string()))?;
                self.once(id, number, column)?;
                let column = w.column() + 1;
                let Some(unit_text) = w.bracket() else {
                    return fault(column, "expected a unit in brackets");
                };
                let unit = Unit::parse(unit_text).map_err(|m| (column, m))?;
                let before = w.at;
                let v = if w.next() == Some("none") {
                    self.absent(u32::MAX, &mut w, number)?
                } else {
                    w.at = before;
                    let (text, column) = w.formula()?;
                    self.variant(u32::MAX, text, column, number)?
                };
                let metric = Metric {
                    id: id.to_string(),
                    unit_text: unit_text.to_string(),
                    unit,
                    variants: vec![v],
                    peaks: Vec::new(),
                };
                match d.by_id.get(id) {
                    Some(i) => d.metrics[*i] = metric,
                    None => {
                        d.by_id.insert(id.to_string(), d.metrics.len());
                        d.metrics.push(metric);
                    }
                }
                self.current = Current::Metric(id.to_string());
            }
            Some("table") => self.table(d, &mut w, number)?,
            _ => return fault(1, "expected `let`, `metric` or `table`"),
        }
        Ok(())
    }

    fn table(&mut self, d: &mut Definitions, w: &mut Words<'_>, number: usize) -> Result<(), Fault> {
        let column = w.column() + 1;
        let id = w
            .next()
            .and_then(|t| t.split_once('.'))
            .and_then(|(a, b)| Some((a.parse::<u16>().ok()?, b.parse::<u16>().ok()?)))
            .ok_or((column, "expected a number like `17.2`".to_string()))?;
        self.once(&format!("{}.{}", id.0, id.1), number, column)?;
        let column = w.column() + 1;
        let style = w.next().and_then(|t| STYLES.iter().find(|(n, _)| *n == t)).map(|(_, s)| *s);
        let Some(style) = style else {
            let known: Vec<&str> = STYLES.iter().map(|(n, _)| *n).collect();
            return fault(column, format!("expected one of {}", known.join(", ")));
        };
        let column = w.column() + 1;
        let titles = w.quoted().and_then(|panel| Some((panel, w.quoted()?)));
        let Some((panel, title)) = titles else {
            return fault(column, "expected the panel's and the table's title");
        };
        w.end()?;
        d.tables.retain(|t| t.id != id);
        d.tables.push(Table {
            id,
            panel: panel.to_string(),
            title: title.to_string(),
            style,
            tags: Vec::new(),
            rows: Vec::new(),
        });
        d.tables.sort_by_key(|t| t.id);
        self.current = Current::Table(id);
        Ok(())
    }

    fn clause(&mut self, d: &mut Definitions, w: &mut Words<'_>, number: usize) -> Result<(), Fault> {
        let word = w.next();
        let column = w.column();
        let (variants, peaks) = match &self.current {
            Current::Nothing => {
                return fault(1, "an indented line belongs to a statement above it, and there is none");
            }
            Current::Table(id) => {
                let id = *id;
                let Some(t) = d.tables.iter_mut().find(|t| t.id == id) else { return Ok(()) };
                return self.row(t, word, w, number);
            }
            Current::Let(name) => match d.lets.get_mut(name) {
                Some(l) => (&mut l.variants, None),
                None => return Ok(()),
            },
            Current::Metric(id) => match d.by_id.get(id) {
                Some(i) => {
                    let m = &mut d.metrics[*i];
                    (&mut m.variants, Some(&mut m.peaks))
                }
                None => return Ok(()),
            },
        };
        match word {
            Some("on") => {
                let column = w.column() + 1;
                let targets = w.next().ok_or((column, "expected targets".to_string()))?;
                let bits = targets_of(catalogue(), targets).map_err(|m| (column, m))?;
                let before = w.at;
                match w.next() {
                    Some("none") => variants.push(self.absent(bits, w, number)?),
                    Some("peak") => {
                        let Some(peaks) = peaks else { return fault(column, "only a metric has a peak") };
                        let (text, column) = w.formula()?;
                        peaks.push(self.variant(bits, text, column, number)?);
                    }
                    _ => {
                        w.at = before;
                        let (text, column) = w.formula()?;
                        variants.push(self.variant(bits, text, column, number)?);
                    }
                }
            }
            Some("peak") => {
                let Some(peaks) = peaks else { return fault(column, "only a metric has a peak") };
                let (text, column) = w.formula()?;
                peaks.push(self.variant(u32::MAX, text, column, number)?);
            }
            _ => return fault(column, "expected `on` or `peak`"),
        }
        Ok(())
    }

    fn row(&self, t: &mut Table, word: Option<&str>, w: &mut Words<'_>, number: usize) -> Result<(), Fault> {
        match word {
            Some("tags") => {
                while let Some(tag) = w.quoted() {
                    t.tags.push(tag.to_string());
                }
                w.end()
            }
            Some("row") => {
                let column = w.column() + 1;
                let label = w.quoted().ok_or((column, "expected a label in quotes".to_string()))?;
                let column = w.column() + 1;
                let metric =
                    w.next().filter(|n| is_name(n)).ok_or((column, "expected a metric".to_string()))?;
                let mut row = Row {
                    label: label.to_string(),
                    metric: metric.to_string(),
                    tags: Vec::new(),
                    targets: u32::MAX,
                    file: self.file,
                    line: number,
                };
                loop {
                    match w.next() {
                        Some("on") => {
                            let column = w.column() + 1;
                            let targets = w.next().ok_or((column, "expected targets".to_string()))?;
                            row.targets = targets_of(catalogue(), targets).map_err(|m| (column, m))?;
                        }
                        Some("tags") => {
                            while let Some(tag) = w.quoted() {
                                row.tags.push(tag.to_string());
                            }
                        }
                        Some(_) => return fault(w.column(), "expected `on` or `tags`"),
                        None => break,
                    }
                }
                w.end()?;
                if row.tags.len() != t.tags.len() {
                    return fault(
                        1,
                        format!("the table has {} tags, the row {}", t.tags.len(), row.tags.len()),
                    );
                }
                t.rows.push(row);
                Ok(())
            }
            _ => fault(w.column(), "expected `row` or `tags`"),
        }
    }

    fn once(&mut self, name: &str, line: usize, column: usize) -> Result<(), Fault> {
        match self.seen.insert(name.to_string(), line) {
            Some(before) => fault(column, format!("`{name}` is defined on line {before} already")),
            None => Ok(()),
        }
    }

    /// `none "reason"`, after the word itself.
    fn absent(&self, targets: u32, w: &mut Words<'_>, line: usize) -> Result<Variant, Fault> {
        let column = w.column() + 1;
        let reason = w.quoted().ok_or((column, "expected the reason in quotes".to_string()))?;
        w.end()?;
        Ok(Variant { targets, formula: Err(reason.to_string()), text: String::new(), file: self.file, line })
    }

    fn variant(&self, targets: u32, text: &str, column: usize, line: usize) -> Result<Variant, Fault> {
        let formula = parse::expression(text, column).map_err(|w| (w.column, w.message))?;
        Ok(Variant { targets, formula: Ok(formula), text: text.to_string(), file: self.file, line })
    }
}

fn targets_of(catalogue: &Catalogue, text: &str) -> Result<u32, String> {
    catalogue.target_bits(&text.replace(',', " "))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.')
}
