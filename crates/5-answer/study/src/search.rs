//! A search of a tuning space as an answer: the winner beside the start, what was tried, what failed and why.

mod tables;

use rules::{SearchEvidence, check_search};
use sorting::Sort;
use std::collections::BTreeMap;
use tune::race::centre;
use tune::{Id, Space};
use view::{
    Answer, Cell, Column, ColumnKind, Configured, Finding, Gain, Improvement, Landscape, LandscapeCell,
    NamedNumber, NamedValue, ProofOutcome, ProofStep, Row, SearchResult, SearchVerdict, Searches, Table,
    noun_of,
};

/// One configuration that was run.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// The configuration.
    pub id: Id,
    /// The objective in each run.
    pub runs: Vec<f64>,
    /// Medians of the numbers of a run, where the objective is not the time alone.
    pub numbers: Vec<(String, f64)>,
    /// Median time of each shape, microseconds.
    pub shapes_us: &'a [f64],
    /// Its results are wrong.
    pub wrong: bool,
    /// Kind of failure and its reason, if it has no time.
    pub failed: Option<(&'static str, &'a str)>,
}

/// A search that ended.
#[derive(Debug)]
pub struct SearchedSpace<'a> {
    /// Name of the study.
    pub name: &'a str,
    /// What was made small.
    pub objective: &'a str,
    /// Its unit.
    pub unit: &'a str,
    /// Numbers of a run, where several count, and whether each is to be large.
    pub parts: Vec<(String, bool)>,
    /// Names of the shapes that each configuration runs.
    pub shapes: Vec<String>,
    /// The space.
    pub space: &'a Space,
    /// Configurations in the order they were proposed.
    pub trials: Vec<Trial<'a>>,
    /// The configuration in use.
    pub start: Option<Id>,
    /// The winner, if one passed the proof.
    pub winner: Option<Id>,
    /// The winner compared with the start.
    pub gain: Option<Gain>,
    /// Steps of the proof.
    pub proof: Vec<ProofStep>,
    /// Rows of the table of configurations; 0: all.
    pub top: usize,
}

impl Trial<'_> {
    /// Median of the objective; `None` if it failed.
    fn value(&self) -> Option<f64> {
        median(&self.runs).filter(|_| self.failed.is_none())
    }
}

impl SearchedSpace<'_> {
    fn most_rows(&self) -> usize {
        if self.top == 0 { usize::MAX } else { self.top }
    }
}

/// Adds a search to an answer.
pub fn add_search(answer: &mut Answer<Searches>, searched: &SearchedSpace<'_>) {
    let best = improvements(&searched.trials);
    let time = |id: Id| searched.trials.iter().rev().find(|it| it.id == id);
    let configured = |id: Id| {
        let trial = time(id);
        let runs = trial.map_or(&[] as &[f64], |it| &it.runs);
        let numbers = trial.into_iter().flat_map(|it| it.numbers.clone());
        Configured {
            values: values(searched.space, id),
            value: median(runs),
            numbers: numbers.map(|(name, value)| NamedNumber { name, value }).collect(),
            runs: runs.len() as u64,
            spread_percent: centre(runs).filter(|it| it.runs >= 4).map(|it| 100.0 * it.spread / it.value),
        }
    };
    let failed = searched.trials.iter().filter(|it| it.failed.is_some()).count() as u64;
    let verdict = match (searched.winner, searched.start) {
        (None, _) if searched.trials.iter().all(|it| it.failed.is_some()) => SearchVerdict::Nothing,
        (None, _) => SearchVerdict::NoFaster,
        (Some(_), None) => SearchVerdict::Fastest,
        (Some(winner), Some(start)) if winner == start => SearchVerdict::NoFaster,
        (Some(_), Some(_)) => SearchVerdict::Faster,
    };
    let (start, winner) = (searched.start.map(configured), searched.winner.map(configured));
    judge(answer, searched, (start.as_ref(), winner.as_ref()));
    let outputs = searched.winner.map(|it| outputs(searched.space, it)).unwrap_or_default();
    answer.part.searches.push(SearchResult {
        name: searched.name.to_owned(),
        objective: searched.objective.to_owned(),
        unit: searched.unit.to_owned(),
        configurations: searched.space.len(),
        combinations: u64::try_from(searched.space.product()).ok(),
        tried: searched.trials.len() as u64,
        failed,
        verdict,
        start,
        winner,
        gain: searched.gain.clone(),
        proof: searched.proof.clone(),
        convergence: best,
        landscapes: landscapes(searched),
        outputs,
    });
    answer.tables.extend(fastest(searched));
    answer.tables.extend(tables::front(searched));
    answer.tables.extend(tables::shapes(searched));
    answer.tables.extend(parameters(searched));
    answer.tables.extend(constraints(searched.name, searched.space));
    answer.tables.extend(failures(searched));
}

