//! Two timelines side by side: what changed, row by row.

use sorting::Sort;
use std::collections::HashMap;
use view::{Cell, Column, ColumnKind, Delta, Number, Row, Table};

/// Numbers compared, of each table: totals and counts say what changed, extremes and percentages follow from
/// them.
const COMPARED: [&str; 21] = [
    "time",
    "calls",
    "total",
    "mean",
    "kernels",
    "GPU",
    "host self",
    "gaps",
    "spans",
    "busy",
    "count",
    "rate",
    "value",
    "host",
    "GPU busy",
    "fastest",
    "bus, fastest",
    "bus",
    "in place",
    "bus in place",
    "best",
];
/// Columns that count 0 in the run that lacks the row.
const COUNTS: [&str; 8] = ["time", "calls", "total", "kernels", "GPU", "count", "gaps", "spans"];

/// Tables of both, rows joined by their labels.
pub(crate) fn compare(base: &[Table], new: &[Table]) -> Vec<Table> {
    let ids: Vec<&str> = new.iter().map(|t| t.id.as_str()).collect();
    let only_base = base.iter().filter(|t| !ids.contains(&t.id.as_str()));
    let mut out: Vec<Table> = new.iter().map(|n| one(base.iter().find(|b| b.id == n.id), Some(n))).collect();
    out.extend(only_base.map(|b| one(Some(b), None)));
    out.in_order_by(|a, b| a.id.cmp(&b.id));
    out
}

/// Rows of a table by label; of equal labels the later ones get a number.
fn rows(table: Option<&Table>) -> (Vec<String>, HashMap<String, &Row>) {
    let (mut order, mut map) = (Vec::new(), HashMap::new());
    let mut seen: HashMap<&str, u32> = HashMap::new();
    for row in table.iter().flat_map(|t| &t.rows) {
        let n = seen.entry(&row.label).or_default();
        *n += 1;
        let label = if *n == 1 { row.label.clone() } else { format!("{} ({n})", row.label) };
        order.push(label.clone());
        map.insert(label, row);
    }
    (order, map)
}

fn one(base: Option<&Table>, new: Option<&Table>) -> Table {
    let Some(shape) = new.or(base) else { return super::rows::table("", "", "", "", &[]) };
    let ((base_order, base_rows), (order, new_rows)) = (rows(base), rows(new));
    let mut labels = order;
    labels.extend(base_order.into_iter().filter(|label| !new_rows.contains_key(label)));
    let chosen: Vec<&str> = shape
        .columns
        .iter()
        .filter(|c| c.kind == ColumnKind::Number && COMPARED.contains(&c.title.as_str()))
        .map(|c| c.title.as_str())
        .collect();
    let column = |table: Option<&Table>, title: &str| {
        table.and_then(|t| t.columns.iter().position(|c| c.title == title && c.kind == ColumnKind::Number))
    };
    let mut columns = Vec::new();
    for title in &chosen {
        for recording in [0, 1] {
            let unit = shape.columns.iter().find(|c| c.title == *title).map_or("", |c| &c.unit);
            columns.push(Column { recording, ..Column::new(*title, ColumnKind::Number, unit) });
        }
    }
    let value = |row: Option<&&Row>, table: Option<&Table>, title: &str| -> Number {
        // A kernel that did not run took no time; an unmeasured value is absent.
        let measured = matches!(shape.panel.as_str(), "tests" | "copies" | "topology" | "log");
        let absent = || match COUNTS.contains(&title) && !measured {
            true => Number::Known(0.0),
            false => Number::missing("this run has no such row"),
        };
        let Some(row) = row else { return absent() };
        match column(table, title).and_then(|at| row.cells.get(at)) {
            Some(Cell::Number(n)) => n.clone(),
            _ => Number::missing("this run has no such number"),
        }
    };
    let mut joined: Vec<(f64, Row)> = labels
        .into_iter()
        .map(|label| {
            let (b, n) = (base_rows.get(&label), new_rows.get(&label));
            let mut cells = Vec::new();
            let mut moved = 0.0;
            for title in &chosen {
                let (old, new) = (value(b, base, title), value(n, new, title));
                let change = old.get().zip(new.get()).map(|(old, new)| new - old);
                if matches!(*title, "total" | "time" | "GPU" | "host self") && moved == 0.0 {
                    moved = change.unwrap_or(0.0).abs();
                }
                let change_percent = match old.get().zip(change) {
                    Some((_, 0.0)) => Some(0.0),
                    Some((old, change)) if old != 0.0 => Some(100.0 * change / old),
                    _ => None,
                };
                cells.push(Cell::Number(old));
                cells.push(Cell::Change(Delta { value: new, change, change_percent, beyond_noise: None }));
            }
            let unit = n.or(b).map_or_else(String::new, |row| row.unit.clone());
            (moved, Row { label, unit, cells, ..Row::default() })
        })
        .collect();
    // Time divides in a fixed order; elsewhere what moved most comes first.
    if shape.panel != "time" && shape.panel != "steps" && shape.label != "duration" && shape.label != "bytes"
    {
        joined.in_order_by(|a, b| b.0.total_cmp(&a.0));
    }
    let rows =
        joined.into_iter().enumerate().map(|(at, (_, row))| Row { id: at.to_string(), ..row }).collect();
    Table { columns, rows, notes: Vec::new(), ..shape.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::rows::{number, push, table};

    fn made(panel: &str, rows: &[(&str, f64)]) -> Table {
        let mut t = table("1.1", panel, "T", "row", &[("time", ColumnKind::Number, "us")]);
        rows.iter().for_each(|(label, value)| push(&mut t, *label, vec![number(*value)]));
        t
    }

    #[test]
    fn what_is_in_one_run_only() {
        for (panel, absent) in [("kernels", Some(0.0)), ("tests", None)] {
            let (base, new) =
                (made(panel, &[("a", 2.0), ("b", 4.0)]), made(panel, &[("b", 5.0), ("c", 7.0)]));
            let all = compare(&[base], &[new]);
            let cells = |label: &str| -> Vec<Option<f64>> {
                let row = all[0].rows.iter().find(|row| row.label == label).expect(label);
                row.cells.iter().map(Cell::number).collect()
            };
            assert_eq!(cells("b"), [Some(4.0), Some(5.0)]);
            assert_eq!(
                (cells("a"), cells("c")),
                (vec![Some(2.0), absent], vec![absent, Some(7.0)]),
                "{panel}"
            );
        }
    }
}
