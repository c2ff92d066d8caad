//! Markdown of reports, for issues, wikis and pull requests.
//!
//! The one idea to keep in mind: a table there has no width to fit, so every column is written.

use crate::Style;
use crate::marks;
use crate::text::{self, figure};
use std::fmt::Write;
use view::{Cell, Delta, Finding, Note, NoteKind, Number, Report, Survey, Table, counted};

/// Renders a report; `decimals` after the point.
pub fn report(report: &Report, decimals: usize) -> String {
    let mut out = String::new();
    for r in &report.recordings {
        let _ = writeln!(out, "# {}\n", words(&r.path));
        let time = r
            .time_ns
            .get()
            .map_or_else(String::new, |t| format!(", {}", marks::signed(r.time_trust, view::duration(t))));
        let _ = writeln!(
            out,
            "{} ({}): {} of {}{time}; {}\n",
            words(&r.gpu),
            words(&r.target),
            counted(r.dispatches, "dispatch"),
            counted(r.kernels, "kernel"),
            words(&r.kind)
        );
        for line in &r.summary {
            let _ = writeln!(out, "- {}: {}", words(&line.name), words(&line.value));
        }
        if !r.selection.is_empty() {
            let _ = writeln!(out, "- selected: {}", words(&r.selection));
        }
        out.push('\n');
    }
    notes(&mut out, &report.notes);
    findings(&mut out, report);
    // Charts are drawn with characters; a block of code keeps them together.
    let style = Style { width: 100, ..Style::default() };
    for chart in [
        report.roofline.as_ref().map(|chart| text::roofline(chart, &style)),
        report.memory_chart.as_ref().map(|chart| text::memory_chart(chart, &style)),
    ]
    .into_iter()
    .flatten()
    {
        let _ = writeln!(out, "```text\n{}```\n", chart.replace("```", ""));
    }
    let names: Vec<&str> = report.recordings.iter().map(|r| r.name.as_str()).collect();
    for t in &report.tables {
        table(&mut out, &names, t, decimals);
    }
    if !report.missing.is_empty() {
        out.push_str("## n/a: why values are missing\n\n");
        for m in &report.missing {
            let hint = m.hint.as_ref().map_or_else(String::new, |h| format!("; {h}"));
            let _ = writeln!(out, "- {}{hint} ({})", words(&m.reason), counted(m.rows.len(), "row"));
        }
    }
    out
}

fn notes(out: &mut String, notes: &[Note]) {
    for note in notes {
        let word = match note.kind {
            NoteKind::Error => "Error",
            NoteKind::Warning => "Warning",
            NoteKind::Info => "Note",
        };
        let _ = writeln!(out, "> **{word}:** {}\n", words(&note.text));
    }
}

/// Renders a survey; `decimals` after the point.
pub fn survey(survey: &Survey, decimals: usize) -> String {
    let mut out = String::new();
    for input in &survey.inputs {
        let _ = writeln!(out, "# {}\n\n{}\n", words(&input.path), words(&input.kind));
        for fact in &input.facts {
            let _ = writeln!(out, "- {}: {}", words(&fact.name), words(&fact.value));
        }
        out.push('\n');
    }
    notes(&mut out, &survey.notes);
    if !survey.findings.is_empty() {
        out.push_str("## Findings\n\n");
        survey.findings.iter().for_each(|f| finding(&mut out, f, None));
        out.push('\n');
    }
    let names: Vec<&str> = survey.inputs.iter().map(|i| i.name.as_str()).collect();
    for t in &survey.tables {
        table(&mut out, &names, t, decimals);
    }
    out
}

fn finding(out: &mut String, f: &Finding, kernel: Option<&str>) {
    let cost = f.cost.as_ref().map_or_else(String::new, |c| format!("; costs {}", words(c)));
    let _ = writeln!(out, "- **{}** ({}): {}{cost}", f.rule, f.severity.as_str(), words(&f.message));
    if let Some(kernel) = kernel {
        let _ = writeln!(out, "  - kernel: {}", words(kernel));
    }
    let _ = writeln!(out, "  - {}", words(&f.advice));
    if !f.evidence.is_empty() {
        let list: Vec<String> =
            f.evidence.iter().map(|e| format!("{}: {}", words(&e.what), words(&e.value))).collect();
        let _ = writeln!(out, "  - {}", list.join(" · "));
    }
}

fn findings(out: &mut String, report: &Report) {
    if report.findings.is_empty() {
        return;
    }
    out.push_str("## Findings\n\n");
    for it in &report.findings {
        finding(out, &it.finding, Some(&it.kernel));
    }
    if let Some(legend) = marks::legend(marks::of_findings(&report.findings)) {
        let _ = writeln!(out, "\n{}", words(&legend));
    }
    out.push('\n');
}

fn table(out: &mut String, names: &[&str], t: &Table, decimals: usize) {
    let _ = writeln!(out, "## {} {}\n", t.id, words(&t.title));
    let several = t.columns.iter().any(|c| c.recording > 0);
    let units = t.rows.iter().any(|r| !r.unit.is_empty());
    let mut head = vec!["id".to_owned(), t.label.clone()];
    let mut rule = vec!["---", "---"];
    for c in &t.columns {
        let of = names.get(c.recording).filter(|_| several);
        let of = of.map_or_else(String::new, |name| format!("{} ", words(name)));
        let unit = if c.unit.is_empty() || c.title.contains("percent") {
            String::new()
        } else {
            format!(" {}", c.unit)
        };
        head.push(format!("{of}{}{unit}", words(&c.title)));
        rule.push(if c.kind.is_words() { "---" } else { "---:" });
        if c.recording > 0 && !c.kind.is_words() {
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
        let mut cells = vec![words(&r.id), words(&r.label)];
        for (c, cell) in t.columns.iter().zip(&r.cells) {
            cells.push(match cell {
                Cell::Empty => String::new(),
                Cell::Text(text) => words(text),
                Cell::Number(n) | Cell::Change(Delta { value: n, .. }) => number(n, decimals),
            });
            if c.recording > 0 && !c.kind.is_words() {
                let percent = if let Cell::Change(d) = cell { d.change_percent } else { None };
                let beyond = matches!(cell, Cell::Change(Delta { beyond_noise: Some(true), .. }));
                let mark = if beyond { " \\*" } else { "" };
                cells.push(percent.map_or_else(String::new, |p| format!("{p:+.1} %{mark}")));
            }
        }
        if units {
            cells.push(words(&r.unit));
        }
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
    for note in &t.notes {
        let _ = writeln!(out, "{}\n", words(note));
    }
}

fn number(n: &Number, decimals: usize) -> String {
    match n {
        Number::Known(v) => figure::figure(*v, decimals).text().replace('<', "&lt;"),
        Number::Missing(_) => "n/a".to_owned(),
    }
}

/// Text in which markdown sees no markup of its own.
pub(crate) fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '~' | '`' | '[' | ']' | '\\' => {
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
