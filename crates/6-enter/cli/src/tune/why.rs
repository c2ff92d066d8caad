//! `rockhound tune SPACE --why CONFIG`: what is known of one configuration.

use super::prior;
use crate::args::Tune;
use crate::exit::usage;
use crate::progress::Running;
use anyhow::Result;
use host::run::Reporter;
use host::tune::{self, Evaluation, Evaluator, Id, Objective, Prior, Recorded, Space};
use std::path::Path;
use std::sync::Arc;
use view::{Answer, Cell, Column, ColumnKind, Row, Searches, Table, duration, objective_words, thousands};

/// Explains a configuration of a space file.
pub(super) fn of_file(
    args: &Tune,
    text: &str,
    (path, space): (&Path, &Arc<Space>),
    evaluator: &Evaluator,
    running: &Running<'_>,
    answer: &mut Answer<Searches>,
) -> Result<()> {
    let spec = &evaluator.spec;
    let start = spec.start.clone().unwrap_or_default();
    let (values, filled) =
        tune::chosen(text, &spec.parameters, &start).map_err(|error| usage(format!("{error:#}"), ""))?;
    let mut rows = Rows::default();
    if !filled.is_empty() {
        rows.add("values not named", "those of the start", filled.join(", "));
    }
    let configuration: Vec<_> = spec.parameters.iter().map(|it| it.name.as_str()).zip(&values).collect();
    let Some(id) = tune::place(space, &values) else {
        for (constraint, why) in tune::broken(&spec.parameters, &spec.constraints, &values) {
            rows.add("valid", "no", format!("`{constraint}` is {why}"));
        }
        answer.tables.push(rows.table(&configuration));
        return Ok(());
    };
    rows.add("valid", "yes", format!("one of {} valid configurations", thousands(space.len())));
    if spec.build.is_some() {
        match evaluator.built(&configuration) {
            Ok(_) if args.no_inspect => rows.add("builds", "yes", "its code was not looked at"),
            Ok(_) => rows.add("builds", "yes", "nothing in its code speaks against it"),
            Err(failed) => failure(&mut rows, "builds", &failed),
        }
    }
    let known = prior::prior(args, Some(spec), space, &running.interrupts()?)?;
    expected(&mut rows, &known.prior, id, known.from.as_deref());
    let beside = path.with_extension("db").display().to_string();
    let store = args.store.as_deref().unwrap_or(&beside);
    let found = tune::earlier(store, spec, space, id)?;
    for it in &found {
        let study = format!("study `{}`", it.study);
        match it.rank {
            Some(rank) => {
                let place = format!("{rank} of {} results of {study}", it.of);
                rows.add("was run", &value(&spec.objective, &it.evaluation), place);
            }
            None => failure(&mut rows, &format!("was run in {study}"), &it.evaluation),
        }
    }
    if found.is_empty() {
        rows.add("was run", "no", format!("not in `{store}`"));
    }
    answer.tables.push(rows.table(&configuration));
    Ok(())
}

/// Explains a configuration of a recorded space.
pub(super) fn of_recorded(recorded: &Recorded, text: &str, answer: &mut Answer<Searches>) -> Result<()> {
    let space = &recorded.space;
    let (values, filled) =
        tune::chosen(text, space.parameters(), &[]).map_err(|error| usage(format!("{error:#}"), ""))?;
    let mut rows = Rows::default();
    if !filled.is_empty() {
        rows.add("values not named", "the first of each", filled.join(", "));
    }
    match tune::place(space, &values) {
        None => rows.add("was run", "no", "the recording does not have it"),
        Some(id) => {
            let evaluation = &recorded.evaluations[id as usize];
            let times = recorded.evaluations.iter().filter_map(Evaluation::time_us);
            match evaluation.time_us() {
                Some(us) => {
                    let rank = times.clone().filter(|it| *it < us).count() + 1;
                    let of = format!(
                        "{} of {} with a time",
                        thousands(rank as u64),
                        thousands(times.count() as u64)
                    );
                    rows.add("was run", &duration(us * 1e3), of);
                }
                None => failure(&mut rows, "was run", evaluation),
            }
        }
    }
    let names = space.parameters().iter().map(|it| it.name.as_str());
    answer.tables.push(rows.table(&names.zip(&values).collect::<Vec<_>>()));
    Ok(())
}

fn value(objective: &Objective, evaluation: &Evaluation) -> String {
    let score = objective.score(evaluation);
    score.map_or_else(|| "no value".to_owned(), |it| objective_words(it, objective.unit()))
}

fn expected(rows: &mut Rows, prior: &Prior, id: Id, from: Option<&str>) {
    if prior.rejected.contains(&id) {
        rows.add("expected time", "it is not run", from.unwrap_or_default());
        return;
    }
    let Some(time) = prior.expected.get(id as usize).copied().flatten() else {
        rows.add("expected time", "not known", from.unwrap_or("no prior (`--prior`)"));
        return;
    };
    let known = prior.expected.iter().flatten();
    let rank = known.clone().filter(|it| **it < time).count() + 1;
    let place = format!(
        "{} of {}; {}",
        thousands(rank as u64),
        thousands(known.count() as u64),
        from.unwrap_or_default()
    );
    rows.add("expected time", &duration(time * 1e3), place);
}

fn failure(rows: &mut Rows, what: &str, evaluation: &Evaluation) {
    let (kind, why) =
        evaluation.failed.as_ref().map_or(("no time", ""), |it| (it.kind.words(), it.why.as_str()));
    rows.add(what, kind, why);
}

#[derive(Default)]
struct Rows(Vec<Row>);

impl Rows {
    fn add(&mut self, what: &str, answer: &str, why: impl Into<String>) {
        let cells = vec![Cell::text(answer), Cell::text(why)];
        self.0.push(Row { label: what.to_owned(), cells, ..Row::default() });
    }

    fn table(self, configuration: &tune::Configuration<'_>) -> Table {
        let words: Vec<String> = configuration.iter().map(|(name, it)| format!("{name}={it}")).collect();
        Table {
            title: format!("What is known of {}", words.join(" ")),
            label: "question".to_owned(),
            columns: vec![
                Column { key: "answer", ..Column::new("answer", ColumnKind::Word, "") },
                Column { key: "why", ..Column::new("why", ColumnKind::Text, "") },
            ],
            rows: self.0,
            ..Table::default()
        }
    }
}
