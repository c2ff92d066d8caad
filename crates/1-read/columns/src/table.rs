//! Parses CSV into columns in one pass over the bytes.
//!
//! The type of a column is decided before its rows are read, so each field is parsed straight from the file
//! into its column; no row or field is ever copied.

use crate::dialect;
use crate::number::{NotANumber, number};
use crate::problem::{Error, Problem, Problems};
use crate::times::{self, Times};
use crate::values::Values;
use std::collections::HashMap;
use view::NoteKind;

/// Columns a file may have.
pub const MAX_COLUMNS: usize = 65_536;

/// Treatment of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Want {
    /// The column is not needed.
    Skip,
    /// Numbers.
    Number,
    /// Time stamps: whole numbers that need all 64 bits, and their fractions.
    Time,
    /// Text.
    Text,
}

/// Texts of a column, each different one stored once.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// Each text once, in the order of its first row.
    pub distinct: Vec<String>,
    /// For each row, the place in `distinct`.
    pub cells: Vec<u32>,
    lookup: HashMap<Vec<u8>, u32>,
}

impl Texts {
    /// The text of a row; empty beyond the last.
    pub fn get(&self, row: usize) -> &str {
        self.cells.get(row).and_then(|c| self.distinct.get(*c as usize)).map_or("", String::as_str)
    }
    fn push(&mut self, field: &[u8]) {
        // Neighbouring rows mostly repeat, or go on in an order that repeats: try these before the map.
        if let Some(last) = self.cells.last().copied() {
            let next = if last as usize + 1 < self.distinct.len() { last + 1 } else { 0 };
            let is_field = |id: &u32| self.distinct[*id as usize].as_bytes() == field;
            if let Some(id) = [last, next].into_iter().find(is_field) {
                self.cells.push(id);
                return;
            }
        }
        let id = if let Some(id) = self.lookup.get(field) {
            *id
        } else {
            let id = self.distinct.len() as u32;
            self.distinct.push(String::from_utf8_lossy(field).into_owned());
            self.lookup.insert(field.to_vec(), id);
            id
        };
        self.cells.push(id);
    }
}

/// Cells of one column.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Nobody wanted it.
    Skipped,
    /// Numbers with gaps.
    Number(Values),
    /// Time stamps.
    Time(Times),
    /// Texts.
    Text(Texts),
}

/// One file's columns.
#[derive(Debug)]
pub struct Table {
    /// Names of the columns, as in the header.
    pub names: Vec<String>,
    /// Cells of each column.
    pub columns: Vec<Cells>,
    /// Rows below the header.
    pub rows: usize,
}

