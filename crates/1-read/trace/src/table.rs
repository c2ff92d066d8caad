//! CSV by header: columns are found by name, in any case of letters, and unknown ones are passed over.

use crate::error::{Error, note_at};
use crate::timeline::Timeline;
use std::cell::Cell;
use std::io::{BufRead, BufReader, Read};
use view::NoteKind;

/// Maximum number of lines of other programs before a header.
const LEAD: usize = 50;
/// Maximum number of line ends within a header.
const BROKEN: u64 = 8;
/// Column names by which a header is recognized, in any format.
const FIRST: [&str; 11] = [
    "kind",
    "guid",
    "domain",
    "name",
    "index",
    "dispatch_id",
    "correlation_id",
    "kernelname",
    "sample_timestamp",
    "gpu_id",
    "kernel_name",
];

/// Whether a line is the header of a table.
fn is_header(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let first = text.split(',').next().unwrap_or_default().trim().trim_matches(['"', '\u{feff}']);
    text.contains(',') && FIRST.contains(&first.to_ascii_lowercase().as_str())
}

/// Adds the lines that a header goes on in: mails and pages break long lines within a name. Returns their number.
fn end_header(line: &mut Vec<u8>, rest: &mut impl BufRead) -> u64 {
    for added in 0..BROKEN {
        let quotes = line.iter().filter(|byte| **byte == b'"').count();
        let more = quotes % 2 == 1 && rest.take(1 << 20).read_until(b'\n', line).is_ok_and(|read| read > 0);
        if !more {
            return added;
        }
    }
    BROKEN
}

/// Whether a text has such a header near its beginning.
pub(crate) fn begins(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').take(LEAD).any(is_header)
}

/// A table that is read row by row.
pub(crate) struct Table<'r> {
    reader: csv::Reader<Box<dyn Read + 'r>>,
    record: csv::StringRecord,
    columns: Vec<String>,
    skipped: u64,
    /// A time had a fraction.
    fractions: Cell<bool>,
}

impl<'r> Table<'r> {
    /// Finds the header, past lines of other programs.
    pub(crate) fn open(input: &'r mut dyn Read) -> Result<Table<'r>, Error> {
        let mut buffered = BufReader::with_capacity(1 << 16, input);
        for skipped in 0..LEAD {
            let mut line = Vec::new();
            // A header is short; a file without line ends is none of ours.
            let read = buffered.by_ref().take(1 << 20).read_until(b'\n', &mut line);
            match read {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return Err(Error::Table { line: skipped as u64 + 1, what: error.to_string() }),
            }
            if !is_header(&line) {
                continue;
            }
            let lines = end_header(&mut line, &mut buffered);
            let columns = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_slice());
            let columns = columns.into_records().next().and_then(Result::ok).unwrap_or_default();
            let reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .from_reader(Box::new(buffered) as Box<dyn Read + 'r>);
            return Ok(Table {
                reader,
                record: csv::StringRecord::new(),
                columns: columns
                    .iter()
                    .map(|c| c.trim_start_matches('\u{feff}').replace(['\r', '\n'], "").to_ascii_lowercase())
                    .collect(),
                skipped: skipped as u64 + 1 + lines,
                fractions: Cell::new(false),
            });
        }
        Err(Error::Unknown("text without the header of a profiler's table".to_owned()))
    }

    /// Column of a name.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c == name)
    }

    /// Whether all these columns are there.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.column(name).is_some())
    }

    /// The header.
    pub(crate) fn header(&self) -> String {
        self.columns.join(",")
    }

    /// Goes to the next row; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Result<(), Error>> {
        match self.reader.read_record(&mut self.record) {
            Ok(true) => Some(Ok(())),
            Ok(false) => None,
            Err(error) => Some(Err(Error::Table { line: self.line(), what: error.to_string() })),
        }
    }

    /// Line of the row, 1-based.
    pub(crate) fn line(&self) -> u64 {
        self.record.position().map_or(0, csv::Position::line) + self.skipped
    }

    /// Whether the row has as many cells as the header.
    pub(crate) fn is_whole(&self) -> bool {
        self.record.len() == self.columns.len()
    }

    /// A cell; empty if absent.
    pub(crate) fn text(&self, column: Option<usize>) -> &str {
        column.and_then(|at| self.record.get(at)).unwrap_or("")
    }

    /// A whole number; the digits of `Agent 4` count.
    pub(crate) fn number(&self, column: Option<usize>) -> Option<u64> {
        let text = self.text(column).trim();
        let text = text.rsplit(' ').next().unwrap_or(text);
        text.parse().ok()
    }

    /// A time, ns; a fraction of it is cut.
    pub(crate) fn time(&self, column: Option<usize>) -> Option<i64> {
        let text = self.text(column).trim();
        if let Ok(time) = text.parse() {
            return Some(time);
        }
        let real = text.parse::<f64>().ok().filter(|it| it.is_finite() && it.abs() < i64::MAX as f64)?;
        self.fractions.set(true);
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        match text.split_once('.') {
            Some((whole, fraction)) if digits(fraction) => whole.parse().ok(),
            _ => Some(real as i64),
        }
    }

    /// Whether a time had a fraction.
    pub(crate) fn has_fractions(&self) -> bool {
        self.fractions.get()
    }

    /// Names of the columns, in small letters.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str)
    }

    /// A number with decimals.
    pub(crate) fn real(&self, column: Option<usize>) -> Option<f64> {
        self.text(column).trim().parse().ok().filter(|v: &f64| v.is_finite())
    }
}

/// Rows that could not be used.
#[derive(Default)]
pub(crate) struct Bad {
    rows: u64,
    first: Option<u64>,
}

impl Bad {
    pub(crate) fn row(&mut self, table: &Table<'_>) {
        self.rows += 1;
        self.first.get_or_insert(table.line());
    }

    pub(crate) fn report(self, timeline: &mut Timeline) {
        if let Some(line) = self.first {
            let text = format!("{} rows are cut off or have no times; they are left out", self.rows);
            timeline.problems.push(note_at(NoteKind::Error, &format!("line {line}"), &text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_broken_across_lines_is_one() {
        for (ending, first) in [("\n", 3), ("\r\n", 3)] {
            let text = ["a line of the program", "\"Kind\",\"Kernel", "_Name\",\"End\"", "\"K\",\"f\",7"]
                .join(ending);
            let mut input = text.as_bytes();
            let mut table = Table::open(&mut input).unwrap();
            assert_eq!(table.header(), "kind,kernel_name,end");
            assert!(table.next().is_some_and(|it| it.is_ok()) && table.is_whole());
            assert_eq!((table.text(table.column("end")), table.line()), ("7", first + 1));
        }
        // A quote that never ends takes a few lines and no more.
        let mut input = "\"Kind\",\"Name\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n".as_bytes();
        let mut table = Table::open(&mut input).unwrap();
        assert!(table.next().is_some_and(|it| it.is_ok()));
    }
}
