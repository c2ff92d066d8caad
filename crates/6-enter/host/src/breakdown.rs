//! Predictions of a recording that keeps what its waves did.
//!
//! Dispatches come in the order in which they ran, since caches keep lines from one to the next; the
//! predictions go into the recording, and a report shows them.

use crate::device_code::DeviceCode;
use crate::run::predictions;
use crate::{Source, recording, spill, usage};
use analysis::workload::{KernelFilter, select};
use anyhow::{Context, Result, anyhow, bail};
use emu::Program;
use probe::Table;
use record::{Events, EventsError, Head, Predicted, Replay, Settings};
use sorting::Sort;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use view::Wanted;
use workload::{
    PREDICTIONS_FILE, PREDICTIONS_HEADER, PredictionLine, Workload, code_object_file, events_file,
};

/// A request for predictions.
pub struct Breakdown<'a> {
    /// The recording.
    pub source: &'a Source,
    /// Its dispatches.
    pub wanted: &'a Wanted,
    /// Lift one limit at a time.
    pub limits: bool,
    /// Changes: `vgpr=96`.
    pub what_if: &'a [String],
    /// Threads that run timing models; 0: one per core.
    pub threads: usize,
}

/// Predicts, and returns the folder of the recording, which has the predictions then.
pub fn predict(asked: &Breakdown<'_>, mut say: impl FnMut(&str)) -> Result<PathBuf> {
    let name = asked.source;
    let (workload, disk) = recording::read_with_files(asked.source)?;
    let folder = disk.folder.as_path();
    let wanted = asked.wanted;
    let filter = KernelFilter::new(&workload, &wanted.kernels)?;
    let (rows, _) = select(&workload, filter.as_ref(), wanted)?;
    let chosen: BTreeSet<usize> = rows.into_iter().map(|row| row as usize).collect();
    let file = |row: usize| folder.join(events_file(workload.dispatches.id[row]));
    let mut order: Vec<usize> = (0..workload.dispatches.len()).collect();
    order.in_order_by_key(|&row| workload.dispatches.id[row]);
    let is_kept = |row: &usize| file(*row).is_file();
    let Some(last) = order.iter().rposition(|row| chosen.contains(row) && is_kept(row)) else {
        return Err(usage(
            format!("`{name}` does not keep what waves did"),
            "`rockhound profile --keep-events` makes a recording that does",
        ));
    };
    let lost = chosen.iter().filter(|row| !is_kept(row)).count();
    if lost > 0 {
        say(&format!("{lost} of the selected dispatches keep nothing and are left out"));
    }
    // Caches hold what every dispatch before left in them, whether its own time is asked for or not.
    let (kept, gone): (Vec<usize>, Vec<usize>) = order[..=last].iter().partition(|row| is_kept(row));
    if !gone.is_empty() {
        let them = if gone.len() == 1 {
            "1 dispatch before keeps"
        } else {
            &format!("{} dispatches before keep", gone.len())
        };
        say(&format!("caches are not as they were: {them} nothing"));
    }
    let heads = kept.iter().filter(|row| chosen.contains(row)).map(|&row| head(&file(row)));
    let heads = heads.collect::<Result<Vec<Head>>>()?;
    let mut state = State { folder, replay: replay(&heads, asked, &mut say)?, tables: HashMap::new() };
    let mut found: BTreeMap<usize, Vec<Predicted>> = BTreeMap::new();
    for row in kept {
        let file = file(row);
        let predicted = state.dispatch(&file).with_context(|| format!("`{}`", file.display()))?;
        if chosen.contains(&row) {
            found.insert(row, predicted);
        }
    }
    let text = merged(&workload, &found);
    let file = folder.join(PREDICTIONS_FILE);
    std::fs::write(&file, text).with_context(|| format!("cannot write `{}`", file.display()))?;
    Ok(disk.folder)
}

/// Header of a kept dispatch.
fn head(file: &Path) -> Result<Head> {
    let read = || -> Result<Head> {
        let bytes = std::fs::read(file)?;
        Ok(Events::read(&bytes).map_err(wrong)?.head)
    };
    read().with_context(|| format!("`{}`", file.display()))
}