impl Table {
    /// Place of a column.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }
    /// A column of texts.
    pub fn text(&self, name: &str) -> Option<&Texts> {
        match self.columns.get(self.position(name)?) {
            Some(Cells::Text(t)) => Some(t),
            _ => None,
        }
    }
    /// A column of numbers.
    pub fn number(&self, name: &str) -> Option<&Values> {
        match self.columns.get(self.position(name)?) {
            Some(Cells::Number(v)) => Some(v),
            _ => None,
        }
    }
    /// A column of time stamps.
    pub fn time(&self, name: &str) -> Option<&Times> {
        match self.columns.get(self.position(name)?) {
            Some(Cells::Time(v)) => Some(v),
            _ => None,
        }
    }
    /// Takes a number column out, leaving it skipped.
    pub fn take_number(&mut self, position: usize) -> Option<Values> {
        match self.columns.get_mut(position) {
            Some(c @ Cells::Number(_)) => match std::mem::replace(c, Cells::Skipped) {
                Cells::Number(v) => Some(v),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Reads a file. `rename` gives each header its own name (old generations differ); `choose` says what to make
/// of a column, given its name and the first row's field.
pub fn read(
    file: &str,
    bytes: &[u8],
    rename: &dyn Fn(&str) -> String,
    choose: &dyn Fn(&str, &[u8]) -> Want,
    problems: &mut Problems,
) -> Result<Table, Error> {
    let mut scan = Scan::new(file, bytes);
    let bytes = scan.bytes;
    if scan.done() {
        return Err(Error::EmptyFile { file: file.to_string() });
    }
    let header: Vec<Vec<u8>> = scan.row(MAX_COLUMNS)?;
    if header.len() > MAX_COLUMNS {
        return Err(Error::TooManyColumns {
            file: file.to_string(),
            columns: header.len(),
            limit: MAX_COLUMNS,
        });
    }
    let names: Vec<String> = header.iter().map(|h| rename(String::from_utf8_lossy(h).trim())).collect();
    scan.skip_blank_lines();
    let start = (scan.at, scan.line);
    let first = if scan.done() { Vec::new() } else { scan.row(MAX_COLUMNS)? };
    let first_len = (scan.at - start.0).max(1);
    (scan.at, scan.line) = start;
    // No more rows than this can follow, as every row is at least as long as its separators.
    let expected = if first.is_empty() {
        0
    } else {
        let shortest = names.len().max(1);
        ((bytes.len() - scan.at) / first_len + 1).min((bytes.len() - scan.at) / shortest + 1)
    };

    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut columns = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        if seen.insert(name.as_str(), i).is_some() && !name.is_empty() {
            problems.add(Problem {
                kind: NoteKind::Error,
                file: file.to_string(),
                line: Some(1),
                column: Some(name.clone()),
                rows: 0,
                message: "the column occurs twice".to_string(),
                consequence: "the first is read; record again if both hold values".to_string(),
            });
            columns.push(Cells::Skipped);
            continue;
        }
        columns.push(match choose(name, first.get(i).map_or(&[][..], Vec::as_slice)) {
            Want::Skip => Cells::Skipped,
            Want::Number => Cells::Number(Values::new()),
            Want::Time => Cells::Time(Times::default()),
            Want::Text => Cells::Text(Texts::default()),
        });
    }
    let mut table = Table { names, columns, rows: 0 };
    scan.rows(&mut table, expected, problems)?;
    for c in &mut table.columns {
        match c {
            Cells::Number(v) => v.shrink(),
            Cells::Text(t) => t.lookup = HashMap::new(),
            Cells::Skipped | Cells::Time(_) => {}
        }
    }
    Ok(table)
}

/// The error of a table without rows: nothing follows the header, or nothing whole.
pub fn without_rows(file: &str, bytes: &[u8]) -> Error {
    let mut scan = Scan::new(file, bytes);
    let width = scan.row(MAX_COLUMNS).map_or(0, |header| header.len());
    scan.skip_blank_lines();
    let line = scan.line;
    if scan.done() {
        return Error::HeaderOnly { file: file.to_string() };
    }
    match scan.row(MAX_COLUMNS) {
        Ok(row) => Error::NoWholeRow { file: file.to_string(), line, fields: row.len(), width },
        Err(error) => error,
    }
}

/// The fields of the header line; `None` if the file is empty, is cut off in a quoted field, or has too many
/// columns.
pub fn header(bytes: &[u8]) -> Option<Vec<String>> {
    let mut scan = Scan::new("", bytes);
    if scan.done() {
        return None;
    }
    let fields = scan.row(MAX_COLUMNS).ok().filter(|fields| fields.len() <= MAX_COLUMNS)?;
    Some(fields.iter().map(|field| String::from_utf8_lossy(field).trim().to_string()).collect())
}

struct Scan<'a> {
    file: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u64,
    separator: u8,
}

/// Terminator of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Separator,
    Line,
}

impl<'a> Scan<'a> {
    /// At the header line.
    fn new(file: &'a str, bytes: &'a [u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut scan = Scan { file, bytes, at: 0, line: 1, separator: b',' };
        scan.skip_blank_lines();
        scan.separator = dialect::separator(&bytes[scan.at..]);
        scan
    }

    /// The number in a field; in a table parted otherwise the comma is of the numbers.
    fn number(&self, field: &[u8]) -> Result<Option<f64>, NotANumber> {
        number(&dialect::with_point(field, self.separator))
    }

    fn done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn skip_blank_lines(&mut self) {
        while let Some(b) = self.bytes.get(self.at) {
            match b {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                }
                b'\r' => self.at += 1,
                _ => break,
            }
        }
    }

    /// Fields of the next row, at most a few more than `limit`.
    fn row(&mut self, limit: usize) -> Result<Vec<Vec<u8>>, Error> {
        let mut out = Vec::new();
        let mut spare = Vec::new();
        loop {
            let (range, quoted, end) = self.field()?;
            if out.len() <= limit {
                out.push(content(self.bytes, range, quoted, &mut spare).to_vec());
            }
            if end == End::Line {
                return Ok(out);
            }
        }
    }

    /// The next field: its bytes without quotes, and what ended it. The position moves past the end.
    #[inline]
    fn field(&mut self) -> Result<((usize, usize), bool, End), Error> {
        if self.bytes.get(self.at) == Some(&b'"') {
            return self.quoted();
        }
        let rest = &self.bytes[self.at..];
        let n = memchr::memchr2(self.separator, b'\n', rest).unwrap_or(rest.len());
        let start = self.at;
        let mut stop = start + n;
        self.at = stop + 1;
        let end = if rest.get(n) == Some(&self.separator) {
            End::Separator
        } else {
            self.line += 1;
            if stop > start && self.bytes[stop - 1] == b'\r' {
                stop -= 1;
            }
            End::Line
        };
        Ok(((start, stop), false, end))
    }

