//! Profiler recordings of every generation, read into one [`Workload`] value and written back as a folder.
//!
//! The one idea to keep in mind: files are told apart by what they hold (their header line, their magic bytes), and
//! whatever can be read is read; see [`Problem`] for what could not.
//!
//! ```
//! use std::collections::BTreeMap;
//! let mut folder = BTreeMap::new();
//! folder.insert("pmc_perf.csv".to_string(), b"Dispatch_ID,Kernel_Name,SQ_WAVES\n0,copy,64\n".to_vec());
//! let w = workload::read(&folder, &workload::Options::default()).unwrap();
//! assert_eq!(w.counters.get("SQ_WAVES").unwrap().values.get(0), Some(64.0));
//! ```

mod by_dispatch;
mod check;
mod dispatch_columns;
mod folder;
mod headers;
mod instructions;
mod join;
mod long;
mod marks;
mod model;
mod occupancy;
mod predictions;
mod problem;
mod rocpd;
mod shares;
mod side;
mod table;
mod values;
mod wide;
mod write;

pub use folder::Folder;
pub use instructions::{
    INSTRUCTIONS_FILE, INSTRUCTIONS_HEADER, InstructionRow, KernelRun, LdsUse, RunOf, STALLS, StallCycles,
    VectorUse, code_object_file, events_file, is_events_file, read_instructions, write_instructions,
};
pub use marks::{MARKS_FILE, MARKS_HEADER, Marks, TIME};
pub use model::{
    Ceilings, Counter, Counters, Dispatches, Extra, Generation, Machine, Workload, plain_kernel_name,
};
pub use occupancy::{OCCUPANCY_FILE, OCCUPANCY_HEADER, Occupancy, write_occupancy};
pub use predictions::{PREDICTIONS_FILE, PREDICTIONS_HEADER, Prediction, PredictionLine, write_prediction};
pub use problem::{Error, Problem, Severity};
pub use shares::{SHARES_FILE, SHARES_HEADER, Share, write_share};
pub use values::Values;
pub use view::Mark;
pub use wide::is_level_file;
pub use write::{write, write_ceilings};

use folder::Files;
use problem::Problems;

/// Bounds on what is read.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes one packed file may unpack to.
    pub max_unpacked: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_unpacked: 4 << 30 }
    }
}

/// Reads a recording.
pub fn read(folder: &dyn Folder, options: &Options) -> Result<Workload, Error> {
    let files = Files::new(folder, options.max_unpacked);
    let problems = Problems::default();
    if files.len() == 0 {
        return Err(Error::EmptyFolder);
    }
    if files.has("pmc_perf.csv") {
        let bytes = files.bytes("pmc_perf.csv")?;
        let header = bytes.split(|b| *b == b'\n').find(|l| !l.trim_ascii().is_empty()).unwrap_or(&[]);
        let long = header
            .split(|b| *b == b',')
            .any(|f| headers::plain(String::from_utf8_lossy(f).trim().trim_matches('"')) == "Counter_Name");
        drop(bytes);
        return if long { long::folder(&files, problems) } else { wide::folder(&files, problems) };
    }
    let ending = |suffix: &str| -> Vec<String> {
        files
            .names()
            .filter(|n| {
                let last = n.rsplit('/').next().unwrap_or(n);
                last == suffix || last.ends_with(&format!("_{suffix}"))
            })
            .map(str::to_string)
            .collect()
    };
    let (collections, traces) = (ending("counter_collection.csv"), ending("kernel_trace.csv"));
    if !collections.is_empty() || !traces.is_empty() {
        return long::rocprofv3(&files, &collections, &traces, problems);
    }
    let results: Vec<String> = files
        .names()
        .filter(|n| {
            let last = n.rsplit('/').next().unwrap_or(n);
            last.starts_with("results") && last.ends_with(".csv")
        })
        .map(str::to_string)
        .collect();
    if !results.is_empty() {
        return wide::results(&files, &results, problems);
    }
    let mut databases = Vec::new();
    for name in files.names() {
        if [".db", ".rocpd", ".sqlite"].iter().any(|e| name.ends_with(e)) || files.len() == 1 {
            let bytes = files.bytes(name)?;
            if bytes.starts_with(b"SQLite format 3\0") {
                databases.push((name.to_string(), bytes));
            }
        }
    }
    if !databases.is_empty() {
        return rocpd::databases(&databases, problems);
    }
    let some: Vec<&str> = files.names().take(4).collect();
    Err(Error::NoRecording { files: files.len(), some: some.join(", ") })
}
