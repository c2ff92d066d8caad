//! Folders and files with one column per counter: Omniperf 1.x, rocprof-compute 2.x and 3.x, rocprof's
//! `results.csv`.
//!
//! A level counter is read in a separate run, whose file (`SQ_IFETCH_LEVEL.csv`) holds the accumulated level
//! as `SQ_ACCUM_PREV_HIRES` and repeats other counters with that run's values. Here the level becomes
//! `SQ_IFETCH_LEVEL_ACCUM`, and the repeated counters are stored with the name of their run. Newer profilers
//! join those runs too: the accumulator follows its level among the columns of `pmc_perf.csv`.

use crate::check;
use crate::dispatch_columns::{choose, launches, take};
use crate::folder::Files;
use crate::headers;
use crate::instructions::is_events_file;
use crate::join::{self, Launch};
use crate::levels;
use crate::marks::Marks;
use crate::model::{Counter, Counters, Dispatches, Extra, Generation};
use crate::names::LEVELS;
use crate::passes::{Passes, is_of_pass};
use crate::problem::{Error, Problem, Problems};
use crate::recording::Workload;
use crate::runs::{self, Recorded};
use crate::side;
use crate::table::{self, Cells, Table};
use crate::times::{Time, fractions, split};
use crate::values::Values;
use crate::{launches, marks, multiplex, occupancy, predictions, repeats, shares};
use std::collections::BTreeSet;
use view::NoteKind;

/// Columns named in a warning before the rest is only counted.
const NAMED: usize = 5;

/// Reads a folder whose `pmc_perf.csv` is wide, or that has a wide file for each pass instead.
pub(crate) fn folder(files: &Files<'_>, names: &[String], mut problems: Problems) -> Result<Workload, Error> {
    let (mut w, mut times) = passes(files, names, &mut problems)?;
    let in_columns = w.counters.iter().any(|c| c.name.ends_with("_ACCUM"));
    let base = launches(&w.dispatches, &w.kernels);
    if w.dispatches.start.iter().all(Option::is_none)
        && let Some(bytes) = side::try_bytes(files, "timestamps.csv", &mut problems)
    {
        side::times("timestamps.csv", &bytes, &mut w.dispatches, &w.kernels, &mut problems);
        w.sources.push("timestamps.csv".to_string());
    }
    let companions: Vec<String> =
        files.names().filter(|n| !n.contains('/')).filter_map(companion).map(str::to_string).collect();
    for run in &companions {
        add_companion(files, run, &base, &mut w, &mut times, &mut problems);
    }
    // In one file for all passes the profiler has put the mean already.
    if names.len() > 1 {
        times.put(&mut w.dispatches);
    }
    w.machine = side::machine(files, &mut problems);
    w.settings = side::settings(files, &mut problems);
    let asked = Asked::of(files, &w);
    for (level, what) in LEVELS {
        let there =
            companions.iter().any(|c| c == level) || w.counters.get(&format!("{level}_ACCUM")).is_some();
        if there || !asked.includes(level) {
            continue;
        }
        let consequence = format!("{what} is n/a");
        if in_columns {
            problems.warn(&w.sources[0], 0, format!("no column sums `{level}` over cycles"), consequence);
        } else {
            problems.warn(&format!("{level}.csv"), 0, crate::ABSENT, consequence);
        }
    }
    finish(files, w, problems)
}

/// Level counters that a recording should contain.
enum Asked {
    /// None: a recording for a roofline only, or from an emulator, which has no levels over time.
    None,
    /// The level counters that the profiler planned runs for.
    Planned(BTreeSet<String>),
    /// All, as no plan is recorded.
    All,
}

impl Asked {
    fn of(files: &Files<'_>, w: &Workload) -> Asked {
        let roofline_only = w.settings.get("roof_only").is_some_and(|it| it == "true")
            || w.machine.text("ip_blocks").is_some_and(|it| it.trim() == "roofline");
        if roofline_only || w.machine.emulator().is_some() {
            return Asked::None;
        }
        let planned = files.names().filter_map(|name| name.strip_prefix("perfmon/")?.strip_suffix(".txt"));
        let planned: BTreeSet<String> = planned.map(str::to_string).collect();
        if planned.is_empty() { Asked::All } else { Asked::Planned(planned) }
    }

