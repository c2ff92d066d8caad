//! Side files of the counters that have lines about dispatches.
//!
//! A file declares its columns and the type of a line; a line without a dispatch of the recording, or one
//! that its reader rejects, is skipped and counted.

use crate::folder::Files;
use crate::model::Dispatches;
use crate::problem::Problems;
use crate::side;
use crate::table::{Table, Want};
use std::collections::HashMap;

/// The column that every such file has.
const DISPATCH: &str = "Dispatch_ID";

/// A file of lines about dispatches. Its columns are found by name; others are passed over.
pub(crate) struct ByDispatch {
    /// Its name.
    pub(crate) file: &'static str,
    /// Columns of text.
    pub(crate) texts: &'static [&'static str],
    /// Columns of numbers, other than the dispatch.
    pub(crate) numbers: &'static [&'static str],
    /// Columns of both kinds that may be absent.
    pub(crate) optional: &'static [&'static str],
    /// Message about skipped lines.
    pub(crate) unusable: &'static str,
}

/// One line.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    table: &'a Table,
    at: usize,
}

impl<'a> Line<'a> {
    /// A text; an empty one where the column is absent.
    pub(crate) fn text(self, column: &str) -> &'a str {
        self.table.text(column).map_or("", |texts| texts.get(self.at))
    }

    /// A number, none of which is below zero.
    pub(crate) fn number(self, column: &str) -> Option<f64> {
        self.table.number(column)?.get(self.at).filter(|number| *number >= 0.0)
    }
}

impl ByDispatch {
    /// Reads the file, if it exists, and passes each line to `take` with the row of its dispatch; `take`
    /// returns `None` if it cannot use a line.
    pub(crate) fn read(
        &self,
        files: &Files<'_>,
        dispatches: &Dispatches,
        problems: &mut Problems,
        mut take: impl FnMut(u32, Line<'_>) -> Option<()>,
    ) {
        let choose = |name: &str, _: &[u8]| match name {
            DISPATCH => Want::Number,
            name if self.numbers.contains(&name) => Want::Number,
            name if self.texts.contains(&name) => Want::Text,
            _ => Want::Skip,
        };
        let consequence = "the file is left out";
        let Some(table) = side::table(files, self.file, &choose, consequence, problems) else { return };
        let columns = std::iter::once(&DISPATCH).chain(self.texts).chain(self.numbers);
        let needed = columns.filter(|name| !self.optional.contains(name));
        let absent: Vec<&str> = needed.copied().filter(|name| table.position(name).is_none()).collect();
        if !absent.is_empty() {
            problems.error(self.file, format!("there is no column `{}`", absent.join("`, `")), consequence);
            return;
        }
        let rows: HashMap<u64, u32> = (0..).zip(&dispatches.id).map(|(row, id)| (*id, row)).collect();
        let mut left_out = 0;
        for at in 0..table.rows {
            let line = Line { table: &table, at };
            let row = line.number(DISPATCH).and_then(|id| rows.get(&(id as u64)));
            if row.and_then(|row| take(*row, line)).is_none() {
                left_out += 1;
            }
        }
        if left_out > 0 {
            let message = format!("{left_out} lines {}", self.unusable);
            problems.warn(self.file, left_out, message, "they are left out");
        }
    }
}
