//! What a recording says of how long its kernels would take otherwise: limits lifted, changes made.
//!
//! The one idea to keep in mind: a prediction is compared with the time of the same dispatches; limits overlap, so what
//! they are worth does not add up.

use super::report::Subject;
use metrics::kernels;
use view::{Cell, Column, ColumnKind, Number, Row, Table};
use workload::{Prediction, Workload, plain_kernel_name};

/// Kernels in a report on everything.
pub(crate) const FEW_KERNELS: usize = 3;
/// Percent of a kernel's time below which a limit does not get a row.
const LITTLE: f64 = 1.0;

/// Times of some dispatches together, ns: as it is, and as predicted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Times {
    pub(crate) base: f64,
    pub(crate) predicted: f64,
}

impl Times {
    /// Of the dispatches whose times are both known; none where there is no such dispatch.
    pub(crate) fn of(workload: &Workload, prediction: &Prediction, rows: &[u32]) -> Option<Times> {
        let both = |row: &u32| {
            Some((workload.dispatches.duration(*row as usize)?, prediction.times.get(*row as usize)?))
        };
        rows.iter().filter_map(both).fold(None, |sum, (base, predicted)| {
            let Times { base: all, predicted: then } = sum.unwrap_or(Times { base: 0.0, predicted: 0.0 });
            Some(Times { base: all + base, predicted: then + predicted })
        })
    }

    /// Time saved, ns; negative where it takes longer.
    pub(crate) fn saved(self) -> f64 {
        self.base - self.predicted
    }

    fn saved_percent(self) -> f64 {
        100.0 * self.saved() / self.base
    }
}

/// What each limit is worth, kernel by kernel.
pub(crate) fn limits(subject: &Subject, most: usize) -> Table {
    let columns = vec![
        Column::new("time", ColumnKind::Number, "ns"),
        Column::new("saved", ColumnKind::Number, "ns"),
        Column::new("saved", ColumnKind::Percent, "%"),
    ];
    let mut table = of_kernels(subject, most, true, columns, |mut found| {
        found.sort_by(|a, b| b.1.saved().total_cmp(&a.1.saved()));
        let (worth, little): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(_, times)| times.saved_percent().abs() >= LITTLE);
        let mut rows: Vec<Row> = worth
            .into_iter()
            .map(|(it, times)| {
                let cells = [times.predicted, times.saved(), times.saved_percent()];
                line(String::new(), format!("  {}", it.title), cells)
            })
            .collect();
        if !little.is_empty() {
            let label = match (little.len(), rows.is_empty()) {
                (count, true) => format!("  {count} limits, each less than {LITTLE:.0} %"),
                (1, _) => format!("  1 other, less than {LITTLE:.0} %"),
                (count, _) => format!("  {count} others, each less than {LITTLE:.0} %"),
            };
            rows.push(row(String::new(), label, vec![Cell::Empty; 3]));
        }
        rows
    });
    table.id = "0.3".to_string();
    table.title = "What Each Limit Is Worth".to_string();
    table.label = "limit lifted".to_string();
    table.notes.insert(0, "the same run with one limit lifted at a time; what is saved overlaps".to_string());
    table
}

/// What changes would come to, kernel by kernel.
pub(crate) fn changes(subject: &Subject, most: usize) -> Table {
    let columns = vec![
        Column::new("time", ColumnKind::Number, "ns"),
        Column::new("change", ColumnKind::Number, "ns"),
        Column::new("change", ColumnKind::Number, "%"),
    ];
    let mut table = of_kernels(subject, most, false, columns, |found| {
        let each = found.into_iter().map(|(it, times)| {
            let cells = [times.predicted, -times.saved(), -times.saved_percent()];
            line(String::new(), format!("  {}", it.title), cells)
        });
        each.collect()
    });
    table.id = "0.4".to_string();
    table.title = "What If".to_string();
    table.label = "change".to_string();
    let about = "predicted with the same instructions: what a compiler would do with fewer registers is not known here";
    table.notes.insert(0, about.to_string());
    table
}

fn of_kernels(
    subject: &Subject,
    most: usize,
    lifted: bool,
    columns: Vec<Column>,
    rows: impl Fn(Vec<(&Prediction, Times)>) -> Vec<Row>,
) -> Table {
    let w = &subject.workload;
    let predictions: Vec<&Prediction> = w.predictions.iter().filter(|it| it.lifted == lifted).collect();
    let mut table = Table {
        id: String::new(),
        panel: "Top Stats".to_string(),
        title: String::new(),
        label: String::new(),
        columns,
        rows: Vec::new(),
        notes: Vec::new(),
    };
    let (mut shown, mut more) = (0, 0);
    let mut hurried = Vec::new();
    for (at, kernel) in kernels(w, &subject.rows).iter().enumerate() {
        let of_kernel = |row: &&u32| w.dispatches.kernel.get(**row as usize) == Some(&kernel.kernel);
        let own: Vec<u32> = subject.rows.iter().filter(of_kernel).copied().collect();
        let found: Vec<(&Prediction, Times)> =
            predictions.iter().filter_map(|it| Some((*it, Times::of(w, it, &own)?))).collect();
        let Some(base) = found.first().map(|(_, times)| times.base) else { continue };
        if shown == most {
            more += 1;
            continue;
        }
        shown += 1;
        hurried.extend(found.iter().filter(|(it, _)| it.hurried).map(|(it, _)| it.title.as_str()));
        let name = plain_kernel_name(&w.kernels[kernel.kernel as usize]);
        let time = Cell::Number(Number::from(base));
        table.rows.push(row(at.to_string(), name.to_string(), vec![time, Cell::Empty, Cell::Empty]));
        let rows = rows(found).into_iter().enumerate();
        table.rows.extend(rows.map(|(number, row)| Row { id: format!("{at}.{}", number + 1), ..row }));
    }
    if more > 0 {
        table.notes.push(format!("{more} more kernels; `-k N` shows one"));
    }
    hurried.sort_unstable();
    hurried.dedup();
    if !hurried.is_empty() {
        table.notes.push(format!(
            "{}: workgroups did not all run in this order, for want of memory; take the time with care",
            hurried.join(", ")
        ));
    }
    table
}

fn line(id: String, label: String, cells: [f64; 3]) -> Row {
    row(id, label, cells.map(|value| Cell::Number(Number::from(value))).to_vec())
}

fn row(id: String, label: String, cells: Vec<Cell>) -> Row {
    Row { id, label, metric: String::new(), unit: String::new(), cells }
}
