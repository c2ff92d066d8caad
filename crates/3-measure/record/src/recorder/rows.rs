//! Lines of dispatches in the files of a recording.
//!
//! The one idea to keep in mind: a file is its first line and a line or several for each dispatch, so that a recording can be
//! written while its program runs and dispatches are forgotten. Only where a later dispatch has a counter that none had
//! before do first lines change; old lines then get gaps.

use super::dispatch::{CHANNELS, Dispatch};
use super::folder::{length, whole};
use super::overview::apart_of;
use super::{Overview, Recorder};
use crate::marks::Apart;
use clock::Detail;
use counters::{Per, catalogue};
use std::collections::BTreeMap;
use std::sync::Arc;
use workload::{
    ACCUMULATOR, INSTRUCTIONS_FILE, INSTRUCTIONS_HEADER, LineOf, OCCUPANCY_FILE, OCCUPANCY_HEADER,
    PREDICTIONS_FILE, PREDICTIONS_HEADER, PredictionLine, RunOf, SHARES_FILE, SHARES_HEADER, Share,
    counters_header, write_counters, write_instructions, write_occupancy, write_prediction, write_share,
};

/// Files of the profilers: all counters, and the times alone.
const COUNTERS_FILE: &str = "pmc_perf.csv";
const TIMES_FILE: &str = "timestamps.csv";

/// A column of counters.
#[derive(Clone, Copy, Debug)]
struct Column {
    name: &'static str,
    /// Channel of a counter that has a column for each.
    channel: Option<usize>,
    /// Place among the values of a dispatch, mostly.
    place: usize,
}

impl Column {
    fn value(&self, dispatch: &Dispatch) -> Option<f64> {
        let Some(channel) = self.channel else {
            let value = at(&dispatch.counters, self)?.known()?;
            return Some(value as f64);
        };
        at(&dispatch.channels, self)?.get(channel).map(|&value| value as f64)
    }
}

