//! Output of rocprof-compute's native collector: counters, dispatches and kernels in separate files, a set of
//! three for each pass and process.
//!
//! IDs of dispatches and kernels are unique within one process only. Counters are matched to dispatches by
//! dispatch ID, dispatches to kernels by kernel ID, and passes to each other as in other formats.

use crate::check;
use crate::folder::Files;
use crate::gather::{Gather, Row};
use crate::model::Generation;
use crate::multiplex;
use crate::names::{KINDS, native_file};
use crate::passes::{Part, natural};
use crate::problem::{Error, Problems};
use crate::recording::Workload;
use crate::side;
use crate::table::{self, Table, Want};
use crate::times::Time;
use std::collections::{BTreeMap, HashMap};
use view::counted;

/// End of the name of the counter file that accompanies a rocpd database of the same process.
pub(crate) const BESIDE: &str = "_native_counter_collection.csv";

/// Columns of text; all others are numbers or times.
const TEXTS: [&str; 2] = ["kernel_name", "counter_name"];

/// Columns with times.
const TIMES: [&str; 2] = ["start_timestamp", "end_timestamp"];

/// The files of one process in one pass, by their kinds.
type Set = [Option<String>; 3];

/// A dispatch as its own file has it.
struct Launch<'a> {
    gpu: u32,
    kernel: &'a str,
    start: Option<Time>,
    end: Option<Time>,
    sizes: [Option<f64>; 7],
}

/// Reads a folder of such files.
pub(crate) fn folder(files: &Files<'_>, mut problems: Problems) -> Result<Workload, Error> {
    let mut sets: BTreeMap<(String, u64), Set> = BTreeMap::new();
    for name in files.names() {
        let Some((kind, pass, process)) = native_file(name) else { continue };
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let key = (format!("{folder}/{pass}"), process);
        sets.entry(key).or_default()[kind] = Some(name.to_string());
    }
    let mut sets: Vec<((String, u64), Set)> = sets.into_iter().collect();
    sets.sort_by_cached_key(|((pass, process), _)| (natural(pass), *process));
    let mut gather = Gather::default();
    gather.by_instance = true;
    let mut runs: Vec<(String, u32)> = Vec::new();
    let mut sources: Vec<String> = Vec::new();
    let mut more: Vec<String> = Vec::new();
    let mut failed = None;
    for ((pass, _), set) in &sets {
        let process = runs.last().filter(|last| last.0 == *pass).map_or(0, |last| last.1 + 1);
        if process == 0 {
            sources.push(set.iter().flatten().next().cloned().unwrap_or_default());
        }
        more.extend(set.iter().flatten().skip(usize::from(process == 0)).cloned());
        runs.push((pass.clone(), process));
        let run = sources.len() as u32 - 1;
        let part = Part { run, process, first: run };
        if let Err(error) = add(files, set, part, &mut gather, &mut problems) {
            let file = set.iter().flatten().next().map_or("", String::as_str);
            problems.error(
                file,
                side::first_line(&error.to_string()),
                "the process is left out of this pass",
            );
            failed = Some(error);
        }
    }
    if gather.is_empty() {
        let file = sources.first().cloned().unwrap_or_default();
        return Err(failed.unwrap_or(Error::HeaderOnly { file }));
    }
    let mut w = gather.finish(Generation::Native, sources, &mut problems)?;
    w.sources.extend(more);
    w.machine = side::machine(files, &mut problems);
    w.ceilings = side::ceilings(files, &w.machine, &mut problems);
    w.settings = side::settings(files, &mut problems);
    multiplex::fill(&mut w, &mut problems);
    check::workload(&mut w, problems);
    Ok(w)
}

/// Reads one of the files; `needed` are columns without which it is of no use.
fn read(files: &Files<'_>, file: &str, needed: &[&str], problems: &mut Problems) -> Result<Table, Error> {
    let choose = |name: &str, _: &[u8]| match name {
        name if TEXTS.contains(&name) => Want::Text,
        name if TIMES.contains(&name) => Want::Time,
        "kernel_short_name" | "" => Want::Skip,
        _ => Want::Number,
    };
    let rename = |header: &str| header.trim().to_ascii_lowercase();
    let table = table::read(file, &files.bytes(file)?, &rename, &choose, problems)?;
    match needed.iter().find(|name| table.position(name).is_none()) {
        Some(column) => Err(Error::NoColumn {
            file: file.to_string(),
            column: (*column).to_string(),
            hint: "the file is of another profiler, or its header line is missing".to_string(),
        }),
        None => Ok(table),
    }
}

fn id(table: &Table, column: &str, row: usize) -> Option<u64> {
    table.number(column)?.get(row).filter(|id| *id >= 0.0).map(|id| id as u64)
}

fn time(table: &Table, column: &str, row: usize) -> Option<Time> {
    let times = table.time(column)?;
    Some(((*times.whole.get(row)?)?, times.fraction.get(row).unwrap_or(0.0)))
}

/// Row of each kernel in the table of symbols, by its number; the first one counts.
fn rows_by_kernel(symbols: &Table) -> HashMap<u64, usize> {
    let mut kernels = HashMap::new();
    for row in 0..symbols.rows {
        if let Some(kernel) = id(symbols, "kernel_id", row) {
            kernels.entry(kernel).or_insert(row);
        }
    }
    kernels
}