/// Adds the findings of a search.
fn judge(
    answer: &mut Answer<Searches>,
    searched: &SearchedSpace<'_>,
    (start, winner): (Option<&Configured>, Option<&Configured>),
) {
    let words = |it: Option<&Configured>| it.map(Configured::words).unwrap_or_default();
    let failed_proof =
        searched.proof.iter().find(|it| it.outcome == ProofOutcome::Failed && it.what.is_of_results());
    let wrong = searched.trials.iter().filter(|it| it.wrong);
    let reasons = wrong.clone().filter_map(|it| it.failed.map(|(_, why)| why));
    let evidence = SearchEvidence {
        gain: searched.gain.as_ref().map(|it| it.speedup),
        least_gain: searched.gain.as_ref().and_then(|it| it.low),
        start: &words(start),
        winner: &words(winner),
        wrong: wrong.count() as u64 + u64::from(failed_proof.is_some()),
        wrong_because: reasons.chain(failed_proof.map(|it| it.text.as_str())).next(),
    };
    let (findings, not_checked) = check_search(&evidence);
    let named = |it: Finding| Finding { kernel: Some(searched.name.to_owned()), ..it };
    answer.findings.extend(findings.into_iter().map(named));
    for it in not_checked {
        if !answer.not_checked.contains(&it) {
            answer.not_checked.push(it);
        }
    }
}

fn values(space: &Space, id: Id) -> Vec<NamedValue> {
    let values = space.values(id);
    let pairs = space.parameters().iter().zip(values);
    pairs.map(|(parameter, value)| NamedValue::new(&parameter.name, value.to_string())).collect()
}

/// The winner as compilers take it.
fn outputs(space: &Space, winner: Id) -> Vec<NamedValue> {
    let values = space.parameters().iter().zip(space.values(winner));
    let words = values.map(|(it, value)| view::shell_word(&value.define(&it.name)).into_owned());
    vec![NamedValue::new("defines", words.collect::<Vec<_>>().join(" "))]
}

/// Median of times; `None` if there are none.
fn median(times: &[f64]) -> Option<f64> {
    centre(times).map(|it| it.value)
}

