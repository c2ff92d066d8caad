//! Tables of searches of several shapes or objectives.

use super::{SearchedSpace, Trial};
use sorting::Sort;
use std::collections::HashSet;
use tune::landscape::pareto;
use view::{Cell, Column, ColumnKind, Row, Table};

/// Configurations that no other beats in every number; `None` unless several numbers count.
pub(super) fn front(searched: &SearchedSpace<'_>) -> Option<Table> {
    if searched.parts.len() < 2 {
        return None;
    }
    let mut seen = HashSet::new();
    let valued: Vec<(&Trial<'_>, Vec<f64>)> = searched
        .trials
        .iter()
        .filter(|it| it.value().is_some() && seen.insert(it.id))
        .filter_map(|it| Some((it, numbers(searched, it)?)))
        .collect();
    let small = |values: &[f64]| -> Vec<f64> {
        let pairs = values.iter().zip(&searched.parts);
        pairs.map(|(value, (_, large))| if *large { -value } else { *value }).collect()
    };
    let points: Vec<Vec<f64>> = valued.iter().map(|(_, values)| small(values)).collect();
    let mut front = pareto(&points);
    front.in_order_by(|a, b| points[*a][0].total_cmp(&points[*b][0]).then(a.cmp(b)));
    let parameters = searched.space.parameters();
    let varied: Vec<usize> = (0..parameters.len()).filter(|at| parameters[*at].values.len() > 1).collect();
    let column = |(name, large): &(String, bool)| {
        let unit = if name == "time" { "us" } else { "" };
        let name = if *large { format!("{name} (large)") } else { name.clone() };
        Column::new(name, ColumnKind::Number, unit)
    };
    let mut columns: Vec<Column> = searched.parts.iter().map(column).collect();
    columns.extend(varied.iter().map(|at| Column::new(&parameters[*at].name, ColumnKind::Word, "")));
    let row = |at: &usize| {
        let (trial, values) = &valued[*at];
        let settings = searched.space.values(trial.id);
        let numbers = values.iter().map(|it| Cell::from(*it));
        Row::of(numbers.chain(varied.iter().map(|at| Cell::text(settings[*at].to_string()))).collect())
    };
    let top = searched.most_rows();
    Some(Table {
        title: format!("Configurations of {} that no other beats in all numbers", searched.name),
        columns,
        rows: front.iter().take(top).map(row).collect(),
        more: front.len().saturating_sub(top),
        ..Table::default()
    })
}

/// The numbers that count, in the order of the objective.
fn numbers(searched: &SearchedSpace<'_>, trial: &Trial<'_>) -> Option<Vec<f64>> {
    let number = |name: &str| trial.numbers.iter().find(|it| it.0 == name).map(|it| it.1);
    searched.parts.iter().map(|(name, _)| number(name)).collect()
}

/// Times of start and winner by shape; `None` without shapes.
pub(super) fn shapes(searched: &SearchedSpace<'_>) -> Option<Table> {
    let times = |id| {
        let trial = searched.trials.iter().rev().find(|it| Some(it.id) == id);
        trial.map_or(&[] as &[f64], |it| it.shapes_us)
    };
    let (start, winner) = (times(searched.start), times(searched.winner));
    let best = |at: usize| {
        let times = searched.trials.iter().filter_map(|it| it.shapes_us.get(at).copied());
        times.min_by(f64::total_cmp)
    };
    let cell = |it: Option<f64>| it.map_or(Cell::Empty, Cell::from);
    let row = |(at, name): (usize, &String)| {
        let (before, after) = (start.get(at).copied(), winner.get(at).copied());
        let gain = before.zip(after).map(|(before, after)| before / after);
        Row {
            label: name.clone(),
            cells: vec![cell(before), cell(after), cell(gain), cell(best(at))],
            ..Row::default()
        }
    };
    let column = |key, name, unit| Column { key, ..Column::new(name, ColumnKind::Number, unit) };
    (!searched.shapes.is_empty()).then(|| Table {
        title: format!("Shapes of {}", searched.name),
        label: "shape".to_owned(),
        columns: vec![
            column("start_us", "start", "us"),
            column("winner_us", "winner", "us"),
            column("speedup", "speedup", ""),
            column("best_us", "fastest of any configuration", "us"),
        ],
        rows: searched.shapes.iter().enumerate().map(row).collect(),
        ..Table::default()
    })
}
