//! Predicted times of kernels: limits removed, changes made.
//!
//! A prediction is compared with the time of the same dispatches; limits overlap, so their savings do not add
//! up.

use super::panels::{trust, trust_column};
use super::subject::Subject;
use metrics::kernels;
use sorting::Sort;
use std::collections::HashMap;
use view::{Cell, Column, ColumnKind, LITTLE_PERCENT, Number, Row, Table};
use workload::{Prediction, TIME, Workload, plain_kernel_name};

/// Kernels in a report on everything.
pub(crate) const FEW_KERNELS: usize = 3;
/// Resolution of differences between modelled times.
const STEPS: &str = "differences below about 1 % are noise of the model";

/// Total time of some dispatches, ns: recorded and predicted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Times {
    pub(crate) base: f64,
    pub(crate) predicted: f64,
}

impl Times {
    /// Times of the dispatches for which both are known; `None` if no dispatch has both.
    pub(crate) fn of(workload: &Workload, prediction: &Prediction, rows: &[u32]) -> Option<Times> {
        both(workload, prediction, rows).fold(None, |sum, (base, predicted)| {
            let Times { base: all, predicted: then } = sum.unwrap_or(Times { base: 0.0, predicted: 0.0 });
            Some(Times { base: all + base, predicted: then + predicted })
        })
    }

    /// Time saved, ns; negative for a slowdown.
    pub(crate) fn saved(self) -> f64 {
        self.base - self.predicted
    }

    fn saved_percent(self) -> f64 {
        100.0 * self.saved() / self.base
    }
}

/// Recorded and predicted time of each dispatch for which both are known.
fn both<'a>(
    workload: &'a Workload,
    prediction: &'a Prediction,
    rows: &'a [u32],
) -> impl Iterator<Item = (f64, f64)> + 'a {
    let times = |row: &u32| {
        Some((workload.dispatches.duration(*row as usize)?, prediction.times.get(*row as usize)?))
    };
    rows.iter().filter_map(times)
}

/// A prediction of a kernel.
struct Found<'a> {
    prediction: &'a Prediction,
    times: Times,
    /// Its label, with the number of dispatches it was made of unless that is all of them.
    label: String,
}

/// Saving without each limit, kernel by kernel.
pub(crate) fn limits(subject: &Subject, most: usize) -> Table {
    let columns = vec![
        Column::new("time", ColumnKind::Number, "ns"),
        Column::new("saved", ColumnKind::Number, "ns"),
        Column::new("saved", ColumnKind::Percent, "%"),
    ];
    let mut table = of_kernels(subject, most, true, columns, |found| {
        found.in_order_by(|a, b| b.times.saved().total_cmp(&a.times.saved()));
        let is_little = |it: &Found<'_>| it.times.saved_percent().abs() < LITTLE_PERCENT;
        // They come last, so that they are adjacent.
        found.in_order_by_key(is_little);
        let row = |it: &Found<'_>| Row {
            little: is_little(it),
            ..line(it, [it.times.predicted, it.times.saved(), it.times.saved_percent()])
        };
        found.iter().map(row).collect()
    });
    table.id = "0.3".to_string();
    table.title = "What Each Limit Is Worth".to_string();
    table.label = "limit lifted".to_string();
    table.notes.insert(0, "the same run with one limit lifted at a time; what is saved overlaps".to_string());
    table
}

/// Predicted effect of changes, kernel by kernel.
pub(crate) fn changes(subject: &Subject, most: usize) -> Table {
    let columns = vec![
        Column::new("time", ColumnKind::Number, "ns"),
        Column::new("change", ColumnKind::Number, "ns"),
        Column::new("change", ColumnKind::Number, "%"),
    ];
    let mut table = of_kernels(subject, most, false, columns, |found| {
        let row = |it: &Found<'_>| {
            // Nothing is a 0 without a sign.
            line(it, [it.times.predicted, 0.0 - it.times.saved(), 0.0 - it.times.saved_percent()])
        };
        found.iter().map(row).collect()
    });
    table.id = "0.4".to_string();
    table.title = "What If".to_string();
    table.label = "change".to_string();
    let about = "predicted with the same instructions: what a compiler would do with fewer registers is not known here";
    table.notes.insert(0, about.to_string());
    table
}

