//! Which reader a folder is for.
//!
//! The one idea to keep in mind: names say which files may hold dispatches, their headers which form they have. A reading without
//! counters is never silent, and an error where a file has counters after all.

use crate::folder::Files;
use crate::long::is_long;
use crate::model::Generation;
use crate::problem::{Error, Problem, Problems, Severity};
use crate::recording::Workload;
use crate::{headers, long, native, rocpd, rocprofv3, thread_trace, wide};

/// Ends of the names of databases.
const DATABASES: [&str; 3] = [".db", ".rocpd", ".sqlite"];

/// Files looked into for a column of counters before the rest are passed over.
const LOOKED_INTO: usize = 64;

fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn ends(name: &str, suffix: &str) -> bool {
    last(name) == suffix || last(name).ends_with(&format!("_{suffix}"))
}

/// Whether a file is that of a pass, `pmc_perf_3.csv`, which the profiler joins with others in the end.
fn is_unjoined(name: &str) -> bool {
    let number = last(name).strip_prefix("pmc_perf_").and_then(|it| it.strip_suffix(".csv"));
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
}

fn is_results(name: &str) -> bool {
    last(name).starts_with("results") && last(name).ends_with(".csv")
}

fn is_database(name: &str) -> bool {
    DATABASES.iter().any(|end| name.ends_with(end))
}

/// Whether a file of this name holds dispatches of a recording: the folder that has it is one.
pub fn holds_dispatches(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    last(name) == "pmc_perf.csv"
        || is_unjoined(name)
        || is_results(name)
        || is_database(name)
        || native::is_native_file(name)
        || name.ends_with(native::BESIDE)
        || ends(name, "counter_collection.csv")
        || ends(name, "kernel_trace.csv")
        || thread_trace::is_thread_trace(name)
}

/// Reads the recording that is in a folder.
pub(crate) fn read(files: &Files<'_>) -> Result<Workload, Error> {
    let mut w = by_name(files)?;
    if w.counters.is_empty() && w.machine.emulator().is_none() {
        without_counters(files, &mut w);
    }
    Ok(w)
}

fn by_name(files: &Files<'_>) -> Result<Workload, Error> {
    let problems = Problems::default();
    let named = |is: &dyn Fn(&str) -> bool| -> Vec<String> {
        files.names().filter(|name| is(name)).map(str::to_string).collect()
    };
    if files.has("pmc_perf.csv") {
        let names = ["pmc_perf.csv".to_string()];
        let long = is_long(&files.bytes(&names[0])?);
        return if long {
            long::folder(files, &names, problems)
        } else {
            wide::folder(files, &names, problems)
        };
    }
    if files.names().any(native::is_native_file) {
        return native::folder(files, problems);
    }
    // What stands beside a database belongs to it.
    let beside = |name: &str| name.ends_with(native::BESIDE);
    let collections = named(&|name| ends(name, "counter_collection.csv") && !beside(name));
    let traces = named(&|name| ends(name, "kernel_trace.csv"));
    if !collections.is_empty() || !traces.is_empty() {
        return rocprofv3::folder(files, &collections, &traces, problems);
    }
    let unjoined = named(&is_unjoined);
    let results = named(&is_results);
    for (names, wide) in [
        (&results, wide::results as fn(&Files<'_>, &[String], Problems) -> Result<Workload, Error>),
        (&unjoined, wide::folder),
    ] {
        if names.is_empty() {
            continue;
        }
        let long = names.iter().any(|name| files.bytes(name).is_ok_and(|bytes| is_long(&bytes)));
        return if long { long::folder(files, names, problems) } else { wide(files, names, problems) };
    }
    let mut databases = rocpd::Databases::new();
    for name in files.names().filter(|name| is_database(name) || files.len() == 1) {
        databases.insert(name.to_string(), files.bytes(name)?);
    }
    if databases.values().any(|bytes| database::is_database(bytes)) {
        return rocpd::databases(files, &databases, problems);
    }
    // A file of another name is read by what it holds.
    let others = with_counters(files, true);
    if !others.is_empty() {
        return long::folder(files, &others, problems);
    }
    if let Some(file) = files.names().find(|name| beside(name)) {
        let process = last(file).trim_end_matches(native::BESIDE).to_string();
        return Err(Error::CountersAlone { file: file.to_string(), process });
    }
    let some: Vec<&str> = files.names().take(4).collect();
    if files.names().any(|it| it.ends_with(".ttgir") || it.ends_with(".ttir")) {
        return Err(Error::TritonCache);
    }
    Err(Error::NoRecording { files: files.len(), some: some.join(", ") })
}

/// CSV files with a row per dispatch and counter; `whole`: which name the kernel too.
fn with_counters(files: &Files<'_>, whole: bool) -> Vec<String> {
    let is = |name: &&str| {
        files.bytes(name).is_ok_and(|bytes| is_long(&bytes) && (!whole || names_kernels(&bytes)))
    };
    let all = files.names().filter(|name| name.ends_with(".csv") || files.len() == 1);
    all.take(LOOKED_INTO).filter(is).map(str::to_string).collect()
}

fn names_kernels(bytes: &[u8]) -> bool {
    let header = bytes.split(|b| *b == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or(&[]);
    let mut fields = header.split(|b| *b == b',');
    fields.any(|it| headers::plain(String::from_utf8_lossy(it).trim().trim_matches('"')) == "Kernel_Name")
}

/// Says that no counter was read, and where one is.
fn without_counters(files: &Files<'_>, w: &mut Workload) {
    let file = w.sources.first().cloned().unwrap_or_default();
    let dispatches = w.dispatches.len();
    let mut say = |severity, file: String, message: &str, consequence: &str| {
        let (message, consequence) = (message.to_string(), consequence.to_string());
        w.problems.push(Problem { severity, file, line: None, column: None, rows: 0, message, consequence });
    };
    let unread = with_counters(files, false);
    for file in &unread {
        let consequence = "no counter of it could be read; give its path to read it alone";
        say(Severity::Error, file.clone(), "the file has a column of counters", consequence);
    }
    // Databases say it themselves.
    if unread.is_empty() && w.generation != Generation::Rocpd {
        let message = format!("no counters are recorded of {dispatches} dispatches");
        say(Severity::Warning, file, &message, "only times and sizes are known");
    }
}
