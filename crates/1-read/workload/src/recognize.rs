//! Selects the reader of a folder.
//!
//! Headers determine which files hold dispatches and in what form, whatever their names; names decide only if
//! a profiler leaves several forms of the same data in one folder. A file with counters that no reader used
//! is reported.

use crate::folder::{self, Files};
use crate::form::Form;
use crate::instructions::INSTRUCTIONS_FILE;
use crate::launches::{LAUNCHES_FILE, REPEATS_FILE};
use crate::marks::MARKS_FILE;
use crate::model::Generation;
use crate::names::{is_level_file, is_native_file, is_results, is_unjoined, last};
use crate::occupancy::OCCUPANCY_FILE;
use crate::passes::is_pass;
use crate::predictions::PREDICTIONS_FILE;
use crate::problem::{Error, Problem, Problems};
use crate::recording::Workload;
use crate::repeats::SPREADS_FILE;
use crate::shares::SHARES_FILE;
use crate::table::{self, Want};
use crate::{beside, headers, levels, long, native, rocpd, rocprofv3, thread_trace, wide};
use std::collections::BTreeSet;
use view::{NoteKind, counted};

/// Ends of the names of databases.
const DATABASES: [&str; 3] = [".db", ".rocpd", ".sqlite"];

/// Side files that we write: some have a line per dispatch too.
const BESIDE_COUNTERS: [&str; 6] =
    [SPREADS_FILE, SHARES_FILE, PREDICTIONS_FILE, INSTRUCTIONS_FILE, MARKS_FILE, OCCUPANCY_FILE];

/// Tables looked into before the rest are passed over.
const LOOKED_INTO: usize = 2000;

/// Counters named in a message before the rest is only counted.
const NAMED: usize = 5;

fn ends(name: &str, suffix: &str) -> bool {
    last(name) == suffix || last(name).ends_with(&format!("_{suffix}"))
}

/// Whether profilers give this name to tables of counters alone.
fn name_of_counters(name: &str) -> bool {
    let of_pass = last(name).strip_prefix("results_").is_some_and(is_unjoined);
    of_pass || ends(name, "counter_collection.csv") && !name.ends_with(native::BESIDE)
}

fn is_database(name: &str) -> bool {
    DATABASES.iter().any(|end| name.ends_with(end))
}

/// Whether a file whose begin this is, packed or not, holds dispatches of a recording, whatever its name is.
pub fn has_form_of_recording(begin: &[u8]) -> bool {
    folder::form(begin).is_some_and(|form| form != Form::LongAlone)
}

/// Whether a file whose begin this is, packed or not, holds counters, with or without what the dispatches
/// are.
pub fn has_counters(begin: &[u8]) -> bool {
    folder::form(begin).is_some_and(|form| form != Form::Dispatches)
}

/// True if a file of this name holds dispatches of a recording, so that its folder is one. Other names are
/// inconclusive.
pub fn holds_dispatches(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    last(name) == "pmc_perf.csv"
        || is_unjoined(name)
        || is_database(name)
        || is_native_file(name)
        || name.ends_with(native::BESIDE)
        || ends(name, "counter_collection.csv")
        || ends(name, "kernel_trace.csv")
        || thread_trace::is_thread_trace(name)
}

/// Files that profilers leave with a recording: read with it, or what it was made of and what was made of it.
const COMPANIONS: [&str; 15] = [
    "sysinfo.csv",
    "roofline.csv",
    "timestamps.csv",
    "kernel_names.csv",
    "pmc_dispatch_info.csv",
    "pmc_kernel_top.csv",
    "pmc_perf.csv",
    SPREADS_FILE,
    SHARES_FILE,
    PREDICTIONS_FILE,
    INSTRUCTIONS_FILE,
    MARKS_FILE,
    OCCUPANCY_FILE,
    LAUNCHES_FILE,
    REPEATS_FILE,
];

/// True if a file belongs to a recording by its name, compressed or not. Includes the contents of a pass's
/// folder.
pub fn is_companion(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let file = last(name);
    let (folders, _) = name.rsplit_once('/').unwrap_or(("", name));
    COMPANIONS.contains(&file)
        || is_level_file(file)
        || is_unjoined(file)
        || file.strip_prefix("results_").is_some_and(|it| is_unjoined(it) || is_level_file(it))
        || file.ends_with("agent_info.csv")
        || is_native_file(file)
        || file.contains("_pc_sampling_")
        || thread_trace::is_thread_trace(file)
        || folders.split('/').any(|it| is_pass(it) || thread_trace::is_thread_trace_folder(it))
}

