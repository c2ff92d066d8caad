//! The text of an answer: inputs, notes, findings, tables, steps.
//!
//! Commands with an extra part put it between these; see [`crate::Part`].

use super::findings::{self, Heading};
use super::grid;
use super::page::{Page, dim, plain, span, width};
use crate::{Role, Style};
use std::collections::BTreeMap;
use view::{Answer, Cell, Input, Missing, Note, NoteKind, Number, Recipe, Table, thousands};

/// Reasons for missing values written below one table.
const REASONS: usize = 6;

/// Renders an answer without an extra part; `decimals` after the point.
pub(crate) fn answer<P>(answer: &Answer<P>, decimals: usize, style: &Style) -> String {
    let mut page = Page::new(style);
    // A table of one input has its name and facts as heading.
    let is_titled = |input: &&Input| answer.tables.iter().any(|table| table.title == input.path);
    answer.inputs.iter().filter(|it| !is_titled(it)).for_each(|it| head(&mut page, it));
    notes(&mut page, &answer.notes);
    findings::write(&mut page, answer, &Heading { of: "", order: "worst first", kernels: true });
    let tables: Vec<&Table> = answer.tables.iter().collect();
    write_tables(&mut page, &tables, &answer.input_names(), decimals, true);
    answer.recipes.iter().for_each(|recipe| steps(&mut page, recipe));
    // Every part begins with a blank line, the first of all too.
    page.finish().trim_start_matches('\n').to_owned()
}

/// Head of an input.
fn head(page: &mut Page, input: &Input) {
    let used = if input.used.is_empty() { String::new() } else { format!(", {}", input.used) };
    page.wrapped(0, 4, &[span(Role::Heading, &input.path), dim(format!("  {}{used}", input.kind))]);
    let names = input.facts.iter().map(|fact| width(&fact.name)).max().unwrap_or(0).max(7);
    for fact in &input.facts {
        let name = format!("  {:<names$}  ", fact.name);
        page.prefixed(&[dim(name)], &[plain(" ".repeat(names + 4))], &[plain(&fact.value)]);
    }
    for part in &input.not_used {
        page.prefixed(&[dim("  not used  ")], &[plain(" ".repeat(12))], &[plain(part)]);
    }
}

/// Notes, each with its weight.
pub(super) fn notes(page: &mut Page, notes: &[Note]) {
    for note in notes {
        let (word, role) = match note.kind {
            NoteKind::Error => ("error", Role::Severe),
            NoteKind::Warning => ("warning", Role::Warning),
            NoteKind::Info => ("note", Role::Dim),
        };
        page.prefixed(
            &[plain("  "), span(role, format!("{word:<7}")), plain("  ")],
            &[plain(" ".repeat(11))],
            &[plain(&note.text)],
        );
    }
}

/// Writes tables of the inputs with these names. `reasons` says whether each table explains its missing
/// values; otherwise the answer does so once.
pub(super) fn write_tables(
    page: &mut Page,
    tables: &[&Table],
    names: &[&str],
    decimals: usize,
    reasons: bool,
) {
    let mut empty: Vec<(&Table, &Missing)> = Vec::new();
    for table in tables {
        if let Some(reason) = table.only_missing() {
            empty.push((table, reason));
            continue;
        }
        folded(page, &mut empty);
        page.blank();
        title(page, table);
        for fact in &table.facts {
            page.prefixed(&[dim(format!("  {}: ", fact.name))], &[plain("      ")], &[plain(&fact.value)]);
        }
        // Facts alone are an answer too.
        if !table.rows.is_empty() || table.facts.is_empty() {
            grid::table(page, table, names, decimals);
        }
        if table.more > 0 {
            let rest = thousands(table.more as u64);
            page.wrapped(2, 4, &[dim(format!("{rest} more rows: `--top 0` shows all"))]);
        }
        if reasons {
            missing(page, table);
        }
        for note in &table.notes {
            page.wrapped(2, 4, &[dim(note)]);
        }
    }
    folded(page, &mut empty);
}

