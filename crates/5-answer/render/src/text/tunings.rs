//! Answers about tuning databases as text.
//!
//! The one idea to keep in mind: columns of text share what the numbers leave, and a reason why a value is missing is
//! written once below its table.

use super::card::severity_role;
use super::page::{Page, dim, plain, span, visible, width};
use crate::{Role, Style};
use std::collections::BTreeMap;
use view::{Finding, Recipe, Sheet, SheetCell, SheetColumn, SheetKind, TuneReport, thousands, thousands_of};

/// Narrowest column of text.
const LEAST: usize = 12;
/// Findings of one rule and file that are shown before the rest is only counted.
const PER_RULE: usize = 4;
/// Reasons for missing values written below a table.
const REASONS: usize = 6;

/// The whole answer.
pub fn tunings(report: &TuneReport, style: &Style) -> String {
    let mut page = Page::new(style);
    let mut first = true;
    let mut gap = |page: &mut Page| {
        if !std::mem::replace(&mut first, false) {
            page.blank();
        }
    };
    for sheet in &report.sheets {
        gap(&mut page);
        table(&mut page, sheet);
    }
    for (file, findings) in by_file(&report.findings) {
        gap(&mut page);
        page.wrapped(0, 4, &[span(Role::Heading, file)]);
        file_findings(&mut page, &findings);
    }
    for flow in &report.flows {
        gap(&mut page);
        steps(&mut page, flow);
    }
    if !report.notes.is_empty() {
        gap(&mut page);
    }
    for note in &report.notes {
        page.wrapped(0, 2, &[plain(note)]);
    }
    if !report.not_checked.is_empty() {
        gap(&mut page);
    }
    for it in &report.not_checked {
        page.wrapped(0, 2, &[dim(format!("{} not checked: needs {}", it.rule, it.needs))]);
    }
    page.finish()
}

/// Findings of each file, in the order of the first.
fn by_file(findings: &[Finding]) -> Vec<(&str, Vec<&Finding>)> {
    let mut found: Vec<(&str, Vec<&Finding>)> = Vec::new();
    for finding in findings {
        let file = finding.places.first().and_then(|it| it.source.as_ref()).map_or("", |it| it.file.as_str());
        match found.iter_mut().find(|it| it.0 == file) {
            Some(group) => group.1.push(finding),
            None => found.push((file, vec![finding])),
        }
    }
    found
}

/// Findings of one file. What to do is written once for each rule, below the last finding of it.
fn file_findings(page: &mut Page, findings: &[&Finding]) {
    let mut of_rules: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        of_rules.entry(finding.rule).or_default().push(finding);
    }
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        let before = shown.entry(finding.rule).or_default();
        if *before == PER_RULE {
            continue;
        }
        *before += 1;
        let after = of_rules.get(finding.rule).and_then(|same| same.get(*before..)).unwrap_or_default();
        let severity = finding.severity.as_str();
        let first = [
            plain("  "),
            span(severity_role(finding.severity), format!("{severity:<7} {}", finding.rule)),
            plain(" "),
        ];
        let rest = [plain(" ".repeat(17))];
        let file = finding.places.first().and_then(|it| it.source.as_ref()).map(|it| &it.file);
        let sources = finding.places.iter().filter_map(|it| it.source.as_ref());
        let lines: Vec<u32> =
            sources.filter(|it| Some(&it.file) == file && it.line > 0).map(|it| it.line).collect();
        let place = match lines.as_slice() {
            [] => String::new(),
            [line] => format!("line {line}: "),
            [first, .., last] if lines.len() > 6 => {
                format!("{} lines, {first} to {last}: ", thousands(lines.len() as u64))
            }
            all => {
                let words: Vec<String> = all.iter().map(u32::to_string).collect();
                format!("lines {}: ", words.join(", "))
            }
        };
        page.prefixed(&first, &rest, &[dim(place), plain(&finding.message)]);
        if let Some(cost) = &finding.cost {
            page.prefixed(&rest, &rest, &[dim("cost "), span(Role::Strong, cost)]);
        }
        let last = *before == PER_RULE || after.is_empty();
        if last && !after.is_empty() {
            let more = thousands_of(after.len() as u64, "more finding");
            page.prefixed(&rest, &rest, &[dim(format!("and {more} (`--format json` has all)"))]);
        }
        if after.first().is_none_or(|next| next.advice != finding.advice) || last {
            let hang = [plain(" ".repeat(19))];
            page.prefixed(&rest, &hang, &[span(Role::Good, "→ "), plain(&finding.advice)]);
        }
    }
}