    fn includes(&self, level: &str) -> bool {
        match self {
            Asked::None => false,
            Asked::Planned(files) => files.contains(level),
            Asked::All => true,
        }
    }
}

/// Times of dispatches over the passes.
struct Times(Vec<Vec<(Time, Time)>>);

impl Times {
    fn new(rows: usize) -> Times {
        Times(vec![Vec::new(); rows])
    }

    /// Adds the times of one pass; `rows` are its rows in the order of the dispatches.
    fn add(&mut self, d: &Dispatches, rows: &[Option<u32>]) {
        let time = |whole: &[Option<i64>], fraction: &Values, row: usize| {
            Some((whole.get(row).copied()??, fraction.get(row).unwrap_or(0.0)))
        };
        for (list, row) in self.0.iter_mut().zip(rows) {
            let Some(row) = row.map(|row| row as usize) else { continue };
            let (start, end) = (time(&d.start, &d.start_fraction, row), time(&d.end, &d.end_fraction, row));
            list.extend(start.zip(end));
        }
    }

    /// Gives each dispatch its mean start and end, as the profiler does when it joins the passes.
    fn put(&self, d: &mut Dispatches) {
        let mean = |list: &[(Time, Time)], of: fn(&(Time, Time)) -> Time| -> Option<Time> {
            let first = of(list.first()?).0;
            let n = list.len() as f64;
            // Distances are small where the times themselves are not.
            let more =
                list.iter().map(of).map(|it| it.0.saturating_sub(first) as f64 + it.1).sum::<f64>() / n;
            let (whole, fraction) = split(more)?;
            Some((first.saturating_add(whole), fraction))
        };
        let starts: Vec<Option<Time>> = self.0.iter().map(|list| mean(list, |it| it.0)).collect();
        let ends: Vec<Option<Time>> = self.0.iter().map(|list| mean(list, |it| it.1)).collect();
        let whole = |times: &[Option<Time>]| times.iter().map(|time| time.map(|time| time.0)).collect();
        (d.start, d.end) = (whole(&starts), whole(&ends));
        d.start_fraction = fractions(starts.into_iter());
        d.end_fraction = fractions(ends.into_iter());
    }
}

/// Reads wide files of the passes of one recording and joins them. The one with most dispatches gives the
/// dispatches.
fn passes(files: &Files<'_>, names: &[String], problems: &mut Problems) -> Result<(Workload, Times), Error> {
    let mut read: Vec<(String, Workload)> = Vec::new();
    let mut failed = None;
    for (name, _) in Passes::of(names).files() {
        match file(files, name, problems) {
            Ok(w) => read.push((name.to_string(), w)),
            Err(error) if names.len() == 1 => return Err(error),
            Err(error) => {
                problems.error(name, side::first_line(&error.to_string()), "the file is left out");
                failed = Some(error);
            }
        }
    }
    if read.len() > 1 {
        runs::check(read.iter().map(|(name, w)| recorded(name, w)).collect())?;
    }
    let most = read.iter().map(|(_, w)| w.dispatches.len()).max().unwrap_or(0);
    let base = read.iter().position(|(_, w)| w.dispatches.len() == most);
    let Some(base) = base else { return Err(failed.unwrap_or(Error::EmptyFolder)) };
    let (_, mut w) = read.remove(base);
    let launched = launches(&w.dispatches, &w.kernels);
    let mut times = Times::new(w.dispatches.len());
    let own: Vec<Option<u32>> = (0..w.dispatches.len() as u32).map(Some).collect();
    times.add(&w.dispatches, &own);
    for (name, mut other) in read {
        let met = add_run(&name, &mut other, &launched, &mut w, problems);
        times.add(&other.dispatches, &met);
    }
    Ok((w, times))
}

