//! Summary of a recorded search space: the best configuration, how far others are from it, and what failed.

use sorting::Sort;
use tunedb::space::{Space, Status};
use tunedb::{Detail, FlawKind, Row, Tunings};
use view::{counted, thousands};

/// Notes below the table of a space.
pub(super) fn notes(file: &Tunings<'_>) -> Vec<String> {
    let Detail::Space(space) = &file.detail else { return Vec::new() };
    let mut notes = vec![size(space, file.rows.len())];
    notes.extend(space.restrictions.iter().map(|it| format!("restriction: {it}")));
    notes.extend(best(file, space));
    notes.extend(failures(space));
    let repeated = file.flaws.iter().filter(|it| it.kind == FlawKind::RepeatedEntry).count();
    if repeated > 0 {
        notes.push(format!("{} tried more than once", counted(repeated, "configuration")));
    }
    notes
}

fn size(space: &Space, tried: usize) -> String {
    let values: Vec<String> =
        space.parameters.iter().map(|it| format!("{} {}", it.name, it.values.len())).collect();
    let all = space.combinations().map_or_else(
        || "more than 2^64 combinations".to_owned(),
        |it| format!("{} combinations", thousands(it)),
    );
    format!(
        "{} of {} ({}), {} tried",
        all,
        counted(space.parameters.len(), "parameter"),
        values.join(", "),
        thousands(tried as u64)
    )
}

/// The best configuration, and how many come near it.
fn best(file: &Tunings<'_>, space: &Space) -> Vec<String> {
    let mut timed: Vec<(f64, usize)> = file
        .rows
        .iter()
        .enumerate()
        .filter_map(|(at, row): (usize, &Row<'_>)| Some((row.time_us.ok()?, at)))
        .collect();
    timed.in_order_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(&(least, at)), Some(&(most, _))) = (timed.first(), timed.last()) else { return Vec::new() };
    let median = timed[timed.len() / 2].0;
    let near = timed.iter().take_while(|it| it.0 <= least / 0.95).count();
    let words = file.rows[at].candidate.as_deref().unwrap_or_default();
    let mut notes = vec![
        format!("best: {least:.2} us, `{words}`"),
        format!(
            "median {:.1} % of the best rate, worst {:.1} %; {} within 5 % of the best",
            100.0 * least / median,
            100.0 * least / most,
            counted(near, "configuration")
        ),
    ];
    notes.extend(noise(space, at));
    notes
}

/// How much the runs of the best configuration differ, which says what differences between configurations mean.
fn noise(space: &Space, best: usize) -> Option<String> {
    let runs = &space.trials.get(best)?.runs_ms;
    let mean = runs.iter().map(|it| f64::from(*it)).sum::<f64>() / runs.len() as f64;
    if runs.len() < 3 || mean <= 0.0 {
        return None;
    }
    let variance =
        runs.iter().map(|it| (f64::from(*it) - mean).powi(2)).sum::<f64>() / (runs.len() - 1) as f64;
    let first = f64::from(runs[0]) / mean;
    Some(format!(
        "runs of the best configuration: {}, standard deviation {:.1} %, the first {first:.2} times the mean",
        runs.len(),
        100.0 * variance.sqrt() / mean
    ))
}

fn failures(space: &Space) -> Option<String> {
    let of = |status: Status| space.trials.iter().filter(|it| it.status == status).count();
    let parts: Vec<String> = Status::FAILURES
        .into_iter()
        .filter(|it| of(*it) > 0)
        .map(|it| format!("{} where {}", of(it), it.words()))
        .collect();
    let all: usize = Status::FAILURES.into_iter().map(of).sum();
    let share = 100.0 * all as f64 / space.trials.len().max(1) as f64;
    (all > 0).then(|| format!("{} failed, {share:.1} %: {}", counted(all, "configuration"), parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_in_notes() {
        let text = "{\"device_name\": \"d\", \"kernel_name\": \"k\", \"problem_size\": \"\", \"tune_params_keys\": [\"x\"], \"tune_params\": {\"x\": [1, 2, 3, 4]}, \"cache\": {\"1\": {\"x\": 1, \"time\": 1.0, \"times\": [1.1, 1.0, 0.9]}, \"2\": {\"x\": 2, \"time\": 2.0}, \"3\": {\"x\": 3, \"time\": 1.02}, \"4\": {\"x\": 4, \"time\": \"RuntimeFailedConfig\"}}}";
        let file = tunedb::read("k.json", text.as_bytes()).unwrap();
        let found = notes(&file);
        for words in [
            "4 combinations of 1 parameter (x 4), 4 tried",
            "best: 1000.00 us, `x: 1`",
            "worst 50.0 %; 2 configurations within 5 %",
            "standard deviation 10.0 %, the first 1.10 times",
            "1 configuration failed, 25.0 %: 1 where the configuration fails at run time",
        ] {
            assert!(found.iter().any(|it| it.contains(words)), "{words}: {found:#?}");
        }
        assert_eq!(notes(&tunedb::read("a.csv", b"M,N,K\n1,2,3\n").unwrap()), [""; 0]);
    }
}
