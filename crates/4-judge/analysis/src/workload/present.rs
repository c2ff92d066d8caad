//! Parts of a report around its tables: head, notes, reasons, units and columns.
//!
//! Nothing is computed from counters here.

use super::machine::{ENGINE_CLOCK, engine_clock};
use super::select::wrong;
use super::subject::Subject;
use super::{samples, traces};
use arch::Target;
use std::collections::{BTreeMap, BTreeSet};
use view::{
    Cell, Delta, Input, Missing, MissingValues, NamedValue, Note, NoteKind, Number, Recording, Table,
    TimeUnit, UsageError,
};
use workload::{Problem, Share};

/// Symbol of a unit and its nanoseconds.
const fn unit_of(unit: TimeUnit) -> (&'static str, f64) {
    match unit {
        TimeUnit::Nanoseconds => ("ns", 1.0),
        TimeUnit::Microseconds => ("us", 1e3),
        TimeUnit::Milliseconds => ("ms", 1e6),
        TimeUnit::Seconds => ("s", 1e9),
    }
}

/// Converts the times of a table; a value is a time if its unit is nanoseconds.
pub(crate) fn scale(table: &mut Table, unit: TimeUnit) {
    let (symbol, ns) = unit_of(unit);
    if ns == 1.0 {
        return;
    }
    let convert = |cell: &mut Cell| match cell {
        Cell::Number(Number::Known(v)) => *v /= ns,
        Cell::Change(Delta { value, change, .. }) => {
            if let Number::Known(v) = value {
                *v /= ns;
            }
            if let Some(c) = change {
                *c /= ns;
            }
        }
        Cell::Number(Number::Missing(_)) | Cell::Empty | Cell::Text(_) => {}
    };
    for row in table.rows.iter_mut().filter(|r| r.unit == "ns") {
        row.unit = symbol.to_string();
        for (column, cell) in table.columns.iter().zip(&mut row.cells) {
            if column.unit.is_empty() {
                convert(cell);
            }
        }
    }
    for (at, column) in table.columns.iter_mut().enumerate().filter(|(_, c)| c.unit == "ns") {
        column.unit = symbol.to_string();
        table.rows.iter_mut().filter_map(|r| r.cells.get_mut(at)).for_each(convert);
    }
}

/// Keeps the columns named; every table keeps its words.
pub(crate) fn columns(tables: &mut Vec<Table>, wanted: &[String]) -> Result<(), UsageError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let there: BTreeSet<String> =
        tables.iter().flat_map(|t| t.columns.iter().map(|c| c.title.to_lowercase())).collect();
    let wanted: Vec<String> = wanted
        .iter()
        .flat_map(|w| w.split(','))
        .map(|w| w.trim().to_lowercase())
        .filter(|w| !w.is_empty())
        .collect();
    if let Some(unknown) = wanted.iter().find(|w| !there.contains(*w)) {
        let known: Vec<&str> = there.iter().map(String::as_str).collect();
        return Err(wrong(
            format!("no table shown has a column `{unknown}`"),
            format!("columns are {}", known.join(", ")),
        ));
    }
    for t in tables.iter_mut() {
        let keep: Vec<bool> = t.columns.iter().map(|c| wanted.contains(&c.title.to_lowercase())).collect();
        let mut at = 0;
        t.columns.retain(|_| {
            at += 1;
            keep[at - 1]
        });
        for row in &mut t.rows {
            let mut at = 0;
            row.cells.retain(|_| {
                at += 1;
                keep.get(at - 1).copied().unwrap_or(false)
            });
        }
    }
    tables.retain(|t| !t.columns.is_empty());
    Ok(())
}

/// The recording as an input of the answer.
pub(crate) fn input(subject: &Subject) -> Input {
    Input {
        facts: summary(subject),
        recording: Some(recording(subject)),
        ..Input::new(&subject.name, &subject.path, subject.workload.generation.describe())
    }
}

