//! Several recordings side by side, the first as base.
//!
//! Rows are matched by identity (metric, kernel name), never by position; kernels that only one recording has
//! are excluded from the metrics.

use super::noise::{Sample, beyond};
use super::select::{some_of, wrong};
use super::subject::Subject;
use metrics::Evaluation;
use std::collections::{BTreeSet, HashMap};
use view::{Cell, Column, ColumnKind, Delta, Number, Row, Table, UsageError};
use workload::plain_kernel_name;

/// Kernels of later recordings that match a kernel of the base under another name.
#[derive(Clone, Debug, Default)]
pub struct Renames(Vec<(String, String)>);

impl Renames {
    /// Pairs of old and new names, or parts of them that only one kernel has, checked against the recordings.
    pub fn new(pairs: &[(String, String)], subjects: &[Subject]) -> Result<Self, UsageError> {
        let Some((base, others)) = subjects.split_first() else { return Ok(Self::default()) };
        let mut out = Vec::new();
        for (old, new) in pairs {
            let (old, new) = (plain_kernel_name(old), plain_kernel_name(new));
            let known = |side: &[Subject], name: &str, which: &str| {
                let names: Vec<&str> = side
                    .iter()
                    .flat_map(|s| s.workload.kernels.iter().map(|k| plain_kernel_name(k)))
                    .collect();
                let whole = names.iter().find(|it| **it == name).map(|it| [*it].into());
                let with_part = || names.iter().copied().filter(|it| it.contains(name)).collect();
                let found: BTreeSet<&str> = whole.unwrap_or_else(with_part);
                let found: Vec<&str> = found.into_iter().collect();
                match found[..] {
                    [one] => Ok(one.to_owned()),
                    [] => {
                        let text = format!("`--match`: {which} has no kernel `{name}`");
                        Err(wrong(text, some_of(&names, "kernels")))
                    }
                    _ => Err(wrong(
                        format!("`--match`: `{name}` is part of {} kernels' names", found.len()),
                        some_of(&found, "kernels"),
                    )),
                }
            };
            let old = known(std::slice::from_ref(base), old, "the base")?;
            let new = known(others, new, "none of the others")?;
            out.push((old, new));
        }
        Ok(Renames(out))
    }

    /// The name a kernel of a recording has in the base.
    pub fn in_base<'a>(&'a self, name: &'a str, recording: usize) -> &'a str {
        let name = plain_kernel_name(name);
        let renamed = self.0.iter().find(|(_, new)| recording > 0 && new == name);
        renamed.map_or(name, |(old, _)| old)
    }

    /// The names a kernel of the base has in the others.
    pub fn others<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(old, _)| old == name).map(|(_, new)| new.as_str())
    }
}

/// Rows of each recording whose kernels all of them have, and what to say about the rest.
pub(crate) fn common(subjects: &[Subject], renames: &Renames) -> (Vec<Vec<u32>>, Vec<String>) {
    let names: Vec<BTreeSet<&str>> = subjects
        .iter()
        .enumerate()
        .map(|(i, s)| s.rows.iter().map(|r| renames.in_base(s.workload.kernel_of(*r as usize), i)).collect())
        .collect();
    let shared: BTreeSet<&str> =
        names.iter().skip(1).fold(names.first().cloned().unwrap_or_default(), |all, one| {
            all.intersection(one).copied().collect()
        });
    let whole = || subjects.iter().map(|s| s.rows.clone()).collect::<Vec<_>>();
    if shared.is_empty() {
        let note = "no kernel is in all recordings; the tables compare all dispatches (`--match OLD=NEW` pairs kernels)";
        return (whole(), vec![note.to_string()]);
    }
    let mut notes = Vec::new();
    for (subject, own) in subjects.iter().zip(&names) {
        let rest: Vec<&&str> = own.difference(&shared).collect();
        if !rest.is_empty() {
            let count = rest.len();
            let is = if count == 1 { "is" } else { "are" };
            notes.push(format!(
                "{} {is} only in `{}` and no part of the compared metrics: {}",
                view::counted(count, "kernel"),
                subject.name,
                rest.iter().take(3).map(|n| n.to_string()).collect::<Vec<_>>().join(", ")
                    + if count > 3 { ", …" } else { "" }
            ));
        }
    }
    let rows = subjects
        .iter()
        .enumerate()
        .map(|(i, s)| {
            let keep: Vec<bool> =
                s.workload.kernels.iter().map(|k| shared.contains(renames.in_base(k, i))).collect();
            s.rows
                .iter()
                .copied()
                .filter(|r| keep[s.workload.dispatches.kernel[*r as usize] as usize])
                .collect()
        })
        .collect();
    (rows, notes)
}

