//! What stands before the metrics: top kernels, dispatches, the machine.
//!
//! The one idea to keep in mind: these come from the recording alone, so they are there even when nothing is known
//! of the GPU.

use super::panels::number;
use super::report::Subject;
use metrics::{KernelTimes, kernels};
use view::{Cell, Column, ColumnKind, Number, Row, Table};
use workload::plain_kernel_name;

/// Kernels, most time first; at most `top` of them.
pub(crate) fn top_kernels(subject: &Subject, top: usize) -> Table {
    let w = &subject.workload;
    let times = kernels(w, &subject.rows);
    let cells = |k: &KernelTimes| {
        vec![
            Cell::Number(Number::from(k.count as f64)),
            number(k.sum.clone()),
            number(k.mean.clone()),
            number(k.median.clone()),
            number(k.percent.clone()),
        ]
    };
    let rows = times.iter().take(top).enumerate().map(|(index, k)| Row {
        id: index.to_string(),
        label: plain_kernel_name(&w.kernels[k.kernel as usize]).to_string(),
        metric: String::new(),
        unit: String::new(),
        cells: cells(k),
    });
    let mut notes = Vec::new();
    if times.len() > top {
        notes.push(format!("{} more kernels; `--top N` shows more", times.len() - top));
    }
    Table {
        id: "0.1".to_string(),
        panel: "Top Stats".to_string(),
        title: "Top Kernels".to_string(),
        label: "kernel".to_string(),
        columns: vec![
            Column::new("count", ColumnKind::Number, ""),
            Column::new("sum", ColumnKind::Number, "ns"),
            Column::new("mean", ColumnKind::Number, "ns"),
            Column::new("median", ColumnKind::Number, "ns"),
            Column::new("percent", ColumnKind::Percent, "%"),
        ],
        rows: rows.collect(),
        notes,
    }
}
