//! Kernels over time: changes of level with the counters that moved, and the newest commit compared with its past.

use crate::stored::label;
use ::history::{FEWEST, Sample, changes, median, newest};
use sorting::Sort;
use std::collections::BTreeMap;
use view::{
    Answer, Cell, Column, ColumnKind, History, HistoryPoint, LevelChange, Moved, NoteKind, Number, Row,
    Stored, Table,
};

/// Standard error of a median, as a multiple of that of a mean.
const MEDIAN: f64 = 1.2533;
/// Least change of a counter or metric that counts as moved, percent.
const MOVED: f64 = 1.0;
/// Most counters and metrics shown for a change.
const MOST_MOVED: usize = 8;
/// Chance of noise below which the newest commit differs from its past.
const ALARM: f64 = 1e-3;

/// Fills in the changes of a history.
pub fn judge(history: &mut History) {
    let points = &history.points;
    let commit = |at: usize| points.get(at).and_then(|it| it.commit.clone());
    let one = |it: &::history::Change| LevelChange {
        at: it.at,
        recording: points[it.at].recording,
        commit: commit(it.at),
        after: it.at.checked_sub(1).and_then(commit),
        before: it.before,
        since: it.since,
        percent: percent(it.before, it.since),
        chance: (it.chance > 0.0).then_some(it.chance),
        code_changed: None,
        code: Vec::new(),
        moved: Vec::new(),
    };
    history.changes = changes(&samples(points)).iter().map(one).collect();
}

fn samples(points: &[HistoryPoint]) -> Vec<Sample> {
    let error = |it: &HistoryPoint| {
        it.spread.map_or(0.0, |spread| MEDIAN * spread / (it.dispatches.max(1) as f64).sqrt())
    };
    points.iter().map(|it| Sample { value: it.value, error: error(it) }).collect()
}

fn percent(before: f64, since: f64) -> Option<f64> {
    (before != 0.0).then(|| 100.0 * (since - before) / before.abs())
}

/// Values of counters and metrics by name and unit, one list per recording.
pub type Values = BTreeMap<(String, String), f64>;

/// Counters and metrics whose values before and since a change do not overlap, largest change first.
pub fn moved(before: &[Values], since: &[Values]) -> Vec<Moved> {
    let of = |all: &[Values], name: &(String, String)| -> Vec<f64> {
        all.iter().filter_map(|it| it.get(name).copied()).collect()
    };
    let Some(first) = since.first() else { return Vec::new() };
    let mut all: Vec<Moved> = Vec::new();
    for name in first.keys() {
        let (old, new) = (of(before, name), of(since, name));
        let range = |values: &[f64]| {
            (
                values.iter().copied().fold(f64::INFINITY, f64::min),
                values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            )
        };
        let ((a, b), (c, d)) = (range(&old), range(&new));
        let (Some(before), Some(since)) = (median(old), median(new)) else { continue };
        let change = percent(before, since);
        if (b < c || d < a) && change.is_none_or(|it| it.abs() >= MOVED) {
            all.push(Moved { name: name.0.clone(), unit: name.1.clone(), before, since, percent: change });
        }
    }
    let size = |it: &Moved| it.percent.map_or(f64::INFINITY, f64::abs);
    all.in_order_by(|a, b| size(b).total_cmp(&size(a)));
    all.truncate(MOST_MOVED);
    all
}

/// The answer of `store history`, with the newest `top` values of each kernel.
pub fn answer(place: &str, histories: Vec<History>, top: usize) -> Answer<Stored> {
    let mut answer = crate::stored::answer("history", place);
    add_changes(&mut answer, &histories);
    answer.tables.extend(histories.iter().map(|it| of_points(it, top)));
    answer.part.histories = histories;
    answer
}

/// The answer of `store changes`.
pub fn changes_only(place: &str, histories: Vec<History>) -> Answer<Stored> {
    let mut answer = crate::stored::answer("changes", place);
    add_changes(&mut answer, &histories);
    answer.part.histories = histories;
    answer
}

fn add_changes(answer: &mut Answer<Stored>, histories: &[History]) {
    if histories.iter().any(|it| !it.changes.is_empty()) {
        answer.tables.push(of_changes(histories));
        answer.tables.extend(of_moved(histories));
        answer.tables.extend(of_code(histories));
    } else {
        let needed = format!("a change needs {FEWEST} recordings before it and {FEWEST} since");
        answer.note(NoteKind::Info, format!("no change of level found; where values have noise, {needed}"));
    }
}

