//! Problems of a recording: description, place, consequence.
//!
//! A defect affects only the values that depend on it. Readers report it here and continue; [`Error`] is for
//! unusable input.

use std::collections::HashMap;
use std::fmt;
use view::{Note, NoteKind};

/// Message on a file that recordings of this layout have.
pub const ABSENT: &str = "the file is absent";

/// One problem of the input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// How much it matters; after an error a command should end with exit code 1.
    pub kind: NoteKind,
    /// File it is in, relative to the folder.
    pub file: String,
    /// First line it is on, 1-based.
    pub line: Option<u64>,
    /// Column it is in.
    pub column: Option<String>,
    /// Rows (or cells) concerned; 0 when it is not about rows.
    pub rows: u64,
    /// Description.
    pub message: String,
    /// Consequence for the values, or suggested fix.
    pub consequence: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column `{column}`")?;
        }
        write!(f, ": {}", self.message)?;
        if self.rows > 1 {
            write!(f, " ({} rows)", self.rows)?;
        }
        if !self.consequence.is_empty() {
            write!(f, "; {}", self.consequence)?;
        }
        Ok(())
    }
}

impl From<&Problem> for Note {
    fn from(problem: &Problem) -> Note {
        Note { kind: problem.kind, text: problem.to_string() }
    }
}

/// The input is unusable.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// the folder is empty
    #[error(
        "the folder holds no files\nhint: give the folder that holds `pmc_perf.csv`, a rocprofv3 output folder or a rocpd database"
    )]
    EmptyFolder,
    /// no known recording
    #[error(
        "no recording found in {} ({some})\nhint: expected `pmc_perf.csv`, `*_counter_collection.csv`, `counters_*.csv`, `results.csv` or a rocpd `.db`{}",
        view::counted(*.files, "file"),
        times(.some)
    )]
    NoRecording {
        /// Number of files.
        files: usize,
        /// Some of their names.
        some: String,
    },
    /// no recording, but a cache of Triton's
    #[error(
        "a folder of what Triton compiled, and no recording of what ran\nhint: `rockhound inspect` judges it; `rockhound profile -- python SCRIPT` makes a recording"
    )]
    TritonCache,
    /// the file has no rows
    #[error(
        "`{file}` holds a header and no dispatches\nhint: the profiler was interrupted or no kernel matched its filter; record again"
    )]
    HeaderOnly {
        /// File.
        file: String,
    },
    /// rows, of which none is whole
    #[error(
        "`{file}`:{line}: the row has {fields} of {width} fields, and the file has no whole row\nhint: {}",
        if .fields < .width { "the file is cut off; record or copy it again" } else { "the header lacks columns; record again" }
    )]
    NoWholeRow {
        /// File.
        file: String,
        /// Line of the first row.
        line: u64,
        /// Fields of that row.
        fields: usize,
        /// Columns of the header.
        width: usize,
    },
    /// the file is empty
    #[error("`{file}` is empty\nhint: the profiler was interrupted; record again")]
    EmptyFile {
        /// File.
        file: String,
    },
    /// a needed column is absent
    #[error("`{file}`:1: no column `{column}`\nhint: {hint}")]
    NoColumn {
        /// File.
        file: String,
        /// Column.
        column: String,
        /// Suggested fix.
        hint: String,
    },
    /// too many columns
    #[error("`{file}`:1: {columns} columns; at most {limit} are read")]
    TooManyColumns {
        /// File.
        file: String,
        /// Columns found.
        columns: usize,
        /// Limit.
        limit: usize,
    },
    /// counters without the dispatches they are of
    #[error(
        "`{file}`: its counters have no dispatches\nhint: give the folder that holds the database of process {process} too"
    )]
    CountersAlone {
        /// File.
        file: String,
        /// Process that recorded it.
        process: String,
    },
    /// a file of a set is absent
    #[error(
        "`{file}`: no `{absent}` file of the same pass and process is beside it\nhint: the profiler was interrupted, or files were left behind when the folder was copied"
    )]
    Incomplete {
        /// File.
        file: String,
        /// Kinds of files.
        absent: String,
    },
    /// files from different runs
    #[error("{} runs of their own, and no passes of one: {}\nhint: give the path of one", .runs.len(), run_names(.runs))]
    SeveralRuns {
        /// The files of each run.
        runs: Vec<Vec<String>>,
        /// They have counters, not times alone.
        counted: bool,
    },
    /// far more cells than values
    #[error(
        "`{file}`: {counters} counters of {dispatches} dispatches, of which {values} values are there\nhint: the columns of dispatches and counters are damaged; record again"
    )]
    TooSparse {
        /// File.
        file: String,
        /// Dispatches.
        dispatches: usize,
        /// Counters.
        counters: usize,
        /// Values.
        values: usize,
    },
    /// a quoted field does not end
    #[error("`{file}`:{line}: a quoted field does not end\nhint: the file is cut off or is not CSV")]
    OpenQuote {
        /// File.
        file: String,
        /// Line.
        line: u64,
    },
    /// a file could not be had from the caller
    #[error("`{file}`: {reason}")]
    Unreadable {
        /// File.
        file: String,
        /// Reason.
        reason: String,
    },
    /// gzip data is damaged or too large
    #[error("`{file}`: cannot be unpacked: {reason}")]
    Gzip {
        /// File.
        file: String,
        /// Reason.
        reason: String,
    },
    /// the database does not contain a recording
    #[error("`{file}`: {reason}\nhint: {hint}")]
    Database {
        /// File.
        file: String,
        /// Description.
        reason: String,
        /// Suggested fix.
        hint: String,
    },
}