/// Launches and counters of a file.
fn recorded(name: &str, w: &Workload) -> Recorded {
    Recorded {
        file: name.to_string(),
        launches: launches(&w.dispatches, &w.kernels),
        counters: w.counters.iter().map(|counter| counter.name.clone()).collect(),
        is_pass: is_of_pass(name),
    }
}

/// `SQ_IFETCH_LEVEL.csv` to `SQ_IFETCH_LEVEL`.
fn companion(name: &str) -> Option<&str> {
    name.strip_suffix(".csv").filter(|s| headers::is_counter(s))
}

/// Reads what rocprof writes, several files joined. `timed` are tables of the same dispatches with times
/// alone, which rocprof writes in a run without counters.
pub(crate) fn results(
    files: &Files<'_>,
    names: &[String],
    timed: &[String],
    mut problems: Problems,
) -> Result<Workload, Error> {
    let (mut w, _) = passes(files, names, &mut problems)?;
    if w.dispatches.start.iter().all(Option::is_none)
        && let Some(name) = timed.first()
        && let Some(bytes) = side::try_bytes(files, name, &mut problems)
    {
        side::times(name, &bytes, &mut w.dispatches, &w.kernels, &mut problems);
        w.sources.push(name.clone());
    }
    w.generation = Generation::Rocprof1;
    // Only a folder of rocprof-compute has these facts.
    if files.has("sysinfo.csv") {
        w.machine = side::machine(files, &mut problems);
    }
    w.settings = side::settings(files, &mut problems);
    finish(files, w, problems)
}

fn finish(files: &Files<'_>, mut w: Workload, mut problems: Problems) -> Result<Workload, Error> {
    w.ceilings = side::ceilings(files, &w.machine, &mut problems);
    w.predictions = predictions::read(files, &w.dispatches, &mut problems);
    w.keeps_events = files.names().any(is_events_file);
    w.shares = shares::read(files, &w.dispatches, &mut problems);
    w.spreads = repeats::read(files, &w.kernels, &mut problems);
    w.occupancy = occupancy::read(files, &w.dispatches, &mut problems);
    w.launches = launches::read(files, &w.dispatches, &mut problems);
    // Emulated values are not measurements, even without known errors.
    let unknown = || w.machine.emulator().map(|_| Marks::default());
    w.marks = marks::read(files, &mut problems).or_else(unknown);
    side::passes(files, &mut w.counters, &mut problems);
    multiplex::fill(&mut w, &mut problems);
    check::workload(&mut w, problems);
    Ok(w)
}

/// One wide file.
fn file(files: &Files<'_>, name: &str, problems: &mut Problems) -> Result<Workload, Error> {
    let bytes = files.bytes(name)?;
    let old = bytes[..bytes.len().min(4096)].split(|b| *b == b'\n').next().is_some_and(|h| {
        h.split(|b| *b == b',')
            .any(|f| matches!(f.trim_ascii(), b"grd" | b"wgr" | b"KernelName" | b"\"KernelName\""))
    });
    let mut table = table::read(name, &bytes, &levels::names(), &choose, problems)?;
    if table.rows == 0 {
        return Err(table::without_rows(name, &bytes));
    }
    let (dispatches, kernels) = take(name, &mut table, problems)?;
    if table.position("Counter_Name").is_some() {
        problems.error(
            name,
            "the table names counters, and no column `Counter_Value` has their values",
            "record again, or export the table with its values",
        );
    }
    report_texts(name, &table, problems);
    let (counters, extras) = counters(&mut table, None, 0, None);
    for counter in counters.iter().filter(|it| levels::is_accumulator(&it.name)) {
        problems.add(Problem {
            kind: NoteKind::Warning,
            file: name.to_string(),
            line: Some(1),
            column: Some(counter.name.clone()),
            rows: 0,
            message: "the column before it is no level".to_string(),
            consequence: "which level it sums is not known, so no metric uses it".to_string(),
        });
    }
    let generation = if old { Generation::Omniperf1 } else { Generation::Wide };
    let sources = vec![name.to_string()];
    Ok(Workload { kernels, dispatches, counters, extras, sources, ..Workload::empty(generation) })
}