/// A value in the unit of [`unit`].
fn shown(history: &History, value: f64) -> Cell {
    Cell::from(if history.unit == "ns" { value / 1000.0 } else { value })
}

/// Unit in which values are shown: us for times.
fn unit(history: &History) -> &str {
    if history.unit == "ns" { "us" } else { &history.unit }
}

fn commit(commit: Option<&String>) -> Cell {
    commit.map_or(Cell::Empty, |it| label("commit", it))
}

/// Name and unit of the metric that all histories have.
fn metric_of(histories: &[History]) -> (&str, &str) {
    histories.first().map_or(("", ""), |it| (it.metric.as_str(), unit(it)))
}

fn of_changes(histories: &[History]) -> Table {
    let column = |title: &str, kind| Column::new(title, kind, "");
    let (metric, unit) = metric_of(histories);
    let columns = vec![
        column("kernel", ColumnKind::Text),
        column("first shown by", ColumnKind::Word),
        column("commit", ColumnKind::Word),
        column("commit before", ColumnKind::Word),
        Column::new("before", ColumnKind::Number, unit),
        Column::new("since", ColumnKind::Number, unit),
        Column::new("change", ColumnKind::Number, "%"),
        column("chance of noise", ColumnKind::Word),
        column("code", ColumnKind::Word),
    ];
    let mut rows = Vec::new();
    for history in histories {
        for it in &history.changes {
            rows.push(Row::of(vec![
                Cell::text(&history.kernel),
                Cell::text(format!("store:{}", it.recording)),
                commit(it.commit.as_ref()),
                commit(it.after.as_ref()),
                shown(history, it.before),
                shown(history, it.since),
                Cell::known(it.percent.ok_or("the value before is 0")),
                Cell::text(chance(it.chance.unwrap_or(0.0))),
                match it.code_changed {
                    Some(true) => Cell::text("changed"),
                    Some(false) => Cell::text("the same"),
                    None => Cell::missing("the recordings have no code objects"),
                },
            ]));
        }
    }
    Table { title: format!("Changes of {metric}"), columns, rows, ..Table::default() }
}

/// A chance with two decimals, or as a power of ten.
fn chance(chance: f64) -> String {
    match chance {
        0.0 => "none: exact values".to_owned(),
        it if it >= 0.01 => format!("{it:.2}"),
        it => format!("{it:.0e}"),
    }
}

/// Counters and metrics that changed at the same recordings.
fn of_moved(histories: &[History]) -> Option<Table> {
    let column = |title: &str, kind| Column::new(title, kind, "");
    let columns = vec![
        column("kernel", ColumnKind::Text),
        column("first shown by", ColumnKind::Word),
        column("counter or metric", ColumnKind::Word),
        column("before", ColumnKind::Number),
        column("since", ColumnKind::Number),
        column("unit", ColumnKind::Word),
        Column::new("change", ColumnKind::Number, "%"),
    ];
    let row = |history: &History, change: &LevelChange, it: &Moved| {
        Row::of(vec![
            Cell::text(&history.kernel),
            Cell::text(format!("store:{}", change.recording)),
            Cell::text(&it.name),
            Cell::from(it.before),
            Cell::from(it.since),
            if it.unit.is_empty() { Cell::Empty } else { Cell::text(&it.unit) },
            Cell::known(it.percent.ok_or("the value before is 0")),
        ])
    };
    let mut rows = Vec::new();
    for history in histories {
        for change in &history.changes {
            rows.extend(change.moved.iter().map(|it| row(history, change, it)));
        }
    }
    let notes =
        vec!["counters and metrics whose values before and since the change do not overlap".to_owned()];
    let title = "Counters and metrics that changed too".to_owned();
    (!rows.is_empty()).then(|| Table { title, columns, rows, notes, ..Table::default() })
}

/// Code of the kernels before and since their changes.
fn of_code(histories: &[History]) -> Option<Table> {
    let column = |title: &str, kind| Column::new(title, kind, "");
    let columns = vec![
        column("kernel", ColumnKind::Text),
        column("first shown by", ColumnKind::Word),
        column("of the code", ColumnKind::Word),
        column("before", ColumnKind::Number),
        column("since", ColumnKind::Number),
        column("unit", ColumnKind::Word),
        column("is", ColumnKind::Word),
    ];
    let number = |it: Option<f64>| Cell::known(it.ok_or("the code does not say"));
    let mut rows = Vec::new();
    for history in histories {
        for change in &history.changes {
            rows.extend(change.code.iter().map(|it| {
                Row::of(vec![
                    Cell::text(&history.kernel),
                    Cell::text(format!("store:{}", change.recording)),
                    Cell::text(&it.label),
                    number(it.old),
                    number(it.new),
                    if it.unit.is_empty() { Cell::Empty } else { Cell::text(&it.unit) },
                    Cell::text(it.verdict.as_str()),
                ])
            }));
        }
    }
    let title = "Code that changed too".to_owned();
    (!rows.is_empty()).then(|| Table { title, columns, rows, ..Table::default() })
}

