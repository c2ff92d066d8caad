//! Merging tuning files: the fastest row of each key, and the decisions.
//!
//! A slower kernel never replaces a faster one unless requested, files for other versions are refused whole,
//! and no row vanishes without a line that says why.

mod aiter;
mod configs;
mod entries;
mod groups;
mod lines;
mod logic;
mod miopen;
mod natural;

use super::{answer, column, table};
use groups::{Groups, groups};
use sorting::Sort;
use std::collections::HashMap;
use tunedb::{Format, Row, Tunings};
use view::{Answer, Cell, ColumnKind, Table, Tuned};

/// Difference of times, as a share, below which they are the same where no repeats say otherwise.
pub const NOISE: f64 = 0.02;
/// Repeated measurements from which on they say what noise is.
const REPEATS: usize = 5;

/// Settings of a merge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Difference of times below which they are the same, as a share; none: from repeats.
    pub noise: Option<f64>,
    /// Rows of later files replace rows of earlier ones, even if slower.
    pub force: bool,
    /// Cut sizes of logic files to four numbers.
    pub trim: bool,
    /// Every decision goes into the report; otherwise those that need attention.
    pub explain: bool,
}

/// A merged file and the decisions.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The file.
    pub bytes: Vec<u8>,
    /// Decisions.
    pub report: Answer<Tuned>,
    /// Each row is a line of a file that was read, and the first line tells the format: reading the result
    /// says nothing new.
    pub verbatim: bool,
}

/// Files that are not to be merged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Reason.
    pub message: String,
    /// Remedy.
    pub hint: String,
}

impl Refusal {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), hint: hint.into() }
    }
}

/// Merges files of one format; the first is the base.
///
/// # Errors
/// Files of different formats or versions, and formats that cannot be merged.
pub fn merge(files: &[Tunings<'_>], options: &Options) -> Result<Merged, Refusal> {
    let Some(first) = files.first() else { return Err(Refusal::new("no file to merge", "")) };
    if let Some(other) = files.iter().find(|file| file.format != first.format) {
        return Err(Refusal::new(
            format!(
                "`{}` is of another kind ({}) than `{}` ({})",
                other.name,
                other.format.name(),
                first.name,
                first.format.name()
            ),
            "merge files of one kind; `rockhound tunedb convert` changes the kind where the meaning is kept",
        ));
    }
    match first.format {
        Format::TunableOp | Format::TuningFile => {
            same_versions(files)?;
            lines::merge(files, options)
        }
        Format::TunableOpUntuned | Format::ProblemLog => lines::union(files, options),
        Format::AiterTuned | Format::AiterUntuned => aiter::merge(files, options),
        Format::FindDb | Format::PerfDb => {
            same_versions(files)?;
            miopen::merge(files, options)
        }
        Format::Logic => logic::merge(files, options),
        Format::PerfDbSqlite => {
            same_versions(files)?;
            miopen::databases(files, options)
        }
        Format::MoeJson | Format::BlockGemmJson => entries::moe(files, options),
        Format::Autotune => entries::autotune(files, options),
        Format::AiterJson => configs::merge(files, options),
        other => Err(Refusal::new(
            format!("{} is no database that a library loads", other.name()),
            "merge the files that come of it",
        )),
    }
}

/// Refuses files that were made for other versions.
fn same_versions(files: &[Tunings<'_>]) -> Result<(), Refusal> {
    let (first, rest) = files.split_first().expect("the caller has files");
    for other in rest {
        let mut differ = Vec::new();
        for version in &first.versions {
            match other.version(&version.key) {
                Some(own) if own.trim_end() == version.value.trim_end() => {}
                own => differ.push(format!(
                    "{} is {} and {}",
                    version.key,
                    version.value.trim_end(),
                    own.map_or("missing", str::trim_end)
                )),
            }
        }
        // A user database of MIOpen has a version in its name, the system's has none.
        let miopen = matches!(first.format, Format::FindDb | Format::PerfDb | Format::PerfDbSqlite);
        for version in other.versions.iter().filter(|it| first.version(&it.key).is_none() && !miopen) {
            differ.push(format!("{} is missing and {}", version.key, version.value.trim_end()));
        }
        if miopen {
            differ.retain(|it| !it.ends_with("and missing"));
        }
        if differ.is_empty() {
            continue;
        }
        return Err(Refusal::new(
            format!(
                "`{}` and `{}` were made for different versions: {}",
                first.name,
                other.name,
                differ.join("; ")
            ),
            "an index names another kernel in another build: tune the problems of one file again with the versions of the \
             other (`rockhound tunedb advise` has the commands), then merge",
        ));
    }
    Ok(())
}

/// A row of one of the files.
#[derive(Clone, Copy, Debug)]
struct Candidate<'f, 'a> {
    file: usize,
    row: &'f Row<'a>,
}

/// Outcome for the rows of one key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Decision {
    /// Only one row exists.
    Only,
    /// All are the same.
    Equal,
    /// It is faster beyond noise.
    Faster,
    /// Within noise of the fastest, and the first of those.
    Tie,
    /// It has a time, the others have none.
    Timed,
    /// No row has a time; the first stays.
    Unknown,
    /// Requested, and not slower.
    Forced,
    /// Requested, and slower.
    ForcedSlower,
}

impl Decision {
    const fn words(self) -> &'static str {
        match self {
            Decision::Only => "only one",
            Decision::Equal => "equal",
            Decision::Faster => "faster",
            Decision::Tie => "within noise: the first stays",
            Decision::Timed => "the others have no time",
            Decision::Unknown => "no times: the first stays",
            Decision::Forced => "forced",
            Decision::ForcedSlower => "forced, SLOWER",
        }
    }
}

