//! A report on a recording: head, findings, charts, tables, and missing values.
//!
//! Costs in time come first, reference numbers last, and missing values are explained once at the end.

use super::answer::{notes, write_tables};
use super::findings::{self, Heading};
use super::memory_chart::memory_chart;
use super::page::{Page, dim, join, plain, span};
use super::roofline::roofline;
use super::waves::waves;
use crate::marks;
use crate::{Role, Style};
use view::{Answer, Cell, Delta, Input, MissingValues, Number, Recordings, Table, thousands, thousands_of};

/// Renders a report; `decimals` after the point.
pub fn report(report: &Answer<Recordings>, decimals: usize, style: &Style) -> String {
    let mut page = Page::new(style);
    let compared = report.is_comparison();
    for (index, input) in report.inputs.iter().enumerate() {
        let role = match (compared, index) {
            (false, _) => "",
            (true, 0) => "base",
            (true, _) => "compared",
        };
        head(&mut page, input, role);
    }
    notes(&mut page, &report.notes);
    // Verdict, kernels, findings, numbers: the first question first.
    if let Some(guide) = report.part.guide.as_ref().filter(|_| !compared) {
        page.blank();
        super::guide::headline(&mut page, guide);
    }
    let (kernels, rest): (Vec<&Table>, Vec<&Table>) = report.tables.iter().partition(|t| t.id == KERNELS);
    tables(&mut page, &kernels, report, decimals);
    let judged = report.inputs.last().filter(|_| compared);
    let of = judged.map_or_else(String::new, |input| format!(" in {}", input.name));
    let kernels = report.recordings().any(|r| r.kernels > 1);
    findings::write(&mut page, report, &Heading { of: &of, order: "most time first", kernels });
    // Charts replace the tables of their numbers.
    let (before, after): (Vec<&Table>, Vec<&Table>) = rest.into_iter().partition(|t| panel(t) < CHARTS);
    tables(&mut page, &before, report, decimals);
    let mut out = page.finish();
    if let Some(chart) = &report.part.roofline {
        out.push('\n');
        out += &roofline(chart, style);
    }
    if let Some(chart) = &report.part.occupancy_over_time {
        out.push('\n');
        out += &waves(chart, style);
    }
    if let Some(chart) = &report.part.memory_chart {
        out.push('\n');
        out += &memory_chart(chart, style);
    }
    let mut page = Page::new(style);
    tables(&mut page, &after, report, decimals);
    if report.tables.iter().any(has_noise) {
        page.blank();
        page.wrapped(0, 2, &[dim("* the change is beyond the noise of the dispatches (95 % of the time)")]);
    }
    missing(&mut page, &report.part.missing);
    out + &page.finish()
}

/// Renders only the tables of a report and why values are missing, and says on which line each table begins.
pub fn panels(report: &Answer<Recordings>, decimals: usize, style: &Style) -> (String, Vec<usize>) {
    let mut page = Page::new(style);
    let mut places = Vec::with_capacity(report.tables.len());
    for table in &report.tables {
        // A blank line precedes each.
        places.push(page.lines() + 1);
        tables(&mut page, &[table], report, decimals);
    }
    missing(&mut page, &report.part.missing);
    (page.finish(), places)
}

/// The table of kernels.
const KERNELS: &str = "0.1";

/// The panel before which charts are written.
const CHARTS: u32 = 3;

fn panel(table: &Table) -> u32 {
    table.id.split('.').next().and_then(|p| p.parse().ok()).unwrap_or(u32::MAX)
}

fn tables(page: &mut Page, tables: &[&Table], report: &Answer<Recordings>, decimals: usize) {
    write_tables(page, tables, &report.input_names(), decimals, false);
}

fn has_noise(table: &Table) -> bool {
    let cells = table.rows.iter().flat_map(|r| &r.cells);
    cells.into_iter().any(|c| matches!(c, Cell::Change(Delta { beyond_noise: Some(true), .. })))
}

