//! `rockhound breakdown`: predictions of a recording that keeps what its waves did.
//!
//! The one idea to keep in mind: dispatches come in the order in which they ran, since caches keep lines from one to the next; what
//! is predicted goes into the recording, and `analyze` shows it.

use crate::analyze;
use crate::args::{Analyze, Breakdown, Look, ReportFormat, ShortFormat};
use crate::device_code::DeviceCode;
use crate::exit::{Outcome, usage};
use crate::profile::predictions;
use crate::recording;
use analysis::workload::select;
use anyhow::{Context, Result, anyhow, bail};
use emu::Program;
use probe::{Events, Predicted, Replay, Table, events_file};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use workload::{PREDICTIONS_FILE, PREDICTIONS_HEADER, PredictionLine, Workload, code_object_file};

/// Predicts.
pub(crate) fn run(args: &Breakdown, look: &Look) -> Result<Outcome> {
    let name = args.path.display();
    let (workload, disk) = recording::read_with_files(&args.path)?;
    let folder = disk.folder.as_path();
    let (rows, _) =
        select(&workload, None, &args.pick.wanted()).map_err(|error| usage(error.message, error.hint))?;
    let mut rows: Vec<usize> = rows.into_iter().map(|row| row as usize).collect();
    rows.sort_by_key(|&row| workload.dispatches.id[row]);
    let (kept, lost): (Vec<usize>, Vec<usize>) =
        rows.into_iter().partition(|&row| folder.join(events_file(workload.dispatches.id[row])).is_file());
    if kept.is_empty() {
        return Err(usage(
            format!("`{name}` does not keep what waves did"),
            "`rockhound profile --keep-events` makes a recording that does",
        ));
    }
    if !lost.is_empty() {
        eprintln!("{} of the selected dispatches keep nothing and are left out", lost.len());
    }
    let mut state = State { folder, replay: None, tables: HashMap::new(), args };
    let mut found: BTreeMap<usize, Vec<Predicted>> = BTreeMap::new();
    for row in kept {
        let id = workload.dispatches.id[row];
        let file = folder.join(events_file(id));
        let predicted = state.dispatch(&file).with_context(|| format!("`{}`", file.display()))?;
        found.insert(row, predicted);
    }
    let text = merged(&workload, &found);
    let file = folder.join(PREDICTIONS_FILE);
    std::fs::write(&file, text).with_context(|| format!("cannot write `{}`", file.display()))?;
    let blocks = ["0.1", "0.3", "0.4"].map(str::to_owned);
    let mut report = Analyze::of_recording(folder, &blocks)?;
    report.pick.clone_from(&args.pick);
    report.format = match args.format {
        ShortFormat::Text => ReportFormat::Text,
        ShortFormat::Json => ReportFormat::Json,
    };
    analyze::run(&report, look)
}

struct State<'a> {
    folder: &'a Path,
    /// Made with the first dispatch, which says the GPU.
    replay: Option<Replay>,
    /// By code object and kernel.
    tables: HashMap<(String, String), Table>,
    args: &'a Breakdown,
}

impl State<'_> {
    fn dispatch(&mut self, file: &Path) -> Result<Vec<Predicted>> {
        let bytes = std::fs::read(file)?;
        let hint = "hint: record anew with `rockhound profile --keep-events`";
        let wrong = |error: probe::EventsError| anyhow!("{error}\n{hint}");
        let events = Events::read(&bytes).map_err(wrong)?;
        let model = Replay::model(&events.head).map_err(wrong)?;
        let key = (events.head.code.clone(), events.head.symbol.clone());
        if !self.tables.contains_key(&key) {
            let path = self.folder.join(code_object_file(&key.0));
            if key.0.is_empty() || !path.is_file() {
                bail!("the recording does not keep the code of `{}`\n{hint}", key.1);
            }
            let code = DeviceCode::find(&path, None)?;
            let program = Program::new(&code.data, &code.object, code.kernel(Some(&key.1))?)?;
            self.tables.insert(key.clone(), Table::new(&program));
        }
        let table = &self.tables[&key];
        let replay = match &mut self.replay {
            Some(replay) => replay,
            none => {
                let limits = self.args.limits || self.args.what_if.is_empty();
                let all = predictions(limits, &self.args.what_if, model)?;
                none.insert(Replay::new(model, all, self.args.threads))
            }
        };
        replay.run(events, table).map_err(wrong)
    }
}

/// The file of predictions: those found now, and those that were there of other dispatches, limits and changes.
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
