//! Tables whose rows have no label: every column is a cell, and columns of text share the remaining width.

use super::{Finished, GAP, numbers, write as write_columns};
use crate::text::page::{Page, dim, plain, visible, width};
use view::{Cell, Column, ColumnKind, Number, Table};

/// Narrowest column of text.
const LEAST: usize = 12;

/// Writes the rows.
pub(super) fn write(page: &mut Page, table: &Table, decimals: usize) {
    let mut columns: Vec<(&Column, Finished)> = table
        .columns
        .iter()
        .enumerate()
        .filter(|(at, _)| table.rows.iter().any(|row| !is_blank(row.cells.get(*at))))
        .map(|(at, column)| (column, finished(table, at, column, decimals)))
        .collect();
    hoist(page, table, &mut columns);
    if !page.style.full_names {
        fit(&mut columns, page.style.width.max(40));
    }
    write_columns(page, columns.into_iter().map(|(_, column)| column).collect());
}

fn is_blank(cell: Option<&Cell>) -> bool {
    match cell {
        None | Some(Cell::Empty) => true,
        Some(Cell::Text(text)) => text.is_empty(),
        Some(_) => false,
    }
}

fn finished(table: &Table, at: usize, column: &Column, decimals: usize) -> Finished {
    let heading = match column.unit.as_str() {
        "" => column.title.clone(),
        unit => format!("{} {unit}", column.title),
    };
    if !column.kind.is_words() {
        return Finished::new(&heading, false, numbers(table, at, decimals));
    }
    let cells = table.rows.iter().map(|row| match row.cells.get(at) {
        Some(Cell::Text(text)) => vec![plain(visible(text))],
        Some(Cell::Number(Number::Missing(_))) => vec![dim("n/a")],
        _ => Vec::new(),
    });
    Finished::new(&heading, true, cells.collect())
}

/// Columns of the terminal that all columns take together.
fn total(columns: &[(&Column, Finished)]) -> usize {
    columns.iter().map(|(_, column)| column.width + GAP).sum()
}

/// Writes values that all rows shown share above a table that is too wide, in place of their columns.
fn hoist(page: &mut Page, table: &Table, columns: &mut Vec<(&Column, Finished)>) {
    if total(columns) <= page.style.width.max(40) || table.rows.len() < 2 {
        return;
    }
    let mut shared = Vec::new();
    columns.retain(|(column, finished)| {
        let text =
            |at: usize| finished.cells.get(at).and_then(|cell| cell.first()).map(|it| it.text.as_str());
        let first = text(0);
        let is_shared = column.kind.is_words() && (1..finished.cells.len()).all(|at| text(at) == first);
        // The reason of a missing value is below the table.
        if let (true, Some(first)) = (is_shared, first.filter(|it| *it != "n/a")) {
            shared.push(format!("{} {first}", column.title));
        }
        !is_shared
    });
    if !shared.is_empty() {
        // Nothing is known here of the rows left out.
        let of = if table.more > 0 { "  in the rows shown: " } else { "  in all rows: " };
        page.prefixed(&[dim(of)], &[plain("      ")], &[plain(shared.join(", "))]);
    }
}

/// Narrows the widest columns of text until the line fits.
fn fit(columns: &mut [(&Column, Finished)], room: usize) {
    let gives =
        |(column, finished): &(&Column, Finished)| column.kind == ColumnKind::Text && finished.width > LEAST;
    while let Some(over) = total(columns).checked_sub(room).filter(|over| *over > 0) {
        let widths = columns.iter().filter(|it| gives(it)).map(|it| it.1.width);
        let Some(widest) = widths.clone().max() else { break };
        // The widest gives way down to the next one, so that all end about equally wide.
        let next = widths.filter(|it| *it < widest).max().unwrap_or(LEAST);
        if let Some((_, column)) = columns.iter_mut().find(|it| gives(it) && it.1.width == widest) {
            column.width -= over.min((widest - next).max(1));
        }
    }
    for (_, column) in columns {
        let room = column.width;
        for span in column.cells.iter_mut().flatten() {
            span.text = shorten(&span.text, room);
        }
        if column.heading.iter().any(|line| width(line) > room) {
            column.heading = column.heading.iter().map(|line| shorten(line, room)).collect();
        }
    }
}

/// Names of kernels differ at their ends as often as at their beginnings.
fn shorten(text: &str, room: usize) -> String {
    let length = width(text);
    if length <= room {
        return text.to_owned();
    }
    let tail = room / 3;
    let head: String = text.chars().take(room - tail - 1).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{head}…{end}")
}
