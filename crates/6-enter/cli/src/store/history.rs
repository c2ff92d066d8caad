//! `rockhound store history` and `check`.

use super::read;
use crate::args::{StoreChanges, StoreCheck, StoreHistory, StoreSeries, StoreSummary, WorseDirection};
use crate::exit::Outcome;
use crate::kernels::Selection as Selected;
use crate::{diff, output};
use anyhow::Result;
use host::Source;
use host::session::KernelNames;
use host::store::Archive;
use host::store::recordings::{Point, Selection, StoredChange};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use study::Build;
use study::history::{self, Values, Worse};
use view::{
    Answer, Change, History, HistoryPoint, KernelCard, KernelComparison, LevelChange, NoteKind, QuantityKind,
    Stored, StoredQuantity, StoredRecording, StoredSort,
};

/// Recordings on each side of a change whose counters are compared.
const BESIDE: usize = 5;

/// Kernels over time.
pub(crate) fn run(args: &StoreHistory) -> Result<Answer<Stored>> {
    let mut archive = read(&args.series.place)?;
    let (mut chains, left_out) = chains(&mut archive, &args.series)?;
    let mut code = CodeChanges::of(&args.series);
    for chain in &mut chains {
        history::judge(&mut chain.history);
        explain(&mut archive, chain, &mut code)?;
    }
    let histories = chains.into_iter().map(|it| it.history).collect();
    let mut answer = history::answer(archive.place(), histories, args.top);
    note_left_out(&mut answer, left_out);
    if let Some(page) = &args.page {
        output::page(page, &render::stored(&answer, env!("CARGO_PKG_VERSION"), None))?;
    }
    Ok(answer)
}

/// Recordings and changes of the last hours.
pub(super) fn summary(args: &StoreSummary) -> Result<Answer<Stored>> {
    let mut archive = read(&args.series.place)?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_millis();
    let since = i64::try_from(now)? - i64::from(args.since) * 3_600_000;
    let (mut chains, left_out) = chains(&mut archive, &args.series)?;
    chains.iter_mut().for_each(|it| history::judge(&mut it.history));
    let mut code = CodeChanges::of(&args.series);
    // Only changes in this time are explained.
    for chain in &mut chains {
        let points = &chain.history.points;
        if chain.history.changes.iter().any(|it| points[it.at].measured_ms >= since) {
            explain(&mut archive, chain, &mut code)?;
        }
    }
    let mut recordings = archive.list(&Selection {
        labels: args.series.label.clone(),
        newest: None,
        sort: Some(StoredSort::Recording),
    })?;
    recordings.retain(|it| it.measured_ms >= since);
    let histories = chains.into_iter().map(|it| it.history).collect();
    let mut answer = history::summary(archive.place(), recordings, histories, since);
    note_left_out(&mut answer, left_out);
    Ok(answer)
}

/// Differences of the kernels' code by recording before and since, of the database at an address.
struct CodeChanges {
    address: String,
    compared: BTreeMap<(i64, i64), Vec<KernelComparison>>,
}

impl CodeChanges {
    fn of(args: &StoreSeries) -> CodeChanges {
        let address = host::stored::address(args.place.store.as_deref());
        CodeChanges { address, compared: BTreeMap::new() }
    }
}

/// Compares the code objects of two recordings. Code that cannot be read has no differences: the recordings are there,
/// and `diff` says what is wrong with the code.
fn code_changes(address: &str, before: i64, since: i64) -> Result<Vec<KernelComparison>> {
    let selection = Selected::new(None, &[])?;
    let cards = |id: i64| -> Result<Vec<KernelCard>> {
        Ok(diff::cards(&Source::stored(address, &id.to_string()), &selection)?.0)
    };
    let (old, new) = (cards(before)?, cards(since)?);
    let build = |id: i64, kernels| Build { path: format!("store:{id}"), kernels };
    Ok(study::compare([build(before, &old), build(since, &new)], &[], &[])?.part.changed)
}