/// Runs named in an error before the rest is only counted.
const NAMED: usize = 8;

/// Runs by the first of their files.
fn run_names(runs: &[Vec<String>]) -> String {
    let name = |files: &Vec<String>| match files.len() {
        0 | 1 => format!("`{}`", files.first().map_or("", String::as_str)),
        2 => format!("`{}` with 1 more file", files[0]),
        n => format!("`{}` with {} more files", files[0], n - 1),
    };
    let named: Vec<String> = runs.iter().take(NAMED).map(name).collect();
    let more = runs.len().saturating_sub(NAMED);
    if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
}

/// Problems met so far, equal ones counted together.
#[derive(Debug, Default)]
pub struct Problems {
    /// In the order met.
    pub list: Vec<Problem>,
    /// Runs that lack dispatches, which is not a defect if dispatches take turns at counters: file,
    /// dispatches without counterpart, all dispatches.
    pub partial: Vec<(String, u64, usize)>,
    seen: HashMap<(String, Option<String>, String), usize>,
}

/// Maximum number of problems listed; further ones are only counted with similar ones.
const LISTED: usize = 1000;

impl Problems {
    /// Adds a problem; one with the same file, column and message as an earlier one only raises its count.
    pub fn add(&mut self, problem: Problem) {
        let kind = problem.message.clone();
        self.add_kind(&kind, problem);
    }

    /// Adds a problem that counts with others of its kind, whatever their messages show as an example.
    pub fn add_kind(&mut self, kind: &str, problem: Problem) {
        let key = (problem.file.clone(), problem.column.clone(), kind.to_string());
        if let Some(at) = self.seen.get(&key) {
            self.list[*at].rows += problem.rows;
        } else if self.list.len() < LISTED {
            self.seen.insert(key, self.list.len());
            self.list.push(problem);
        }
    }

    /// Adds a problem that concerns some values.
    pub fn warn(
        &mut self,
        file: &str,
        rows: u64,
        message: impl Into<String>,
        consequence: impl Into<String>,
    ) {
        self.add(Problem {
            kind: NoteKind::Warning,
            file: file.to_string(),
            line: None,
            column: None,
            rows,
            message: message.into(),
            consequence: consequence.into(),
        });
    }

    /// Adds a problem that leaves out part of the input.
    pub fn error(&mut self, file: &str, message: impl Into<String>, consequence: impl Into<String>) {
        self.add(Problem {
            kind: NoteKind::Error,
            file: file.to_string(),
            line: None,
            column: None,
            rows: 0,
            message: message.into(),
            consequence: consequence.into(),
        });
    }
}

/// Which command reads the files, if their names say that they hold times and no counters.
fn times(names: &str) -> &'static str {
    if ["_stats.csv", "_trace.csv"].iter().any(|ending| names.contains(ending)) {
        "; these hold times: `rockhound trace` reads the folder"
    } else {
        ""
    }
}
