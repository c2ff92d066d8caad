//! Tables evaluated: rows of cells under headings.
//!
//! Average, minimum, maximum, quartiles, percent of peak and the rows of channels all come from the one
//! definition of a metric; a table only selects some of them.

use crate::definitions::{Definitions, Row, Style, Table};
use crate::evaluate::{Evaluation, Settings, TakenFrom, Trust, Value};
use view::{Missing, Norm};

/// An evaluated row.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// Number within the table.
    pub number: usize,
    /// Label.
    pub label: String,
    /// Further cells of text.
    pub tags: Vec<String>,
    /// Metric, empty for a row of a table of channels.
    pub metric: String,
    /// Unit, as shown: `GB/s`, `req per kernel`.
    pub unit: String,
    /// Cells, one per heading; `None` where the column does not apply (a metric without peak).
    pub cells: Vec<Option<Value>>,
    /// Trust in the values; `None` if measured.
    pub trust: Option<Trust>,
    /// Source of the values, if they are not computed from the metric's own counters.
    pub from: Option<TakenFrom>,
}

/// An evaluated table.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedTable {
    /// Panel and table number.
    pub id: (u16, u16),
    /// Panel title.
    pub panel: String,
    /// Title.
    pub title: String,
    /// Columns of the table.
    pub style: Style,
    /// Headings of the tags.
    pub tags: Vec<String>,
    /// Headings of the cells.
    pub headings: Vec<String>,
    /// Rows.
    pub rows: Vec<TableRow>,
}

/// A metric's unit as shown.
pub fn shown_unit(unit: &str, norm: Norm) -> String {
    match unit.strip_suffix("/norm") {
        Some(stem) => format!("{stem} per {}", norm.name()),
        None => unit.to_string(),
    }
}

/// Evaluates a table.
pub fn table(
    definitions: &Definitions,
    table: &Table,
    e: &Evaluation<'_>,
    settings: Settings,
) -> EvaluatedTable {
    let rows: Vec<&Row> = table.rows(e.target()).collect();
    let unit = |r: &Row| {
        definitions.metric(&r.metric).map_or(String::new(), |m| shown_unit(&m.unit_text, settings.norm))
    };
    let words = |w: &[&str]| w.iter().map(|w| (*w).to_string()).collect::<Vec<_>>();
    let headings = match table.style {
        Style::Speed => words(&["avg", "peak", "percent of peak"]),
        Style::Value | Style::Chart => words(&["avg"]),
        Style::Stats => words(&["avg", "min", "max"]),
        Style::Aggregate => words(&["avg", "std dev", "min", "max"]),
        Style::Box | Style::ChannelBox => words(&["min", "q1", "median", "q3", "max"]),
        Style::Channels => rows.iter().map(|r| r.label.clone()).collect(),
    };
    let rows = match table.style {
        Style::ChannelBox | Style::Channels => channels(table.style, &rows, e, &unit),
        _ => rows
            .iter()
            .enumerate()
            .map(|(number, r)| {
                let cells = cells(table.style, &r.metric, e);
                TableRow {
                    number,
                    label: r.label.clone(),
                    tags: r.tags.clone(),
                    metric: r.metric.clone(),
                    unit: unit(r),
                    trust: trust(&cells, &[r], e),
                    from: e.taken_from(&r.metric).cloned(),
                    cells,
                }
            })
            .collect(),
    };
    EvaluatedTable {
        id: table.id,
        panel: table.panel.clone(),
        title: table.title.clone(),
        style: table.style,
        tags: table.tags.clone(),
        headings,
        rows,
    }
}

fn cells(style: Style, metric: &str, e: &Evaluation<'_>) -> Vec<Option<Value>> {
    match style {
        Style::Speed => vec![Some(e.value(metric)), e.peak(metric), e.percent_of_peak(metric)],
        Style::Value => vec![Some(e.value(metric))],
        Style::Chart => vec![Some(e.value(metric).map(f64::round_ties_even))],
        Style::Stats => {
            let (min, max) = e.extremes(metric);
            vec![Some(e.value(metric)), Some(min), Some(max)]
        }
        Style::Aggregate => {
            let (min, max) = e.extremes(metric);
            vec![Some(e.value(metric)), Some(e.deviation(metric)), Some(min), Some(max)]
        }
        Style::Box | Style::ChannelBox | Style::Channels => spread(metric, 0, e),
    }
}

/// Trust in the first values together, one per metric; if unknown, the reason.
fn trust(values: &[Option<Value>], rows: &[&Row], e: &Evaluation<'_>) -> Option<Trust> {
    let each = values.iter().zip(rows).filter_map(|(value, row)| e.trust(&row.metric, value.as_ref()?));
    each.reduce(|all, one| match (all, one) {
        (Ok(all), Ok(one)) => Ok(all.with(one)),
        (all, one) => all.or(one),
    })
}

fn spread(metric: &str, channel: u32, e: &Evaluation<'_>) -> Vec<Option<Value>> {
    match e.quartiles(metric, channel) {
        Ok(q) => q.iter().map(|v| Some(Ok(*v))).collect(),
        Err(m) => vec![Some(Err(m)); 5],
    }
}

fn channels(style: Style, rows: &[&Row], e: &Evaluation<'_>, unit: &dyn Fn(&Row) -> String) -> Vec<TableRow> {
    let line = |channel: usize, cells: Vec<Option<Value>>| TableRow {
        number: channel,
        label: channel.to_string(),
        tags: Vec::new(),
        metric: String::new(),
        unit: rows.first().map_or(String::new(), |r| unit(r)),
        trust: trust(
            &cells,
            if style == Style::ChannelBox { rows.get(..1).unwrap_or_default() } else { rows },
            e,
        ),
        from: None,
        cells,
    };
    if e.channels() == 0 {
        let none = || Some(Err(Missing::MachineFact("total_l2_chan".to_owned())));
        let width = if style == Style::ChannelBox { 5 } else { rows.len() };
        return vec![line(0, (0..width).map(|_| none()).collect())];
    }
    (0..e.channels())
        .map(|channel| {
            let c = channel as u32;
            let cells = match (style, rows.first()) {
                (Style::ChannelBox, Some(r)) => spread(&r.metric, c, e),
                _ => rows.iter().map(|r| Some(e.channel_value(&r.metric, c))).collect(),
            };
            line(channel, cells)
        })
        .collect()
}
