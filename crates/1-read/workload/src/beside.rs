//! Times for a table that has none, taken from another table in the same folder.
//!
//! Times are taken only if both tables list the same launches in the same order, and only one such table
//! exists; times of another run would falsify every rate.

use crate::folder::Files;
use crate::form::Form;
use crate::model::{Dispatches, plain_kernel_name};
use crate::problem::{Problem, Problems};
use crate::recording::Workload;
use crate::values::Values;
use crate::{dispatch_columns, headers, side, table};
use view::NoteKind;

/// Tables looked into.
const LOOKED_INTO: usize = 200;

/// Takes the times of a recording that was named as files and has none.
pub(crate) fn times(files: &Files<'_>, w: &mut Workload) {
    let named = files.named();
    if named.is_empty() || w.dispatches.is_empty() || w.dispatches.start.iter().any(Option::is_some) {
        return;
    }
    let others = files.names().filter(|name| !named.iter().any(|it| it == name) && name.ends_with(".csv"));
    let timed = others.take(LOOKED_INTO).filter(|name| files.form(name) == Some(Form::Dispatches));
    let mut fitting = timed.filter_map(|name| {
        let (dispatches, kernels) = read(files, name)?;
        is_same_run(w, &dispatches, &kernels).then(|| (name.to_string(), dispatches))
    });
    let (Some((file, found)), None) = (fitting.next(), fitting.next()) else { return };
    let d = &mut w.dispatches;
    (d.start, d.end) = (found.start, found.end);
    (d.start_fraction, d.end_fraction) = (found.start_fraction, found.end_fraction);
    w.problems.push(Problem {
        kind: NoteKind::Info,
        file: file.clone(),
        line: None,
        column: None,
        rows: 0,
        message: "it lists the same launches in the same order".to_string(),
        consequence: "their times are taken from it".to_string(),
    });
    w.sources.push(file);
}

/// Dispatches and kernels of a table.
fn read(files: &Files<'_>, name: &str) -> Option<(Dispatches, Vec<String>)> {
    let bytes = files.bytes(name).ok()?;
    // What is wrong with a table that is not used is of no interest.
    let mut problems = Problems::default();
    let mut table =
        table::read(name, &bytes, &headers::plain, &dispatch_columns::choose, &mut problems).ok()?;
    side::multiply_sizes(&mut table);
    dispatch_columns::take(name, &mut table, &mut problems).ok()
}

/// Whether a table lists the launches of a recording in their order, with a time for each.
fn is_same_run(w: &Workload, other: &Dispatches, names: &[String]) -> bool {
    let d = &w.dispatches;
    let kernel = |names: &'_ [String], d: &Dispatches, row: usize| {
        d.kernel
            .get(row)
            .and_then(|kernel| names.get(*kernel as usize))
            .map(|it| plain_kernel_name(it).to_string())
    };
    // A size that one of them does not have decides nothing.
    let agree = |a: &Values, b: &Values, row: usize| match (a.get(row), b.get(row)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    d.len() == other.len()
        && (0..d.len()).all(|row| {
            kernel(&w.kernels, d, row) == kernel(names, other, row)
                && agree(&d.grid, &other.grid, row)
                && agree(&d.workgroup, &other.workgroup, row)
                && other.start[row].is_some()
                && other.end[row].is_some()
        })
}
