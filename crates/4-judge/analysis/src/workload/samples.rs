//! Tables of samples of the program counter: instructions of each kernel, and wait reasons of each kernel.
//!
//! Samples taken in a separate run have other dispatches than the counters, so they can be selected by kernel
//! only.

use super::subject::Subject;
use crate::listing_samples::{issued, waits};
use sorting::Sort;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use view::{Cell, Column, ColumnKind, Number, Row, Table, WaitShare};
use workload::{
    KernelSamples, KernelTrace, SAMPLE_STALLS, Samples, SamplingMethod, Workload, is_sampled_kernel,
    plain_kernel_name,
};

const PANEL: &str = "PC Sampling";
/// Reasons named for one instruction.
const REASONS: usize = 3;
/// Processes named for one instruction.
const PROCESSES: usize = 4;

/// The samples of the kernels and dispatches selected, kernels of most samples first.
pub fn selected(w: &Workload, rows: &[u32]) -> Vec<KernelSamples> {
    let Some(samples) = &w.samples else { return Vec::new() };
    let whole = rows.len() == w.dispatches.len();
    let ids: HashSet<u64> = rows.iter().map(|row| w.dispatches.id[*row as usize]).collect();
    let names: BTreeSet<&str> = rows.iter().map(|row| w.kernel_of(*row as usize)).collect();
    samples.by_kernel(&|kernel, dispatch| {
        whole
            || (samples.own_run || ids.contains(&dispatch))
                && names.iter().any(|name| is_sampled_kernel(kernel, name))
    })
}

/// The thread traces of the kernels and dispatches selected, kernels of most stalled cycles first.
pub fn selected_traces(w: &Workload, rows: &[u32]) -> Vec<KernelTrace> {
    let Some(traces) = &w.traces else { return Vec::new() };
    let whole = rows.len() == w.dispatches.len();
    let ids: HashSet<u64> = rows.iter().map(|row| w.dispatches.id[*row as usize]).collect();
    let names: BTreeSet<&str> = rows.iter().map(|row| w.kernel_of(*row as usize)).collect();
    traces.by_kernel(&|kernel, dispatch| {
        whole
            || (traces.own_run || ids.contains(&dispatch))
                && names.iter().any(|name| is_sampled_kernel(kernel, name))
    })
}

/// Description of the samples.
pub(crate) fn summary(subject: &Subject) -> Option<String> {
    let samples = subject.workload.samples.as_ref()?;
    let methods: Vec<&str> = samples.methods.iter().map(|method| method.describe()).collect();
    Some(format!(
        "{} samples of the program counter ({}{})",
        samples.total(),
        methods.join(" and "),
        interval(subject, samples).unwrap_or_default()
    ))
}

/// Sampling interval, if the profiler's settings tell.
fn interval(subject: &Subject, samples: &Samples) -> Option<String> {
    let settings = &subject.workload.settings;
    let [method] = samples.methods[..] else { return None };
    let said = settings.get("pc_sampling_method").map(String::as_str);
    let (name, unit) = match method {
        SamplingMethod::Stochastic => ("stochastic", "cycles"),
        SamplingMethod::HostTrap => ("host_trap", "us"),
    };
    let every = settings.get("pc_sampling_interval").filter(|every| !every.is_empty())?;
    (said == Some(name)).then(|| format!(", every {every} {unit}"))
}

fn notes(subject: &Subject) -> Vec<String> {
    let Some(samples) = &subject.workload.samples else { return Vec::new() };
    let mut notes =
        vec![format!("{} from {}", summary(subject).unwrap_or_default(), samples.sources.join(", "))];
    if samples.own_run && subject.rows.len() < subject.workload.dispatches.len() {
        notes.push(
            "the samples are of another run of the application: kernels select among them, dispatches do not"
                .to_string(),
        );
    }
    notes
}

fn table(id: &str, title: &str, label: &str, columns: Vec<Column>, rows: Vec<Row>) -> Table {
    Table {
        id: id.to_string(),
        panel: PANEL.to_string(),
        title: title.to_string(),
        label: label.to_string(),
        columns,
        rows,
        ..Table::default()
    }
}

fn number(value: f64) -> Cell {
    Cell::Number(Number::from(value))
}