/// Reports unknown columns that hold no numbers.
fn report_texts(file: &str, table: &Table, problems: &mut Problems) {
    let is_text = |at: &usize| {
        let name = &table.names[*at];
        // A duplicate column has been reported.
        matches!(table.columns[*at], Cells::Skipped)
            && headers::is_unknown(name)
            && table.position(name) == Some(*at)
    };
    let texts: Vec<usize> = (0..table.names.len()).filter(is_text).collect();
    if texts.is_empty() {
        return;
    }
    let some: Vec<String> = texts.iter().take(NAMED).map(|at| format!("`{}`", table.names[*at])).collect();
    let more = texts.len() - some.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!("columns that begin with no number: {}{more}", some.join(", "));
    problems.warn(file, 0, message, "they are left out");
}

/// The remaining number columns of a table.
fn counters(
    table: &mut Table,
    run: Option<&str>,
    source: u16,
    order: Option<&[Option<u32>]>,
) -> (Counters, Vec<Extra>) {
    let mut counters = Counters::default();
    let mut extras = Vec::new();
    let passes = levels::passes(&table.names);
    for (i, pass) in passes.into_iter().enumerate() {
        let name = table.names[i].clone();
        if headers::describes_dispatch(&name) {
            continue;
        }
        let Some(values) = table.take_number(i) else { continue };
        let values = match order {
            Some(order) => values.reorder(order),
            None => values,
        };
        if !headers::is_counter(&name) && !headers::is_derived(&name) {
            extras.push(Extra { name, values });
            continue;
        }
        let (base, instance) = headers::split_instance(&name);
        let (name, run) = match (base, run) {
            (levels::ACCUMULATOR, Some(run)) => (format!("{run}_ACCUM"), None),
            (base, run) => (base.to_string(), run.map(str::to_string)),
        };
        let pass = pass.filter(|_| run.is_none());
        counters.add(Counter { name, instance, run, pass, source, values });
    }
    (counters, extras)
}

fn add_companion(
    files: &Files<'_>,
    run: &str,
    base: &[Launch],
    w: &mut Workload,
    times: &mut Times,
    problems: &mut Problems,
) {
    let name = format!("{run}.csv");
    let Some(bytes) = side::try_bytes(files, &name, problems) else { return };
    let read = table::read(&name, &bytes, &headers::plain, &choose, problems);
    let taken = read.and_then(|mut t| take(&name, &mut t, problems).map(|(d, k)| (t, d, k)));
    let (mut table, dispatches, kernels): (Table, Dispatches, Vec<String>) = match taken {
        Ok(t) => t,
        Err(e) => {
            problems.error(&name, side::first_line(&e.to_string()), "the file is left out");
            return;
        }
    };
    let met = join::join(base, &launches(&dispatches, &kernels));
    side::report(&name, &met, "what needs this run is n/a for them", problems);
    times.add(&dispatches, &met.rows);
    let source = w.sources.len() as u16;
    w.sources.push(name);
    let (mut added, _) = counters(&mut table, Some(run), source, Some(&met.rows));
    for c in std::mem::take(&mut added).into_list() {
        w.counters.add(c);
    }
}

/// Adds the counters of another run. Returns its rows in the order of the dispatches.
fn add_run(
    name: &str,
    other: &mut Workload,
    base: &[Launch],
    w: &mut Workload,
    problems: &mut Problems,
) -> Vec<Option<u32>> {
    let met = join::join(base, &launches(&other.dispatches, &other.kernels));
    side::report(name, &met, "counters of this file are n/a for them", problems);
    if !met.in_order() {
        problems.warn(
            name,
            0,
            "its dispatches are in another order",
            "they meet the others by kernel, sizes and occurrence",
        );
    }
    let source = w.sources.len() as u16;
    w.sources.push(name.to_string());
    for c in std::mem::take(&mut other.counters).into_list() {
        let values = c.values.reorder(&met.rows);
        // A counter read in several runs counts once, as read first.
        w.counters.add(Counter { values, source, ..c });
    }
    met.rows
}