    /// A field in quotes. Text between the closing quote and the separator is passed over.
    fn quoted(&mut self) -> Result<((usize, usize), bool, End), Error> {
        let line = self.line;
        let start = self.at + 1;
        let mut at = start;
        let mut doubled = false;
        loop {
            let Some(n) = memchr::memchr2(b'"', b'\n', &self.bytes[at.min(self.bytes.len())..]) else {
                return Err(Error::OpenQuote { file: self.file.to_string(), line });
            };
            at += n;
            if self.bytes[at] == b'\n' {
                self.line += 1;
                at += 1;
            } else if self.bytes.get(at + 1) == Some(&b'"') {
                doubled = true;
                at += 2;
            } else {
                break;
            }
        }
        let range = (start, at);
        let rest = &self.bytes[at + 1..];
        let n = memchr::memchr2(self.separator, b'\n', rest).unwrap_or(rest.len());
        self.at = at + 2 + n;
        let end = if rest.get(n) == Some(&self.separator) {
            End::Separator
        } else {
            self.line += 1;
            End::Line
        };
        Ok((range, doubled, end))
    }

    fn rows(&mut self, table: &mut Table, expected: usize, problems: &mut Problems) -> Result<(), Error> {
        let width = table.columns.len();
        let mut spare = Vec::new();
        loop {
            self.skip_blank_lines();
            if self.done() {
                return Ok(());
            }
            let line = self.line;
            let mut fields = 0;
            loop {
                if fields < width {
                    match &mut table.columns[fields] {
                        Cells::Number(values) => {
                            // Digits up to a comma are nearly every field there is.
                            if let Some((v, stop)) = whole(self.bytes, self.at, self.separator) {
                                values.push_small(v, expected);
                                self.at = stop + 1;
                                fields += 1;
                                continue;
                            }
                            let (range, doubled, end) = self.field()?;
                            let field = content(self.bytes, range, doubled, &mut spare);
                            match self.number(field) {
                                Ok(v) => values.push(v, expected),
                                Err(NotANumber) => {
                                    values.push(None, expected);
                                    let name = &table.names[fields];
                                    problems.add_kind("number", not_a_number(self.file, line, name, field));
                                }
                            }
                            fields += 1;
                            if end == End::Line {
                                break;
                            }
                            continue;
                        }
                        cells => {
                            let (range, doubled, end) = self.field()?;
                            let field = content(self.bytes, range, doubled, &mut spare);
                            match cells {
                                Cells::Text(texts) => texts.push(field),
                                Cells::Time(times) => {
                                    match times::parse(&dialect::with_point(field, self.separator)) {
                                        Ok(t) => times.push(t, expected),
                                        Err(NotANumber) => {
                                            times.push(None, expected);
                                            let name = &table.names[fields];
                                            problems.add_kind(
                                                "number",
                                                not_a_number(self.file, line, name, field),
                                            );
                                        }
                                    }
                                }
                                Cells::Number(_) | Cells::Skipped => {}
                            }
                            fields += 1;
                            if end == End::Line {
                                break;
                            }
                        }
                    }
                } else {
                    fields += 1;
                    if self.field()?.2 == End::Line {
                        break;
                    }
                }
            }
            if fields == width {
                table.rows += 1;
            } else {
                problems.add(self.leave_out(table, line, fields));
            }
        }
    }

