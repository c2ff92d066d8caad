//! The table of thread traces: the instructions of each kernel, most stalled cycles first.
//!
//! A trace covers some waves of a dispatch, so its numbers are not extrapolated.

use super::samples::selected_traces;
use super::subject::Subject;
use sorting::Sort;
use std::cmp::Reverse;
use view::{Cell, Column, ColumnKind, Number, Row, Table, counted};
use workload::{KernelTrace, TracedCounts, plain_kernel_name};

/// Description of the traced part.
pub(crate) fn summary(subject: &Subject) -> Option<String> {
    let traces = subject.workload.traces.as_ref()?;
    let (dispatches, total) = (traces.dispatches.len(), traces.total());
    let waves: Option<u64> = traces.dispatches.iter().map(|it| it.waves).sum();
    let of = waves.map_or_else(String::new, |waves| format!("{} of ", counted(waves, "wave")));
    let (hits, dispatches) = (counted(total.hits, "instruction"), counted(dispatches, "dispatch"));
    Some(format!("{hits} of {of}{dispatches} (thread trace)"))
}

/// The instructions of each kernel, most stalled cycles first; at most `top` of each.
pub(crate) fn instructions(subject: &Subject, top: usize) -> Table {
    let kernels = selected_traces(&subject.workload, &subject.rows);
    let sources = kernels.iter().flat_map(|kernel| kernel.rows.keys()).any(|row| !row.source.is_empty());
    let number = |title: &str| Column::new(title, ColumnKind::Number, "");
    let mut columns = vec![
        number("hits"),
        number("latency"),
        number("stall"),
        Column::new("of kernel", ColumnKind::Percent, "%"),
        number("idle"),
        Column::new("offset", ColumnKind::Text, ""),
    ];
    if sources {
        columns.push(Column::new("source", ColumnKind::Text, ""));
    }
    if kernels.len() > 1 {
        columns.push(Column::new("kernel", ColumnKind::Text, ""));
    }
    let (mut rows, mut left) = (Vec::new(), 0);
    for kernel in &kernels {
        let mut own: Vec<_> = kernel.rows.iter().filter(|(_, counts)| counts.hits > 0).collect();
        own.in_order_by_key(|(_, counts)| Reverse((counts.stall, counts.latency)));
        left += own.len().saturating_sub(top);
        for (instruction, counts) in own.into_iter().take(top) {
            let mut cells = cells(counts, kernel);
            let address = instruction.address;
            cells.push(address.map_or(Cell::Empty, |address| Cell::Text(format!("{address:#x}"))));
            if sources {
                cells.push(Cell::Text(instruction.source.clone()));
            }
            if kernels.len() > 1 {
                cells.push(Cell::Text(plain_kernel_name(&kernel.kernel.name).to_string()));
            }
            let label = instruction.text.clone();
            rows.push(Row { id: format!("21.3.{}", rows.len()), label, cells, ..Row::default() });
        }
    }
    let mut notes = Vec::new();
    if left > 0 {
        notes.push(format!("{left} more instructions; `--top N` shows more"));
    }
    notes.extend(subject.workload.traces.as_ref().map(|traces| {
        format!("{} from {}", summary(subject).unwrap_or_default(), traces.sources.join(", "))
    }));
    notes.push("cycles are sums over the traced waves; a stall is charged to the instruction that waits, not to the one it waits for".to_string());
    Table {
        id: "21.3".to_string(),
        panel: "PC Sampling".to_string(),
        title: "Thread Trace".to_string(),
        label: "instruction".to_string(),
        columns,
        rows,
        notes,
        ..Table::default()
    }
}

fn cells(counts: &TracedCounts, kernel: &KernelTrace) -> Vec<Cell> {
    let number = |value: f64| Cell::Number(Number::from(value));
    vec![
        number(counts.hits as f64),
        number(counts.latency as f64),
        number(counts.stall as f64),
        number(100.0 * counts.stall as f64 / kernel.total.stall.max(1) as f64),
        number(counts.idle as f64),
    ]
}