/// Chooses among the rows of a key, which are in the order of their files.
fn choose(rows: &[Candidate<'_, '_>], noise: f64, force: bool) -> (usize, Decision) {
    if rows.len() == 1 {
        return (0, Decision::Only);
    }
    let time = |at: usize| rows[at].row.time_us.ok();
    let first = rows[0].row;
    if rows.iter().all(|it| it.row.candidate == first.candidate && it.row.time_us == first.time_us) {
        return (0, Decision::Equal);
    }
    let fastest = (0..rows.len()).filter_map(time).min_by(f64::total_cmp);
    if force {
        let last = rows.len() - 1;
        let slower = match (time(last), fastest) {
            (Some(own), Some(best)) => own > best * (1.0 + noise),
            (None, Some(_)) => true,
            _ => false,
        };
        return (last, if slower { Decision::ForcedSlower } else { Decision::Forced });
    }
    let Some(best) = fastest else { return (0, Decision::Unknown) };
    let near = |at: &usize| time(*at).is_some_and(|own| own <= best * (1.0 + noise));
    let Some(begin) = (0..rows.len()).find(near) else { return (0, Decision::Unknown) };
    // Of measurements of one kernel the smallest counts, whatever the order of the files.
    let chosen = (0..rows.len())
        .filter(|at| near(at) && rows[*at].row.candidate == rows[begin].row.candidate)
        .min_by(|a, b| time(*a).partial_cmp(&time(*b)).unwrap_or(std::cmp::Ordering::Equal))
        .unwrap_or(begin);
    let timed = (0..rows.len()).filter(|at| time(*at).is_some()).count();
    let others_near = (0..rows.len())
        .any(|at| at != chosen && near(&at) && rows[at].row.candidate != rows[chosen].row.candidate);
    let decision = match () {
        () if timed == 1 => Decision::Timed,
        () if others_near => Decision::Tie,
        () => Decision::Faster,
    };
    (chosen, decision)
}

/// Noise of repeated measurements: the 90th percentile of the differences between two times of one kernel.
/// `None` if there are too few.
fn noise_of_repeats<'g>(groups: impl Iterator<Item = &'g [Candidate<'g, 'g>]>) -> Option<f64> {
    let mut differences = Vec::new();
    for group in groups {
        for (at, a) in group.iter().enumerate() {
            for b in &group[at + 1..] {
                // A copied row is not a repeated measurement.
                if a.row.candidate == b.row.candidate
                    && let (Ok(x), Ok(y)) = (a.row.time_us, b.row.time_us)
                    && x != y
                {
                    differences.push((x - y).abs() / x.min(y));
                }
            }
        }
    }
    if differences.len() < REPEATS {
        return None;
    }
    differences.in_order_by(f64::total_cmp);
    Some(differences[(differences.len() * 9 / 10).min(differences.len() - 1)].clamp(0.005, 0.1))
}

/// Decisions, as a table, with their counts.
struct Journal {
    rows: Vec<Vec<Cell>>,
    counts: HashMap<&'static str, usize>,
    facts: Vec<(String, String)>,
    notes: Vec<String>,
    explain: bool,
}

