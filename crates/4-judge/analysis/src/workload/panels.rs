//! Evaluated tables of metrics as tables of a report.
//!
//! `metrics` gives cells in the order of its headings; here each gets its kind, so a renderer knows what to
//! draw.

use metrics::{EvaluatedTable, Style, Trust, Value};
use std::collections::BTreeMap;
use view::{Cell, Column, ColumnKind, Number, Row, Table};

/// Kind of a row's label.
fn label(style: Style) -> &'static str {
    match style {
        Style::Channels | Style::ChannelBox => "channel",
        _ => "metric",
    }
}

fn kind(heading: &str, style: Style, unit: &str) -> ColumnKind {
    match (heading, style) {
        ("percent of peak", _) => ColumnKind::Percent,
        (_, Style::Box | Style::ChannelBox) => ColumnKind::Quartile,
        (_, Style::Value) if unit == "%" => ColumnKind::Percent,
        _ => ColumnKind::Number,
    }
}

/// The column with the confidence of a row's values.
pub(crate) fn trust_column() -> Column {
    Column::new("trust", ColumnKind::Trust, "")
}

/// Its cell.
pub(crate) fn trust(trust: Trust) -> Cell {
    match trust {
        Ok(mark) => Cell::Text(mark.to_string()),
        Err(missing) => Cell::Number(Number::Missing(missing)),
    }
}

/// A table of a report from an evaluated one; `recording` tells whose values they are.
pub(crate) fn table(t: &EvaluatedTable, recording: usize) -> Table {
    let id = format!("{}.{}", t.id.0, t.id.1);
    let percent = !t.rows.is_empty() && t.rows.iter().all(|r| r.unit == "%");
    let tags = t.tags.iter().map(|tag| Column::new(tag.to_lowercase(), ColumnKind::Text, ""));
    let headings = t.headings.iter().map(|heading| {
        let unit = if percent { "%" } else { "" };
        let unit = if heading == "percent of peak" { "%" } else { unit };
        Column { recording, ..Column::new(heading, kind(heading, t.style, unit), unit) }
    });
    // What was measured needs no word about it.
    let marked = t.rows.iter().any(|r| r.trust.is_some());
    let column = marked.then(|| Column { recording, ..trust_column() });
    Table {
        columns: tags.chain(headings).chain(column).collect(),
        rows: t
            .rows
            .iter()
            .map(|r| Row {
                id: format!("{id}.{}", r.number),
                label: r.label.clone(),
                metric: r.metric.clone(),
                unit: if percent { String::new() } else { r.unit.clone() },
                cells: r
                    .tags
                    .iter()
                    .map(|tag| Cell::Text(tag.clone()))
                    .chain(r.cells.iter().map(|cell| cell.clone().map_or(Cell::Empty, number)))
                    .chain(marked.then(|| r.trust.clone().map_or(Cell::Empty, trust)))
                    .collect(),
                little: false,
            })
            .collect(),
        panel: t.panel.clone(),
        title: t.title.clone(),
        label: label(t.style).to_string(),
        notes: taken_from(t),
        id,
        ..Table::default()
    }
}

/// Rows computed from replacement counters.
fn taken_from(t: &EvaluatedTable) -> Vec<String> {
    let mut rows: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for row in &t.rows {
        if let Some(from) = &row.from
            && row.cells.iter().flatten().any(Result::is_ok)
        {
            rows.entry(from.to_string()).or_default().push(&row.label);
        }
    }
    rows.into_iter().map(|(from, rows)| format!("from {from}: {}", rows.join(", "))).collect()
}

/// A cell from a value.
pub(crate) fn number(value: Value) -> Cell {
    Cell::Number(Number::from(value))
}