fn recording(subject: &Subject) -> Recording {
    let w = &subject.workload;
    let machine = &w.machine;
    let mut used = vec![false; w.kernels.len()];
    subject.rows.iter().for_each(|r| used[w.dispatches.kernel[*r as usize] as usize] = true);
    let names: BTreeSet<&str> = w.counters.iter().map(|c| c.name.as_str()).collect();
    let (mut timed, mut time) = (0usize, 0.0);
    for d in subject.rows.iter().filter_map(|r| w.dispatches.duration(*r as usize)) {
        timed += 1;
        time += d;
    }
    let target = subject.target().to_string();
    Recording {
        gpu: machine.text("gpu_model").map_or_else(|| target.clone(), |t| t.trim().to_string()),
        target,
        kernels: used.iter().filter(|u| **u).count() as u64,
        dispatches: subject.rows.len() as u64,
        recorded_dispatches: w.dispatches.len() as u64,
        counters: names.len() as u64,
        time_ns: if timed == 0 { Number::Missing(Missing::Durations) } else { Number::from(time) },
        time_trust: w.marks.as_ref().filter(|_| timed > 0).map(|marks| marks.of(workload::TIME)),
        selection: subject.selection.clone(),
        machine: machine
            .facts
            .keys()
            .filter_map(|name| Some((name, machine.text(name)?)))
            .map(|(name, value)| NamedValue {
                name: name.clone(),
                value: value.trim().to_string(),
                filled_from: subject.filled.iter().find(|f| f.fact == name).map(|f| f.source.clone()),
            })
            .collect(),
    }
}

/// The line of the head that names the emulator.
const EMULATED: &str = "emulated";

