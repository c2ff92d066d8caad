//! Folders and files with one column per counter: Omniperf 1.x, rocprof-compute 2.x and 3.x, rocprof's `results.csv`.
//!
//! The one idea to keep in mind: a level counter is read in a run of its own, whose file (`SQ_IFETCH_LEVEL.csv`)
//! holds the accumulated level as `SQ_ACCUM_PREV_HIRES` and repeats other counters with that run's values. Here the
//! level becomes `SQ_IFETCH_LEVEL_ACCUM` and the repeated counters keep the name of the run beside their own.

use crate::check;
use crate::dispatch_columns::{choose, launches, take};
use crate::folder::Files;
use crate::headers;
use crate::instructions::is_events_file;
use crate::join::{self, Launch};
use crate::marks::Marks;
use crate::model::{Counter, Counters, Dispatches, Extra, Generation, Workload};
use crate::problem::{Error, Problems};
use crate::side;
use crate::table::{self, Table};
use crate::{marks, occupancy, predictions, shares};

/// Level counters that have a run of their own, and what needs them.
pub(crate) const LEVELS: &[(&str, &str)] = &[
    ("SQ_IFETCH_LEVEL", "instruction fetch latency"),
    ("SQ_INST_LEVEL_LDS", "LDS latency"),
    ("SQ_INST_LEVEL_SMEM", "scalar memory latency"),
    ("SQ_INST_LEVEL_VMEM", "vector memory latency"),
    ("SQ_LEVEL_WAVES", "wavefront occupancy"),
];

/// Whether a file of a recording is the companion with the run of a level counter: `SQ_LEVEL_WAVES.csv`.
pub fn is_level_file(name: &str) -> bool {
    name.strip_suffix(".csv").is_some_and(|stem| LEVELS.iter().any(|level| level.0 == stem))
}

/// Reads a folder whose `pmc_perf.csv` is wide.
pub(crate) fn folder(files: &Files<'_>, mut problems: Problems) -> Result<Workload, Error> {
    let main = "pmc_perf.csv";
    let mut w = file(files, main, &mut problems)?;
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
        add_companion(files, run, &base, &mut w, &mut problems);
    }
    w.machine = side::machine(files, &mut problems);
    for (level, what) in LEVELS {
        let there =
            companions.iter().any(|c| c == level) || w.counters.get(&format!("{level}_ACCUM")).is_some();
        // Levels are sums over time, which an emulator does not have.
        if !there && w.machine.emulator().is_none() {
            problems.warn(&format!("{level}.csv"), 0, "the file is absent", format!("{what} is n/a"));
        }
    }
    finish(files, w, problems)
}

/// `SQ_IFETCH_LEVEL.csv` to `SQ_IFETCH_LEVEL`.
fn companion(name: &str) -> Option<&str> {
    name.strip_suffix(".csv").filter(|s| headers::is_counter(s))
}

/// Reads rocprof's `results.csv`, several of them joined.
pub(crate) fn results(
    files: &Files<'_>,
    names: &[String],
    mut problems: Problems,
) -> Result<Workload, Error> {
    let mut w = file(files, &names[0], &mut problems)?;
    w.generation = Generation::Rocprof1;
    let base = launches(&w.dispatches, &w.kernels);
    for name in &names[1..] {
        match file(files, name, &mut problems) {
            Ok(other) => add_run(name, other, &base, &mut w, &mut problems),
            Err(e) => problems.error(name, side::first_line(&e.to_string()), "the file is left out"),
        }
    }
    w.machine = side::machine(files, &mut problems);
    finish(files, w, problems)
}

fn finish(files: &Files<'_>, mut w: Workload, mut problems: Problems) -> Result<Workload, Error> {
    w.ceilings = side::ceilings(files, &w.machine, &mut problems);
    w.settings = side::settings(files, &mut problems);
    w.predictions = predictions::read(files, &w.dispatches, &mut problems);
    w.keeps_events = files.names().any(is_events_file);
    w.shares = shares::read(files, &w.dispatches, &mut problems);
    w.occupancy = occupancy::read(files, &w.dispatches, &mut problems);
    // What was emulated was not measured, also where nothing says how far off it is.
    let unknown = || w.machine.emulator().map(|_| Marks::default());
    w.marks = marks::read(files, &mut problems).or_else(unknown);
    side::passes(files, &mut w.counters, &mut problems);
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
    let mut table = table::read(name, &bytes, &headers::plain, &choose, problems)?;
    if table.rows == 0 {
        return Err(Error::HeaderOnly { file: name.to_string() });
    }
    let (dispatches, kernels) = take(name, &mut table, problems)?;
    let (counters, extras) = counters(&mut table, None, 0, None);
    Ok(Workload {
        generation: if old { Generation::Omniperf1 } else { Generation::Wide },
        machine: crate::model::Machine::default(),
        kernels,
        dispatches,
        counters,
        extras,
        ceilings: Vec::new(),
        predictions: Vec::new(),
        keeps_events: false,
        shares: Vec::new(),
        occupancy: Vec::new(),
        marks: None,
        settings: std::collections::BTreeMap::new(),
        sources: vec![name.to_string()],
        problems: Vec::new(),
    })
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
    for i in 0..table.names.len() {
        let name = table.names[i].clone();
        if headers::describes_dispatch(&name) {
            continue;
        }
        let Some(values) = table.take_number(i) else { continue };
        let values = match order {
            Some(order) => values.reorder(order),
            None => values,
        };
        if !headers::is_counter(&name) {
            extras.push(Extra { name, values });
            continue;
        }
        let (base, instance) = headers::split_instance(&name);
        let (name, run) = match (base, run) {
            ("SQ_ACCUM_PREV_HIRES", Some(run)) => (format!("{run}_ACCUM"), None),
            (base, run) => (base.to_string(), run.map(str::to_string)),
        };
        counters.add(Counter { name, instance, run, pass: None, source, values });
    }
    (counters, extras)
}

fn add_companion(files: &Files<'_>, run: &str, base: &[Launch], w: &mut Workload, problems: &mut Problems) {
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
    let source = w.sources.len() as u16;
    w.sources.push(name);
    let (mut added, _) = counters(&mut table, Some(run), source, Some(&met.rows));
    for c in std::mem::take(&mut added).into_list() {
        w.counters.add(c);
    }
}

fn add_run(name: &str, other: Workload, base: &[Launch], w: &mut Workload, problems: &mut Problems) {
    let met = join::join(base, &launches(&other.dispatches, &other.kernels));
    side::report(name, &met, "counters of this file are n/a for them", problems);
    let source = w.sources.len() as u16;
    w.sources.push(name.to_string());
    for c in other.counters.into_list() {
        let values = c.values.reorder(&met.rows);
        // A counter read in several runs counts once, as read first.
        w.counters.add(Counter { values, source, ..c });
    }
}