fn of_points(history: &History, top: usize) -> Table {
    let number = |title: &str| Column::new(title, ColumnKind::Number, unit(history));
    let columns = vec![
        Column::new("recording", ColumnKind::Word, ""),
        Column::new("date (UTC)", ColumnKind::Word, ""),
        Column::new("commit", ColumnKind::Word, ""),
        number(&history.metric),
        number("spread"),
        Column::new("dispatches", ColumnKind::Id, ""),
        Column::new("", ColumnKind::Word, ""),
    ];
    let first = if top == 0 { 0 } else { history.points.len().saturating_sub(top) };
    let row = |(at, it): (usize, &HistoryPoint)| {
        let change = history.changes.iter().find(|change| change.at == at);
        Row::of(vec![
            Cell::text(format!("store:{}", it.recording)),
            Cell::text(crate::stored::date(it.measured_ms)),
            commit(it.commit.as_ref()),
            shown(history, it.value),
            it.spread.map_or(Cell::Empty, |spread| shown(history, spread)),
            Cell::Number(Number::Known(it.dispatches as f64)),
            change.map_or(Cell::Empty, |it| {
                Cell::text(
                    it.percent
                        .map_or("new level".to_owned(), |percent| format!("new level: {percent:+.1} %")),
                )
            }),
        ])
    };
    let mut notes = Vec::new();
    if first > 0 {
        notes.push(format!("the newest {top} of {}; `--top 0` shows all", history.points.len()));
    }
    notes.extend(history.other_names.iter().cloned());
    let gpu = history.gpu.as_deref().unwrap_or("GPU not recorded");
    let made = if history.is_emulated { "emulated" } else { "measured" };
    Table {
        title: format!("{} · {gpu}, {made}", history.kernel),
        columns,
        rows: history.points.iter().enumerate().skip(first).map(row).collect(),
        notes,
        ..Table::default()
    }
}

/// Direction in which a metric gets worse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Worse {
    /// Larger values are worse.
    Up,
    /// Smaller values are worse.
    Down,
    /// Every change is worse.
    Any,
}

/// Compares the newest commit of each history with its past. Returns the answer, the number of kernels judged, and
/// the number that got worse.
pub fn check(
    place: &str,
    histories: Vec<History>,
    worse: Worse,
    least_percent: f64,
) -> (Answer<Stored>, usize, usize) {
    let mut answer = crate::stored::answer("check", place);
    let (metric, unit) = metric_of(&histories);
    let title = format!("{metric}: newest commit and the level before it");
    let column = |title: &str, kind| Column::new(title, kind, "");
    let columns = vec![
        column("kernel", ColumnKind::Text),
        column("newest", ColumnKind::Word),
        column("commit", ColumnKind::Word),
        Column::new("before", ColumnKind::Number, unit),
        Column::new("now", ColumnKind::Number, unit),
        Column::new("change", ColumnKind::Number, "%"),
        column("chance of noise", ColumnKind::Word),
        column("verdict", ColumnKind::Word),
    ];
    let (mut rows, mut judged, mut worsened) = (Vec::new(), 0, 0);
    for history in &histories {
        let Some(last) = history.points.last() else { continue };
        let same = |it: &&HistoryPoint| match &last.commit {
            Some(commit) => it.commit.as_ref() == Some(commit),
            None => it.recording == last.recording,
        };
        let count = history.points.iter().rev().take_while(same).count();
        let mut cells = vec![
            Cell::text(&history.kernel),
            Cell::text(format!("store:{}", last.recording)),
            commit(last.commit.as_ref()),
        ];
        match newest(&samples(&history.points), count) {
            None => {
                let why = "too few recordings of this kernel on this GPU before it";
                cells.extend([
                    Cell::missing(why),
                    shown(history, last.value),
                    Cell::missing(why),
                    Cell::Empty,
                ]);
                cells.push(Cell::text("not judged"));
            }
            Some(it) => {
                judged += 1;
                let change = percent(it.before, it.now);
                let is_other = it.chance < ALARM && change.is_none_or(|it| it.abs() >= least_percent);
                let is_worse = is_other
                    && match worse {
                        Worse::Up => it.now > it.before,
                        Worse::Down => it.now < it.before,
                        Worse::Any => true,
                    };
                worsened += usize::from(is_worse);
                let verdict = match (is_worse, is_other) {
                    (true, _) => "worse",
                    (false, true) => "better",
                    (false, false) => "as before",
                };
                cells.extend([
                    shown(history, it.before),
                    shown(history, it.now),
                    Cell::known(change.ok_or("the value before is 0")),
                    Cell::text(chance(it.chance)),
                    Cell::text(verdict),
                ]);
            }
        }
        rows.push(Row::of(cells));
    }
    answer.tables.push(Table { title, columns, rows, ..Table::default() });
    answer.part.histories = histories;
    (answer, judged, worsened)
}

