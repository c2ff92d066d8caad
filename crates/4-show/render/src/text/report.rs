//! A report on a recording: its head, findings, charts, tables, and what is missing.
//!
//! The one idea to keep in mind: what costs time comes first, numbers to look up come last, and what is not there
//! is explained once at the end.

mod figure;
mod grid;

use super::number::{plural, thousands};
use super::page::{Page, dim, join, plain, span};
use crate::{Role, Style};
use view::{NoteKind, Number, Recording, Report, Table};

/// Renders a report; `decimals` after the point.
pub fn report(report: &Report, decimals: usize, style: &Style) -> String {
    let mut page = Page::new(style);
    for recording in &report.recordings {
        head(&mut page, recording);
    }
    notes(&mut page, report);
    let mut panel = "";
    for table in &report.tables {
        page.blank();
        if table.panel != panel {
            panel = &table.panel;
        }
        title(&mut page, table);
        grid::table(&mut page, table, decimals);
        for note in &table.notes {
            page.wrapped(2, 4, &[dim(note)]);
        }
    }
    missing(&mut page, report);
    page.finish()
}

fn head(page: &mut Page, recording: &Recording) {
    page.wrapped(0, 4, &[span(Role::Heading, &recording.path), dim(format!("  {}", recording.kind))]);
    let count = |n: u64, word: &str| plain(plural(&thousands(n), word));
    let mut parts = vec![
        vec![plain(match recording.dispatches {
            1 => "1 dispatch".to_owned(),
            n => format!("{} dispatches", thousands(n)),
        })],
        vec![count(recording.kernels, "kernel")],
        vec![count(recording.counters, "counter")],
    ];
    if let Number::Known(time) = recording.time_ns {
        parts.push(vec![plain(figure::duration(time))]);
    }
    if !recording.gpu.is_empty() {
        let target = if recording.target == recording.gpu {
            String::new()
        } else {
            format!(" ({})", recording.target)
        };
        parts.insert(0, vec![span(Role::Strong, &recording.gpu), plain(target)]);
    }
    if recording.dispatches < recording.recorded_dispatches {
        parts.push(vec![dim(format!("of {} recorded", thousands(recording.recorded_dispatches)))]);
    }
    page.wrapped(2, 4, &join(parts, " · "));
    if !recording.selection.is_empty() {
        page.wrapped(2, 4, &[dim(format!("selected: {}", recording.selection))]);
    }
}

fn notes(page: &mut Page, report: &Report) {
    for note in &report.notes {
        let (word, role) = match note.kind {
            NoteKind::Error => ("error  ", Role::Severe),
            NoteKind::Warning => ("warning", Role::Warning),
            NoteKind::Info => ("note   ", Role::Dim),
        };
        page.prefixed(
            &[plain("  "), span(role, word), plain("  ")],
            &[plain(" ".repeat(11))],
            &[plain(&note.text)],
        );
    }
}

fn title(page: &mut Page, table: &Table) {
    let mut spans = vec![dim(format!("{}  ", table.id)), span(Role::Heading, &table.title)];
    if table.title != table.panel {
        spans.push(dim(format!("  {}", table.panel)));
    }
    page.wrapped(0, 4, &spans);
}

/// Rows named for one reason before the rest is only counted.
const ROWS_NAMED: usize = 6;

fn missing(page: &mut Page, report: &Report) {
    if report.missing.is_empty() {
        return;
    }
    page.blank();
    page.wrapped(0, 2, &[span(Role::Heading, "n/a"), dim("  why values are missing")]);
    for entry in &report.missing {
        let mut rows = entry.rows.iter().take(ROWS_NAMED).cloned().collect::<Vec<_>>().join(" ");
        if entry.rows.len() > ROWS_NAMED {
            rows += &format!(" and {} more", entry.rows.len() - ROWS_NAMED);
        }
        let mut spans = vec![plain(&entry.reason), dim(format!("  ({rows})"))];
        if let Some(hint) = &entry.hint {
            spans.push(plain("; "));
            spans.push(span(Role::Good, hint));
        }
        page.wrapped(2, 4, &spans);
    }
}
