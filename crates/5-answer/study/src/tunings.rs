//! Questions about tuning databases, answered as values.
//!
//! The rule of a library's loader decides which row it takes; the rules are written once, in [`query`];
//! everything else compares rows by key and time.

mod advise;
mod convert;
mod coverage;
mod diff;
mod lint;
mod machine;
mod merge;
mod query;
mod shapes;
mod show;
mod space;
mod tensile;
mod tune;

pub use advise::advise;
pub use convert::{Converted, To, chosen, convert};
pub use coverage::{WITHOUT, coverage};
pub use diff::{Calls, calls, check_one_kind, diff};
pub use lint::lint;
pub use machine::NamedMachine;
pub use merge::{Merged, NOISE, Options as MergeOptions, Refusal, merge};
pub use query::{Choice, Problem, Taken, choose, query};
pub use shapes::{ShapesTo, Written as WrittenShapes, shapes, write as write_shapes};
pub use show::{Order, Selection, show};
pub use tensile::{describe_configuration, is_configuration, recorded_spaces};
pub use tune::{
    ModelConfig, Operation, ProductClock, ProductLaunch, ProductTimes, ShapesQuestion, TuneFor, TunedShapes,
    tune_shapes,
};
pub use tunedb::Tunings;

use rayon::prelude::*;
use tunedb::{Kind, Row, Source};
use view::{
    Answer, Cell, Column, ColumnKind, FileError, Input, NamedValue, Row as TableRow, TUNEDB_SCHEMA, Table,
    Tuned, UsageError,
};

/// Files that could be read, in their order, and the errors of the others. A file is its name, its content
/// and whether the user named it: other files of a folder may hold anything.
pub fn read<'f>(
    files: impl IntoIterator<Item = (&'f str, Source<'f>, bool)>,
) -> (Vec<Tunings<'f>>, Vec<FileError>) {
    let files: Vec<_> = files.into_iter().collect();
    let size = |source: &Source<'_>| if let Source::Bytes(bytes) = source { bytes.len() } else { 0 };
    let size: usize = files.iter().map(|(_, source, _)| size(source)).sum();
    let one = |(name, source, _): &(&'f str, Source<'f>, bool)| match source {
        Source::Bytes(bytes) => tunedb::read(name, bytes),
        Source::Read(read) => Ok((*read).clone()),
    };
    let results: Vec<_> = match size < ALONE {
        true => files.iter().map(one).collect(),
        false => files.par_iter().map(one).collect(),
    };
    let (mut read, mut errors) = (Vec::new(), Vec::new());
    for ((name, _, named), result) in files.iter().zip(results) {
        match result {
            Ok(tunings) => read.push(tunings),
            Err(_) if !named => {}
            Err(error) => errors.push(FileError {
                file: (*name).to_owned(),
                error: error.to_string(),
                hint: (!error.hint.is_empty()).then(|| error.hint.to_owned()),
            }),
        }
    }
    (read, errors)
}

/// Tuning files, logs and the products of timelines as lists of problems.
pub fn problem_lists<'f>(
    files: impl IntoIterator<Item = (&'f str, Source<'f>, bool)>,
    timelines: &'f [(String, ::trace::Timeline)],
) -> (Vec<Tunings<'f>>, Vec<FileError>) {
    let (mut lists, mut errors) = read(files);
    for (name, timeline) in timelines {
        match crate::trace::products(name, &[timeline]) {
            Some(list) => lists.push(list),
            None => errors.push(FileError {
                file: name.clone(),
                error: "the trace shows no matrix products with their sizes".to_owned(),
                hint: Some("record it with `record_shapes=True`".to_owned()),
            }),
        }
    }
    (lists, errors)
}

/// Fails if bytes could not be read as a tuning file.
pub fn check(name: &str, bytes: &[u8]) -> Result<(), String> {
    tunedb::read(name, bytes).map(drop).map_err(|error| error.to_string())
}