/// A table with a row for each kernel, followed by the rows that `rows` makes of its predictions.
fn of_kernels(
    subject: &Subject,
    most: usize,
    lifted: bool,
    mut columns: Vec<Column>,
    rows: impl Fn(&mut [Found<'_>]) -> Vec<Row>,
) -> Table {
    let w = &subject.workload;
    let mark = w.marks.as_ref().map(|marks| trust(Ok(marks.of(TIME))));
    columns.extend(mark.as_ref().map(|_| trust_column()));
    let with_mark = |row: Row| Row { cells: row.cells.into_iter().chain(mark.clone()).collect(), ..row };
    let predictions: Vec<&Prediction> = w.predictions.iter().filter(|it| it.lifted == lifted).collect();
    let mut table = Table {
        id: String::new(),
        panel: "Top Stats".to_string(),
        title: String::new(),
        label: String::new(),
        columns,
        rows: Vec::new(),
        ..Table::default()
    };
    let (mut shown, mut more) = (0, 0);
    let mut hurried = Vec::new();
    let mut of_kernel = rows_of_kernels(w, &subject.rows);
    for (at, kernel) in kernels(w, &subject.rows).iter().enumerate() {
        let Some(own) = of_kernel.remove(&kernel.kernel) else { continue };
        let timed: Vec<f64> = own.iter().filter_map(|row| w.dispatches.duration(*row as usize)).collect();
        let found = |prediction| {
            let times = Times::of(w, prediction, &own)?;
            let count = both(w, prediction, &own).count();
            let part = match count == timed.len() {
                true => String::new(),
                // The time of the kernel covers all dispatches: only the change can be compared.
                false => format!(" ({count} of {} dispatches)", timed.len()),
            };
            Some(Found { prediction, times, label: format!("{}{part}", prediction.title) })
        };
        let mut found: Vec<Found<'_>> = predictions.iter().filter_map(|it| found(*it)).collect();
        if found.is_empty() {
            continue;
        }
        if shown == most {
            more += 1;
            continue;
        }
        shown += 1;
        let late = found.iter().map(|it| it.prediction).filter(|it| it.hurried);
        hurried.extend(late.map(|it| it.title.as_str()));
        let name = plain_kernel_name(&w.kernels[kernel.kernel as usize]);
        let time = Cell::Number(Number::from(timed.iter().sum::<f64>()));
        table.rows.push(with_mark(Row {
            id: at.to_string(),
            label: name.to_string(),
            cells: vec![time, Cell::Empty, Cell::Empty],
            ..Row::default()
        }));
        let rows = rows(&mut found).into_iter().enumerate();
        table
            .rows
            .extend(rows.map(|(number, row)| with_mark(Row { id: format!("{at}.{}", number + 1), ..row })));
    }
    if mark.is_some() && !table.rows.is_empty() {
        table.notes.push(STEPS.to_string());
    }
    if more > 0 {
        table.notes.push(format!("{more} more kernels; `-k N` shows one"));
    }
    hurried.in_order();
    hurried.dedup();
    if !hurried.is_empty() {
        table.notes.push(format!(
            "{}: workgroups did not all run in this order, because memory ran out; the time is less certain",
            hurried.join(", ")
        ));
    }
    table
}

/// Dispatches by kernel, in their order.
fn rows_of_kernels(workload: &Workload, rows: &[u32]) -> HashMap<u32, Vec<u32>> {
    let mut of_kernel: HashMap<u32, Vec<u32>> = HashMap::new();
    for row in rows {
        if let Some(kernel) = workload.dispatches.kernel.get(*row as usize) {
            of_kernel.entry(*kernel).or_default().push(*row);
        }
    }
    of_kernel
}

fn line(it: &Found<'_>, cells: [f64; 3]) -> Row {
    Row {
        label: it.label.clone(),
        metric: it.prediction.name.clone(),
        cells: cells.map(|value| Cell::Number(Number::from(value))).to_vec(),
        ..Row::default()
    }
}
