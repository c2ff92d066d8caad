//! Configurations that AITER's Triton kernels take.
//!
//! The path chooses the file, the number of rows or a name chooses the entry, and where a name chooses it,
//! that name is in the kernel's code.

use super::{Choice, Problem, Taken};
use rules::TuneMachine;
use tunedb::aiter_config::{BOUNDS, ConfigName, MOE_BOUNDS, MOE_REST};
use tunedb::{Detail, Row, Shape, Tunings};

const ROWS: &str = "the file of N and K comes before the kernel's default; in it the first `M_LEQ_n` with M <= n, then the largest \
                    `M_GEQ_n` with M >= n, otherwise `any`";
const CLASSES: &str = "`small_M` below 256 rows, `medium_M` below 1024, otherwise `large_M`";
const NAMES: &str = "the entry that the kernel's code names";

fn name<'f>(file: &'f Tunings<'_>) -> Option<&'f ConfigName> {
    if let Detail::Config(name) = &file.detail { Some(name) } else { None }
}

/// The entry of a file with bounds that applies to a number of rows. Bounds that the loader does not look up
/// are skipped.
pub(in crate::tunings) fn rows_take<'f, 'a>(file: &'f Tunings<'a>, m: u64) -> Option<&'f Row<'a>> {
    let up_to = |row: &&Row<'_>| match row.shape {
        Ok(Shape::UpTo(Some(bound))) if m <= bound && BOUNDS.contains(&bound) => Some(bound),
        _ => None,
    };
    let at_least = |row: &&Row<'_>| match row.shape {
        Ok(Shape::AtLeast(bound)) if m >= bound && BOUNDS.contains(&bound) => Some(bound),
        _ => None,
    };
    let least = file.rows.iter().filter_map(|row| Some((up_to(&row)?, row))).min_by_key(|it| it.0);
    let most = || file.rows.iter().filter_map(|row| Some((at_least(&row)?, row))).max_by_key(|it| it.0);
    let any = || file.rows.iter().find(|row| matches!(row.shape, Ok(Shape::UpTo(None))));
    least.or_else(most).map(|it| it.1).or_else(any)
}

pub(super) fn choose<'f, 'a>(
    file: &'f Tunings<'a>,
    problem: &Problem,
    machine: Option<&TuneMachine>,
) -> Choice<'f, 'a> {
    let bounded = |row: &Row<'_>| matches!(row.shape, Ok(Shape::UpTo(_) | Shape::AtLeast(_)));
    let classes = file.rows.iter().any(|row| row.key == MOE_REST);
    let rule = match () {
        () if file.rows.iter().any(bounded) => ROWS,
        () if classes => CLASSES,
        () => NAMES,
    };
    if let Some(why) = name(file).and_then(|name| for_others(name, problem, machine)) {
        return Choice::none(rule, why);
    }
    if rule == NAMES {
        return by_name(file, problem);
    }
    let Some(m) = problem.mnk.map(|it| it[0]).or(problem.tokens) else {
        return Choice::none(rule, "needs the number of rows: --mnk or --tokens");
    };
    let (row, how) = if rule == CLASSES {
        let class = MOE_BOUNDS.iter().find(|it| m < it.1);
        let key = class.map_or(MOE_REST, |it| it.0);
        let how = class.map_or_else(|| "1024 rows or more".to_owned(), |it| format!("below {} rows", it.1));
        (file.rows.iter().find(|row| row.key == key), how)
    } else {
        let row = rows_take(file, m);
        (row, format!("entry `{}`", row.map_or("", |row| row.key.as_ref())))
    };
    match row {
        Some(row) => Choice::of(rule, vec![Taken { row, how }]),
        None => Choice::none(
            rule,
            "no entry is for so many rows and there is no `any`: the kernel stops with an error",
        ),
    }
}

/// Reason why the path marks the file as meant for something else.
fn for_others(name: &ConfigName, problem: &Problem, machine: Option<&TuneMachine>) -> Option<String> {
    if let (Some(own), Some(wanted)) = (&name.target, machine.and_then(|it| it.target.as_ref()))
        && own != wanted
    {
        return Some(format!("the file is for {own}: AITER does not open it on {wanted}"));
    }
    let [_, n, k] = problem.mnk?;
    let differs = |key: &str, wanted: u64| name.size(key).is_some_and(|own| own != wanted);
    if differs("N", n) || differs("K", k) {
        let sizes: Vec<String> = name.sizes.iter().map(|(key, size)| format!("{key}={size}")).collect();
        return Some(format!(
            "the file is for {}: AITER does not open it for these sizes",
            sizes.join(" and ")
        ));
    }
    None
}

fn by_name<'f, 'a>(file: &'f Tunings<'a>, problem: &Problem) -> Choice<'f, 'a> {
    let Some(key) = &problem.key else {
        return Choice::none(
            NAMES,
            "entries have names: name one with --key, `rockhound tunedb show` lists them",
        );
    };
    let rows = file.rows.iter().filter(|row| row.key.contains(key.as_str()));
    let taken: Vec<_> = rows.map(|row| Taken { row, how: "by name".to_owned() }).collect();
    if taken.is_empty() {
        return Choice::none(NAMES, "no entry of that name");
    }
    Choice::of(NAMES, taken)
}

/// True if another file overrides a kernel's default.
pub(super) fn set_aside<'f, 'a>(
    files: &'f [Tunings<'a>],
    number: usize,
    problem: &Problem,
    machine: Option<&TuneMachine>,
) -> Option<Choice<'f, 'a>> {
    let own = name(&files[number])?;
    let [_, n, k] = problem.mnk?;
    let specific = files.iter().find(|file| {
        name(file).is_some_and(|other| {
            own.is_default_of(other) && other.size("N") == Some(n) && other.size("K") == Some(k)
        })
    })?;
    for_others(own, problem, machine)
        .is_none()
        .then(|| Choice::none(ROWS, format!("`{}` comes before it for these N and K", specific.base_name())))
}
