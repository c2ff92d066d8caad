//! Evidence of rules on tuning databases, and shared parts of their findings.
//!
//! Such a rule states the effect of the file on the library's loader, and the place is the line to inspect.

use crate::Outcome;
use crate::recorded::duration;
use arch::{Model, Target, Unit};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tunedb::{Format, Row, Tunings};
use view::{Finding, Place, SourceLine};

/// Difference of two times below which they are the same, where no repeats say otherwise.
pub(crate) const NOISE: f64 = 0.02;

/// The machine that files are to be used on.
#[derive(Clone, Debug, Default)]
pub struct TuneMachine {
    /// Its target: `gfx942`.
    pub target: Option<String>,
    /// Compute units.
    pub cu_count: Option<u32>,
    /// The words of its name: `mi300x`.
    pub model: Option<String>,
    /// Versions of its libraries, by the names that files use.
    pub versions: BTreeMap<String, String>,
}

/// Tuning databases that are used together.
#[derive(Clone, Copy, Debug)]
pub struct TuningEvidence<'a> {
    /// The files.
    pub files: &'a [Tunings<'a>],
    /// Machine that will use them, if it is known.
    pub machine: Option<&'a TuneMachine>,
    /// Kernels that the library has, by name or index, if that is known.
    pub catalogue: Option<&'a BTreeSet<String>>,
}

/// A line of a file; 0 is the whole file.
pub(crate) fn at(file: &Tunings<'_>, line: u32) -> Place {
    let source = Some(SourceLine { file: file.name.clone(), line, function: None });
    Place { source, ..Place::default() }
}

/// Formats a time in microseconds.
pub(crate) fn time(us: f64) -> String {
    duration(us * 1e3)
}

/// Extra time of `slow` over `fast`: `0.75 ms per call (18 %)`.
pub(crate) fn loss(slow: f64, fast: f64) -> String {
    format!("{} per call ({:.0} %)", time(slow - fast), 100.0 * (slow - fast) / slow)
}

/// Whether a time is larger beyond noise.
pub(crate) fn slower(a: f64, b: f64) -> bool {
    a > b * (1.0 + NOISE)
}

/// Formats whose loader takes one row for a key.
pub(crate) fn has_keys(format: Format) -> bool {
    matches!(
        format,
        Format::TunableOp
            | Format::AiterTuned
            | Format::TuningFile
            | Format::FindDb
            | Format::PerfDb
            | Format::Logic
    )
}

/// Rows of a file by key, in the order of their first; only keys of several rows. Entries of one record of
/// MIOpen are one.
pub(crate) fn repeated<'f, 'a>(file: &'f Tunings<'a>) -> Vec<Vec<&'f Row<'a>>> {
    let records = matches!(file.format, Format::FindDb | Format::PerfDb);
    let mut found: HashMap<&str, usize> = HashMap::with_capacity(file.rows.len());
    let mut groups: Vec<Vec<&'f Row<'a>>> = Vec::new();
    let mut first: Vec<(&'f Row<'a>, Option<usize>)> = Vec::new();
    for row in &file.rows {
        match found.get(row.key.as_ref()) {
            None => {
                found.insert(row.key.as_ref(), first.len());
                first.push((row, None));
            }
            Some(place) => {
                let (begin, group) = &mut first[*place];
                if records && begin.line == row.line {
                    continue;
                }
                let group = *group.get_or_insert_with(|| {
                    groups.push(vec![*begin]);
                    groups.len() - 1
                });
                if !(records && groups[group].last().is_some_and(|last| last.line == row.line)) {
                    groups[group].push(row);
                }
            }
        }
    }
    groups
}

/// The least of the times of some rows.
pub(crate) fn fastest<'r, 'a>(rows: &[&'r Row<'a>]) -> Option<&'r Row<'a>> {
    let timed = rows.iter().filter(|row| row.time_us.is_ok());
    timed
        .min_by(|a, b| {
            a.time_us.as_ref().ok().partial_cmp(&b.time_us.as_ref().ok()).unwrap_or(std::cmp::Ordering::Equal)
        })
        .copied()
}

/// Peak rate of the matrix units for a row, 10^12 operations per second, with the GPU it is of.
pub(crate) fn peak(row: &Row<'_>) -> Option<(f64, &'static Model)> {
    let target = Target::by_name(row.target.as_deref().ok()?)?;
    let element = tunedb::element(row.types.as_deref().ok()?)?;
    let models = Model::of_target(target);
    let own = |model: &&Model| row.cu_count.as_ref().is_ok_and(|count| *count == model.compute_units.value);
    let rates = models.filter_map(|model| Some((model.peak_tera_ops(Unit::Matrix, element)?, model)));
    let rates: Vec<_> = rates.collect();
    rates.iter().find(|(_, model)| own(model)).copied().or_else(|| {
        // A partition of a GPU is not faster than the whole.
        rates.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))
    })
}

/// Findings or silence.
pub(crate) fn outcome(findings: Vec<Finding>) -> Outcome {
    Outcome::from_findings(findings)
}
