//! rocpd SQLite databases, as rocprofv3 writes them.
//!
//! The database is opened from bytes in memory, read-only and with a bound on the work of a query, because
//! the views in it are untrusted SQL.

use crate::agent;
use crate::check;
use crate::folder::Files;
use crate::gather::{Gather, Row};
use crate::model::Generation;
use crate::passes::{Part, Passes};
use crate::problem::{Error, Problems};
use crate::recording::Workload;
use crate::times::split;
use crate::{multiplex, native, side};
use rocprof::rocpd::{COUNTERS, KERNELS, Number, Rocpd};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use view::counted;

/// Steps of SQLite's machine one database may cost, in thousands.
const STEP_THOUSANDS: u64 = 5_000_000;

/// Databases by name, with their bytes.
pub(crate) type Databases<'a> = BTreeMap<String, Cow<'a, [u8]>>;

/// Reads databases: each is one run of the application, or one process of a run if a pass has its own folder.
pub(crate) fn databases(
    files: &Files<'_>,
    databases: &Databases<'_>,
    mut problems: Problems,
) -> Result<Workload, Error> {
    let mut gather = Gather::default();
    let mut failed = None;
    let mut rows = 0;
    let mut agent = BTreeMap::new();
    let mut read = BTreeSet::new();
    let names: Vec<String> = databases.keys().cloned().collect();
    let passes = Passes::of(&names);
    for (name, part) in passes.files() {
        let beside = native_counters(files, name);
        read.extend(beside.clone());
        let database = Database { files, name, beside: beside.as_deref() };
        match database.add(&mut gather, part, &databases[name], &mut problems) {
            Ok((n, facts)) => {
                rows += n;
                for (name, value) in facts {
                    agent.entry(name).or_insert(value);
                }
            }
            Err(e) if names.len() == 1 => return Err(e),
            Err(e) => {
                problems.error(name, side::first_line(&e.to_string()), "the database is left out");
                failed = Some(e);
            }
        }
    }
    for name in files.names().filter(|name| name.ends_with(native::BESIDE) && !read.contains(*name)) {
        problems.error(name, "no database of the same process is beside it", "its counters are left out");
    }
    if rows == 0 {
        return Err(failed.unwrap_or(Error::HeaderOnly { file: names.first().cloned().unwrap_or_default() }));
    }
    let mut w = gather.finish(Generation::Rocpd, passes.sources(), &mut problems)?;
    w.sources.extend(read);
    if files.has("sysinfo.csv") {
        w.machine = side::machine(files, &mut problems);
        w.ceilings = side::ceilings(files, &w.machine, &mut problems);
    }
    let has_facts = w.machine.target().is_some();
    if !has_facts && !agent.contains_key("gpu_arch") {
        problems.warn(&names[0], 0, "the database names no GPU", "the target is not known; name it");
    }
    if !has_facts {
        for (name, value) in agent {
            w.machine.facts.entry(name).or_insert(value);
        }
    }
    w.settings = side::settings(files, &mut problems);
    multiplex::fill(&mut w, &mut problems);
    check::workload(&mut w, problems);
    Ok(w)
}

/// The counter file that a process wrote in addition to its database:
/// `out/pmc_1/7_native_counter_collection.csv` of `out/pmc_1/host/7_results.db`.
fn native_counters(files: &Files<'_>, database: &str) -> Option<String> {
    let (mut folder, file) = database.rsplit_once('/').unwrap_or(("", database));
    let process = file.split(['_', '.']).next().filter(|process| !process.is_empty())?;
    loop {
        let slash = if folder.is_empty() { "" } else { "/" };
        let name = format!("{folder}{slash}{process}{}", native::BESIDE);
        if files.has(&name) {
            return Some(name);
        }
        if folder.is_empty() {
            return None;
        }
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
    }
}

/// One database.
struct Database<'a> {
    files: &'a Files<'a>,
    name: &'a str,
    /// The file with counters of the same process.
    beside: Option<&'a str>,
}