fn improvements(trials: &[Trial<'_>]) -> Vec<Improvement> {
    let mut out: Vec<Improvement> = Vec::new();
    for (run, trial) in (1..).zip(trials) {
        let Some(value) = trial.value() else { continue };
        if out.last().is_none_or(|it| value < it.value) {
            out.push(Improvement { run, value });
        }
    }
    out
}

/// The fastest configurations, one column per parameter that has several values.
fn fastest(searched: &SearchedSpace<'_>) -> Option<Table> {
    let parameters = searched.space.parameters();
    let mut timed: Vec<(f64, usize, &Trial<'_>)> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (number, trial) in searched.trials.iter().enumerate() {
        if let Some(value) = trial.value().filter(|_| seen.insert(trial.id)) {
            timed.push((value, number + 1, trial));
        }
    }
    timed.in_order_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let first = timed.first()?.0;
    let top = searched.most_rows();
    let varied: Vec<usize> = (0..parameters.len()).filter(|at| parameters[*at].values.len() > 1).collect();
    let is_time = searched.unit == "us";
    let (key, name) = if is_time { ("time_us", "time") } else { ("objective", "objective") };
    let mut columns = vec![
        Column { key, ..Column::new(name, ColumnKind::Number, searched.unit) },
        Column {
            key: if is_time { "slower_percent" } else { "worse_percent" },
            ..Column::new(if is_time { "slower" } else { "worse" }, ColumnKind::Number, "%")
        },
        Column { key: "run", ..Column::new("run", ColumnKind::Id, "") },
    ];
    columns.extend(varied.iter().map(|at| Column::new(&parameters[*at].name, ColumnKind::Word, "")));
    let row = |(time, number, trial): &(f64, usize, &Trial<'_>)| {
        let mut cells =
            vec![Cell::from(*time), Cell::from(100.0 * (time / first - 1.0)), Cell::count(*number as u64)];
        let values = searched.space.values(trial.id);
        cells.extend(varied.iter().map(|at| Cell::text(values[*at].to_string())));
        Row::of(cells)
    };
    Some(Table {
        title: format!("{} configurations of {}", if is_time { "Fastest" } else { "Best" }, searched.name),
        columns,
        rows: timed.iter().take(top).map(row).collect(),
        more: timed.len().saturating_sub(top),
        ..Table::default()
    })
}

/// Most pairs of parameters in the table of parameters.
const MOST_PAIRS: usize = 3;

/// Most landscapes of a search.
const MOST_LANDSCAPES: usize = 3;

fn results(searched: &SearchedSpace<'_>) -> Vec<(Id, f64)> {
    searched.trials.iter().filter_map(|it| Some((it.id, it.value()?))).collect()
}

/// The results along the two parameters that explain most alone, and along the pairs that explain most together.
fn landscapes(searched: &SearchedSpace<'_>) -> Vec<Landscape> {
    let results = results(searched);
    let Some(importance) = tune::landscape::importance(searched.space, &results) else { return Vec::new() };
    let parameters = searched.space.parameters();
    let mut alone: Vec<usize> = (0..parameters.len()).filter(|at| parameters[*at].values.len() > 1).collect();
    alone.in_order_by(|a, b| importance.alone[*b].total_cmp(&importance.alone[*a]));
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let strongest = alone.get(..2).map(|it| (it[0], it[1]));
    let together = importance.pairs.iter().filter(|it| it.share > 0.01).map(|it| (it.a, it.b));
    for (a, b) in strongest.into_iter().chain(together) {
        if !pairs.contains(&(a, b)) && !pairs.contains(&(b, a)) {
            pairs.push((a, b));
        }
    }
    let values = |at: usize| parameters[at].values.iter().map(ToString::to_string).collect();
    let one = |(a, b): (usize, usize)| Landscape {
        a: parameters[a].name.clone(),
        a_values: values(a),
        b: parameters[b].name.clone(),
        b_values: values(b),
        cells: tune::landscape::landscape(searched.space, &results, a, b)
            .into_iter()
            .map(|it| LandscapeCell { a: it.a, b: it.b, best: it.best, results: it.results })
            .collect(),
    };
    pairs.into_iter().take(MOST_LANDSCAPES).map(one).collect()
}

/// What the parameters explain of the times; `None` for too few results.
fn parameters(searched: &SearchedSpace<'_>) -> Option<Table> {
    let times = results(searched);
    let importance = tune::landscape::importance(searched.space, &times)?;
    let names = searched.space.parameters();
    let share = |value: f64| Cell::from(100.0 * value.max(0.0));
    let mut alone: Vec<(usize, f64)> = importance.alone.iter().copied().enumerate().collect();
    alone.retain(|(at, _)| names[*at].values.len() > 1);
    alone.in_order_by(|a, b| b.1.total_cmp(&a.1));
    let row =
        |label: String, cell: Cell, best: Cell| Row { label, cells: vec![cell, best], ..Row::default() };
    let best = searched.winner.map(|id| searched.space.values(id));
    let value = |at: usize| best.as_ref().map_or(Cell::Empty, |it| Cell::text(it[at].to_string()));
    let mut rows: Vec<Row> =
        alone.iter().map(|(at, it)| row(names[*at].name.clone(), share(*it), value(*at))).collect();
    for pair in importance.pairs.iter().filter(|it| it.share > 0.01).take(MOST_PAIRS) {
        let name = format!("{} with {}", names[pair.a].name, names[pair.b].name);
        rows.push(row(name, share(pair.share), Cell::Empty));
    }
    Some(Table {
        title: format!("Parameters of {}", searched.name),
        label: "parameter".to_owned(),
        columns: vec![
            Column { key: "explains_percent", ..Column::new("explains", ColumnKind::Percent, "%") },
            Column { key: "winner", ..Column::new("winner", ColumnKind::Word, "") },
        ],
        rows,
        notes: vec![format!(
            "{}; the model explains {:.0} % of the variance of the results; where constraints tie parameters, shares overlap",
            tune::landscape::Importance::METHOD,
            100.0 * importance.explained
        )],
        ..Table::default()
    })
}

/// What each constraint of a space removes; `None` if it has none.
pub fn constraints(name: &str, space: &Space) -> Option<Table> {
    let removed = space.removed();
    let row = |constraint: &str, alone: Option<u128>, in_order: Option<u128>| {
        let cell = |count: Option<u128>| match count {
            Some(count) => Cell::from(count as f64),
            None => Cell::missing("it cannot be computed for configurations that only others remove"),
        };
        Row { label: constraint.to_owned(), cells: vec![cell(alone), cell(in_order)], ..Row::default() }
    };
    let rows: Vec<Row> = match &removed {
        Ok(removed) => {
            let of = |it: &tune::Removed| row(&it.constraint, Some(it.configurations), Some(it.in_order));
            removed.iter().map(of).collect()
        }
        Err(_) => space.constraints().map(|it| row(it, None, None)).collect(),
    };
    (!rows.is_empty()).then(|| Table {
        title: format!("Constraints of {name}"),
        label: "constraint".to_owned(),
        columns: vec![
            Column { key: "breaks", ..Column::new("combinations that break it", ColumnKind::Number, "") },
            Column { key: "removes", ..Column::new("removed beyond those above", ColumnKind::Number, "") },
        ],
        rows,
        ..Table::default()
    })
}

/// Failures by kind and reason, most first.
fn failures(searched: &SearchedSpace<'_>) -> Option<Table> {
    let mut kinds: BTreeMap<(&str, String), (u64, Id)> = BTreeMap::new();
    for trial in &searched.trials {
        if let Some((kind, why)) = trial.failed {
            kinds.entry((kind, shape(why))).or_insert((0, trial.id)).0 += 1;
        }
    }
    let mut rows: Vec<_> = kinds.into_iter().collect();
    rows.in_order_by(|a, b| b.1.0.cmp(&a.1.0).then_with(|| a.0.cmp(&b.0)));
    let top = searched.most_rows();
    let more = rows.len().saturating_sub(top);
    let row = |((kind, why), (count, id)): ((&str, String), (u64, Id))| {
        let words: Vec<String> =
            values(searched.space, id).iter().map(|it| format!("{}={}", it.name, it.value)).collect();
        Row::of(vec![Cell::count(count), Cell::text(kind), Cell::text(why), Cell::text(words.join(" "))])
    };
    let rows: Vec<Row> = rows.into_iter().take(top).map(row).collect();
    (!rows.is_empty()).then(|| Table {
        title: format!("Configurations of {} without a time", searched.name),
        columns: vec![
            Column {
                key: "configurations",
                ..Column::new(noun_of(2_u64, "configuration"), ColumnKind::Number, "")
            },
            Column { key: "failure", ..Column::new("failure", ColumnKind::Word, "") },
            Column { key: "reason", ..Column::new("reason", ColumnKind::Text, "") },
            Column { key: "example", ..Column::new("for example", ColumnKind::Text, "") },
        ],
        rows,
        more,
        ..Table::default()
    })
}

/// A reason without its numbers, so that equal failures count together.
fn shape(why: &str) -> String {
    let mut out = String::with_capacity(why.len());
    let mut in_number = false;
    for c in why.chars().take(200) {
        let digit = c.is_ascii_digit();
        if !digit {
            out.push(c);
        } else if !in_number {
            out.push('N');
        }
        in_number = digit;
    }
    out
}
