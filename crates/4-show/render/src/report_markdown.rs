//! Markdown of reports, for issues, wikis and pull requests.
//!
//! The one idea to keep in mind: a table there has no width to fit, so every column is written.

use crate::text::figure;
use std::fmt::Write;
use view::{Cell, ColumnKind, Delta, NoteKind, Number, Report, Table};

/// Renders a report; `decimals` after the point.
pub fn report(report: &Report, decimals: usize) -> String {
    let mut out = String::new();
    for r in &report.recordings {
        let _ = writeln!(out, "# {}\n", text(&r.path));
        let time = r.time_ns.get().map_or_else(String::new, |t| format!(", {}", figure::duration(t)));
        let _ = writeln!(
            out,
            "{} ({}): {} dispatches of {} kernels{time}; {}\n",
            text(&r.gpu),
            text(&r.target),
            r.dispatches,
            r.kernels,
            text(&r.kind)
        );
        for line in &r.summary {
            let _ = writeln!(out, "- {}: {}", text(&line.name), text(&line.value));
        }
        if !r.selection.is_empty() {
            let _ = writeln!(out, "- selected: {}", text(&r.selection));
        }
        out.push('\n');
    }
    for note in &report.notes {
        let word = match note.kind {
            NoteKind::Error => "Error",
            NoteKind::Warning => "Warning",
            NoteKind::Info => "Note",
        };
        let _ = writeln!(out, "> **{word}:** {}\n", text(&note.text));
    }
    for t in &report.tables {
        table(&mut out, report, t, decimals);
    }
    if !report.missing.is_empty() {
        out.push_str("## n/a: why values are missing\n\n");
        for m in &report.missing {
            let hint = m.hint.as_ref().map_or_else(String::new, |h| format!("; {h}"));
            let _ = writeln!(out, "- {}{hint} ({} rows)", text(&m.reason), m.rows.len());
        }
    }
    out
}

fn table(out: &mut String, report: &Report, t: &Table, decimals: usize) {
    let _ = writeln!(out, "## {} {}\n", t.id, text(&t.title));
    let several = t.columns.iter().any(|c| c.recording > 0);
    let units = t.rows.iter().any(|r| !r.unit.is_empty());
    let mut head = vec!["id".to_owned(), t.label.clone()];
    let mut rule = vec!["---", "---"];
    for c in &t.columns {
        let of = report.recordings.get(c.recording).filter(|_| several);
        let of = of.map_or_else(String::new, |r| format!("{} ", text(&r.name)));
        let unit = if c.unit.is_empty() || c.title.contains("percent") {
            String::new()
        } else {
            format!(" {}", c.unit)
        };
        head.push(format!("{of}{}{unit}", text(&c.title)));
        rule.push(if c.kind == ColumnKind::Text { "---" } else { "---:" });
        if c.recording > 0 && c.kind != ColumnKind::Text {
            head.push("change".to_owned());
            rule.push("---:");
        }
    }
    if units {
        head.push("unit".to_owned());
        rule.push("---");
    }
    let _ = writeln!(out, "| {} |\n|{}|", head.join(" | "), rule.join("|"));
    for r in &t.rows {
        let mut cells = vec![text(&r.id), text(&r.label)];
        for (c, cell) in t.columns.iter().zip(&r.cells) {
            cells.push(match cell {
                Cell::Empty => String::new(),
                Cell::Text(words) => text(words),
                Cell::Number(n) | Cell::Change(Delta { value: n, .. }) => number(n, decimals),
            });
            if c.recording > 0 && c.kind != ColumnKind::Text {
                let percent = if let Cell::Change(d) = cell { d.change_percent } else { None };
                let beyond = matches!(cell, Cell::Change(Delta { beyond_noise: Some(true), .. }));
                let mark = if beyond { " \\*" } else { "" };
                cells.push(percent.map_or_else(String::new, |p| format!("{p:+.1} %{mark}")));
            }
        }
        if units {
            cells.push(text(&r.unit));
        }
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
    for note in &t.notes {
        let _ = writeln!(out, "{}\n", text(note));
    }
}

fn number(n: &Number, decimals: usize) -> String {
    match n {
        Number::Known(v) => figure::figure(*v, decimals).text().replace('<', "&lt;"),
        Number::Missing(_) => "n/a".to_owned(),
    }
}

/// Text in which markdown sees no markup of its own.
fn text(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