impl Journal {
    fn new(options: &Options) -> Journal {
        Journal {
            explain: options.explain,
            rows: Vec::new(),
            counts: HashMap::new(),
            facts: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Notes what became of a key.
    fn decide(
        &mut self,
        files: &[Tunings<'_>],
        key: &str,
        rows: &[Candidate<'_, '_>],
        chosen: usize,
        decision: Decision,
    ) {
        *self.counts.entry(decision.words()).or_default() += 1;
        // An undecided case is for the reader to decide, so it is always listed.
        if !self.explain && !matches!(decision, Decision::ForcedSlower | Decision::Unknown) {
            return;
        }
        let place = |it: &Candidate<'_, '_>| format!("{}:{}", files[it.file].base_name(), it.row.line);
        let kernel = |it: &Candidate<'_, '_>| super::said(&it.row.candidate);
        let kept = &rows[chosen];
        // The best of those that were not taken says what the decision was worth.
        let time = |it: &&Candidate<'_, '_>| it.row.time_us.unwrap_or(f64::INFINITY);
        let other = rows
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != chosen)
            .map(|(_, it)| it)
            .min_by(|a, b| time(a).total_cmp(&time(b)));
        let none = || Cell::missing("there is no other row");
        let change = match (kept.row.time_us, other.map(|it| it.row.time_us)) {
            (Ok(own), Some(Ok(other))) => Cell::from(own / other - 1.0),
            _ => Cell::missing("needs two times"),
        };
        self.rows.push(vec![
            Cell::text(decision.words()),
            Cell::text(key),
            kernel(kept),
            Cell::known(kept.row.time_us),
            Cell::text(place(kept)),
            other.map_or_else(none, kernel),
            Cell::known(other.map_or(Err("there is no other row"), |it| it.row.time_us)),
            other.map_or_else(none, |it| Cell::text(place(it))),
            change,
        ]);
    }

    /// Keys whose rows differ without a time that decides.
    fn differ(&self) -> usize {
        self.counts.get(Decision::Unknown.words()).copied().unwrap_or_default()
    }

    /// Notes a row that is in no result, with the reason.
    fn leave_out(&mut self, file: &Tunings<'_>, line: u32, why: &str) {
        *self.counts.entry("left out").or_default() += 1;
        self.notes.push(format!("left out: {}:{line}: {why}", file.name));
    }

    fn fact(&mut self, name: &str, value: impl ToString) {
        self.facts.push((name.to_owned(), value.to_string()));
    }

    /// The merged file, with the decisions.
    fn merged(self, files: &[Tunings<'_>], bytes: Vec<u8>) -> Merged {
        let mut report = answer("merge", files);
        let mut facts = self.facts;
        let mut counts: Vec<_> = self.counts.into_iter().collect();
        counts.in_order();
        facts.extend(counts.into_iter().map(|(words, count)| (words.to_owned(), count.to_string())));
        let columns = vec![
            column("decision", "decision", "", ColumnKind::Word),
            column("key", "problem", "", ColumnKind::Text),
            column("kept", "kept", "", ColumnKind::Text),
            column("kept_us", "time", "us", ColumnKind::Number),
            column("kept_at", "from", "", ColumnKind::Text),
            column("other", "instead of", "", ColumnKind::Text),
            column("other_us", "time", "us", ColumnKind::Number),
            column("other_at", "from", "", ColumnKind::Text),
            column("change", "change", "", ColumnKind::Share),
        ];
        let table = table(title(files), facts, columns, self.rows);
        report.tables.push(Table { notes: self.notes, ..table });
        Merged { bytes, report, verbatim: false }
    }
}

fn title(files: &[Tunings<'_>]) -> String {
    let names: Vec<&str> = files.iter().map(|it| it.base_name()).collect();
    match names.as_slice() {
        [.., _] if names.len() > 4 => format!("merge of {} files", names.len()),
        _ => format!("merge of {}", names.join(", ")),
    }
}

/// The requested noise, or the noise of repeats, with a fact that says which.
fn noise(options: &Options, groups: &Groups<'_, '_>, journal: &mut Journal) -> f64 {
    let repeats = groups.iter().map(|it| it.1).filter(|rows| rows.len() > 1);
    let (noise, from) = match (options.noise, noise_of_repeats(repeats)) {
        (Some(noise), _) => (noise, "as asked"),
        (None, Some(noise)) => (noise, "of repeated measurements in these files"),
        (None, None) => (NOISE, "usual: the files have too few repeated measurements"),
    };
    journal.fact("noise", format!("{:.1} % ({from})", 100.0 * noise));
    noise
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