fn steps(page: &mut Page, flow: &Recipe) {
    page.wrapped(0, 4, &[span(Role::Heading, &flow.title)]);
    if !flow.why.is_empty() {
        page.wrapped(2, 2, &[plain(&flow.why)]);
    }
    for (at, step) in flow.steps.iter().enumerate() {
        page.wrapped(2, 5, &[dim(format!("{}. ", at + 1)), plain(&step.text)]);
        // Commands are for pasting, so nothing breaks their lines.
        for line in step.command.lines() {
            page.raw(&[plain("     "), span(Role::Strong, line)]);
        }
    }
}

/// One table.
fn table(page: &mut Page, sheet: &Sheet) {
    page.wrapped(0, 4, &[span(Role::Heading, &sheet.title)]);
    for (name, value) in &sheet.facts {
        page.prefixed(&[dim(format!("  {name}: "))], &[plain("      ")], &[plain(value)]);
    }
    if !sheet.rows.is_empty() {
        rows(page, sheet);
    }
    if sheet.more > 0 {
        let rest = thousands(sheet.more as u64);
        page.wrapped(2, 4, &[dim(format!("{rest} more rows: `--top 0` shows all"))]);
    }
    reasons(page, sheet);
    for note in &sheet.notes {
        page.wrapped(2, 4, &[plain(note)]);
    }
}

fn rows(page: &mut Page, sheet: &Sheet) {
    let cells: Vec<Vec<String>> = sheet
        .rows
        .iter()
        .map(|row| row.iter().zip(&sheet.columns).map(|(cell, column)| text(cell, column)).collect())
        .collect();
    let titles: Vec<String> = sheet.columns.iter().map(title).collect();
    let mut widths: Vec<usize> = titles.iter().map(|it| width(it)).collect();
    for row in &cells {
        for (at, cell) in row.iter().enumerate() {
            widths[at] = widths[at].max(width(cell));
        }
    }
    let mut empty: Vec<bool> =
        (0..widths.len()).map(|at| cells.iter().all(|row| row[at].is_empty())).collect();
    hoist(page, sheet, &cells, &widths, &mut empty);
    fit(&mut widths, &empty, &sheet.columns, page.style);
    let line = |row: &[String]| {
        let mut out = String::from(" ");
        for (at, cell) in row.iter().enumerate().filter(|(at, _)| !empty[*at]) {
            let wide = widths[at];
            let cell = shorten(cell, wide);
            out.push(' ');
            match sheet.columns[at].kind {
                SheetKind::Number | SheetKind::Change => out.push_str(&format!("{cell:>wide$} ")),
                _ => out.push_str(&format!("{cell:<wide$} ")),
            }
        }
        out.trim_end().to_owned()
    };
    page.raw(&[dim(line(&titles))]);
    for row in &cells {
        page.raw(&[plain(line(row))]);
    }
}

/// Writes what is the same in all rows above a table that is too wide, in the place of its columns.
fn hoist(page: &mut Page, sheet: &Sheet, cells: &[Vec<String>], widths: &[usize], empty: &mut [bool]) {
    let shown = widths.iter().zip(&*empty).filter(|(_, empty)| !**empty);
    let used: usize = shown.map(|(width, _)| width + 2).sum();
    if used <= page.style.width.max(40) || cells.len() < 2 {
        return;
    }
    let mut words = Vec::new();
    for (at, column) in sheet.columns.iter().enumerate().filter(|(_, it)| it.kind != SheetKind::Number) {
        let first = &cells[0][at];
        if empty[at] || cells.iter().any(|row| row[at] != *first) {
            continue;
        }
        empty[at] = true;
        // The reason stands below the table.
        if !matches!(sheet.rows[0][at], SheetCell::Missing(_)) {
            words.push(format!("{} {first}", column.title));
        }
    }
    if !words.is_empty() {
        page.prefixed(&[dim("  in all rows: ")], &[plain("      ")], &[plain(words.join(", "))]);
    }
}