/// Adds what one process recorded in one pass.
fn add(
    files: &Files<'_>,
    set: &Set,
    part: Part,
    gather: &mut Gather,
    problems: &mut Problems,
) -> Result<(), Error> {
    let [Some(counters), Some(dispatch), Some(symbols)] = set else {
        let absent: Vec<&str> = KINDS.iter().zip(set).filter(|it| it.1.is_none()).map(|it| *it.0).collect();
        return Err(Error::Incomplete {
            file: set.iter().flatten().next().cloned().unwrap_or_default(),
            absent: absent.join("`, `"),
        });
    };
    let symbols_table = read(files, symbols, &["kernel_id", "kernel_name"], problems)?;
    let kernels = rows_by_kernel(&symbols_table);
    let dispatches = read(files, dispatch, &["dispatch_id", "kernel_id"], problems)?;
    if dispatches.rows == 0 {
        return Err(files
            .bytes(dispatch)
            .map_or_else(|error| error, |bytes| table::without_rows(dispatch, &bytes)));
    }
    let mut launches: HashMap<u64, Launch<'_>> = HashMap::with_capacity(dispatches.rows);
    let (mut nameless, mut repeated) = (0, 0);
    for row in 0..dispatches.rows {
        let Some(dispatch) = id(&dispatches, "dispatch_id", row) else { continue };
        let symbol = id(&dispatches, "kernel_id", row).and_then(|kernel| kernels.get(&kernel));
        nameless += u64::from(symbol.is_none());
        let of_dispatch = |column: &str| dispatches.number(column).and_then(|values| values.get(row));
        let of_kernel = |column: &str| symbols_table.number(column)?.get(*symbol?);
        let name = symbol.and_then(|symbol| symbols_table.text("kernel_name").map(|it| it.get(*symbol)));
        let launch = Launch {
            gpu: id(&dispatches, "gpu_id", row).unwrap_or(0) as u32,
            kernel: name.unwrap_or("(kernel without name)"),
            start: time(&dispatches, TIMES[0], row),
            end: time(&dispatches, TIMES[1], row),
            sizes: [
                of_dispatch("grid_size"),
                of_dispatch("workgroup_size"),
                of_dispatch("lds_per_workgroup"),
                of_dispatch("scratch_per_workitem"),
                of_kernel("arch_vgpr"),
                of_kernel("accum_vgpr"),
                of_kernel("sgpr"),
            ],
        };
        if launches.contains_key(&dispatch) {
            repeated += 1;
            continue;
        }
        gather.add(part, &as_row(dispatch, &launch));
        launches.insert(dispatch, launch);
    }
    if nameless > 0 {
        let message = format!(
            "{nameless} of {} dispatches have a kernel that `{symbols}` does not name",
            dispatches.rows
        );
        problems.error(dispatch, message, "they are taken together as one kernel without a name");
    }
    if repeated > 0 {
        let message = format!("{repeated} dispatch IDs occur more than once");
        problems.warn(dispatch, repeated, message, "the first line of each is read");
    }
    let values = counter_rows(files, counters, problems)?;
    let mut strangers = 0;
    for (dispatch, counter, value) in values.iter() {
        match launches.get(&dispatch) {
            Some(launch) => gather.add(part, &Row { counter, value, ..as_row(dispatch, launch) }),
            None => strangers += 1,
        }
    }
    if strangers > 0 {
        let message =
            format!("{} of dispatches that `{dispatch}` does not have", counted(strangers, "value"));
        problems.warn(counters, strangers, message, "left out");
    }
    Ok(())
}

fn as_row<'a>(dispatch: u64, launch: &Launch<'a>) -> Row<'a> {
    let Launch { gpu, kernel, start, end, sizes } = launch;
    Row { dispatch, gpu: *gpu, kernel, start: *start, end: *end, sizes: *sizes, counter: "", value: None }
}

/// Lines of a file with counters.
pub(crate) struct CounterRows(Table);

/// Reads a file with counters: a line for each dispatch, counter and instance.
pub(crate) fn counter_rows(
    files: &Files<'_>,
    file: &str,
    problems: &mut Problems,
) -> Result<CounterRows, Error> {
    read(files, file, &["dispatch_id", "counter_name", "counter_value"], problems).map(CounterRows)
}

impl CounterRows {
    /// Dispatch, counter and value of each line; a line without a dispatch is passed over.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &str, Option<f64>)> {
        let table = &self.0;
        (0..table.rows).filter_map(move |row| {
            let counter = table.text("counter_name")?.get(row);
            Some((id(table, "dispatch_id", row)?, counter, table.number("counter_value")?.get(row)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        for (name, want) in [
            ("counters_pmc_perf_0_1000.csv", Some((0, "pmc_perf_0", 1000))),
            ("a/dispatch_pmc_perf_12_7.csv", Some((1, "pmc_perf_12", 7))),
            ("kernel_symbols_x_3.csv", Some((2, "x", 3))),
            ("counters_1000.csv", None),
            ("counters_pmc_x.csv", None),
            ("dispatch__5.csv", None),
            ("dispatches_a_5.csv", None),
        ] {
            assert_eq!(native_file(name), want, "{name}");
        }
    }
}