/// Reads the recording that is in a folder.
pub(crate) fn read(files: &Files<'_>) -> Result<Workload, Error> {
    let tables = Tables::of(files);
    let mut w = by_form(files, &tables)?;
    beside::times(files, &mut w);
    let named = unread(files, &tables, &mut w);
    // Databases say it themselves, and a file that has counters is named.
    let is_said = named || w.generation == Generation::Rocpd;
    if w.counters.is_empty() && w.machine.emulator().is_none() && !is_said {
        without_counters(&mut w);
    }
    Ok(w)
}

/// Tables of a folder by their form.
#[derive(Default)]
struct Tables {
    /// Rows of dispatches and counters.
    long: Vec<String>,
    /// Rows of counters without descriptions of their dispatches.
    alone: Vec<String>,
    /// Rows of dispatches with counters.
    wide: Vec<String>,
    /// Rows of dispatches.
    dispatches: Vec<String>,
    /// Named as a profiler names its tables of counters, with another header or none.
    unknown: Vec<String>,
}

impl Tables {
    fn of(files: &Files<'_>) -> Tables {
        let mut tables = Tables::default();
        let named = files.named();
        let all: Vec<String> = if named.is_empty() {
            let is_table = |it: &&str| it.ends_with(".csv") && !BESIDE_COUNTERS.contains(&last(it));
            files.names().filter(is_table).map(str::to_string).collect()
        } else {
            named
        };
        for name in all.into_iter().take(LOOKED_INTO) {
            let list = match files.form(&name) {
                Some(Form::Long) => &mut tables.long,
                Some(Form::LongAlone) => &mut tables.alone,
                Some(Form::Wide) => &mut tables.wide,
                Some(Form::Dispatches) => &mut tables.dispatches,
                None if is_unjoined(&name) || name_of_counters(&name) => &mut tables.unknown,
                None => continue,
            };
            list.push(name);
        }
        tables
    }

    /// Files with counters.
    fn counted(&self) -> impl Iterator<Item = &String> {
        self.long.iter().chain(&self.alone).chain(&self.wide)
    }

    /// Whole dispatches in wide files. Names choose where a profiler leaves its steps: what it joins in the
    /// end is made of `results_*`.
    fn whole(&self) -> Vec<String> {
        let is_step = |name: &String| is_unjoined(name) || is_level_file(name);
        let (steps, others): (Vec<String>, Vec<String>) = self.wide.iter().cloned().partition(is_step);
        let (unjoined, levels): (Vec<String>, Vec<String>) =
            steps.into_iter().partition(|it| is_unjoined(it));
        [others, unjoined, levels].into_iter().find(|list| !list.is_empty()).unwrap_or_default()
    }
}

fn by_form(files: &Files<'_>, tables: &Tables) -> Result<Workload, Error> {
    let problems = Problems::default();
    let joined = "pmc_perf.csv".to_string();
    let named = files.named();
    let asked = |name: &str| named.is_empty() || named.iter().any(|it| it == name);
    if files.has(&joined) && asked(&joined) {
        return match files.form(&joined) {
            Some(Form::Long | Form::LongAlone) => long::folder(files, &[joined], problems),
            _ => wide::folder(files, &[joined], problems),
        };
    }
    let is_whole = |name: &str| tables.long.iter().chain(&tables.wide).any(|it| it == name);
    if files.names().any(|name| is_native_file(name) && asked(name) && !is_whole(name)) {
        return native::folder(files, problems);
    }
    if !tables.long.is_empty() {
        let steps = tables.long.iter().all(|name| is_unjoined(name) || is_results(name));
        return if steps {
            long::folder(files, &tables.long, problems)
        } else {
            rocprofv3::folder(files, &tables.long, &tables.dispatches, problems)
        };
    }
    let whole = tables.whole();
    if !whole.is_empty() {
        let steps = whole.iter().all(|name| is_unjoined(name));
        return if steps {
            wide::folder(files, &whole, problems)
        } else {
            wide::results(files, &whole, &tables.dispatches, problems)
        };
    }
    let mut databases = rocpd::Databases::new();
    for name in files.names().filter(|name| asked(name) && (is_database(name) || !named.is_empty())) {
        databases.insert(name.to_string(), files.bytes(name)?);
    }
    if databases.values().any(|bytes| rocprof::database::is_database(bytes)) {
        let read = rocpd::databases(files, &databases, problems);
        if read.is_ok() || tables.dispatches.is_empty() {
            return read;
        }
    }
    if !tables.dispatches.is_empty() {
        return times_alone(files, &tables.dispatches);
    }
    nothing_whole(files, tables)
}