/// Bytes of files below which one core reads them sooner than several begin.
const ALONE: usize = 1 << 18;

/// The kind of problem with this word: `gemm`, `moe`, `conv`, `kernel`.
pub fn kind(word: &str) -> Option<Kind> {
    [Kind::Gemm, Kind::Moe, Kind::Convolution, Kind::Kernel].into_iter().find(|kind| kind.key() == word)
}

/// Sizes of a matrix product, `4096,*,4096`; a `*` is any.
pub fn sizes(text: &str) -> Result<[Option<u64>; 3], UsageError> {
    let wrong = |hint: &str| UsageError::new(format!("`{text}` is no M,N,K"), hint);
    let parts: Vec<Option<u64>> = text
        .split([',', 'x'])
        .map(|part| match part.trim() {
            "*" => Ok(None),
            part => part.parse().map(Some),
        })
        .collect::<Result<_, _>>()
        .map_err(|_| wrong("write three numbers such as `4096,1024,4096`; `*` is any"))?;
    <[Option<u64>; 3]>::try_from(parts).map_err(|_| wrong("write three numbers such as `4096,1024,4096`"))
}

/// An answer on these files, without tables.
pub(crate) fn answer<'f, 'a: 'f>(
    question: &'static str,
    files: impl IntoIterator<Item = &'f Tunings<'a>>,
) -> Answer<Tuned> {
    Answer {
        inputs: files.into_iter().map(input).collect(),
        ..Answer::new(TUNEDB_SCHEMA, Tuned { question })
    }
}

fn input(file: &Tunings<'_>) -> Input {
    let rows = file.rows.len() as u64;
    Input { used: view::counted(rows, "row"), ..Input::new(file.base_name(), &file.name, file.format.name()) }
}

/// A table of rows without labels.
pub(crate) fn table(
    title: impl Into<String>,
    facts: Vec<(String, String)>,
    columns: Vec<Column>,
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> Table {
    Table {
        title: title.into(),
        facts: facts.into_iter().map(|(name, value)| NamedValue::new(name, value)).collect(),
        columns,
        rows: rows.into_iter().map(TableRow::of).collect(),
        ..Table::default()
    }
}

pub(crate) fn column(key: &'static str, title: &str, unit: &str, kind: ColumnKind) -> Column {
    Column { key, ..Column::new(title, kind, unit) }
}

/// A text that a row may not say.
pub(crate) fn said<T: AsRef<str>>(value: &Result<T, &'static str>) -> Cell {
    match value {
        Ok(text) => Cell::text(text.as_ref()),
        Err(reason) => Cell::missing(*reason),
    }
}

/// Sizes of a row.
pub(crate) fn shape(row: &Row<'_>) -> Cell {
    match &row.shape {
        Ok(shape) => Cell::text(shape.to_string()),
        Err(reason) => Cell::missing(*reason),
    }
}

/// `rounded up to 8192`: the size that a loader takes for another one.
pub(crate) fn rounded_words(wanted: u64, taken: u64) -> String {
    let way = if taken < wanted { "down" } else { "up" };
    format!("rounded {way} to {taken}")
}

/// Target and compute units of a row: `gfx942 304`.
pub(crate) fn gpu(row: &Row<'_>) -> Cell {
    match (&row.target, &row.cu_count) {
        (Ok(target), Ok(units)) => Cell::text(format!("{target}/{units}")),
        (Ok(target), Err(_)) => Cell::text(target.as_ref()),
        (Err(_), Ok(units)) => Cell::text(format!("any/{units}")),
        (Err(reason), Err(_)) => Cell::missing(*reason),
    }
}

/// Facts about a file, for the head of its table.
pub(crate) fn facts(file: &Tunings<'_>) -> Vec<(String, String)> {
    let mut facts = vec![("format".to_owned(), file.format.name().to_owned())];
    facts.extend(file.versions.iter().map(|it| (it.key.to_string(), it.value.trim_end().to_owned())));
    facts
}