/// Timing models for the request, which must suit at least one of the dispatches.
fn replay(heads: &[Head], asked: &Breakdown<'_>, say: &mut dyn FnMut(&str)) -> Result<Replay> {
    let model = Replay::model(heads.first().context("no dispatch is selected")?).map_err(wrong)?;
    let mut replay = Replay::new(
        model,
        predictions(
            &Settings { lifts_limits: asked.limits, what_if: asked.what_if.to_vec(), ..Settings::default() },
            model,
        )?,
        asked.threads,
    );
    replay.spill_to(spill::store());
    let mut misfits: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for misfit in heads.iter().flat_map(|head| replay.misfits(head)) {
        *misfits.entry(misfit).or_default() += 1;
    }
    for (name, reason) in misfits.keys() {
        let all: usize = misfits.iter().filter(|((other, _), _)| other == name).map(|(_, count)| count).sum();
        if all == heads.len() {
            return Err(usage(
                format!("{name}: {reason}"),
                "none of the selected dispatches can run so; give another value",
            ));
        }
    }
    for ((name, reason), count) in &misfits {
        say(&format!("{name}: {reason}; left out of {count} of {} dispatches", heads.len()));
    }
    Ok(replay)
}

/// Remedy for events that cannot be used.
const RECORD_ANEW: &str = "hint: record again with `rockhound profile --keep-events`";

fn wrong(error: EventsError) -> anyhow::Error {
    anyhow!("{error}\n{RECORD_ANEW}")
}

struct State<'a> {
    folder: &'a Path,
    replay: Replay,
    /// By code object and kernel.
    tables: HashMap<(String, String), Table>,
}

impl State<'_> {
    /// Predicts the times of the next dispatch.
    fn dispatch(&mut self, file: &Path) -> Result<Vec<Predicted>> {
        let bytes = std::fs::read(file)?;
        let events = Events::read(&bytes).map_err(wrong)?;
        let key = (events.head.code.clone(), events.head.symbol.clone());
        if !self.tables.contains_key(&key) {
            let path = self.folder.join(code_object_file(&key.0));
            if key.0.is_empty() || !path.is_file() {
                bail!("the recording does not keep the code of `{}`\n{RECORD_ANEW}", key.1);
            }
            let code = DeviceCode::find(&path, None)?;
            let program = Program::new(&code.data, &code.object, code.kernel(Some(&key.1))?)?;
            self.tables.insert(key.clone(), Table::new(&program));
        }
        self.replay.run(events, &self.tables[&key]).map_err(wrong)
    }
}

/// The file of predictions: those found now, and those that were there of other dispatches, limits and
/// changes.
fn merged(workload: &Workload, found: &BTreeMap<usize, Vec<Predicted>>) -> String {
    let mut out = format!("{PREDICTIONS_HEADER}\n");
    for row in 0..workload.dispatches.len() {
        let (dispatch, kernel) = (workload.dispatches.id[row], workload.kernel_of(row));
        let new = found.get(&row).map_or(&[][..], Vec::as_slice);
        let old = workload.predictions.iter().filter_map(|it| {
            let again = new.iter().any(|new| new.lifted == it.lifted && new.name == it.name);
            let nanoseconds = it.times.get(row).filter(|_| !again)? as u64;
            let (lifted, name, title, hurried) = (it.lifted, &*it.name, &*it.title, it.hurried);
            Some(PredictionLine { dispatch, kernel, lifted, name, title, nanoseconds, hurried })
        });
        let new = new.iter().map(|it| {
            // As the recorder writes them.
            let nanoseconds = it.nanoseconds.round().max(1.0) as u64;
            let (lifted, name, title, hurried) = (it.lifted, &*it.name, &*it.title, it.hurried);
            PredictionLine { dispatch, kernel, lifted, name, title, nanoseconds, hurried }
        });
        new.chain(old).for_each(|line| workload::write_prediction(&mut out, &line));
    }
    out
}
