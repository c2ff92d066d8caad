//! Which of MIOpen's databases gives a record: the user's before the system's.
//!
//! Of FindDb one record is taken as a whole. Of PerfDb the parameters of each solver are taken, and those that
//! only the system's record has stay in use.

use super::{Choice, Problem, choose};
use rules::TuneMachine;
use std::collections::HashSet;
use tunedb::{Format, Row, Tunings, miopen};

fn is_user(file: &Tunings<'_>) -> bool {
    [".ufdb", ".udb"].iter().any(|it| file.base_name().contains(it))
}

/// What of a record hides the other file's: the key, and for PerfDb the solver.
fn hides<'r>(file: &Tunings<'r>, row: &'r Row<'r>) -> (&'r str, &'r str) {
    let solver = match file.format {
        Format::FindDb => None,
        Format::PerfDb => miopen::entry(file, row).map(|it| it.0),
        _ => miopen::solver(row).map(|it| it.0),
    };
    (row.key.as_ref(), solver.unwrap_or_default())
}

/// Takes rows away from a system database whose place a user database beside it takes.
pub(super) fn of_users_first(
    files: &[Tunings<'_>],
    number: usize,
    problem: &Problem,
    machine: Option<&TuneMachine>,
    choice: &mut Choice<'_, '_>,
) {
    let file = &files[number];
    if !matches!(file.format, Format::FindDb | Format::PerfDb | Format::PerfDbSqlite)
        || choice.taken.is_empty()
    {
        return;
    }
    // The two databases of MIOpen may have different containers: text and SQLite.
    let is_find = file.format == Format::FindDb;
    let alike =
        |other: &&Tunings<'_>| is_user(other) != is_user(file) && (other.format == Format::FindDb) == is_find;
    if is_user(file) {
        if files.iter().any(|it| alike(&it)) {
            choice
                .note
                .get_or_insert_with(|| "MIOpen takes the user's record before the system's".to_owned());
        }
        return;
    }
    for user in files.iter().filter(alike) {
        let theirs = choose(user, problem, machine).taken;
        let hidden: HashSet<(&str, &str)> = theirs.iter().map(|it| hides(user, it.row)).collect();
        let before = choice.taken.len();
        choice.taken.retain(|it| !hidden.contains(&hides(file, it.row)));
        if choice.taken.len() < before {
            choice.note = Some(format!("MIOpen takes the record of `{}` instead", user.base_name()));
        }
    }
}