/// The instructions of each kernel, most samples first; at most `top` of each.
pub(crate) fn instructions(subject: &Subject, top: usize) -> Table {
    let kernels = selected(&subject.workload, &subject.rows);
    let says_issued = kernels.iter().any(|kernel| kernel.total.says_issued());
    let rows_of = || kernels.iter().flat_map(|kernel| kernel.rows.keys());
    let addresses = rows_of().any(|row| row.address.is_some());
    let sources = rows_of().any(|row| !row.source.is_empty());
    let mut columns = vec![
        Column::new("samples", ColumnKind::Number, ""),
        Column::new("of kernel", ColumnKind::Percent, "%"),
    ];
    if says_issued {
        columns.push(Column::new("issued", ColumnKind::Number, ""));
        columns.push(Column::new("stalled", ColumnKind::Number, ""));
        columns.push(Column::new("stalled for", ColumnKind::Text, ""));
    }
    if addresses {
        columns.push(Column::new("offset", ColumnKind::Text, ""));
    }
    if sources {
        columns.push(Column::new("source", ColumnKind::Text, ""));
    }
    let several_processes = kernels.iter().any(|kernel| !kernel.processes.is_empty());
    if several_processes {
        columns.push(Column::new("pid", ColumnKind::Text, ""));
    }
    if kernels.len() > 1 {
        columns.push(Column::new("kernel", ColumnKind::Text, ""));
    }
    let (mut rows, mut left) = (Vec::new(), 0);
    for kernel in &kernels {
        let mut own: Vec<_> = kernel.rows.iter().collect();
        own.in_order_by_key(|(_, counts)| std::cmp::Reverse(counts.samples));
        left += own.len().saturating_sub(top);
        for (instruction, counts) in own.into_iter().take(top) {
            let mut cells = vec![
                number(counts.samples as f64),
                number(100.0 * counts.samples as f64 / kernel.total.samples.max(1) as f64),
            ];
            if says_issued {
                cells.push(number(counts.issued as f64));
                cells.push(number(counts.stalled as f64));
                cells.push(Cell::Text(reasons(&waits(counts), counts.samples)));
            }
            if addresses {
                cells.push(
                    instruction.address.map_or(Cell::Empty, |address| Cell::Text(format!("{address:#x}"))),
                );
            }
            if sources {
                cells.push(Cell::Text(instruction.source.clone()));
            }
            if several_processes {
                cells.push(Cell::Text(kernel.processes.get(instruction).map_or_else(String::new, processes)));
            }
            if kernels.len() > 1 {
                cells.push(Cell::Text(plain_kernel_name(&kernel.kernel.name).to_string()));
            }
            let label = match (instruction.text.is_empty(), instruction.address) {
                (true, Some(address)) => format!("instruction at {address:#x}"),
                _ => instruction.text.clone(),
            };
            rows.push(Row { id: format!("21.1.{}", rows.len()), label, cells, ..Row::default() });
        }
    }
    let mut out = table("21.1", "PC Sampling", "instruction", columns, rows);
    if left > 0 {
        out.notes.push(format!("{left} more instructions; `--top N` shows more"));
    }
    out.notes.extend(notes(subject));
    out
}

/// The processes of an instruction's samples with their counts, most first: `4254: 17, 4255: 3`.
fn processes(counts: &BTreeMap<u64, u64>) -> String {
    let mut list: Vec<(&u64, &u64)> = counts.iter().collect();
    list.in_order_by_key(|(_, samples)| std::cmp::Reverse(**samples));
    let named: Vec<String> =
        list.iter().take(PROCESSES).map(|(process, samples)| format!("{process}: {samples}")).collect();
    let rest = if list.len() > PROCESSES { ", …" } else { "" };
    named.join(", ") + rest
}

/// The reasons of most samples, with how many: `waitcnt 17, hazard 3`.
fn reasons(waits: &[WaitShare], samples: u64) -> String {
    let count = |wait: &WaitShare| (wait.share * samples as f64 / 100.0).round();
    let named: Vec<String> =
        waits.iter().take(REASONS).map(|wait| format!("{} {}", wait.why, count(wait))).collect();
    let rest = if waits.len() > REASONS { ", …" } else { "" };
    named.join(", ") + rest
}

/// Sample summary of each kernel: how many issued, and why the others did not.
pub(crate) fn kernels(subject: &Subject, top: usize) -> Table {
    let kernels = selected(&subject.workload, &subject.rows);
    let all: u64 = kernels.iter().map(|kernel| kernel.total.samples).sum();
    let occurs: Vec<usize> = (0..SAMPLE_STALLS.len())
        .filter(|at| kernels.iter().any(|kernel| kernel.total.stalls[*at] > 0))
        .collect();
    let says_issued = kernels.iter().any(|kernel| kernel.total.says_issued());
    let mut columns =
        vec![Column::new("samples", ColumnKind::Number, ""), Column::new("of all", ColumnKind::Percent, "%")];
    if says_issued {
        columns.push(Column::new("issued", ColumnKind::Percent, "%"));
    }
    columns.extend(occurs.iter().map(|at| Column::new(SAMPLE_STALLS[*at].0, ColumnKind::Percent, "%")));
    let rows = kernels.iter().take(top).enumerate().map(|(at, kernel)| {
        let total = &kernel.total;
        let percent = |part: u64, whole: u64| number(100.0 * part as f64 / whole.max(1) as f64);
        let mut cells = vec![number(total.samples as f64), percent(total.samples, all)];
        if says_issued {
            cells.push(issued(total).map_or(Cell::Empty, number));
        }
        cells.extend(occurs.iter().map(|at| percent(total.stalls[*at], total.samples)));
        let label = plain_kernel_name(&kernel.kernel.name).to_string();
        Row { id: format!("21.2.{at}"), label, cells, ..Row::default() }
    });
    let mut out = table("21.2", "Samples by Kernel", "kernel", columns, rows.collect());
    if kernels.len() > top {
        out.notes.push(format!("{} more kernels; `--top N` shows more", kernels.len() - top));
    }
    if says_issued {
        out.notes.push(
            "`issued` and the reasons why waves did not issue are percent of the kernel's samples"
                .to_string(),
        );
    }
    out.notes.extend(notes(subject));
    out
}
