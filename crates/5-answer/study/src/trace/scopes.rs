//! Scopes and kernels of profiles that count operations and bytes.

use crate::tables::rows::{count, missing, number, push, table, text};
use sorting::Sort;
use timeline::{TimelineEvidence, Work, work};
use view::ColumnKind::{Number, Percent, Text};
use view::{Cell, Column, ColumnKind, Table};

/// Why a rate is absent.
const NO_TIME: &str = "the profile has no time for it";
const NO_WORK: &str = "no operations or bytes were counted";

pub(super) fn tables(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let timeline = evidence.timeline;
    if timeline.scopes.is_empty() {
        return;
    }
    let work = work(timeline);
    let cycles = work.iter().any(|it| it.cycles > 0.0);
    let whole: f64 = timeline.scopes.iter().filter(|it| it.kernel).filter_map(|it| it.time_ns).sum();
    let mut notes = Vec::new();
    for (scope, work) in timeline.scopes.iter().zip(&work) {
        if work.times > 1 && !scope.kernel {
            notes.push(format!(
                "the operations and bytes of `{}` are those of one call, and its kernel ran {} times: they are multiplied",
                evidence.text(scope.name),
                work.times
            ));
        }
    }
    if evidence.model.is_none() {
        notes.push("n/a of the roof: the peak rates of the GPU are not known".to_owned());
    }
    let mut kernels = blank(("2.1", "kernels", "Kernels by time", "kernel"), cycles, Some("in the scope"));
    let mut rows: Vec<usize> = (0..work.len()).filter(|row| timeline.scopes[*row].kernel).collect();
    rows.in_order_by(|a, b| {
        let key = |row: &usize| (work[*row].time_ns, work[*row].cycles);
        key(b).partial_cmp(&key(a)).unwrap_or(std::cmp::Ordering::Equal).then(a.cmp(b))
    });
    for row in rows {
        let scope = &timeline.scopes[row];
        let mut cells = cells(&work[row], whole, cycles, evidence);
        let outer = scope.parent.and_then(|parent| timeline.scopes.get(parent as usize));
        cells.push(text(outer.map_or("", |outer| evidence.text(outer.name))));
        push(&mut kernels, evidence.text(scope.name), cells);
    }
    kernels.notes.clone_from(&notes);
    out.push(kernels);
    let mut tree = blank(("6.2", "steps", "Scopes with everything in them", "scope"), cycles, None);
    let mut depth = vec![0usize; timeline.scopes.len()];
    for (row, scope) in timeline.scopes.iter().enumerate() {
        depth[row] = scope.parent.map_or(0, |parent| depth[parent as usize] + 1);
        let label = format!("{}{}", "  ".repeat(depth[row].min(20)), evidence.text(scope.name));
        push(&mut tree, label, cells(&work[row], whole, cycles, evidence));
    }
    tree.notes.push("rows include the rows within them and must not be added up".to_owned());
    out.push(tree);
}

fn blank((id, panel, title, what): (&str, &str, &str, &str), cycles: bool, last: Option<&str>) -> Table {
    let columns = [
        ("calls", Number, ""),
        ("total", Number, "ms"),
        ("mean", Number, "us"),
        ("of GPU time", Number, "%"),
        ("of the roof", Percent, "%"),
        ("nearer", Text, ""),
        ("rate", Number, "Tflop/s"),
        ("bytes", Number, ""),
        ("bandwidth", Number, "GB/s"),
        ("intensity", Number, "flop/byte"),
    ];
    let mut t = table(id, panel, title, what, &columns);
    let mut add = |title: &str, kind: ColumnKind, unit: &str| {
        t.columns.push(Column::new(title, kind, unit));
    };
    if cycles {
        add("cycles", Number, "");
    }
    if let Some(title) = last {
        add(title, Text, "");
    }
    t
}

fn cells(work: &Work, whole: f64, cycles: bool, evidence: &TimelineEvidence<'_>) -> Vec<Cell> {
    let timed = work.time_ns > 0.0;
    let operations = work.all_operations();
    let of_time = |value: f64| if timed { number(value) } else { missing(NO_TIME) };
    let of_work = |done: f64, value: f64| match () {
        () if done <= 0.0 => missing(NO_WORK),
        () => of_time(value),
    };
    let roof = evidence.model.filter(|_| operations > 0.0 || work.bytes > 0.0).and_then(|it| work.roof(it));
    let (share, nearer) = match roof {
        Some([arithmetic, memory]) if arithmetic >= memory => (number(100.0 * arithmetic), "arithmetic"),
        Some([_, memory]) => (number(100.0 * memory), "HBM"),
        None if operations <= 0.0 && work.bytes <= 0.0 => (missing(NO_WORK), ""),
        None if !timed => (missing(NO_TIME), ""),
        None => (missing("the GPU's peak for that type is not known"), ""),
    };
    let mut cells = vec![
        count(work.calls),
        of_time(work.time_ns / 1e6),
        if work.calls > 0 { of_time(work.time_ns / 1e3 / work.calls as f64) } else { missing(NO_TIME) },
        if whole > 0.0 { of_time(100.0 * work.time_ns / whole) } else { missing(NO_TIME) },
        share,
        text(nearer),
        of_work(operations, operations / work.time_ns / 1e3),
        if work.bytes > 0.0 { count(work.bytes as u64) } else { missing(NO_WORK) },
        of_work(work.bytes, work.bytes / work.time_ns),
        if operations > 0.0 && work.bytes > 0.0 { number(operations / work.bytes) } else { missing(NO_WORK) },
    ];
    if cycles {
        cells.push(count(work.cycles as u64));
    }
    cells
}