/// Writes the changes of level of all kernels into the database, and shows them.
pub(super) fn write_changes(args: &StoreChanges) -> Result<Answer<Stored>> {
    let mut archive = super::open(&args.place)?;
    let (metric, label) = (args.metric.clone(), args.label.clone());
    let series = StoreSeries { kernel: Vec::new(), metric, label, kernels: 0, place: args.place.clone() };
    let (mut chains, _) = chains(&mut archive, &series)?;
    let (mut kernels, mut changes) = (BTreeSet::new(), Vec::new());
    for chain in &mut chains {
        history::judge(&mut chain.history);
        kernels.extend(chain.kernels.values().copied());
        changes.extend(chain.history.changes.iter().filter_map(|it| {
            let kernel = *chain.kernels.get(&it.recording)?;
            let LevelChange { recording, before, since, percent, chance, .. } = *it;
            Some(StoredChange { kernel, recording, before, since, percent, chance })
        }));
    }
    let kernels: Vec<i64> = kernels.into_iter().collect();
    archive.set_changes(&args.metric, &kernels, &changes)?;
    chains.retain(|it| !it.history.changes.is_empty());
    let histories = chains.into_iter().map(|it| it.history).collect();
    Ok(history::changes_only(archive.place(), histories))
}

fn note_left_out(answer: &mut Answer<Stored>, left_out: usize) {
    if left_out > 0 {
        let kernels = view::counted(left_out, "kernel");
        answer.note(NoteKind::Info, format!("{kernels} of less time left out; `--kernels 0` takes all"));
    }
}

/// Compares the newest commit with the past of its kernels.
pub(super) fn check(args: &StoreCheck) -> Result<(Answer<Stored>, Outcome)> {
    let mut archive = read(&args.series.place)?;
    let (chains, left_out) = chains(&mut archive, &args.series)?;
    let mut histories: Vec<History> = chains.into_iter().map(|it| it.history).collect();
    let removed = without_removed(&mut archive, &args.series, &mut histories)?;
    let worse = match args.worse {
        Some(WorseDirection::Up) => Worse::Up,
        Some(WorseDirection::Down) => Worse::Down,
        Some(WorseDirection::Any) => Worse::Any,
        None if args.series.metric == host::store::recordings::TIME => Worse::Up,
        None => Worse::Any,
    };
    let (mut answer, judged, worsened) = history::check(archive.place(), histories, worse, args.least);
    note_left_out(&mut answer, left_out);
    if removed > 0 {
        let kernels = view::counted(removed, "kernel");
        let why = "the newest recording of the program has no value for them";
        answer.note(NoteKind::Info, format!("{kernels} not judged: {why}"));
    }
    if judged == 0 {
        eprintln!("error: no kernel has a past to compare with");
        eprintln!("hint: add at least 3 recordings before the newest; `rockhound store list` lists all");
        return Ok((answer, Outcome::InputError));
    }
    if worsened > 0 {
        eprintln!("failed: {} worse than before", view::counted(worsened, "kernel"));
    }
    Ok((answer, Outcome::of(false, worsened > 0)))
}

/// Removes kernels that a later recording of the same program on the same GPU does not have: their last values are not
/// of the newest commit. Returns their number.
fn without_removed(archive: &mut Archive, args: &StoreSeries, histories: &mut Vec<History>) -> Result<usize> {
    let all = archive.list(&Selection {
        labels: args.label.clone(),
        newest: None,
        sort: Some(StoredSort::Recording),
    })?;
    let before = histories.len();
    histories.retain(|history| {
        let last = history.points.last().map(|it| it.recording);
        let Some(at) = all.iter().position(|it| Some(it.id) == last) else { return true };
        let own = &all[at];
        // A commit may have several recordings, each of some kernels.
        let is_same_commit = |it: &StoredRecording| {
            own.labels.contains_key("commit") && own.labels.get("commit") == it.labels.get("commit")
        };
        let is_newer = |it: &StoredRecording| {
            it.name == own.name
                && it.gpu == own.gpu
                && it.emulated_by.is_some() == own.emulated_by.is_some()
                && !is_same_commit(it)
        };
        !all[at + 1..].iter().any(is_newer)
    });
    Ok(before - histories.len())
}

