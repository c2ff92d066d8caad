//! Changes between two tuning files.

use super::{answer, column, said, shape, table};
use sorting::Sort;
use std::collections::{BTreeMap, HashMap};
use tunedb::{Row, Tunings};
use view::{Answer, Cell, ColumnKind, Table, Tuned, UsageError};

/// Calls of a problem, by its key, or by its sizes if the keys have another format.
pub type Calls = HashMap<String, u64>;

/// The text by which problems of two formats are compared: transposition, element type and sizes.
fn common_key(row: &Row<'_>) -> Option<String> {
    let it = row.shape.as_ref().ok()?.gemm()?;
    let element = row.types.as_deref().ok().and_then(tunedb::element).map_or("?", |it| it.name());
    let layout = row.layout.as_deref().ok().filter(|it| it.len() == 2).unwrap_or("??");
    Some(format!("{layout} {element} {} {} {} {}", it.m, it.n, it.k, it.batch))
}

/// Calls of a log of problems.
pub fn calls(files: &[Tunings<'_>]) -> Calls {
    let mut calls = Calls::new();
    for row in files.iter().flat_map(|file| &file.rows) {
        *calls.entry(row.key.to_string()).or_default() += row.calls;
        if let Some(key) = common_key(row) {
            *calls.entry(key).or_default() += row.calls;
        }
    }
    calls
}

fn calls_of(row: &Row<'_>, calls: Option<&Calls>) -> u64 {
    let Some(calls) = calls else { return row.calls };
    let by_key = calls.get(row.key.as_ref()).copied();
    by_key.or_else(|| common_key(row).and_then(|key| calls.get(&key).copied())).unwrap_or(0)
}

/// Refuses two files of different kinds.
pub fn check_one_kind(old: &Tunings<'_>, new: &Tunings<'_>) -> Result<(), UsageError> {
    if old.format == new.format {
        return Ok(());
    }
    Err(UsageError::new(
        format!("`{}` is {}, `{}` is {}", old.name, old.format.name(), new.name, new.format.name()),
        "compare two files of one kind",
    ))
}

/// Compares two files of one format. `noise` is the difference of times below which they are the same.
pub fn diff(
    old: &Tunings<'_>,
    new: &Tunings<'_>,
    noise: f64,
    weights: Option<&Calls>,
    top: usize,
) -> Answer<Tuned> {
    let mut report = answer("diff", [old, new]);
    let mut pairs: BTreeMap<&str, [Option<&Row<'_>>; 2]> = BTreeMap::new();
    for (side, file) in [old, new].into_iter().enumerate() {
        for row in &file.rows {
            // The first row of a key is the one that loaders take.
            pairs.entry(row.key.as_ref()).or_default()[side].get_or_insert(row);
        }
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut won, mut lost) = (0.0, 0.0);
    let mut changed = Vec::new();
    for [before, after] in pairs.into_values() {
        let (what, gain) = match (before, after) {
            (Some(a), Some(b)) => compare(a, b, noise),
            (Some(_), None) => ("only in the old file", None),
            (None, _) => ("only in the new file", None),
        };
        *counts.entry(what).or_default() += 1;
        let Some(row) = after.or(before) else { continue };
        let times = calls_of(row, weights);
        let gain = gain.map(|us: f64| us * times as f64);
        if let Some(us) = gain {
            if us > 0.0 { won += us } else { lost -= us }
        }
        if what != "unchanged" {
            changed.push((what, gain, before, after, times));
        }
    }
    changed.in_order_by(|a, b| {
        let size = |gain: &Option<f64>| gain.map_or(-1.0, f64::abs);
        size(&b.1).total_cmp(&size(&a.1))
    });
    let all = changed.len();
    changed.truncate(if top == 0 { usize::MAX } else { top });
    let mut facts: Vec<(String, String)> =
        counts.into_iter().map(|(what, count)| (what.to_owned(), count.to_string())).collect();
    let weighted = if weights.is_some() { ", times calls" } else { ", one call of each" };
    facts.push((format!("time won{weighted}"), format!("{won:.1} us")));
    facts.push((format!("time lost{weighted}"), format!("{lost:.1} us")));
    for version in &new.versions {
        if let Some(own) = old.version(&version.key).filter(|own| *own != version.value) {
            facts.push((version.key.to_string(), format!("{own} -> {}", version.value)));
        }
    }
    let columns = vec![
        column("change", "change", "", ColumnKind::Word),
        column("shape", "shape", "", ColumnKind::Text),
        column("old", "old", "", ColumnKind::Text),
        column("new", "new", "", ColumnKind::Text),
        column("old_us", "old", "us", ColumnKind::Number),
        column("new_us", "new", "us", ColumnKind::Number),
        column("relative", "time", "", ColumnKind::Share),
        column("calls", "calls", "", ColumnKind::Number),
        column("won_us", "won", "us", ColumnKind::Number),
    ];
    let more = all - changed.len();
    let title = format!("{} -> {}", old.name, new.name);
    report.tables.push(Table { more, ..table(title, facts, columns, changed.into_iter().map(cells)) });
    report
}

/// Change of a row, and the time won for one call.
fn compare(a: &Row<'_>, b: &Row<'_>, noise: f64) -> (&'static str, Option<f64>) {
    let same = a.candidate == b.candidate;
    match (a.time_us, b.time_us) {
        (Ok(old), Ok(new)) if new < old * (1.0 - noise) => {
            (if same { "same kernel, faster" } else { "other kernel, faster" }, Some(old - new))
        }
        (Ok(old), Ok(new)) if new > old * (1.0 + noise) => {
            (if same { "same kernel, slower" } else { "other kernel, slower" }, Some(old - new))
        }
        _ if same => ("unchanged", None),
        (Ok(_), Ok(_)) => ("other kernel, same time", None),
        _ => ("other kernel, no times", None),
    }
}

type Changed<'f, 'a> = (&'static str, Option<f64>, Option<&'f Row<'a>>, Option<&'f Row<'a>>, u64);

fn cells((what, gain, before, after, times): Changed<'_, '_>) -> Vec<Cell> {
    const NONE: &str = "not in this file";
    let kernel = |row: Option<&Row<'_>>| row.map_or_else(|| Cell::missing(NONE), |row| said(&row.candidate));
    let us = |row: Option<&Row<'_>>| Cell::known(row.map_or(Err(NONE), |row| row.time_us));
    let relative = match (before.map(|it| it.time_us), after.map(|it| it.time_us)) {
        (Some(Ok(old)), Some(Ok(new))) => Cell::from(new / old - 1.0),
        _ => Cell::missing("needs both times"),
    };
    vec![
        Cell::text(what),
        after.or(before).map_or_else(|| Cell::text(""), shape),
        kernel(before),
        kernel(after),
        us(before),
        us(after),
        relative,
        Cell::count(times),
        gain.map_or_else(|| Cell::missing("no difference beyond noise"), Cell::from),
    ]
}
