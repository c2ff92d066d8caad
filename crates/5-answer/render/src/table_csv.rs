//! CSV of tables: one long table for programs, or a wide file per table for spreadsheets.
//!
//! Numbers are written exactly; a missing one is an empty cell with its reason beside it.

use crate::github::place;
use view::{Answer, Cell, Delta, Incidents, Number, Table};

const LONG: [&str; 13] = [
    "recording",
    "table",
    "panel",
    "title",
    "row",
    "label",
    "metric",
    "column",
    "value",
    "unit",
    "missing",
    "change",
    "change_percent",
];

/// All tables, a line per cell.
pub(crate) fn long<P>(answer: &Answer<P>) -> String {
    long_tables(&answer.tables, &answer.input_names())
}

/// Tables one after another, a line per row, with one header for neighbours of the same columns; findings if
/// there are no tables.
pub(crate) fn joined<P>(answer: &Answer<P>) -> String {
    let mut out = Lines::new();
    if answer.tables.is_empty() {
        out.line(["rule", "severity", "file", "line", "message", "advice"].map(str::to_owned));
        for finding in &answer.findings {
            let (file, line) = place(finding);
            let severity = finding.severity.as_str();
            let cells = [finding.rule, severity, file, &line.to_string(), &finding.message, &finding.advice];
            out.line(cells.map(str::to_owned));
        }
    }
    let mut header: Vec<&str> = Vec::new();
    for table in &answer.tables {
        let own: Vec<&str> = table
            .columns
            .iter()
            .map(|it| if it.key.is_empty() { it.title.as_str() } else { it.key })
            .collect();
        if own != header {
            out.line(std::iter::once("table").chain(own.iter().copied()).map(str::to_owned));
            header = own;
        }
        for row in &table.rows {
            let cells = row.cells.iter().map(|cell| match cell {
                Cell::Empty => String::new(),
                Cell::Text(text) => text.clone(),
                Cell::Number(n) | Cell::Change(Delta { value: n, .. }) => match n {
                    Number::Known(value) => value.to_string(),
                    Number::Missing(reason) => format!("n/a: {reason}"),
                },
            });
            out.line(std::iter::once(table.title.clone()).chain(cells));
        }
    }
    out.finish()
}

fn long_tables(tables: &[Table], names: &[&str]) -> String {
    let mut out = Lines::new();
    out.line(LONG.iter().map(|c| (*c).to_owned()));
    for t in tables {
        for r in &t.rows {
            for (column, cell) in t.columns.iter().zip(&r.cells) {
                let (value, missing) = match cell {
                    Cell::Empty => continue,
                    Cell::Text(text) => (text.clone(), String::new()),
                    Cell::Number(n) | Cell::Change(Delta { value: n, .. }) => number(n),
                };
                let (change, percent) = match cell {
                    Cell::Change(d) => (optional(d.change), optional(d.change_percent)),
                    _ => (String::new(), String::new()),
                };
                let recording = names.get(column.recording).copied().unwrap_or("");
                let unit = if column.unit.is_empty() { &r.unit } else { &column.unit };
                out.line(
                    [
                        recording,
                        &t.id,
                        &t.panel,
                        &t.title,
                        &r.id,
                        &r.label,
                        &r.metric,
                        &column.title,
                        &value,
                        unit,
                        &missing,
                        &change,
                        &percent,
                    ]
                    .map(str::to_owned),
                );
            }
        }
    }
    out.finish()
}

/// One table, a line per row.
pub fn wide<P>(answer: &Answer<P>, t: &Table) -> String {
    let mut out = Lines::new();
    let several = t.columns.iter().any(|c| c.recording > 0);
    let mut head = vec!["id".to_owned(), t.label.clone(), "unit".to_owned()];
    for c in &t.columns {
        let unit = if c.unit.is_empty() { String::new() } else { format!(" ({})", c.unit) };
        let of = answer.inputs.get(c.recording).filter(|_| several);
        let of = of.map_or_else(String::new, |r| format!("{}: ", r.name));
        head.push(format!("{of}{}{unit}", c.title));
        if c.recording > 0 {
            head.push(format!("{of}{} change %", c.title));
        }
    }
    out.line(head);
    for r in &t.rows {
        let mut cells = vec![r.id.clone(), r.label.clone(), r.unit.clone()];
        for (column, cell) in t.columns.iter().zip(&r.cells) {
            cells.push(match cell {
                Cell::Empty => String::new(),
                Cell::Text(text) => text.clone(),
                Cell::Number(n) | Cell::Change(Delta { value: n, .. }) => number(n).0,
            });
            if column.recording > 0 {
                cells.push(if let Cell::Change(d) = cell {
                    optional(d.change_percent)
                } else {
                    String::new()
                });
            }
        }
        out.line(cells);
    }
    out.finish()
}

/// Faults and events of logs, a line each.
pub(crate) fn incidents(part: &Incidents) -> String {
    let mut out = Lines::new();
    out.line(
        ["kind", "severity", "file", "line", "device", "times", "text", "meaning", "next"].map(str::to_owned),
    );
    for it in &part.incidents {
        let severity = if it.consequence { "consequence" } else { "fail" };
        let line = it.line.to_string();
        let next = it.next.join(" ");
        out.line(
            ["incident", severity, &it.file, &line, "", "1", &it.title, &it.meaning, &next]
                .map(str::to_owned),
        );
    }
    for it in &part.events {
        let (line, times) = (it.line.to_string(), it.times.to_string());
        let device = it.device.as_deref().unwrap_or_default();
        out.line(
            [&it.id, it.severity, &it.file, &line, device, &times, &it.text, &it.meaning, &it.next.join(" ")]
                .map(str::to_owned),
        );
    }
    out.finish()
}

fn number(n: &Number) -> (String, String) {
    match n {
        Number::Known(v) => (v.to_string(), String::new()),
        Number::Missing(m) => (String::new(), m.to_string()),
    }
}

fn optional(v: Option<f64>) -> String {
    v.map_or_else(String::new, |v| v.to_string())
}

struct Lines(csv::Writer<Vec<u8>>);

impl Lines {
    fn new() -> Self {
        Lines(csv::Writer::from_writer(Vec::new()))
    }

    fn line(&mut self, cells: impl IntoIterator<Item = String>) {
        // Writing to memory does not fail, and all lines have as many cells as the header.
        let _ = self.0.write_record(cells);
    }

    fn finish(self) -> String {
        String::from_utf8(self.0.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}
