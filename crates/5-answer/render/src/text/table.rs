//! Many kernels as a table, one line each.
//!
//! The name column takes the remaining width; narrow terminals drop the least informative columns first.

use super::card::{severity_role, short_name};
use super::number::{bytes, short};
use super::page::{Page, Span, dim, plain, span, width};
use crate::{Role, Style};
use std::cmp::Ordering;
use view::{KernelRow, Severity, thousands};

/// One column: key for `--sort`, title, text of a cell, comparison of rows (worst first).
struct Column {
    key: &'static str,
    title: &'static str,
    /// Columns with a higher number go first when the terminal is narrow.
    rank: u8,
    cell: fn(&KernelRow) -> String,
    order: fn(&KernelRow, &KernelRow) -> Ordering,
}

fn number(value: Option<u32>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| value.to_string())
}

fn size(value: Option<u32>) -> String {
    value.map_or_else(
        || "?".to_owned(),
        |value| if value == 0 { "0".to_owned() } else { bytes(u64::from(value)) },
    )
}

/// A [`Column`]: key, title, rank, cell, order.
const fn column(
    key: &'static str,
    title: &'static str,
    rank: u8,
    cell: fn(&KernelRow) -> String,
    order: fn(&KernelRow, &KernelRow) -> Ordering,
) -> Column {
    Column { key, title, rank, cell, order }
}

const COLUMNS: &[Column] = &[
    column("target", "target", 2, |row| row.target.clone(), |a, b| a.target.cmp(&b.target)),
    column(
        "occupancy",
        "waves",
        0,
        |row| row.waves_per_simd.map_or_else(|| "?".to_owned(), short),
        |a, b| a.waves_per_simd.unwrap_or(f64::MAX).total_cmp(&b.waves_per_simd.unwrap_or(f64::MAX)),
    ),
    column(
        "waves-per-cu",
        "per CU",
        4,
        |row| number(row.waves_per_cu),
        |a, b| a.waves_per_cu.unwrap_or(u32::MAX).cmp(&b.waves_per_cu.unwrap_or(u32::MAX)),
    ),
    column("limiter", "limit", 3, |row| row.limiter.clone(), |a, b| a.limiter.cmp(&b.limiter)),
    column("vgprs", "VGPR", 1, |row| number(row.vgprs), |a, b| b.vgprs.cmp(&a.vgprs)),
    column("agprs", "AGPR", 5, |row| number(row.agprs), |a, b| b.agprs.cmp(&a.agprs)),
    column("sgprs", "SGPR", 8, |row| number(row.sgprs), |a, b| b.sgprs.cmp(&a.sgprs)),
    column("spills", "spills", 4, |row| number(row.spills), |a, b| b.spills.cmp(&a.spills)),
    column("lds", "LDS", 2, |row| size(row.lds_bytes), |a, b| b.lds_bytes.cmp(&a.lds_bytes)),
    column(
        "scratch",
        "scratch",
        3,
        |row| size(row.scratch_bytes),
        |a, b| b.scratch_bytes.cmp(&a.scratch_bytes),
    ),
    column(
        "instructions",
        "instr",
        6,
        |row| number(row.instructions),
        |a, b| b.instructions.cmp(&a.instructions),
    ),
    column("mfma", "MFMA", 7, |row| number(row.mfma), |a, b| b.mfma.cmp(&a.mfma)),
    column("loops", "loops", 9, |row| row.loops.to_string(), |a, b| b.loops.cmp(&a.loops)),
];

/// Values of `--sort`.
pub fn sort_columns() -> impl Iterator<Item = &'static str> {
    ["severity", "name"].into_iter().chain(COLUMNS.iter().map(|column| column.key))
}

fn by_severity(a: &KernelRow, b: &KernelRow) -> Ordering {
    // More severe findings first; then fewer waves; then the larger kernel.
    b.counts()
        .cmp(&a.counts())
        .then_with(|| (COLUMNS[1].order)(a, b))
        .then(b.instructions.cmp(&a.instructions))
}

fn sort_by(rows: &mut [KernelRow], sort: &str) {
    match COLUMNS.iter().find(|column| column.key == sort) {
        Some(column) => rows.sort_by(|a, b| (column.order)(a, b).then_with(|| by_severity(a, b))),
        None if sort == "name" => rows.sort_by(|a, b| a.name.cmp(&b.name)),
        None => rows.sort_by(by_severity),
    }
}

/// Room in which every column fits.
const WIDE: usize = 100_000;

/// The same as a Markdown table: every column that says something, names in full, texts escaped
/// by `words`.
pub(crate) fn markdown(rows: &mut [KernelRow], sort: &str, top: usize, words: fn(&str) -> String) -> String {
    sort_by(rows, sort);
    let shown = &rows[..top.min(rows.len())];
    let columns = choose(shown, true, WIDE);
    let mut out = String::from("| kernel |");
    columns.iter().for_each(|column| out += &format!(" {} |", column.title));
    out += " findings |\n|---|";
    out += &columns.iter().map(|column| if is_text(column) { "---|" } else { "---:|" }).collect::<String>();
    out += "---|\n";
    for row in shown {
        out += &format!("| {} |", words(&row.name));
        columns.iter().for_each(|column| out += &format!(" {} |", words(&(column.cell)(row))));
        out += &format!(" {} |\n", finding_text(row));
    }
    if rows.len() > shown.len() {
        out += &format!("\n{} more kernels\n", thousands((rows.len() - shown.len()) as u64));
    }
    out
}