/// Outcome of one commit of a bisection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bisected {
    /// Nearer to the good level.
    Good,
    /// Nearer to the bad level.
    Bad,
}

/// A value of a commit between two levels, and the answer of `store bisect`.
pub fn bisected(
    place: &str,
    history: &History,
    value: f64,
    (good, bad): (f64, f64),
) -> (Answer<Stored>, Bisected) {
    let outcome = if (value - good).abs() <= (value - bad).abs() { Bisected::Good } else { Bisected::Bad };
    let number = |title: &str| Column::new(title, ColumnKind::Number, unit(history));
    let columns = vec![
        Column::new("kernel", ColumnKind::Text, ""),
        number("good"),
        number("bad"),
        number("this commit"),
        Column::new("is", ColumnKind::Word, ""),
    ];
    let word = if outcome == Bisected::Good { "good" } else { "bad" };
    let rows = vec![Row::of(vec![
        Cell::text(&history.kernel),
        shown(history, good),
        shown(history, bad),
        shown(history, value),
        Cell::text(word),
    ])];
    let mut answer = crate::stored::answer("bisect", place);
    answer.tables.push(Table {
        title: format!("Bisection by {}", history.metric),
        columns,
        rows,
        ..Table::default()
    });
    (answer, outcome)
}

/// Recordings of a time by program and branch, and the changes of level in it.
pub fn summary(
    place: &str,
    recordings: Vec<view::StoredRecording>,
    mut histories: Vec<History>,
    since_ms: i64,
) -> Answer<Stored> {
    let mut answer = crate::stored::answer("summary", place);
    let mut groups: BTreeMap<(String, String, String), (usize, i64)> = BTreeMap::new();
    for it in &recordings {
        let branch = it.labels.get("branch").cloned().unwrap_or_default();
        let gpu = it.gpu.clone().unwrap_or_else(|| "not recorded".to_owned());
        let group = groups.entry((it.name.clone(), gpu, branch)).or_default();
        *group = (group.0 + 1, group.1.max(it.measured_ms));
    }
    let column = |title: &str, kind| Column::new(title, kind, "");
    let columns = vec![
        column("recording", ColumnKind::Text),
        column("GPU", ColumnKind::Word),
        column("branch", ColumnKind::Text),
        column("recordings", ColumnKind::Id),
        column("newest (UTC)", ColumnKind::Word),
    ];
    let row = |((name, gpu, branch), (count, newest)): (&(String, String, String), &(usize, i64))| {
        Row::of(vec![
            Cell::text(name),
            Cell::text(gpu),
            if branch.is_empty() { Cell::Empty } else { Cell::text(branch) },
            Cell::Number(Number::Known(*count as f64)),
            Cell::text(crate::stored::date(*newest)),
        ])
    };
    let title = format!("Recordings since {}", crate::stored::date(since_ms));
    answer.tables.push(Table { title, columns, rows: groups.iter().map(row).collect(), ..Table::default() });
    let judged = histories.len();
    for history in &mut histories {
        let points = &history.points;
        history.changes.retain(|it| points.get(it.at).is_some_and(|it| it.measured_ms >= since_ms));
    }
    histories.retain(|it| !it.changes.is_empty());
    if histories.is_empty() {
        let kernels = view::counted(judged, "kernel");
        answer.note(NoteKind::Info, format!("no change of level in this time, of {kernels}"));
    } else {
        add_changes(&mut answer, &histories);
    }
    answer.part.recordings = recordings;
    answer.part.histories = histories;
    answer
}

/// Median of the times that are known.
pub fn median_time(times: &[Option<f64>]) -> Option<f64> {
    median(times.iter().flatten().copied().collect())
}
