//! Second level of address translation, which the compute units of an XCD share.
//!
//! It keeps lines of page-table entries. A line that it lacks is read from memory; the first line of a part of the
//! address space costs a walk through all levels of the table.

use crate::cache::Cache;
use crate::sets64::WAYS;
use crate::shape::Shape;
use std::collections::HashSet;

/// Bytes of a page-table entry.
const ENTRY: u64 = 8;

/// Where the translation of a page is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Translation {
    /// In the compute unit.
    Unit,
    /// In the XCD; the line of entries it belongs to.
    Xcd(u64),
    /// In memory, with one read; the line of entries.
    Entries(u64),
    /// In memory, with a walk from the root of the table; the line of entries.
    Root(u64),
}

/// Page-table entries that an XCD keeps.
#[derive(Clone, Debug)]
pub(crate) struct Translations {
    lines: Cache,
    sets: u64,
    entries_per_line: u64,
    /// Parts of the address space, as large as a line of entries of full fragments covers, that were walked to.
    walked: HashSet<u64>,
}

impl Translations {
    pub(crate) fn new(shape: &Shape) -> Translations {
        let entries_per_line = (shape.l2_line / ENTRY).max(1);
        let lines = shape.xcd_translations / entries_per_line as usize;
        let sets = (lines / WAYS).max(1).next_power_of_two();
        Translations {
            lines: Cache::new(sets, WAYS),
            sets: sets as u64,
            entries_per_line,
            walked: HashSet::new(),
        }
    }

    /// Forgets all entries.
    pub(crate) fn clear(&mut self) {
        self.lines.clear();
        self.walked.clear();
    }

    /// Finds the translation of a page of some bytes that a compute unit lacks, and keeps its line.
    pub(crate) fn find(&mut self, page: u64, bytes: u64, shape: &Shape) -> Translation {
        let number = page / self.entries_per_line;
        let line = number << 1 | u64::from(bytes != shape.fragment);
        let set = (number % self.sets) as usize;
        if self.lines.find(set, line).is_some() {
            return Translation::Xcd(line);
        }
        self.lines.fill(set, line, false);
        match self.walked.insert(page.wrapping_mul(bytes) / (shape.fragment * self.entries_per_line)) {
            true => Translation::Root(line),
            false => Translation::Entries(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arch::Model;

    #[test]
    fn lines_of_entries_are_walked_to_read_and_kept() {
        let shape = Shape::of(Model::by_name("mi300a").unwrap());
        let mut xcd = Translations::new(&shape);
        let mut find = |page, bytes| match xcd.find(page, bytes, &shape) {
            Translation::Unit => 'u',
            Translation::Xcd(_) => 'x',
            Translation::Entries(_) => 'e',
            Translation::Root(_) => 'r',
        };
        // Sixteen fragments share a line, and so do sixteen small pages.
        let fragments: String = (0..32).map(|page| find(page, shape.fragment)).collect();
        assert_eq!(fragments, "rxxxxxxxxxxxxxxxrxxxxxxxxxxxxxxx");
        let first = 1 << 30;
        let pages: String = (first..first + 32).map(|page| find(page, shape.small_page)).collect();
        assert_eq!(pages, "rxxxxxxxxxxxxxxxexxxxxxxxxxxxxxx");
        // 4096 entries are 256 lines; a page of each of 400 lines removes the first.
        (0..400).for_each(|line| assert_ne!(find(first + 64 + 16 * line, shape.small_page), 'x', "{line}"));
        assert_eq!(find(first, shape.small_page), 'e');
        assert_eq!(find(first + 64 + 16 * 399, shape.small_page), 'x');
    }
}
