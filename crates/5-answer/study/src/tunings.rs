//! Questions about tuning databases, answered as values.
//!
//! The one idea to keep in mind: which row a library takes is decided by the rule of that library's loader, which is written
//! down once, in [`query`]; everything else compares rows by key and time.

mod advise;
mod convert;
mod coverage;
mod diff;
mod lint;
mod merge;
mod query;
mod show;

pub use advise::advise;
pub use convert::{Converted, To, convert};
pub use coverage::coverage;
pub use diff::{Calls, calls, diff};
pub use lint::lint;
pub use merge::{Merged, NOISE, Options as MergeOptions, Refusal, merge};
pub use query::{Choice, Problem, Taken, choose, query};
pub use show::{Order, Selection, show};

use tunedb::{Row, Tunings};
use view::{SheetCell, SheetColumn, SheetKind};

pub(crate) const fn column(
    key: &'static str,
    title: &'static str,
    unit: &'static str,
    kind: SheetKind,
) -> SheetColumn {
    SheetColumn { key, title, unit, kind }
}

/// A text that a row may not say.
pub(crate) fn said<T: AsRef<str>>(value: &Result<T, &'static str>) -> SheetCell {
    match value {
        Ok(text) => SheetCell::text(text.as_ref()),
        Err(reason) => SheetCell::missing(*reason),
    }
}

/// Sizes of a row.
pub(crate) fn shape(row: &Row<'_>) -> SheetCell {
    match &row.shape {
        Ok(shape) => SheetCell::text(shape.to_string()),
        Err(reason) => SheetCell::missing(*reason),
    }
}

/// Target and compute units of a row: `gfx942 304`.
pub(crate) fn gpu(row: &Row<'_>) -> SheetCell {
    match (&row.target, &row.cu_count) {
        (Ok(target), Ok(units)) => SheetCell::text(format!("{target}/{units}")),
        (Ok(target), Err(_)) => SheetCell::text(target.as_ref()),
        (Err(_), Ok(units)) => SheetCell::text(format!("any/{units}")),
        (Err(reason), Err(_)) => SheetCell::missing(*reason),
    }
}

/// Facts about a file, for the head of its table.
pub(crate) fn facts(file: &Tunings<'_>) -> Vec<(String, String)> {
    let mut facts = vec![("format".to_owned(), file.format.name().to_owned())];
    facts.extend(file.versions.iter().map(|it| (it.key.to_string(), it.value.trim_end().to_owned())));
    facts
}
