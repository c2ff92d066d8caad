//! Cells of tables as text, and in one line per kernel for the script.
//!
//! The script puts text into cells in the order of the page and formats nothing, so the number of places and
//! the numbers of every kernel must come from the same function.

use crate::text::figure;
use std::borrow::Cow;
use view::{Cell, Column, ColumnKind, Delta, Missing, Number, Row, Table};

/// Decimals of numbers in tables.
const DECIMALS: usize = 2;
/// Between the cells of a kernel.
pub(crate) const SEPARATOR: char = '|';

/// A cell as it is written.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct CellView<'a> {
    pub(crate) text: Cow<'a, str>,
    /// `t` words, `w` words of a kernel's own, `n` a number, `p` a percentage with a bar, `c` a change.
    pub(crate) class: &'static str,
    /// Length of the bar.
    pub(crate) bar: Option<String>,
    /// Reason for the missing number.
    pub(crate) reason: Option<&'a Missing>,
    /// Beyond the noise of the dispatches.
    pub(crate) strong: bool,
}

/// True if the column shows a change after its value.
pub(crate) fn has_change(column: &Column) -> bool {
    column.recording > 0 && !column.kind.is_words()
}

/// Cells of a row, including changes.
pub(crate) fn of_row<'a>(table: &'a Table, row: &'a Row) -> Vec<CellView<'a>> {
    let mut out = Vec::with_capacity(table.columns.len());
    for (at, column) in table.columns.iter().enumerate() {
        let cell = row.cells.get(at).unwrap_or(&Cell::Empty);
        out.push(value(column, cell));
        if has_change(column) {
            out.push(change(cell));
        }
    }
    out
}

fn value<'a>(column: &Column, cell: &'a Cell) -> CellView<'a> {
    let class = match column.kind {
        ColumnKind::Text | ColumnKind::Word | ColumnKind::Meaning => "t",
        ColumnKind::Trust => "w",
        ColumnKind::Percent => "p",
        ColumnKind::Number | ColumnKind::Quartile | ColumnKind::Id | ColumnKind::Share => "n",
    };
    match cell {
        Cell::Empty => CellView { class, ..CellView::default() },
        Cell::Text(text) => {
            let class = if class == "w" { class } else { "t" };
            CellView { class, text: crate::text::visible(text), ..CellView::default() }
        }
        Cell::Number(n) | Cell::Change(Delta { value: n, .. }) => CellView {
            class,
            text: number(n).into(),
            bar: (column.kind == ColumnKind::Percent).then(|| bar(n)),
            reason: n.reason(),
            strong: false,
        },
    }
}

fn change(cell: &Cell) -> CellView<'_> {
    let Cell::Change(delta) = cell else { return CellView { class: "c", ..CellView::default() } };
    CellView {
        class: "c",
        text: delta.change_percent.map_or_else(String::new, percent_change).into(),
        strong: delta.beyond_noise == Some(true),
        ..CellView::default()
    }
}

/// `+5.0 %`.
pub(crate) fn percent_change(percent: f64) -> String {
    if percent.abs() < 0.05 { "0 %".to_owned() } else { format!("{percent:+.1} %") }
}

/// Length of a bar in percent.
fn bar(n: &Number) -> String {
    format!("{:.1}", n.get().unwrap_or(0.0).clamp(0.0, 100.0))
}

/// A number of a table.
pub(crate) fn number(n: &Number) -> String {
    n.get().map_or_else(|| "n/a".to_owned(), |v| figure::figure(v, DECIMALS).text())
}

