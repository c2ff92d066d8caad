//! Rows that say nothing, written once.
//!
//! A GPU has up to 128 channels, and an unrecorded counter is missing for all of them. A run of parts becomes
//! one row only if it does so for every kernel, because the script puts each kernel's numbers into the same
//! cells.

use std::ops::Range;
use view::{Cell, Page, Row, Table};

/// Rows from which on those that say the same are one.
const ALIKE: usize = 4;

/// The rows of a table, those together that are shown as one.
pub(crate) fn runs(page: &Page, table: &Table) -> Vec<Range<usize>> {
    let kernels: Vec<&Table> = page
        .kernels
        .iter()
        .filter_map(|k| k.detail.as_ref()?.tables.iter().find(|t| t.id == table.id))
        .collect();
    runs_of(table, &kernels)
}

fn runs_of(table: &Table, kernels: &[&Table]) -> Vec<Range<usize>> {
    // A kernel with other rows than the whole has other runs.
    let same_rows = |t: &&Table| {
        t.rows.len() == table.rows.len() && t.rows.iter().zip(&table.rows).all(|(a, b)| a.label == b.label)
    };
    if !kernels.iter().all(same_rows) {
        return (0..table.rows.len()).map(|at| at..at + 1).collect();
    }
    let follows = |at: usize| {
        let pair = |t: &Table| t.rows.get(at - 1).zip(t.rows.get(at)).is_some_and(|(a, b)| alike(a, b));
        pair(table) && kernels.iter().all(|t| pair(t))
    };
    let mut out = Vec::new();
    let mut start = 0;
    for end in 1..=table.rows.len() {
        if end < table.rows.len() && follows(end) {
            continue;
        }
        if end - start >= ALIKE {
            out.push(start..end);
        } else {
            out.extend((start..end).map(|at| at..at + 1));
        }
        start = end;
    }
    out
}

/// Two parts of the GPU say the same, which is nothing. Metrics never do: each is to be found by its name.
fn alike(a: &Row, b: &Row) -> bool {
    let nothing = |cell: &Cell| cell.number().is_none_or(|value| value == 0.0);
    a.metric.is_empty()
        && b.metric.is_empty()
        && a.unit == b.unit
        && a.cells == b.cells
        && a.cells.iter().all(nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::Number;

    fn table(metric: &str, values: &[f64]) -> Table {
        let row = |(at, value): (usize, &f64)| Row {
            id: format!("18.1.{at}"),
            label: at.to_string(),
            metric: metric.to_owned(),
            cells: vec![Cell::Number(Number::from(*value))],
            ..Row::default()
        };
        Table {
            id: "18.1".into(),
            panel: String::new(),
            title: String::new(),
            label: "channel".into(),
            columns: Vec::new(),
            rows: values.iter().enumerate().map(row).collect(),
            ..Table::default()
        }
    }

    #[test]
    fn parts_that_say_the_same_are_one_row() {
        let whole = table("", &[7.0, 0.0, 0.0, 0.0, 0.0, 8.0, 8.0, 8.0, 8.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(runs_of(&whole, &[]), [0..1, 1..5, 5..6, 6..7, 7..8, 8..9, 9..13]);
        assert_eq!(runs_of(&whole, &[&whole]), runs_of(&whole, &[]));
        assert_eq!(runs_of(&table("l2.hits", &[0.0; 6]), &[]).len(), 6);
        assert_eq!(runs_of(&table("", &[]), &[]), []);
        let mut own = whole.clone();
        own.rows[2].cells = vec![Cell::Number(Number::from(1.0))];
        assert_eq!(runs_of(&whole, &[&whole, &own]).len(), 10, "a kernel says something else of channel 2");
        own.rows.pop();
        assert_eq!(runs_of(&whole, &[&own]).len(), 13, "a kernel has other rows");
    }
}
