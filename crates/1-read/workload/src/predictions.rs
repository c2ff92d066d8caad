//! Predicted times of dispatches under changed conditions, a side file of the counters.
//!
//! One line per dispatch and limit or change; when read, each limit or change is a column over the dispatches
//! of the workload. docs/recording.md describes every column.

use crate::by_dispatch::ByDispatch;
use crate::folder::Files;
use crate::model::Dispatches;
use crate::problem::Problems;
use crate::values::Values;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// Name of the file.
pub const PREDICTIONS_FILE: &str = "pmc_predictions.csv";

/// Its header.
pub const PREDICTIONS_HEADER: &str = "Dispatch_ID,Kernel_Name,Kind,Name,Title,Time_ns,Hurried";

/// Values of `Kind`: a removed limit of the GPU, and another change.
const LIMIT: &str = "limit";
const CHANGE: &str = "what-if";

/// Maximum number of limits and changes: each is a column.
const MOST: usize = 256;

/// Times of the dispatches with one limit lifted, or with one change.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// A limit of the GPU is lifted; otherwise something is changed.
    pub lifted: bool,
    /// Name: `lds-conflicts`, `vgpr=96`.
    pub name: String,
    /// Display text: `no LDS bank conflicts`.
    pub title: String,
    /// Nanoseconds by dispatch.
    pub times: Values,
    /// In some dispatch, not all workgroups ran in the order they would have.
    pub hurried: bool,
}

/// A line of the file.
#[derive(Clone, Copy, Debug)]
pub struct PredictionLine<'a> {
    /// Dispatch.
    pub dispatch: u64,
    /// Kernel.
    pub kernel: &'a str,
    /// A limit is lifted.
    pub lifted: bool,
    /// Name of the limit or change.
    pub name: &'a str,
    /// Display text.
    pub title: &'a str,
    /// Time.
    pub nanoseconds: u64,
    /// Not all workgroups ran in the order they would have.
    pub hurried: bool,
}

/// Appends a line.
pub fn write_prediction(out: &mut String, line: &PredictionLine<'_>) {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let _ = writeln!(
        out,
        "{},{},{},{},{},{},{}",
        line.dispatch,
        quoted(line.kernel),
        if line.lifted { LIMIT } else { CHANGE },
        quoted(line.name),
        quoted(line.title),
        line.nanoseconds,
        u8::from(line.hurried)
    );
}

/// The file's columns.
const COLUMNS: ByDispatch = ByDispatch {
    file: PREDICTIONS_FILE,
    texts: &["Kind", "Name", "Title"],
    numbers: &["Time_ns", "Hurried"],
    optional: &["Title", "Hurried"],
    unusable: "have no dispatch, kind or time, or are one kind of prediction too many",
};

/// Reads the file, if it exists, as columns over the dispatches, in order of first appearance.
pub(crate) fn read(files: &Files<'_>, dispatches: &Dispatches, problems: &mut Problems) -> Vec<Prediction> {
    let mut order: Vec<Prediction> = Vec::new();
    let mut columns: Vec<BTreeMap<usize, f64>> = Vec::new();
    let mut places: HashMap<(bool, String), usize> = HashMap::new();
    COLUMNS.read(files, dispatches, problems, |row, line| {
        let time = line.number("Time_ns").filter(|time| *time > 0.0)?;
        let lifted = match line.text("Kind") {
            LIMIT => true,
            CHANGE => false,
            _ => return None,
        };
        let (name, title) = (line.text("Name"), line.text("Title"));
        let key = (lifted, name.to_string());
        if order.len() >= MOST && !places.contains_key(&key) {
            return None;
        }
        let place = *places.entry(key).or_insert_with(|| {
            order.push(Prediction {
                lifted,
                name: name.to_string(),
                title: if title.is_empty() { name } else { title }.to_string(),
                times: Values::default(),
                hurried: false,
            });
            columns.push(BTreeMap::new());
            order.len() - 1
        });
        order[place].hurried |= line.number("Hurried") == Some(1.0);
        columns[place].insert(row as usize, time);
        Some(())
    });
    for (prediction, column) in order.iter_mut().zip(columns) {
        prediction.times = (0..dispatches.len()).map(|row| column.get(&row).copied()).collect();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Workload};

    fn workload(predictions: &str) -> Workload {
        let counters = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n0,copy,0,100,4\n7,copy,100,300,4\n";
        let files = BTreeMap::from([
            ("pmc_perf.csv".to_string(), counters.as_bytes().to_vec()),
            (PREDICTIONS_FILE.to_string(), predictions.as_bytes().to_vec()),
        ]);
        crate::read(&files, &Options::default()).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut text = format!("{PREDICTIONS_HEADER}\n");
        for (dispatch, lifted, name, nanoseconds) in
            [(0, true, "l2", 80), (0, false, "vgpr=96,lds=0", 90), (7, true, "l2", 150)]
        {
            let line = PredictionLine {
                dispatch,
                kernel: "copy(\"a\")",
                lifted,
                name,
                title: "of, \"people\"",
                nanoseconds,
                hurried: dispatch == 7,
            };
            write_prediction(&mut text, &line);
        }
        let found = workload(&text).predictions;
        let all: Vec<_> = found.iter().map(|it| (it.lifted, it.name.as_str(), it.hurried)).collect();
        assert_eq!(all, [(true, "l2", true), (false, "vgpr=96,lds=0", false)]);
        assert_eq!(found[0].title, "of, \"people\"");
        assert_eq!([0, 1].map(|row| found[0].times.get(row)), [Some(80.0), Some(150.0)]);
        assert_eq!([0, 1].map(|row| found[1].times.get(row)), [Some(90.0), None]);
    }

    #[test]
    fn what_cannot_be_used_is_left_out_and_said() {
        for (text, problem) in [
            ("Dispatch_ID,Name\n0,l2\n", "no column `Kind`, `Time_ns`;"),
            (
                "Dispatch_ID,Kernel_Name,Kind,Name,Title,Time_ns,Hurried\n9,copy,limit,l2,,80,0\n",
                "no dispatch",
            ),
            ("Dispatch_ID,Kernel_Name,Kind,Name,Title,Time_ns,Hurried\n0,copy,other,l2,,80,0\n", "kind"),
            ("Dispatch_ID,Kernel_Name,Kind,Name,Title,Time_ns,Hurried\n0,copy,limit,l2,,-1,0\n", "time"),
        ] {
            let found = workload(text);
            assert_eq!(found.predictions, [], "{text}");
            assert!(
                found.problems.iter().any(|it| it.to_string().contains(problem)),
                "{text} {:?}",
                found.problems
            );
        }
    }
}
