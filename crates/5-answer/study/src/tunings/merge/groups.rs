//! Rows of several files by key.
//!
//! Files of hundreds of thousands of rows are grouped by one list of rows and one of ranges, since a list for
//! each key would take more memory than the rows.

use super::{Candidate, Journal, natural};
use foldhash::{HashMap, HashMapExt};
use rayon::prelude::*;
use sorting::Sort;
use std::ops::Range;
use tunedb::{Row, Tunings};

/// Rows by key, in the order of the keys' first rows.
pub(super) struct Groups<'f, 'a> {
    rows: Vec<Candidate<'f, 'a>>,
    /// Range of the rows of each key.
    ranges: Vec<Range<u32>>,
}

impl<'f, 'a> Groups<'f, 'a> {
    /// Keys with their rows, which are in the order of their files.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'f str, &[Candidate<'f, 'a>])> {
        self.ranges.iter().map(|range| self.of(range))
    }

    /// Keys.
    pub(super) fn len(&self) -> u32 {
        // Each has a row with a 32-bit number.
        self.ranges.len() as u32
    }

    /// A key with its rows, by its number.
    pub(super) fn at(&self, number: u32) -> (&'f str, &[Candidate<'f, 'a>]) {
        self.of(&self.ranges[number as usize])
    }

    fn of(&self, range: &Range<u32>) -> (&'f str, &[Candidate<'f, 'a>]) {
        let rows = &self.rows[range.start as usize..range.end as usize];
        (rows[0].row.key.as_ref(), rows)
    }

    /// Applies `value` to the rows of each key, in parallel; results in key order.
    pub(super) fn each<T: Send>(&self, value: impl Fn(&[Candidate<'f, 'a>]) -> T + Sync + Send) -> Vec<T> {
        self.ranges.par_iter().map(|range| value(self.of(range).1)).collect()
    }

    /// The numbers of the keys in the order of their texts, with numbers as numbers.
    pub(super) fn sorted(&self) -> Vec<u32> {
        let same = natural::common(self.iter().map(|it| it.0));
        let beginning = |number| natural::beginning(&self.at(number).0.as_bytes()[same..]);
        let mut keyed: Vec<([u64; 2], u32)> =
            (0..self.len()).into_par_iter().map(|number| (beginning(number), number)).collect();
        let key = |number: u32| self.at(number).0;
        // No two keys are equal.
        keyed.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| natural::compare(key(a.1), key(b.1))));
        keyed.into_iter().map(|it| it.1).collect()
    }
}

/// Groups the rows of all files, without those that their file's flaws spoil.
pub(super) fn groups<'f, 'a>(files: &'f [Tunings<'a>], journal: &mut Journal) -> Groups<'f, 'a> {
    let count = files.iter().map(|it| it.rows.len()).sum();
    let mut numbers: HashMap<&str, u32> = HashMap::with_capacity(files.first().map_or(0, |it| it.rows.len()));
    // Number of the key, number of the file, row: what a candidate takes, so that the list becomes one in its
    // place.
    let mut found: Vec<(u32, u32, &'f Row<'a>)> = Vec::with_capacity(count);
    for (number, file) in (0..).zip(files) {
        let spoiled: HashMap<u32, &str> =
            file.flaws.iter().filter(|it| it.spoils_row).map(|it| (it.line, it.text.as_str())).collect();
        let mut lines: Vec<_> = spoiled.iter().collect();
        lines.in_order();
        lines.into_iter().for_each(|(line, why)| journal.leave_out(file, *line, why));
        for row in file.rows.iter().filter(|row| !spoiled.contains_key(&row.line)) {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            let key = *numbers.entry(row.key.as_ref()).or_insert(next);
            found.push((key, number, row));
        }
    }
    let keys = numbers.len();
    drop(numbers);
    found.in_order_by_key(|it| it.0);
    let mut ranges: Vec<Range<u32>> = Vec::with_capacity(keys);
    for (at, (key, ..)) in found.iter().enumerate() {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        match ranges.get_mut(*key as usize) {
            Some(range) => range.end = at + 1,
            None => ranges.push(at..at + 1),
        }
    }
    Groups {
        rows: found.into_iter().map(|(_, file, row)| Candidate { file: file as usize, row }).collect(),
        ranges,
    }
}