/// Cells of `own`, a kernel's table, in the layout of `whole`; `shown` lists the rows of `whole` in the page.
/// A row that the kernel lacks is left blank.
pub(crate) fn places(
    whole: &Table,
    shown: impl Iterator<Item = usize>,
    own: Option<&Table>,
    out: &mut String,
) {
    // Index in the kernel's table of every column of the whole; the kernel's table may have one column for
    // both recordings.
    let columns: Vec<Option<usize>> = whole
        .columns
        .iter()
        .map(|c| {
            let of = |recording: usize| {
                own?.columns.iter().position(|o| o.title == c.title && o.recording == recording)
            };
            of(c.recording).or_else(|| of(0))
        })
        .collect();
    for (at, row) in shown.filter_map(|at| Some((at, whole.rows.get(at)?))) {
        let same = |r: &&Row| r.metric == row.metric && r.label == row.label;
        let theirs = own.and_then(|t| t.rows.get(at).filter(same).or_else(|| t.rows.iter().find(same)));
        for (at, column) in whole.columns.iter().enumerate() {
            let words = matches!(row.cells.get(at), Some(Cell::Text(_))) || column.kind == ColumnKind::Text;
            if words && column.kind != ColumnKind::Trust {
                continue;
            }
            let cell =
                columns[at].zip(theirs).and_then(|(at, row)| row.cells.get(at)).unwrap_or(&Cell::Empty);
            put(&value(column, cell), out);
            if has_change(column) {
                put(&change(cell), out);
            }
        }
    }
}

fn put(cell: &CellView<'_>, out: &mut String) {
    if cell.strong {
        out.push('!');
    }
    out.push_str(&cell.text);
    out.push(SEPARATOR);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, f64)]) -> Table {
        Table {
            id: "2.1".into(),
            panel: String::new(),
            title: String::new(),
            label: "metric".into(),
            columns: vec![
                Column::new("type", ColumnKind::Text, ""),
                Column::new("avg", ColumnKind::Number, ""),
                Column::new("of peak", ColumnKind::Percent, "%"),
                Column { recording: 1, ..Column::new("avg", ColumnKind::Number, "") },
            ],
            rows: rows
                .iter()
                .map(|(label, value)| Row {
                    id: String::new(),
                    label: (*label).to_owned(),
                    cells: vec![
                        Cell::Text("a|b".into()),
                        Cell::Number(Number::from(*value)),
                        Cell::Number(Number::from(*value)),
                        Cell::Change(Delta {
                            value: Number::from(*value),
                            change: Some(1.0),
                            change_percent: Some(5.0),
                            beyond_noise: Some(true),
                        }),
                    ],
                    ..Row::default()
                })
                .collect(),
            ..Table::default()
        }
    }

    #[test]
    fn a_kernel_has_its_own_word_of_trust() {
        let of = |trust: Cell| Table {
            columns: vec![
                Column::new("avg", ColumnKind::Number, ""),
                Column::new("trust", ColumnKind::Trust, ""),
            ],
            rows: vec![Row {
                cells: vec![Cell::Number(Number::from(1.0)), trust],
                ..table(&[("x", 1.0)]).rows.remove(0)
            }],
            ..table(&[])
        };
        let whole = of(Cell::Text("exact".into()));
        for (trust, expected) in
            [(Cell::Text("exact".into()), "1|exact|"), (Cell::Number(Number::missing("no access")), "1|n/a|")]
        {
            let mut out = String::new();
            places(&whole, 0..1, Some(&of(trust)), &mut out);
            assert_eq!(out, expected);
        }
        // The script finds the same places by their classes.
        assert_eq!(of_row(&whole, &whole.rows[0]).iter().map(|it| it.class).collect::<String>(), "nw");
    }

    #[test]
    fn a_kernel_has_a_text_for_every_place() {
        let whole = table(&[("x", 1.0), ("y", 2.0)]);
        for (own, expected) in [
            (Some(table(&[("x", 3.0), ("y", 4.5)])), "3|3|3|!+5.0 %|4.50|4.50|4.50|!+5.0 %|"),
            (Some(table(&[("y", 4.5)])), "||||4.50|4.50|4.50|!+5.0 %|"),
            (None, "||||||||"),
        ] {
            let mut out = String::new();
            places(&whole, 0..whole.rows.len(), own.as_ref(), &mut out);
            assert_eq!(out, expected);
        }
    }
}