fn head(page: &mut Page, input: &Input, role: &str) {
    let mut first = vec![span(Role::Heading, &input.path), dim(format!("  {}", input.kind))];
    if !role.is_empty() {
        first.push(dim(format!(", {role}")));
    }
    page.wrapped(0, 4, &first);
    let Some(recording) = &input.recording else { return };
    let count = |n: u64, word: &str| plain(thousands_of(n, word));
    let mut parts = vec![
        vec![plain(match (recording.dispatches, recording.recorded_dispatches) {
            (n, all) if n < all => format!("{} of {}", thousands(n), thousands_of(all, "dispatch")),
            (n, _) => thousands_of(n, "dispatch"),
        })],
        vec![count(recording.kernels, "kernel")],
        vec![count(recording.counters, "counter")],
    ];
    if let Number::Known(time) = recording.time_ns {
        parts.push(vec![plain(marks::signed(recording.time_trust, view::duration(time)))]);
    }
    if !recording.gpu.is_empty() {
        let same = recording.target == recording.gpu || recording.target.is_empty();
        let target = if same { String::new() } else { format!(" ({})", recording.target) };
        parts.insert(0, vec![span(Role::Strong, &recording.gpu), plain(target)]);
    }
    page.wrapped(2, 4, &join(parts, " · "));
    if role.is_empty() {
        for line in &input.facts {
            field(page, &line.name, &line.value);
        }
    }
    if !recording.selection.is_empty() {
        field(page, "selected", &recording.selection);
    }
}

fn field(page: &mut Page, name: &str, value: &str) {
    page.prefixed(&[dim(format!("  {name:<9}"))], &[plain(" ".repeat(11))], &[plain(value)]);
}

/// Rows named for one reason before the rest is only counted.
const ROWS_NAMED: usize = 6;
/// Characters of a reason before it is cut; a panel may lack dozens of counters.
const REASON: usize = 300;

fn missing(page: &mut Page, entries: &[MissingValues]) {
    if entries.is_empty() {
        return;
    }
    page.blank();
    page.wrapped(0, 2, &[span(Role::Heading, "n/a"), dim("  why values are missing")]);
    for entry in entries {
        let mut rows = entry.rows.iter().take(ROWS_NAMED).cloned().collect::<Vec<_>>().join(" ");
        if entry.rows.len() > ROWS_NAMED {
            rows += &format!(" and {} more", entry.rows.len() - ROWS_NAMED);
        }
        let mut spans = vec![plain(cut(&entry.reason))];
        if let Some(hint) = &entry.hint {
            spans.push(plain("; "));
            spans.push(span(Role::Good, hint));
        }
        spans.push(dim(format!("  ({rows})")));
        page.wrapped(2, 4, &spans);
    }
}

/// A long list of counters, cut between two of them.
fn cut(reason: &str) -> String {
    if reason.chars().count() <= REASON {
        return reason.to_owned();
    }
    let parts: Vec<&str> = reason.split(", ").collect();
    let mut out = String::new();
    let mut shown = 0;
    for part in &parts {
        if out.chars().count() + part.chars().count() > REASON {
            break;
        }
        if shown > 0 {
            out += ", ";
        }
        out += part;
        shown += 1;
    }
    let end = reason.rsplit_once(": ").map_or("", |(_, end)| end);
    format!("{out} and {} more: {end}", parts.len() - shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_reasons_are_cut_between_counters() {
        let names: Vec<String> = (0..60).map(|i| format!("COUNTER_{i:02}")).collect();
        let text = cut(&format!("needs {}: not recorded", names.join(", ")));
        assert!(text.starts_with("needs COUNTER_00, ") && text.ends_with(" more: not recorded"), "{text}");
        assert!(text.chars().count() < 340, "{text}");
        assert_eq!(cut("needs A: not recorded"), "needs A: not recorded");
    }
}