/// Sorts `rows` by the column named and renders the first `top` of them with a line for the rest.
///
/// An unknown column sorts by severity; the command line admits only [`sort_columns`].
pub fn table(rows: &mut [KernelRow], sort: &str, top: usize, style: &Style) -> String {
    sort_by(rows, sort);
    let shown = &rows[..top.min(rows.len())];
    let mut page = Page::new(style);
    // A row that is not shown may have another target, and then each must say which it has.
    let several_targets = rows.windows(2).any(|pair| pair[0].target != pair[1].target);
    let columns = choose(shown, several_targets, style.width);
    let widths: Vec<usize> = columns.iter().map(|column| column_width(column, shown)).collect();
    let finding_width =
        shown.iter().map(|row| width(&finding_text(row))).max().unwrap_or(0).clamp(8, 8.max(style.width / 4));
    let used: usize = widths.iter().map(|width| width + 2).sum::<usize>() + finding_width + 2;
    let room = style.width.saturating_sub(used).max(NAME_LEAST);
    let longest = shown.iter().map(|row| width(&row.name)).max().unwrap_or(0).max(6);
    let name_width = if style.full_names { longest } else { room.min(longest) };

    let mut head = vec![dim(format!("{:<name_width$}", "kernel"))];
    for (column, width) in columns.iter().zip(&widths) {
        head.push(dim(align(column, column.title, *width)));
    }
    head.push(dim("  findings"));
    page.raw(&head);
    for row in shown {
        let name = short_name(&row.name, name_width, style);
        let padding = name_width.saturating_sub(width(&name));
        let mut line = vec![span(Role::Heading, name), plain(" ".repeat(padding))];
        for (column, width) in columns.iter().zip(&widths) {
            line.push(plain(align(column, &(column.cell)(row), *width)));
        }
        line.push(plain("  "));
        line.extend(finding_cell(row, finding_width));
        page.raw(&line);
    }
    if rows.len() > shown.len() {
        let rest = thousands((rows.len() - shown.len()) as u64);
        page.wrapped(0, 0, &[dim(format!("{rest} more kernels: `--top N` shows more, `--sort COLUMN` orders them, `--kernel REGEX` gives details"))]);
    }
    page.finish()
}

/// Narrowest name column.
const NAME_LEAST: usize = 24;

fn align(column: &Column, text: &str, width: usize) -> String {
    if is_text(column) { format!("  {text:<width$}") } else { format!("  {text:>width$}") }
}

fn is_text(column: &Column) -> bool {
    matches!(column.key, "target" | "limiter")
}

fn column_width(column: &Column, rows: &[KernelRow]) -> usize {
    rows.iter().map(|row| width(&(column.cell)(row))).max().unwrap_or(0).max(width(column.title))
}

/// The columns that leave the name enough room.
fn choose(rows: &[KernelRow], several_targets: bool, total: usize) -> Vec<&'static Column> {
    let mut columns: Vec<&Column> = COLUMNS.iter().collect();
    // A column that says the same nothing on every row tells nothing.
    columns.retain(|column| match column.key {
        "agprs" => rows.iter().any(|row| row.agprs.unwrap_or(0) > 0),
        "mfma" => rows.iter().any(|row| row.mfma.unwrap_or(0) > 0),
        "spills" => rows.iter().any(|row| row.spills.unwrap_or(0) > 0),
        "target" => several_targets,
        _ => true,
    });
    let name_wish = (total * 2 / 5).max(NAME_LEAST);
    loop {
        let used: usize = columns.iter().map(|column| column_width(column, rows) + 2).sum();
        let findings = 2 + (total / 6).clamp(8, 24);
        if used + findings + name_wish <= total || columns.len() <= 2 {
            return columns;
        }
        let Some(last) = (0..columns.len()).max_by_key(|index| columns[*index].rank) else { return columns };
        columns.remove(last);
    }
}

fn finding_text(row: &KernelRow) -> String {
    let words: Vec<String> = row
        .findings
        .iter()
        .map(|(_, rule, times)| if *times > 1 { format!("{rule}×{times}") } else { (*rule).to_owned() })
        .collect();
    words.join(" ")
}

fn finding_cell(row: &KernelRow, room: usize) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut used = 0;
    for (index, (severity, rule, times)) in row.findings.iter().enumerate() {
        let word = if *times > 1 { format!("{rule}×{times}") } else { (*rule).to_owned() };
        let rest = row.findings.len() - index;
        let reserve = if rest > 1 { 3 } else { 0 };
        if index > 0 && used + 1 + width(&word) + reserve > room {
            spans.push(dim(format!(" +{rest}")));
            break;
        }
        if index > 0 {
            spans.push(plain(" "));
            used += 1;
        }
        used += width(&word);
        spans.push(span(severity_role(*severity), word));
    }
    if spans.is_empty() {
        spans.push(span(severity_role(Severity::Info), ""));
    }
    spans
}
