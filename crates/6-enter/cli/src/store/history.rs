//! `rockhound store history` and `check`.

use super::read;
use crate::args::{StoreCheck, StoreHistory, StoreSeries, WorseDirection};
use crate::exit::Outcome;
use anyhow::Result;
use host::session::KernelNames;
use host::store::Archive;
use host::store::recordings::{Point, QuantityKind, Selection};
use std::collections::{BTreeMap, BTreeSet};
use study::history::{self, Values, Worse};
use view::{Answer, History, HistoryPoint, Stored};

/// Recordings before and since a change whose counters are compared.
const BESIDE: usize = 5;

/// Kernels over time.
pub(super) fn run(args: &StoreHistory) -> Result<Answer<Stored>> {
    let mut archive = read(&args.series.place)?;
    let mut chains = chains(&mut archive, &args.series)?;
    for chain in &mut chains {
        history::judge(&mut chain.history);
        explain(&mut archive, chain)?;
    }
    let histories = chains.into_iter().map(|it| it.history).collect();
    Ok(history::answer(archive.place(), histories, args.top))
}

/// The newest recording beside its past.
pub(super) fn check(args: &StoreCheck) -> Result<(Answer<Stored>, Outcome)> {
    let mut archive = read(&args.series.place)?;
    let chains = chains(&mut archive, &args.series)?;
    let histories = chains.into_iter().map(|it| it.history).collect();
    let worse = match args.worse {
        Some(WorseDirection::Up) => Worse::Up,
        Some(WorseDirection::Down) => Worse::Down,
        Some(WorseDirection::Any) => Worse::Any,
        None if args.series.metric == host::store::recordings::TIME => Worse::Up,
        None => Worse::Any,
    };
    let (answer, judged, worsened) = history::check(archive.place(), histories, worse, args.least);
    if judged == 0 {
        eprintln!("error: no kernel has a past to be judged by");
        eprintln!(
            "hint: it takes 3 recordings before the newest one; `rockhound store list` shows what is there"
        );
        return Ok((answer, Outcome::InputError));
    }
    if worsened > 0 {
        eprintln!("failed: {} worse than before", view::counted(worsened, "kernel"));
    }
    Ok((answer, Outcome::of(false, worsened > 0)))
}

/// A kernel over time, under one name or several.
struct Chain {
    history: History,
    /// Number of the kernel in each recording.
    kernels: BTreeMap<i64, i64>,
}

/// Series of the kernels asked for. Kernels of one name without arguments that never share a recording are one kernel
/// that was specialised anew.
fn chains(archive: &mut Archive, args: &StoreSeries) -> Result<Vec<Chain>> {
    let newest = archive.list(&Selection { labels: args.label.clone(), newest: Some(1) })?;
    let Some(newest) = newest.last() else {
        anyhow::bail!(
            "`{}` holds no recording with these labels\nhint: `rockhound store list` shows what is there",
            archive.place()
        );
    };
    let order: BTreeMap<String, usize> = archive
        .show(&newest.id.to_string())?
        .kernels
        .into_iter()
        .enumerate()
        .map(|(at, it)| (it.name, at))
        .collect();
    let wanted = KernelNames::new(&args.kernel);
    let mut all: BTreeMap<String, Vec<(i64, String)>> = BTreeMap::new();
    for (id, name, base) in archive.kernels()? {
        if wanted.admit(&name) {
            all.entry(base).or_default().push((id, name));
        }
    }
    let mut found: Vec<Chain> = Vec::new();
    for (_, kernels) in all {
        let mut of_base: Vec<(Chain, BTreeSet<i64>)> = Vec::new();
        for (id, name) in &kernels {
            let series = archive.series((*id, name), &args.metric, &args.label)?;
            let mut groups: BTreeMap<(Option<String>, bool), Vec<Point>> = BTreeMap::new();
            for point in series.points.into_iter().filter(|it| it.value.is_some()) {
                groups.entry((point.gpu.clone(), point.is_emulated)).or_default().push(point);
            }
            for ((gpu, is_emulated), points) in groups {
                add(&mut of_base, (*id, name), (gpu, is_emulated), points, (&args.metric, &series.unit));
            }
        }
        found.extend(of_base.into_iter().map(|(chain, _)| chain));
    }
    found.iter_mut().for_each(|it| it.history.points.sort_by_key(|it| (it.measured_ms, it.recording)));
    // As in the newest recording; kernels that it has not come last.
    found.sort_by_key(|it| order.get(&it.history.kernel).copied().unwrap_or(usize::MAX));
    if args.kernel.is_empty() {
        found.truncate(args.kernels);
    }
    anyhow::ensure!(
        !found.is_empty(),
        "no kernel of that name has values of `{}`\nhint: `rockhound store query 'SELECT name FROM kernels'` lists the kernels",
        args.metric
    );
    Ok(found)
}