/// Takes from the widest columns of text what is too much for the line.
fn fit(widths: &mut [usize], empty: &[bool], columns: &[SheetColumn], style: Style) {
    if style.full_names {
        return;
    }
    loop {
        let shown = widths.iter().zip(empty).filter(|(_, empty)| !**empty);
        let used: usize = 1 + shown.map(|(width, _)| width + 2).sum::<usize>();
        let Some(over) = used.checked_sub(style.width.max(40) + 1).filter(|over| *over > 0) else { return };
        let texts = (0..widths.len()).filter(|at| columns[*at].kind == SheetKind::Text && !empty[*at]);
        let Some(widest) = texts.max_by_key(|at| widths[*at]).filter(|at| widths[*at] > LEAST) else {
            return;
        };
        // The widest gives way down to the next one, so that all end about equally wide.
        let next = (0..widths.len())
            .filter(|at| columns[*at].kind == SheetKind::Text && !empty[*at] && *at != widest)
            .map(|at| widths[at])
            .filter(|it| *it < widths[widest])
            .max()
            .unwrap_or(LEAST);
        let give = over.min((widths[widest] - next.max(LEAST)).max(1));
        widths[widest] -= give;
    }
}

fn shorten(text: &str, room: usize) -> String {
    let length = width(text);
    if length <= room {
        return text.to_owned();
    }
    // Names of kernels differ at their ends as often as at their begins.
    let tail = room / 3;
    let head: String = text.chars().take(room - tail - 1).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{head}…{end}")
}

fn title(column: &SheetColumn) -> String {
    match column.unit {
        "" => column.title.to_owned(),
        unit => format!("{} {unit}", column.title),
    }
}

fn text(cell: &SheetCell, column: &SheetColumn) -> String {
    match cell {
        SheetCell::Text(text) => visible(text).into_owned(),
        SheetCell::Count(count) if column.key == "line" => count.to_string(),
        SheetCell::Count(count) => thousands(*count),
        SheetCell::Number(value) if column.kind == SheetKind::Change => format!("{:+.1} %", 100.0 * value),
        SheetCell::Number(value) => figure(*value),
        SheetCell::Missing(_) => "n/a".to_owned(),
    }
}

/// A number of four digits, whole from a thousand on.
fn figure(value: f64) -> String {
    match value.abs() {
        it if it >= 1000.0 => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", thousands(it.round() as u64))
        }
        it if it >= 100.0 => format!("{value:.1}"),
        it if it >= 10.0 => format!("{value:.2}"),
        it if it >= 0.001 || it == 0.0 => format!("{value:.3}"),
        _ => format!("{value:.2e}"),
    }
}

/// Why values are missing, each reason once with the titles of its columns.
fn reasons(page: &mut Page, sheet: &Sheet) {
    let mut found: BTreeMap<String, (Vec<&str>, usize)> = BTreeMap::new();
    for row in &sheet.rows {
        for (cell, column) in row.iter().zip(&sheet.columns) {
            if let SheetCell::Missing(missing) = cell {
                let entry = found.entry(missing.to_string()).or_default();
                if !entry.0.contains(&column.title) {
                    entry.0.push(column.title);
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

#[cfg(test)]
mod tests {
    use super::*;
    use view::Missing;

    #[test]
    fn columns_give_way_to_the_width_and_reasons_are_written_once() {
        let column = |key, title, unit, kind| SheetColumn { key, title, unit, kind };
        let missing = || SheetCell::Missing(Missing::because("no times"));
        let sheet = Sheet {
            title: "a.csv".to_owned(),
            facts: vec![("rows".to_owned(), "2".to_owned())],
            columns: vec![
                column("line", "line", "", SheetKind::Number),
                column("candidate", "candidate", "", SheetKind::Text),
                column("time_us", "time", "us", SheetKind::Number),
            ],
            rows: vec![
                vec![
                    SheetCell::Count(6),
                    SheetCell::text("kernel_with_a_long_name_and_an_end"),
                    SheetCell::Number(28.7017),
                ],
                vec![SheetCell::Count(1007), SheetCell::text("short"), missing()],
            ],
            more: 3,
            notes: vec!["A note.".to_owned()],
        };
        let mut report = TuneReport::new("show");
        report.sheets.push(sheet);
        let found = tunings(&report, &Style { width: 44, ..Style::default() });
        let expected = "a.csv\n  rows: 2\n  line  candidate                    time us\n     6  kernel_with_a_lon…nd_an_end    28.70\n  1007  short                            n/a\n  3 more rows: `--top 0` shows all\n  n/a time: no times\n  A note.\n";
        assert_eq!(found, expected);
    }
}