impl Database<'_> {
    fn fail(&self, reason: String, hint: &str) -> Error {
        Error::Database { file: self.name.to_string(), reason, hint: hint.to_string() }
    }

    /// Adds its rows and the rows of its side file. Returns the number of rows, and the facts of the GPU.
    fn add(
        &self,
        gather: &mut Gather,
        part: Part,
        bytes: &[u8],
        problems: &mut Problems,
    ) -> Result<(u64, BTreeMap<String, String>), Error> {
        let broken =
            |e: rusqlite::Error| self.fail(e.to_string(), "the file is damaged or no rocpd database");
        if !rocprof::database::is_database(bytes) {
            return Err(self
                .fail("the file is no database".to_string(), "the profiler was interrupted; record again"));
        }
        let db = Rocpd::open(bytes, STEP_THOUSANDS).map_err(broken)?;
        let (with_counters, kernels) =
            (db.columns(COUNTERS).map_err(broken)?, db.columns(KERNELS).map_err(broken)?);
        if with_counters.is_empty() && kernels.is_empty() {
            return Err(self.fail(
                format!("the database has neither view `{COUNTERS}` nor `{KERNELS}`"),
                "record with `rocprofv3 --output-format rocpd`",
            ));
        }
        let mut rows = 0;
        if !with_counters.is_empty() {
            rows =
                rows_of(&db, COUNTERS, &with_counters, &mut |row| gather.add(part, row)).map_err(broken)?;
        }
        if let Some(beside) = self.beside {
            rows += self.add_beside((&mut *gather, part), (&db, rows > 0), beside, problems)?;
        }
        if rows == 0 && !kernels.is_empty() {
            rows = rows_of(&db, KERNELS, &kernels, &mut |row| gather.add(part, row)).map_err(broken)?;
            if rows > 0 {
                problems.warn(
                    self.name,
                    0,
                    "the database holds no counters",
                    "only times and sizes are known",
                );
            }
        }
        Ok((rows, db.gpus().unwrap_or_default().first().into_iter().flat_map(agent::facts).collect()))
    }

    /// Adds the counters of the database's side file to its dispatches. Counters of the database take
    /// precedence.
    fn add_beside(
        &self,
        (gather, part): (&mut Gather, Part),
        (db, has_counters): (&Rocpd, bool),
        beside: &str,
        problems: &mut Problems,
    ) -> Result<u64, Error> {
        let broken =
            |e: rusqlite::Error| self.fail(e.to_string(), "the file is damaged or no rocpd database");
        let table = match native::counter_rows(self.files, beside, problems) {
            Ok(table) => table,
            Err(e) => {
                problems.error(beside, side::first_line(&e.to_string()), "the file is left out");
                return Ok(0);
            }
        };
        let mut own: HashMap<(u64, String), f64> = HashMap::new();
        let mut launches: HashMap<u64, Owned> = HashMap::new();
        let mut look = |row: &Row<'_>| {
            launches.entry(row.dispatch).or_insert_with(|| Owned::of(row));
            if let Some(value) = row.value.filter(|_| !row.counter.is_empty()) {
                *own.entry((row.dispatch, row.counter.to_string())).or_insert(0.0) += value;
            }
        };
        // Times of the trace take precedence over times of rows with counters, which may be from another run.
        for view in if has_counters { &[KERNELS, COUNTERS][..] } else { &[KERNELS] } {
            let columns = db.columns(view).map_err(broken)?;
            if !columns.is_empty() {
                rows_of(db, view, &columns, &mut look).map_err(broken)?;
            }
        }
        // Counters have a line for each instance of their block.
        let mut sums: BTreeMap<(u64, &str), f64> = BTreeMap::new();
        for (dispatch, counter, value) in table.iter() {
            *sums.entry((dispatch, counter)).or_insert(0.0) += value.unwrap_or(f64::NAN);
        }
        let (mut added, mut differ, mut strangers) = (0, 0, 0);
        for ((dispatch, counter), value) in sums {
            match (own.get(&(dispatch, counter.to_string())), launches.get(&dispatch)) {
                (Some(known), _) => differ += u64::from((known - value).abs() > 1e-9 * known.abs()),
                (None, Some(launch)) => {
                    let value = Some(value).filter(|value| value.is_finite());
                    gather.add(part, &Row { counter, value, ..launch.row(dispatch) });
                    added += 1;
                }
                (None, None) => strangers += 1,
            }
        }
        if differ > 0 {
            let message = format!("{} not as in `{}`", counted(differ, "value"), self.name);
            problems.warn(beside, differ, message, "those in the database are used");
        }
        if strangers > 0 {
            let values = counted(strangers, "value");
            let message = format!("{values} of dispatches that `{}` does not have", self.name);
            problems.warn(beside, strangers, message, "left out");
        }
        Ok(added)
    }
}

/// A dispatch of a database without its counters.
struct Owned {
    kernel: String,
    row: Row<'static>,
}

impl Owned {
    fn of(row: &Row<'_>) -> Owned {
        let plain = Row { kernel: "", counter: "", value: None, ..row.clone() };
        let Row { dispatch, gpu, start, end, sizes, .. } = plain;
        Owned {
            kernel: row.kernel.to_string(),
            row: Row { dispatch, gpu, start, end, sizes, ..Row::default() },
        }
    }

    fn row(&self, dispatch: u64) -> Row<'_> {
        Row { dispatch, kernel: &self.kernel, ..self.row.clone() }
    }
}

/// Rows of a view, under our names.
fn rows_of(
    db: &Rocpd,
    view: &str,
    columns: &[String],
    take: &mut dyn FnMut(&Row<'_>),
) -> rusqlite::Result<u64> {
    let time = |number: Option<Number>| match number? {
        Number::Whole(v) => Some((v, 0.0)),
        Number::Real(v) => split(v),
    };
    db.launches(view, columns, |it| {
        take(&Row {
            dispatch: time(it.dispatch).map_or(0, |v| v.0.max(0) as u64),
            gpu: time(it.gpu).map_or(0, |v| v.0.clamp(0, i64::from(u32::MAX)) as u32),
            kernel: &it.kernel,
            start: time(it.start),
            end: time(it.end),
            sizes: it.sizes,
            counter: &it.counter,
            value: it.value,
        });
    })
}
