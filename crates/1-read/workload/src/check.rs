//! Defects that show only when a recording is complete.
//!
//! Each check reports once, with the number of affected dispatches and the metrics that can no longer be
//! computed.

use crate::model::Counter;
use crate::problem::Problems;
use crate::recording::Workload;
use sorting::Sort;

/// Checks a workload and gives it its problems.
pub(crate) fn workload(w: &mut Workload, mut problems: Problems) {
    let file = w.sources.first().cloned().unwrap_or_default();
    if w.multiplexed.is_none() {
        partial(&mut problems);
    }
    durations(w, &file, &mut problems);
    equal_times(w, &file, &mut problems);
    nothing_counted(w, &file, &mut problems);
    gpus(w, &file, &mut problems);
    idle(w, &file, &mut problems);
    w.problems = problems.list;
}

/// Runs in one file that do not have every dispatch.
fn partial(problems: &mut Problems) {
    for (file, alone, all) in std::mem::take(&mut problems.partial) {
        problems.warn(
            &file,
            alone,
            format!("{alone} of {all} dispatches have no partner here"),
            "counters of that run are n/a for them",
        );
    }
}

fn durations(w: &Workload, file: &str, problems: &mut Problems) {
    let d = &w.dispatches;
    let n = d.len();
    let known: Vec<usize> = (0..n).filter(|i| d.start[*i].is_some() && d.end[*i].is_some()).collect();
    if known.is_empty() {
        if w.machine.emulator().is_some() {
            return;
        }
        problems.warn(
            file,
            0,
            "no start and end times are recorded",
            "durations and rates per second are n/a",
        );
        return;
    }
    if known.len() < n {
        let missing = (n - known.len()) as u64;
        problems.warn(
            file,
            missing,
            format!("{missing} of {n} dispatches have no start or end time"),
            "their durations and rates are n/a",
        );
    }
    let bad: Vec<usize> = known.into_iter().filter(|i| d.duration(*i).is_none()).collect();
    if bad.is_empty() {
        return;
    }
    let rounded = bad.iter().all(|i| d.start[*i].is_some_and(|t| t % 1_000_000 == 0));
    let message = format!(
        "{} of {n} dispatches end when they start{}{}",
        bad.len(),
        if bad.iter().any(|i| d.end[*i] < d.start[*i]) { " or before" } else { "" },
        if rounded { ": the time stamps are rounded, as spreadsheets do when they save a file" } else { "" }
    );
    problems.warn(
        file,
        bad.len() as u64,
        message,
        "rates per second and durations are n/a for them; all else does not depend on time",
    );
}

/// Minimum number of dispatches from which equal times are not a coincidence.
const MANY: usize = 16;

/// Detects dispatches that all have the same times: a stopped clock, or filled-in times.
fn equal_times(w: &Workload, file: &str, problems: &mut Problems) {
    let d = &w.dispatches;
    let n = d.len();
    let one = |of: &dyn Fn(usize) -> bool| n > 2 && (1..n).all(of);
    let known = |row: usize| d.duration(row).is_some();
    let message = if known(0) && one(&|row| (d.start[row], d.end[row]) == (d.start[0], d.end[0])) {
        format!("all {n} dispatches have the same start and end")
    } else if known(0) && n >= MANY && one(&|row| d.duration(row) == d.duration(0)) {
        format!("all {n} dispatches took exactly the same time")
    } else {
        return;
    };
    let consequence = "the times were hardly measured; do not rely on what is computed with them";
    problems.warn(file, 0, message, consequence);
}

/// Counters that every dispatch counts: whatever runs has waves and takes cycles.
const ALWAYS_COUNTED: [&str; 8] = [
    "SQ_WAVES",
    "SQ_WAVES_sum",
    "Wavefronts",
    "SQ_BUSY_CYCLES",
    "SQ_WAVE_CYCLES",
    "SQ_INSTS",
    "GRBM_COUNT",
    "SQ_BUSY_CU_CYCLES",
];

/// Minimum number of counters from which all zeros are not a coincidence.
const SEVERAL: usize = 3;

/// Dispatches whose counters cannot be right: they ran, and nothing was counted of them.
fn nothing_counted(w: &Workload, file: &str, problems: &mut Problems) {
    if w.machine.emulator().is_some() {
        return;
    }
    let n = w.dispatches.len();
    let is_zero = |row: usize| move |counter: &&Counter| counter.values.get(row) == Some(0.0);
    let recorded = w.counters.iter().filter(|it| !it.values.is_blank()).count();
    if recorded >= SEVERAL
        && w.counters.iter().all(|it| it.values.iter().all(|value| value.unwrap_or(0.0) == 0.0))
    {
        let consequence = "nothing was counted: the profiler had no access to the counters, or the program used another GPU; record again";
        problems.warn(
            file,
            n as u64,
            format!("all {recorded} counters are 0 in all {n} dispatches"),
            consequence,
        );
        return;
    }
    let always: Vec<&Counter> =
        w.counters.iter().filter(|it| ALWAYS_COUNTED.contains(&it.name.as_str())).collect();
    let zero: Vec<usize> = (0..n).filter(|row| always.iter().any(is_zero(*row))).collect();
    let Some(counter) = zero.first().and_then(|row| always.iter().find(|it| is_zero(*row)(it))) else {
        return;
    };
    let longest = zero.iter().filter_map(|row| w.dispatches.duration(*row)).fold(0.0, f64::max);
    let time =
        if longest > 0.0 { format!(", the longest of {:.3} ms", longest / 1e6) } else { String::new() };
    problems.warn(
        file,
        zero.len() as u64,
        format!("{} is 0 in {} of {n} dispatches{time}", counter.name, zero.len()),
        "a dispatch that ran has waves and takes cycles: what is counted of these is not to be relied on",
    );
}

fn gpus(w: &Workload, file: &str, problems: &mut Problems) {
    let mut gpus = w.dispatches.gpu.clone();
    gpus.in_order();
    gpus.dedup();
    if gpus.len() > 1 {
        let list: Vec<String> = gpus.iter().take(16).map(ToString::to_string).collect();
        problems.warn(
            file,
            w.dispatches.len() as u64,
            format!("dispatches of {} GPUs ({})", gpus.len(), list.join(", ")),
            "they are taken together unless one is chosen",
        );
    }
}

fn idle(w: &Workload, file: &str, problems: &mut Problems) {
    let Some(c) = w.counters.get("GRBM_GUI_ACTIVE") else { return };
    let zero = c.values.iter().filter(|v| *v == Some(0.0)).count() as u64;
    if zero > 0 {
        problems.warn(
            file,
            zero,
            format!("GRBM_GUI_ACTIVE is 0 in {zero} of {} dispatches", c.values.len()),
            "what is counted per cycle is n/a for them",
        );
    }
}
