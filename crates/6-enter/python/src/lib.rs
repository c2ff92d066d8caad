//! The Python module: the answers of the command as JSON documents, which the Python files beside it make
//! values of.
//!
//! A document has one definition, its JSON schema, so nothing is converted field by field here. Python's own
//! lock is free while files are read and kernels judged, and Ctrl-C ends the call.

mod error;
mod waiting;

use anyhow::{Result, anyhow, bail};
use host::Watch;
use host::kernels::{Selection, each_kernel};
use host::subjects::{self, Asked, Ranks};
use host::usage;
use pyo3::prelude::*;
use render::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use study::{Measured, ReportQuestion, Units};
use view::{Average, KernelRow, Norm, Summary, TimeUnit, Wanted};
use waiting::{Telling, wait};

/// Time between two reports of progress.
const PAUSE: Duration = Duration::from_secs(1);

/// The compiled part of the package `rockhound`.
#[pymodule]
fn _rockhound(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(inspect, module)?)?;
    module.add_function(wrap_pyfunction!(analyze, module)?)?;
    module.add_function(wrap_pyfunction!(read, module)?)
}

/// Kernels of files and folders as the JSON of `rockhound inspect`.
#[pyfunction]
fn inspect(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    kernel: Option<String>,
    arch: Vec<String>,
    listing: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    wait(py, progress.as_ref(), move |telling| inspected(&paths, kernel.as_deref(), &arch, listing, telling))
}

/// Tells how far the reading is.
struct Reading<'a> {
    telling: &'a Telling,
    told: Instant,
    kernels: u64,
}

impl Watch for Reading<'_> {
    fn say(&mut self, line: &str) {
        self.telling.say(line.to_owned());
    }

    fn compiles(&mut self, file: &str) {
        self.telling.say(format!("{file}: compiling"));
    }

    fn at(&mut self, file: &str, done: u64, total: u64) {
        if self.told.elapsed() >= PAUSE {
            self.told = Instant::now();
            self.telling.say(format!("{file}: {done} of {total} bytes, kernels: {}", self.kernels));
        }
    }

    fn kernels(&mut self, count: u64) {
        self.kernels += count;
    }

    fn finish(&mut self) {}
}

fn inspected(
    paths: &[PathBuf],
    kernel: Option<&str>,
    arch: &[String],
    listing: bool,
    telling: &Telling,
) -> Result<String> {
    let selection = Selection::new(kernel, arch)?;
    let mut summary = Summary::default();
    let mut document = json::begin(env!("CARGO_PKG_VERSION"));
    let mut kernels = 0;
    let remarks = each_kernel(
        paths,
        &selection,
        Reading { telling, told: Instant::now(), kernels: 0 },
        |judged| {
            let listing = listing.then(|| judged.listing());
            let card = judged.card();
            (KernelRow::from(&card), json::kernel(&card, listing.as_ref()))
        },
        |(mut row, text)| {
            if telling.is_stopped() {
                bail!("interrupted");
            }
            summary.add(&mut row);
            if kernels > 0 {
                document.push_str(json::SEPARATOR);
            }
            document.push_str(&text);
            kernels += 1;
            Ok(())
        },
    )?;
    match remarks.errors.first() {
        Some(first) if kernels == 0 => {
            Err(usage(format!("{}: {}", first.file, first.error), first.hint.clone().unwrap_or_default()))
        }
        _ => Ok(document + &json::end(&summary, None, &remarks.notes, &remarks.errors)),
    }
}

/// A report on recordings as the JSON of `rockhound analyze`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the flags of the command, given by name in Python")]
fn analyze(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    kernels: Vec<String>,
    dispatches: Vec<String>,
    gpus: Vec<u32>,
    arch: Option<String>,
    blocks: Vec<String>,
    normal_unit: String,
    time_unit: String,
    average: String,
    top: Option<usize>,
    matches: Vec<String>,
    ranks: Option<String>,
    runs: Option<String>,
) -> PyResult<String> {
    wait(py, None, move |_| {
        if ranks.is_some() && runs.is_some() {
            return Err(usage("`ranks` and `runs` cannot be given together", "give one of them"));
        }
        let ranks = ranks.as_deref().map(|it| ranks_of("ranks", it)).transpose()?;
        let runs = runs.as_deref().map(|it| ranks_of("runs", it)).transpose()?;
        let wanted = Wanted { kernels, dispatches, gpus, ..Wanted::default() };
        let sources = paths.into_iter().map(Into::into).collect();
        let asked = Asked { sources, arch, corrections: None, wanted, matches, ranks, runs };
        let question = ReportQuestion {
            blocks,
            whole: true,
            units: Units { norm: norm_of(&normal_unit)?, time: time_unit_of(&time_unit)? },
            average: average_of(&average)?,
            // All rows by default.
            top: Some(top.unwrap_or(0)),
            ..ReportQuestion::default()
        };
        analyzed(&asked, question)
    })
}

fn analyzed(asked: &Asked, question: ReportQuestion) -> Result<String> {
    let mut errors = Vec::new();
    let subjects = subjects::read(asked, &mut errors);
    // A comparison with half of the recordings would answer another question.
    if let Some(error) = errors.into_iter().next() {
        return Err(error);
    }
    let measured = Measured::built_in(subjects?)?;
    let report = measured.report(question, &mut study::Gate::default())?;
    Ok(json::answer(&report))
}

/// A recording as columns, in JSON.
#[pyfunction]
fn read(py: Python<'_>, path: PathBuf, counters: Option<Vec<String>>) -> PyResult<String> {
    wait(py, None, move |_| columns(&path, counters.as_deref()))
}

fn columns(path: &Path, counters: Option<&[String]>) -> Result<String> {
    let workload = host::recording::read(&path.into())?;
    for wanted in counters.unwrap_or_default() {
        if !workload.counters.iter().any(|it| it.name == *wanted) {
            let name = path.display();
            return Err(usage(
                format!("`{name}` has no counter `{wanted}`"),
                format!(
                    "it has {} columns of counters; read without `counters` to see them",
                    workload.counters.len()
                ),
            ));
        }
    }
    let wanted = |name: &str| counters.is_none_or(|all| all.iter().any(|it| it == name));
    Ok(json::columns(&study::columns(&workload, &path.display().to_string(), &wanted)))
}

fn norm_of(name: &str) -> Result<Norm> {
    let all = [
        ("per_kernel", Norm::Kernel),
        ("per_wave", Norm::Wave),
        ("per_cycle", Norm::Cycle),
        ("per_second", Norm::Second),
    ];
    one_of("normal_unit", name, &all)
}

fn time_unit_of(name: &str) -> Result<TimeUnit> {
    let all = [
        ("ns", TimeUnit::Nanoseconds),
        ("us", TimeUnit::Microseconds),
        ("ms", TimeUnit::Milliseconds),
        ("s", TimeUnit::Seconds),
    ];
    one_of("time_unit", name, &all)
}

fn ranks_of(argument: &str, name: &str) -> Result<Ranks> {
    one_of(argument, name, &[("merged", Ranks::Merged), ("each", Ranks::Each)])
}

fn average_of(name: &str) -> Result<Average> {
    one_of("average", name, &[("weighted", Average::Weighted), ("dispatches", Average::Dispatches)])
}

/// The value of a name, or an error that lists the names.
fn one_of<T: Copy>(argument: &str, name: &str, all: &[(&str, T)]) -> Result<T> {
    let found = all.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(it, _)| *it).collect();
        anyhow!("`{argument}` cannot be `{name}`\nhint: it is one of {}", names.join(", "))
    })
}