/// Reads tables without counters: traces of kernels, or what older profilers write in the form of their
/// counters.
fn times_alone(files: &Files<'_>, names: &[String]) -> Result<Workload, Error> {
    let traces: Vec<String> = names.iter().filter(|name| ends(name, "kernel_trace.csv")).cloned().collect();
    let names = if traces.is_empty() { names } else { &traces };
    let is_old = names.iter().all(|name| is_results(name));
    if is_old {
        wide::results(files, names, &[], Problems::default())
    } else {
        rocprofv3::folder(files, &[], names, Problems::default())
    }
}

/// Counters without dispatches, or nothing at all.
fn nothing_whole(files: &Files<'_>, tables: &Tables) -> Result<Workload, Error> {
    if let Some(file) = files.names().find(|name| name.ends_with(native::BESIDE)) {
        let process = last(file).trim_end_matches(native::BESIDE).to_string();
        return Err(Error::CountersAlone { file: file.to_string(), process });
    }
    if !tables.alone.is_empty() {
        return long::folder(files, &tables.alone, Problems::default());
    }
    if !tables.unknown.is_empty() {
        return long::folder(files, &tables.unknown, Problems::default());
    }
    let some: Vec<&str> = files.names().take(4).collect();
    if files.names().any(|it| it.ends_with(".ttgir") || it.ends_with(".ttir")) {
        return Err(Error::TritonCache);
    }
    Err(Error::NoRecording { files: files.len(), some: some.join(", ") })
}

/// Reports files whose counters no reader used, and returns whether there is any with counters.
fn unread(files: &Files<'_>, tables: &Tables, w: &mut Workload) -> bool {
    let known: BTreeSet<&str> = w.counters.iter().map(|counter| counter.name.as_str()).collect();
    let sources: BTreeSet<&str> = w.sources.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for name in tables.counted().filter(|name| !sources.contains(name.as_str())) {
        let own = counted_in(files, name);
        // A level at the end of a dispatch is meaningless next to its sum over cycles.
        let is_known =
            |it: &String| known.contains(it.as_str()) || known.contains(format!("{it}_ACCUM").as_str());
        let new: Vec<String> = own.into_iter().filter(|it| !is_known(it)).collect();
        if new.is_empty() {
            continue;
        }
        let some = new[..new.len().min(NAMED)].join("`, `");
        let more = if new.len() > NAMED { format!(" and {} more", new.len() - NAMED) } else { String::new() };
        found.push(error(
            name,
            format!("the file has counters that no other has: `{some}`{more}"),
            "they are not read with the others; give its path to read it alone".to_string(),
        ));
    }
    let any = !found.is_empty();
    let unknown = tables.unknown.iter().filter(|name| !sources.contains(name.as_str()));
    found.extend(unknown.map(|name| {
        let empty = files.bytes(name).is_ok_and(|bytes| bytes.trim_ascii().is_empty());
        let (message, consequence) = match empty {
            true => ("the file is empty", "the file is left out"),
            false => ("the header line names no kernels and counters", "the file is left out"),
        };
        error(name, message.to_string(), consequence.to_string())
    }));
    w.problems.extend(found);
    any
}

fn error(file: &str, message: String, consequence: String) -> Problem {
    let file = file.to_string();
    Problem { kind: NoteKind::Error, file, line: None, column: None, rows: 0, message, consequence }
}

/// The counters of a table, without instances.
fn counted_in(files: &Files<'_>, name: &str) -> BTreeSet<String> {
    let Ok(bytes) = files.bytes(name) else { return BTreeSet::new() };
    let choose = |column: &str, _: &[u8]| if column == "Counter_Name" { Want::Text } else { Want::Skip };
    let long = !matches!(files.form(name), Some(Form::Wide));
    let names: Vec<String> = if long {
        let read = table::read(name, &bytes, &headers::plain, &choose, &mut Problems::default());
        let texts = read.ok().and_then(|it| it.text("Counter_Name").map(|texts| texts.distinct.clone()));
        texts.unwrap_or_default()
    } else {
        let header = table::header(&bytes).unwrap_or_default();
        let names = header.iter().map(|it| headers::plain(it)).filter(|it| !levels::is_accumulator(it));
        let counts = |name: &String| headers::is_counter(name) || headers::is_derived(name);
        names.filter(|name| headers::is_unknown(name) && counts(name)).collect()
    };
    names
        .iter()
        .map(|it| headers::split_instance(it.trim()).0.to_string())
        .filter(|it| !it.is_empty())
        .collect()
}

/// Says that no counter was read.
fn without_counters(w: &mut Workload) {
    let file = w.sources.first().cloned().unwrap_or_default();
    let dispatches = w.dispatches.len();
    w.problems.push(Problem {
        kind: NoteKind::Warning,
        file,
        line: None,
        column: None,
        rows: 0,
        message: format!("no counters are recorded of {}", counted(dispatches, "dispatch")),
        consequence: "only times and sizes are known".to_string(),
    });
}
