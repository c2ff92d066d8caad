//! Defects that show only when a recording is whole.
//!
//! The one idea to keep in mind: each check says how many dispatches it concerns and what can no longer be computed,
//! once.

use crate::problem::Problems;
use crate::recording::Workload;

/// Checks a workload and gives it its problems.
pub(crate) fn workload(w: &mut Workload, mut problems: Problems) {
    let file = w.sources.first().cloned().unwrap_or_default();
    if w.multiplexed.is_none() {
        partial(&mut problems);
    }
    durations(w, &file, &mut problems);
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
        "{} of {n} dispatches end when they start{}",
        bad.len(),
        if rounded { ": the time stamps are rounded, as spreadsheets do when they save a file" } else { "" }
    );
    problems.warn(
        file,
        bad.len() as u64,
        message,
        "rates per second and durations are n/a for them; all else does not depend on time",
    );
}

fn gpus(w: &Workload, file: &str, problems: &mut Problems) {
    let mut gpus = w.dispatches.gpu.clone();
    gpus.sort_unstable();
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