/// Adds the points of one kernel on one GPU to the chain that it continues, or as a new one.
fn add(
    chains: &mut Vec<(Chain, BTreeSet<i64>)>,
    (id, name): (i64, &str),
    (gpu, is_emulated): (Option<String>, bool),
    points: Vec<Point>,
    (metric, unit): (&str, &str),
) {
    let own: BTreeSet<i64> = points.iter().map(|it| it.recording).collect();
    let latest = points.last().map(|it| (it.measured_ms, it.recording));
    let point = |it: Point| HistoryPoint {
        recording: it.recording,
        measured_ms: it.measured_ms,
        commit: it.commit,
        value: it.value.unwrap_or_default(),
        spread: it.spread,
        dispatches: it.dispatches,
    };
    let points: Vec<HistoryPoint> = points.into_iter().map(point).collect();
    let kernels: BTreeMap<i64, i64> = own.iter().map(|recording| (*recording, id)).collect();
    let continued = chains.iter_mut().find(|(chain, seen)| {
        chain.history.gpu == gpu && chain.history.is_emulated == is_emulated && seen.is_disjoint(&own)
    });
    let Some((chain, seen)) = continued else {
        let history = History {
            kernel: name.to_owned(),
            other_names: Vec::new(),
            gpu,
            is_emulated,
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            points,
            changes: Vec::new(),
        };
        chains.push((Chain { history, kernels }, own));
        return;
    };
    let history = &mut chain.history;
    let before = history.points.iter().map(|it| (it.measured_ms, it.recording)).max();
    let (newer, older) = if latest > before {
        (name.to_owned(), history.kernel.clone())
    } else {
        (history.kernel.clone(), name.to_owned())
    };
    history.other_names.push(format!(
        "`{older}` is taken for the same kernel: the same name without arguments, and no recording has both"
    ));
    history.kernel = newer;
    history.points.extend(points);
    seen.extend(own);
    chain.kernels.extend(kernels);
}

/// Counters, metrics and code that changed with the level.
fn explain(archive: &mut Archive, chain: &mut Chain) -> Result<()> {
    let Chain { history, kernels } = chain;
    let ends: Vec<usize> = history.changes.iter().map(|it| it.at).chain([history.points.len()]).collect();
    let mut begin = 0;
    for (change, end) in history.changes.iter_mut().zip(ends.iter().skip(1)) {
        let before: Vec<i64> =
            history.points[begin..change.at].iter().rev().take(BESIDE).map(|it| it.recording).collect();
        let since: Vec<i64> =
            history.points[change.at..*end].iter().take(BESIDE).map(|it| it.recording).collect();
        begin = change.at;
        let mut values = |recordings: &[i64]| -> Result<Vec<Values>> {
            recordings
                .iter()
                .map(|id| values(archive, kernels.get(id).copied(), *id, &history.metric))
                .collect()
        };
        let (old, new) = (values(&before)?, values(&since)?);
        change.moved = history::moved(&old, &new);
        if let (Some(old), Some(new)) = (before.first(), since.first()) {
            let (old, new) = (archive.code(*old)?, archive.code(*new)?);
            change.code_changed = (!old.is_empty() && !new.is_empty()).then(|| old != new);
        }
    }
    Ok(())
}

fn values(archive: &mut Archive, kernel: Option<i64>, recording: i64, metric: &str) -> Result<Values> {
    let Some(kernel) = kernel else { return Ok(Values::new()) };
    let all = archive.values(kernel, recording)?;
    // Peaks are of the machine, and the metric itself says nothing new.
    let is_told = |it: &host::store::recordings::Quantity| it.kind != QuantityKind::Peak && it.name != metric;
    Ok(all.into_iter().filter(|(it, _)| is_told(it)).map(|(it, value)| ((it.name, it.unit), value)).collect())
}