/// A kernel over time, under one name or several.
pub(super) struct Chain {
    pub(super) history: History,
    /// Number of the kernel in each recording.
    kernels: BTreeMap<i64, i64>,
}

/// Series of the kernels asked for, and the number of kernels left out. Kernels that share the name without arguments
/// and never occur in one recording are one kernel whose template arguments changed.
pub(super) fn chains(archive: &mut Archive, args: &StoreSeries) -> Result<(Vec<Chain>, usize)> {
    let newest = archive.list(&Selection {
        labels: args.label.clone(),
        newest: Some(1),
        sort: Some(StoredSort::Recording),
    })?;
    let Some(newest) = newest.last() else {
        let labels = if args.label.is_empty() { "" } else { " with these labels" };
        anyhow::bail!(
            "`{}` has no recording{labels}\nhint: `rockhound store list` lists its recordings",
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
            let series = archive.series(*id, &args.metric, &args.label)?;
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
    // In the order of the newest recording, then kernels that it does not have.
    found.sort_by_key(|it| order.get(&it.history.kernel).copied().unwrap_or(usize::MAX));
    let names = if args.kernel.is_empty() { "" } else { " of that name" };
    anyhow::ensure!(
        !found.is_empty(),
        "no kernel{names} has values of `{}`\nhint: `rockhound store query 'SELECT name FROM kernels'` lists the kernels",
        args.metric
    );
    let all = found.len();
    if args.kernel.is_empty() && args.kernels > 0 {
        found.truncate(args.kernels);
    }
    let left_out = all - found.len();
    Ok((found, left_out))
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
        "includes `{older}`: the name without arguments is the same, and no recording has both kernels"
    ));
    history.kernel = newer;
    history.points.extend(points);
    seen.extend(own);
    chain.kernels.extend(kernels);
}

/// Finds counters, metrics and code that changed with the level.
fn explain(archive: &mut Archive, chain: &mut Chain, code: &mut CodeChanges) -> Result<()> {
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
        if let (Some(before), Some(since)) = (before.first(), since.first()) {
            let (old, new) = (archive.code(*before)?, archive.code(*since)?);
            change.code_changed = (!old.is_empty() && !new.is_empty()).then(|| old != new);
            if change.code_changed == Some(true) {
                let pair = (*before, *since);
                let differences = match code.compared.entry(pair) {
                    Entry::Occupied(it) => it.into_mut(),
                    Entry::Vacant(it) => it.insert(code_changes(&code.address, pair.0, pair.1)?),
                };
                change.code = of_kernel(differences, &history.kernel);
            }
        }
    }
    Ok(())
}

/// Differences of a kernel: of its whole name, or of the only kernel with its name without arguments.
fn of_kernel(differences: &[KernelComparison], kernel: &str) -> Vec<Change> {
    let is_own = |it: &&KernelComparison| [&it.new.name, &it.new.demangled].contains(&&kernel.to_owned());
    let base = study::base_name(kernel);
    let mut same = differences.iter().filter(|it| study::base_name(&it.new.demangled) == base);
    let only = match (same.next(), same.next()) {
        (Some(it), None) => Some(it),
        _ => None,
    };
    differences.iter().find(is_own).or(only).map_or_else(Vec::new, |it| it.changes.clone())
}

fn values(archive: &mut Archive, kernel: Option<i64>, recording: i64, metric: &str) -> Result<Values> {
    let Some(kernel) = kernel else { return Ok(Values::new()) };
    let all = archive.values(kernel, recording)?;
    // Peaks depend on the machine only, and the metric itself is known to have changed.
    let is_told = |it: &StoredQuantity| it.kind != QuantityKind::Peak && it.name != metric;
    Ok(all.into_iter().filter(|(it, _)| is_told(it)).map(|(it, value)| ((it.name, it.unit), value)).collect())
}