/// Tables without a number: a line each, with the first reason.
fn folded(page: &mut Page, empty: &mut Vec<(&Table, &Missing)>) {
    if !empty.is_empty() {
        page.blank();
    }
    for (table, reason) in empty.drain(..) {
        let mut first = numbered(table);
        first.push(span(Role::Heading, &table.title));
        let reason = reason.clone().shortened();
        page.prefixed(&first, &[plain("    ")], &[dim(format!("  n/a: {reason}"))]);
    }
}

/// The number of a table, if it has one.
fn numbered(table: &Table) -> Vec<super::page::Span> {
    if table.id.is_empty() { Vec::new() } else { vec![dim(format!("{}  ", table.id))] }
}

fn title(page: &mut Page, table: &Table) {
    let mut spans = numbered(table);
    spans.push(span(Role::Heading, &table.title));
    if table.title != table.panel && !table.panel.is_empty() {
        spans.push(dim(format!("  {}", table.panel)));
    }
    if let Some(unit) = grid::common_unit(table) {
        spans.push(dim(format!("  [{unit}]")));
    }
    page.wrapped(0, 4, &spans);
}

/// Reasons for the missing values of a table, each once with the headings of its columns.
fn missing(page: &mut Page, table: &Table) {
    let mut found: BTreeMap<String, (Vec<&str>, usize)> = BTreeMap::new();
    for row in &table.rows {
        for (cell, column) in row.cells.iter().zip(&table.columns) {
            if let Cell::Number(Number::Missing(missing)) = cell {
                let entry = found.entry(missing.to_string()).or_default();
                if !entry.0.contains(&column.title.as_str()) {
                    entry.0.push(&column.title);
                }
                entry.1 += 1;
            }
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, (_, count))| std::cmp::Reverse(*count));
    for (reason, (titles, _)) in found.iter().take(REASONS) {
        page.wrapped(2, 4, &[dim(format!("n/a {}: {reason}", titles.join(", ")))]);
    }
}

/// Steps to follow.
fn steps(page: &mut Page, recipe: &Recipe) {
    page.blank();
    page.wrapped(0, 4, &[span(Role::Heading, &recipe.title)]);
    if !recipe.why.is_empty() {
        page.wrapped(2, 2, &[plain(&recipe.why)]);
    }
    for (at, step) in recipe.steps.iter().enumerate() {
        page.wrapped(2, 5, &[dim(format!("{}. ", at + 1)), plain(&step.text)]);
        // Commands are for pasting, so nothing breaks their lines.
        for line in step.command.lines() {
            page.raw(&[plain("     "), span(Role::Strong, line)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::{Column, ColumnKind, NamedValue, Row};

    #[test]
    fn columns_give_way_to_the_width_and_reasons_are_written_once() {
        let column = |title: &str, unit: &str, kind| Column::new(title, kind, unit);
        let table = Table {
            title: "a.csv".to_owned(),
            facts: vec![NamedValue::new("rows", "2")],
            columns: vec![
                column("line", "", ColumnKind::Id),
                column("candidate", "", ColumnKind::Text),
                column("time", "us", ColumnKind::Number),
            ],
            rows: vec![
                Row::of(vec![
                    Cell::count(6),
                    Cell::text("kernel_with_a_long_name_and_an_end"),
                    Cell::from(28.7017),
                ]),
                Row::of(vec![Cell::count(1007), Cell::text("short"), Cell::missing("no times")]),
            ],
            more: 3,
            notes: vec!["A note.".to_owned()],
            ..Table::default()
        };
        let mut page = Page::new(&Style { width: 44, ..Style::default() });
        write_tables(&mut page, &[&table], &[], 2, true);
        let expected = "\na.csv\n  rows: 2\n  line  candidate                    time us\n     6  kernel_with_a_lon…nd_an_end    28.70\n  1007  short                         n/a\n  3 more rows: `--top 0` shows all\n  n/a time: no times\n  A note.\n";
        assert_eq!(page.finish(), expected);
    }
}