/// The values of a column's counter: dispatches of another target have them at other places.
fn at<'d, T>(all: &'d [(&'static str, T)], column: &Column) -> Option<&'d T> {
    match all.get(column.place) {
        Some((name, value)) if std::ptr::eq(*name, column.name) || *name == column.name => Some(value),
        _ => all.iter().find(|it| it.0 == column.name).map(|it| &it.1),
    }
}

/// Files with lines for dispatches, and their columns.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// First line of each file.
    headers: BTreeMap<String, String>,
    main: Vec<Column>,
    /// Files of the level counters.
    levels: Vec<(String, Column)>,
    has_shares: bool,
}

impl Columns {
    /// First line of each file, by name.
    pub fn headers(&self) -> &BTreeMap<String, String> {
        &self.headers
    }
}

/// Lines of the dispatches, by file.
pub type Lines = BTreeMap<String, String>;

impl Recorder {
    /// Files and columns of the recording so far; the same value as long as they do not change.
    pub fn columns(&mut self) -> Arc<Columns> {
        let columns = self.current_columns();
        self.columns = Some(columns.clone());
        columns
    }

    pub(super) fn current_columns(&self) -> Arc<Columns> {
        self.columns.clone().unwrap_or_else(|| Arc::new(self.new_columns()))
    }

    fn new_columns(&self) -> Columns {
        let Overview { known, most_channels, has_predictions, has_occupancy, followed, .. } = &self.overview;
        let values = self.dispatches.last().or(self.last.as_deref());
        let mut columns = Columns::default();
        let mut names: Vec<(String, Option<u32>)> = Vec::new();
        for definition in catalogue().counters().iter().filter(|it| known.contains(it.name.as_str())) {
            let name = definition.name.as_str();
            let place = values.and_then(|it| it.counters.iter().position(|it| it.0 == name)).unwrap_or(0);
            let column = Column { name, channel: None, place };
            if definition.is_level() {
                columns.levels.push((format!("{name}.csv"), column));
                continue;
            }
            names.push(match catalogue().block(definition).per {
                // Units of a compute unit are counted as sums over all.
                Per::Cu | Per::Channel => (format!("{name}_sum"), None),
                Per::Xcd | Per::ShaderEngine => (name.to_owned(), None),
            });
            columns.main.push(column);
        }
        for name in CHANNELS {
            let place = values.and_then(|it| it.channels.iter().position(|it| it.0 == name)).unwrap_or(0);
            for channel in 0..most_channels.get(name).copied().unwrap_or(0) {
                names.push((name.to_owned(), Some(channel as u32)));
                columns.main.push(Column { name, channel: Some(channel), place });
            }
        }
        let followed = followed.is_some();
        columns.has_shares = self.detail != Detail::Full && (clock::can_share(self.model) || followed);
        let mut header = |file: &str, text: String| columns.headers.insert(file.to_owned(), text);
        header(COUNTERS_FILE, counters_header(names.iter().map(|(name, channel)| (name.as_str(), *channel))));
        header(TIMES_FILE, counters_header(std::iter::empty()));
        for (file, _) in &columns.levels {
            header(file, counters_header(std::iter::once((ACCUMULATOR, None))));
        }
        for (file, text, is_there) in [
            (INSTRUCTIONS_FILE, INSTRUCTIONS_HEADER, true),
            (PREDICTIONS_FILE, PREDICTIONS_HEADER, *has_predictions),
            (SHARES_FILE, SHARES_HEADER, columns.has_shares),
            (OCCUPANCY_FILE, OCCUPANCY_HEADER, *has_occupancy),
        ] {
            if is_there {
                header(file, format!("{text}\n"));
            }
        }
        columns
    }

    /// Appends the lines of all dispatches that are kept, and forgets these.
    pub fn take_lines(&mut self, out: &mut Lines) {
        let columns = self.columns();
        let mut now = self.before;
        for dispatch in &self.dispatches {
            self.write_lines(dispatch, &columns, &mut now, out);
        }
        self.before = now;
        if let Some(last) = self.dispatches.pop() {
            self.last = Some(Arc::new(last));
        }
        self.dispatches.clear();
    }

    /// Lines of all dispatches that are kept.
    pub(super) fn lines(&self, columns: &Columns) -> Lines {
        let mut out = Lines::new();
        let mut now = self.before;
        self.dispatches.iter().for_each(|it| self.write_lines(it, columns, &mut now, &mut out));
        out
    }

    /// Appends the lines of a dispatch that begins now.
    fn write_lines(&self, dispatch: &Dispatch, columns: &Columns, now: &mut i64, out: &mut Lines) {
        let size = |sizes: [u32; 3]| sizes.iter().map(|&size| f64::from(size)).product::<f64>();
        let start = *now;
        // Dispatches follow each other without a gap.
        *now += length(dispatch).unwrap_or(0);
        let timed = dispatch.time.is_some();
        let sizes = [
            size(dispatch.grid),
            size(dispatch.workgroup),
            f64::from(dispatch.lds),
            f64::from(dispatch.scratch),
            f64::from(dispatch.arch_vgprs),
            f64::from(dispatch.accum_vgprs),
            f64::from(dispatch.sgprs),
        ];
        let of = LineOf {
            dispatch: dispatch.id,
            gpu: dispatch.device,
            sizes: sizes.map(Some),
            kernel: &dispatch.kernel,
            times: [start, *now].map(|time| timed.then_some((time, 0.0))),
        };
        let main = columns.main.iter().map(|it| it.value(dispatch));
        write_counters(file(out, COUNTERS_FILE), &of, main);
        write_counters(file(out, TIMES_FILE), &of, std::iter::empty());
        for (name, column) in &columns.levels {
            write_counters(file(out, name), &of, std::iter::once(column.value(dispatch)));
        }
        let run = RunOf {
            dispatch: dispatch.id,
            kernel: &dispatch.kernel,
            symbol: &dispatch.symbol,
            code: &dispatch.code,
        };
        write_instructions(file(out, INSTRUCTIONS_FILE), run, &dispatch.instructions);
        self.write_modelled(dispatch, columns, out);
    }

    /// Appends the lines that only the models give.
    fn write_modelled(&self, dispatch: &Dispatch, columns: &Columns, out: &mut Lines) {
        let (id, kernel) = (dispatch.id, dispatch.kernel.as_str());
        for it in &dispatch.predicted {
            let line = PredictionLine {
                dispatch: id,
                kernel,
                lifted: it.lifted,
                name: &it.name,
                title: &it.title,
                nanoseconds: whole(it.nanoseconds),
                hurried: it.hurried,
            };
            write_prediction(file(out, PREDICTIONS_FILE), &line);
        }
        if let Some(Apart { time, counts }) = apart_of(dispatch).filter(|_| columns.has_shares) {
            let xcds = self.model.xcds.value;
            let share = Share {
                row: 0,
                followed: dispatch.shared.map_or(xcds, |it| it.simulated),
                xcds,
                time_error: time / 100.0,
                count_error: counts / 100.0,
                workgroups: dispatch.followed.map(|it| [it.followed, it.workgroups]),
            };
            write_share(file(out, SHARES_FILE), id, kernel, &share);
        }
        if let Some([waves, units]) = &dispatch.occupancy {
            write_occupancy(file(out, OCCUPANCY_FILE), id, kernel, waves, units);
        }
    }
}

/// Lines of a file.
fn file<'l>(lines: &'l mut Lines, name: &str) -> &'l mut String {
    if !lines.contains_key(name) {
        lines.insert(name.to_owned(), String::new());
    }
    lines.get_mut(name).expect("it is there now")
}