    /// Takes back a row that has not as many fields as there are columns.
    fn leave_out(&self, table: &mut Table, line: u64, fields: usize) -> Problem {
        for c in &mut table.columns {
            match c {
                Cells::Number(v) => v.truncate(table.rows),
                Cells::Text(t) => t.cells.truncate(table.rows),
                Cells::Time(t) => t.truncate(table.rows),
                Cells::Skipped => {}
            }
        }
        let width = table.columns.len();
        let few = fields < width;
        Problem {
            kind: NoteKind::Error,
            file: self.file.to_string(),
            line: Some(line),
            column: few.then(|| table.names[fields].clone()),
            rows: 1,
            message: if few {
                format!("the row ends after {fields} of {width} fields")
            } else {
                format!("the row has more than {width} fields")
            },
            consequence: "the row is left out; record again if the file was cut off".to_string(),
        }
    }
}

fn not_a_number(file: &str, line: u64, column: &str, field: &[u8]) -> Problem {
    let shown: String = String::from_utf8_lossy(&field[..field.len().min(40)]).into_owned();
    Problem {
        kind: NoteKind::Error,
        file: file.to_string(),
        line: Some(line),
        column: Some(column.to_string()),
        rows: 1,
        message: format!("`{shown}` is not a number"),
        consequence: "the cell counts as not recorded".to_string(),
    }
}

/// The bytes of a field; doubled quotes are undone into `spare`.
fn content<'b>(bytes: &'b [u8], range: (usize, usize), doubled: bool, spare: &'b mut Vec<u8>) -> &'b [u8] {
    let raw = &bytes[range.0.min(bytes.len())..range.1.min(bytes.len())];
    if !doubled {
        return raw;
    }
    spare.clear();
    let mut skip = false;
    for b in raw {
        if *b == b'"' && !skip {
            skip = true;
            continue;
        }
        skip = false;
        spare.push(*b);
    }
    spare
}

/// At most nine digits followed by a separator, and the separator's position. `.0` may follow the digits.
#[inline]
fn whole(bytes: &[u8], at: usize, separator: u8) -> Option<(u32, usize)> {
    let mut v: u32 = 0;
    let mut i = at;
    loop {
        let b = *bytes.get(i)?;
        let d = b.wrapping_sub(b'0');
        if d > 9 {
            if i == at {
                return None;
            }
            if b == separator {
                return Some((v, i));
            }
            let point = b == b'.' && bytes.get(i + 1) == Some(&b'0') && bytes.get(i + 2) == Some(&separator);
            return point.then_some((v, i + 2));
        }
        if i - at == 9 {
            return None;
        }
        v = v * 10 + u32::from(d);
        i += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> (Result<Table, Error>, Vec<String>) {
        let mut problems = Problems::default();
        let choose = |name: &str, _: &[u8]| match name.as_bytes().first() {
            Some(b'n') => Want::Number,
            Some(b't') => Want::Text,
            Some(b's') => Want::Time,
            _ => Want::Skip,
        };
        let t = read("f.csv", text.as_bytes(), &|n| n.to_string(), &choose, &mut problems);
        (t, problems.list.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn fields_become_cells() {
        // text, column n, column t, time stamps
        type Case = (&'static str, &'static [Option<f64>], &'static [&'static str], &'static [Option<i64>]);
        let cases: [Case; 7] = [
            ("n,t,s\n1,a,5\n2,b,6\n", &[Some(1.0), Some(2.0)], &["a", "b"], &[Some(5), Some(6)]),
            ("n,t,s\r\n1.0,a,5\r\n2.5,b,6", &[Some(1.0), Some(2.5)], &["a", "b"], &[Some(5), Some(6)]),
            (
                "\u{feff}n,t,s\n\n7,\"a,\"\"b\"\"\nc\",8.1097E+14\n\n",
                &[Some(7.0)],
                &["a,\"b\"\nc"],
                &[Some(810_970_000_000_000)],
            ),
            (
                "\"n\",\"t\",\"s\"\n\"12\",x,\"13386742234691895\"\n",
                &[Some(12.0)],
                &["x"],
                &[Some(13_386_742_234_691_895)],
            ),
            ("n,t,s\n,,\n nan,é,\n", &[None, None], &["", "é"], &[None, None]),
            (
                "n,t,s\n4294967295,a,1\n4294967294,a,1\n12345678901,a,-3\n",
                &[Some(4294967295.0), Some(4294967294.0), Some(12345678901.0)],
                &["a", "a", "a"],
                &[Some(1), Some(1), Some(-3)],
            ),
            ("n,t,s\n", &[], &[], &[]),
        ];
        for (text, n, t, s) in cases {
            let (table, problems) = load(text);
            let table = table.unwrap();
            assert_eq!(problems, Vec::<String>::new(), "{text}");
            assert_eq!(table.number("n").unwrap().iter().collect::<Vec<_>>(), n, "{text}");
            let texts = table.text("t").unwrap();
            assert_eq!((0..table.rows).map(|r| texts.get(r)).collect::<Vec<_>>(), t, "{text}");
            assert_eq!(table.time("s").unwrap().whole, s, "{text}");
        }
    }

    #[test]
    fn bad_rows_are_named_and_the_rest_goes_on() {
        let (table, problems) = load("n,t,s\n1,a,1\n2,b\n3,c,3,4\nx,d,y\n5,e,5\n6,f");
        let table = table.unwrap();
        assert_eq!(table.number("n").unwrap().iter().collect::<Vec<_>>(), [Some(1.0), None, Some(5.0)]);
        testkit::golden("bad rows", &problems.join("\n"));
    }

    #[test]
    fn what_cannot_be_a_table_is_an_error() {
        let wide = "n,".repeat(MAX_COLUMNS + 1);
        for (what, text) in
            [("nothing", ""), ("empty lines", "\n\r\n"), ("quote", "n,t\n1,\"abc"), ("65537 columns", &wide)]
        {
            testkit::golden(what, &load(text).0.unwrap_err().to_string());
        }
    }

    #[test]
    fn a_column_that_stands_twice_is_read_once() {
        let (table, problems) = load("n,n,t\n1,2,a\n");
        assert_eq!(table.unwrap().number("n").unwrap().get(0), Some(1.0));
        testkit::golden("a column that stands twice", &problems.join("\n"));
    }
}