/// Lines of the head: a word, and facts with their names around them.
type Line = (&'static str, &'static [(&'static str, &'static str, &'static str)]);
const LINES: &[Line] = &[
    (
        EMULATED,
        &[(
            "by ",
            "emulated_by",
            ": counts follow from execution; caches and times, where given, are modelled (docs/accuracy.md)",
        )],
    ),
    (
        "GPU",
        &[
            ("", "cu_per_gpu", " CUs"),
            ("", "num_xcd", " XCDs"),
            ("", "se_per_gpu", " shader engines"),
            ("", ENGINE_CLOCK, ""),
            ("", "compute_partition", ""),
            ("", "memory_partition", ""),
        ],
    ),
    (
        "memory",
        &[("HBM ", "hbm_bw", " GB/s"), ("HBM ", "max_mclk", " MHz"), ("", "total_l2_chan", " L2 channels")],
    ),
    (
        "system",
        &[
            ("ROCm ", "rocm_version", ""),
            ("", "linux_distro", ""),
            ("", "cpu_model", ""),
            ("", "hostname", ""),
        ],
    ),
    ("command", &[("", "command", ""), ("", "timestamp", "")]),
];

fn summary(subject: &Subject) -> Vec<NamedValue> {
    let machine = &subject.workload.machine;
    LINES
        .iter()
        .filter_map(|(word, facts)| {
            let shown: Vec<String> = facts
                .iter()
                .filter_map(|(before, fact, after)| {
                    if *fact == ENGINE_CLOCK {
                        return engine_clock(machine);
                    }
                    let value = machine.text(fact)?.trim();
                    // One of a thing is named in the singular.
                    let after = if value == "1" { after.trim_end_matches('s') } else { after };
                    Some(format!("{before}{value}{after}"))
                })
                .collect();
            (!shown.is_empty()).then(|| NamedValue::new(*word, shown.join(" · ")))
        })
        .flat_map(|fact| {
            let followed = if fact.name == EMULATED { followed(subject) } else { None };
            std::iter::once(fact).chain(followed)
        })
        .chain(samples::summary(subject).map(|value| NamedValue::new("sampled", value)))
        .chain(traces::summary(subject).map(|value| NamedValue::new("traced", value)))
        .collect()
}

/// Selected dispatches that were not simulated on all XCDs.
fn followed(subject: &Subject) -> Option<NamedValue> {
    let rows: BTreeSet<u32> = subject.rows.iter().copied().collect();
    let shares: Vec<&Share> =
        subject.workload.shares.iter().filter(|share| rows.contains(&share.row)).collect();
    let first = shares.first()?;
    let most = |error: fn(&Share) -> f64| 100.0 * shares.iter().map(|it| error(it)).fold(0.0, f64::max);
    let value = format!(
        "caches and times of {} of {} dispatches from {} of {} XCDs, which differ by up to {:.1} % in time and {:.1} % in counts",
        shares.len(),
        rows.len(),
        first.followed,
        first.xcds,
        most(|it| it.time_error),
        most(|it| it.count_error)
    );
    Some(NamedValue::new("followed", value))
}

/// Every reason once, with the rows it concerns. Counters that were not recorded are taken together by panel.
pub(crate) fn missing(tables: &[Table], emulated: bool) -> Vec<MissingValues> {
    let mut plain: Vec<(&Missing, MissingValues)> = Vec::new();
    let mut counters: BTreeMap<u16, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for table in tables {
        let panel: u16 = table.id.split('.').next().and_then(|p| p.parse().ok()).unwrap_or(0);
        for row in &table.rows {
            let name = if row.id.contains('.') || row.id.is_empty() {
                if row.id.is_empty() { row.label.clone() } else { row.id.clone() }
            } else {
                format!("{}.{}", table.id, row.id)
            };
            for cell in &row.cells {
                let (Cell::Number(n) | Cell::Change(Delta { value: n, .. })) = cell else { continue };
                let Some(reason) = n.reason() else { continue };
                let rows = match reason {
                    Missing::Columns(needed) => {
                        let (names, rows) = counters.entry(panel).or_default();
                        for counter in needed {
                            if !names.contains(counter) {
                                names.push(counter.clone());
                            }
                        }
                        rows
                    }
                    reason => {
                        let at = plain.iter().position(|it| it.0 == reason).unwrap_or_else(|| {
                            let values =
                                MissingValues { reason: reason.to_string(), rows: Vec::new(), hint: None };
                            plain.push((reason, values));
                            plain.len() - 1
                        });
                        &mut plain[at].1.rows
                    }
                };
                if rows.last() != Some(&name) {
                    rows.push(name.clone());
                }
            }
        }
    }
    let recorded = counters.into_iter().map(|(panel, (names, rows))| MissingValues {
        reason: format!(
            "needs {}: {}",
            names.join(", "),
            if emulated { "not modelled" } else { "not recorded" }
        ),
        rows,
        hint: (panel > 0 && !emulated).then(|| format!("profile with `-b {panel}`")),
    });
    plain.into_iter().map(|(_, values)| values).chain(recorded).collect()
}

/// Defects and assumptions of a recording.
pub(crate) fn notes(subject: &Subject, named: bool) -> Vec<Note> {
    let before = if named { format!("{}: ", subject.name) } else { String::new() };
    let mut out: Vec<Note> = Vec::new();
    // Files that lack the same data are reported together.
    let mut whole: Vec<&Problem> = Vec::new();
    for p in &subject.workload.problems {
        if p.line.is_none() && p.column.is_none() && p.rows == 0 && p.kind == NoteKind::Warning {
            whole.push(p);
            continue;
        }
        out.push(Note { kind: p.kind, text: format!("{before}{p}") });
    }
    while let Some(first) = whole.first().copied() {
        let (alike, rest): (Vec<&Problem>, Vec<&Problem>) =
            whole.iter().partition(|p| p.message == first.message);
        let text = match &alike[..] {
            [one] => one.to_string(),
            several => {
                let files: Vec<&str> = several.iter().map(|p| p.file.as_str()).collect();
                let mut costs: Vec<&str> = Vec::new();
                for cost in several.iter().map(|p| p.consequence.as_str()) {
                    if !costs.contains(&cost) {
                        costs.push(cost);
                    }
                }
                format!("{}: {}; {}", files.join(", "), first.message, costs.join(", "))
            }
        };
        out.push(Note { kind: NoteKind::Warning, text: format!("{before}{text}") });
        whole = rest;
    }
    let mut by_source: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for f in &subject.filled {
        by_source.entry(&f.source).or_default().push(format!("{} = {}", f.fact, f.value));
    }
    out.extend(by_source.into_iter().map(|(source, facts)| Note {
        kind: NoteKind::Info,
        text: format!("{before}not recorded, taken from the {source}: {}", facts.join(", ")),
    }));
    let target = subject.target();
    if !target.is_empty() && Target::by_name(target).is_none() {
        out.push(Note {
            kind: NoteKind::Warning,
            text: format!("{before}no metrics are defined for `{target}`; kernels and dispatches are listed"),
        });
    }
    if target.is_empty() {
        out.push(Note {
            kind: NoteKind::Warning,
            text: format!(
                "{before}the recording does not say which GPU it is from; most metrics need it: `--arch` with a target or model"
            ),
        });
    }
    out
}