/// Whether a number differs from the base's beyond noise: row, heading, recording.
pub(crate) type Noise<'a> = dyn Fn(&Row, &str, usize) -> Option<bool> + 'a;

/// Merges the same table of several recordings; each gets the columns of the base.
pub(crate) fn merge(tables: &[Option<&Table>], renames: &Renames, noise: &Noise<'_>) -> Option<Table> {
    let base = tables.iter().flatten().next()?;
    let by_kernel = base.label == "kernel";
    let key = |row: &Row, recording: usize| {
        let label = if by_kernel { renames.in_base(&row.label, recording) } else { &row.label };
        (label.to_string(), row.metric.clone())
    };
    // Rows of the base first, then those only later recordings have.
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    let mut rows: Vec<Row> = Vec::new();
    // For each recording and merged row, the recording's own row.
    let mut own: Vec<Vec<Option<&Row>>> = Vec::new();
    for (recording, table) in tables.iter().enumerate() {
        let mut of_recording: Vec<Option<&Row>> = vec![None; rows.len()];
        for row in table.iter().flat_map(|t| &t.rows) {
            let key = key(row, recording);
            let at = match places.get(&key) {
                Some(at) => *at,
                None => {
                    // A number of another recording's table may be another row of the base.
                    let id = if recording > 0 { String::new() } else { row.id.clone() };
                    rows.push(Row { id, label: key.0.clone(), cells: Vec::new(), ..row.clone() });
                    places.insert(key, rows.len() - 1);
                    rows.len() - 1
                }
            };
            of_recording.resize(rows.len(), None);
            of_recording[at].get_or_insert(row);
        }
        own.push(of_recording);
    }
    let mut columns = Vec::new();
    // Measured recordings lack the last column, the confidence of emulated values.
    let most = tables.iter().flatten().rev().max_by_key(|t| t.columns.len()).unwrap_or(base);
    for (index, column) in most.columns.iter().enumerate() {
        let cell_of = |recording: usize, at: usize| {
            own.get(recording)?.get(at).copied().flatten().and_then(|r| r.cells.get(index))
        };
        let has_row = |recording: usize, at: usize| {
            own.get(recording).and_then(|rows| rows.get(at)).copied().flatten().is_some()
        };
        let alike = (1..tables.len()).all(|recording| {
            (0..rows.len())
                .all(|at| cell_of(recording, at).is_none() || cell_of(0, at) == cell_of(recording, at))
        });
        // Values that are the same in all recordings by nature are shown once.
        let once = alike && (column.kind.is_words() || column.title == "peak");
        for recording in 0..tables.len() {
            if recording > 0 && once {
                continue;
            }
            columns.push(Column { recording, ..column.clone() });
            for (at, row) in rows.iter_mut().enumerate() {
                let base = cell_of(0, at);
                let cell = match cell_of(recording, at).or(base.filter(|_| once)) {
                    None if column.kind == ColumnKind::Trust && has_row(recording, at) => {
                        Cell::Text("measured".to_string())
                    }
                    None => Cell::Empty,
                    Some(Cell::Number(value)) if recording > 0 && !column.kind.is_words() => {
                        let beyond_noise = noise(row, &column.title, recording);
                        Cell::Change(delta(base.and_then(Cell::number), value.clone(), beyond_noise))
                    }
                    Some(cell) => cell.clone(),
                };
                row.cells.push(cell);
            }
        }
    }
    Some(Table { columns, rows, ..(*base).clone() })
}

fn delta(base: Option<f64>, value: Number, beyond_noise: Option<bool>) -> Delta {
    let change = base.and_then(|base| value.get().map(|v| v - base));
    let change_percent = match (base, change) {
        (Some(base), Some(change)) if base != 0.0 => Some(100.0 * change / base.abs()),
        (Some(_), Some(0.0)) => Some(0.0),
        _ => None,
    };
    Delta { beyond_noise: change.and(beyond_noise), value, change, change_percent }
}

/// Hides rows in which nothing changes by `percent` or more.
pub(crate) fn hide_small(table: &mut Table, percent: f64) {
    let before = table.rows.len();
    table.rows.retain(|row| {
        row.cells.iter().any(|cell| match cell {
            Cell::Change(Delta { change_percent: Some(p), .. }) => p.abs() >= percent,
            // From zero, from or to nothing known: a change without a percentage.
            Cell::Change(Delta { change: Some(c), change_percent: None, .. }) => *c != 0.0,
            _ => false,
        })
    });
    let hidden = before - table.rows.len();
    if hidden > 0 {
        let word = if hidden == 1 { "row changes" } else { "rows change" };
        table.notes.push(format!("{hidden} {word} by less than {percent} %"));
    }
}

/// Per-dispatch values of a metric with their kernels.
pub(crate) fn sample(e: &Evaluation<'_>, subject: &Subject, metric: &str) -> Sample {
    let Ok(values) = e.dispatches(metric) else { return Vec::new() };
    let kernel = |row: &u32| subject.workload.dispatches.kernel[*row as usize];
    e.rows().iter().zip(values).filter_map(|(row, v)| Some((kernel(row), v?))).collect()
}

/// Durations of the selected dispatches by the kernel's name in the base.
pub(crate) fn durations(subject: &Subject, recording: usize, renames: &Renames) -> HashMap<String, Sample> {
    let d = &subject.workload.dispatches;
    let mut of_kernel: Vec<Sample> = vec![Vec::new(); subject.workload.kernels.len()];
    for row in &subject.rows {
        if let Some(duration) = d.duration(*row as usize) {
            of_kernel[d.kernel[*row as usize] as usize].push((0, duration));
        }
    }
    let mut out: HashMap<String, Sample> = HashMap::new();
    for (name, sample) in subject.workload.kernels.iter().zip(of_kernel) {
        out.entry(renames.in_base(name, recording).to_string()).or_default().extend(sample);
    }
    out
}

/// Whether two samples differ beyond their scatter.
pub(crate) fn differ(base: &Sample, other: &Sample) -> Option<bool> {
    beyond(base, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, f64, f64)]) -> Table {
        Table {
            id: "2.1".into(),
            panel: "P".into(),
            title: "T".into(),
            label: "kernel".into(),
            columns: vec![
                Column::new("avg", ColumnKind::Number, ""),
                Column::new("peak", ColumnKind::Number, ""),
            ],
            rows: rows
                .iter()
                .enumerate()
                .map(|(i, (label, avg, peak))| Row {
                    id: i.to_string(),
                    label: (*label).into(),
                    cells: vec![Cell::Number(Number::from(*avg)), Cell::Number(Number::from(*peak))],
                    ..Row::default()
                })
                .collect(),
            ..Table::default()
        }
    }

    fn changes(table: &Table) -> Vec<String> {
        let cell = |c: &Cell| match c {
            Cell::Empty => "-".to_string(),
            Cell::Change(d) => match d.change_percent {
                Some(p) => format!("{}({p:+})", d.value.get().unwrap()),
                None => format!("{}(?)", d.value.get().unwrap()),
            },
            other => other.number().unwrap().to_string(),
        };
        table
            .rows
            .iter()
            .map(|r| format!("{}: {}", r.label, r.cells.iter().map(cell).collect::<Vec<_>>().join(" ")))
            .collect()
    }

    #[test]
    fn rows_meet_by_name_and_equal_peaks_stand_once() {
        let a = table(&[("x", 10.0, 100.0), ("y", 0.0, 50.0), ("gone", 1.0, 1.0)]);
        let b = table(&[("y2", 5.0, 50.0), ("x", 5.0, 100.0), ("new", 2.0, 2.0)]);
        let renames = Renames(vec![("y".into(), "y2".into())]);
        let merged = merge(&[Some(&a), Some(&b)], &renames, &|_, _, _| None).unwrap();
        let headings: Vec<(&str, usize)> =
            merged.columns.iter().map(|c| (c.title.as_str(), c.recording)).collect();
        assert_eq!(headings, [("avg", 0), ("avg", 1), ("peak", 0), ("peak", 1)]);
        assert_eq!(
            changes(&merged),
            ["x: 10 5(-50) 100 100(+0)", "y: 0 5(?) 50 50(+0)", "gone: 1 - 1 -", "new: - 2(?) - 2(?)"]
        );
        let b = table(&[("x", 11.0, 100.0), ("y", 0.0, 50.0), ("gone", 1.0, 1.0)]);
        let mut merged = merge(&[Some(&a), Some(&b)], &renames, &|_, _, _| Some(true)).unwrap();
        assert_eq!(changes(&merged), ["x: 10 11(+10) 100", "y: 0 0(+0) 50", "gone: 1 1(+0) 1"]);
        hide_small(&mut merged, 10.0);
        assert_eq!(changes(&merged), ["x: 10 11(+10) 100"]);
        assert!(merged.notes.len() == 1 && merged.notes[0].starts_with("2 "), "{:?}", merged.notes);
    }
}
