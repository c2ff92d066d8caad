//! Timing of translations that a compute unit asks its XCD for.

use crate::rates::Rates;
use mem::Translation;
use std::collections::HashMap;

/// Number of recorded arrivals of lines of entries from which past ones are removed.
const MOST_KEPT: usize = 1 << 16;

/// Reads of page-table entries of an XCD.
#[derive(Clone, Debug)]
pub(crate) struct PageTables {
    /// Arrival cycle of each line of entries that was read in this dispatch.
    arrivals: HashMap<u64, u64>,
    /// Ring of reads under way with their arrival cycles, and its next entry; empty for no limit.
    under_way: Vec<u64>,
    next: usize,
}

impl PageTables {
    pub(crate) fn new(most: Option<usize>) -> PageTables {
        PageTables { arrivals: HashMap::new(), under_way: vec![0; most.unwrap_or(0)], next: 0 }
    }

    /// Begins a dispatch at cycle 0.
    pub(crate) fn begin(&mut self) {
        self.arrivals.clear();
        self.under_way.fill(0);
        self.next = 0;
    }

    /// Cycle at which a compute unit has a translation that it asks for at a cycle.
    pub(crate) fn translate(&mut self, asked: u64, found: Translation, rates: &Rates) -> u64 {
        let (line, cycles) = match found {
            Translation::Unit => return asked,
            Translation::Xcd(line) => {
                let arrived = self.arrivals.get(&line).copied().unwrap_or(0);
                return arrived.max(asked + rates.translation);
            }
            Translation::Entries(line) => (line, rates.read_entries),
            Translation::Root(line) => (line, rates.walk),
        };
        let mut start = asked;
        if let Some(place) = self.under_way.get_mut(self.next) {
            start = start.max(*place);
            *place = start + cycles;
            self.next = (self.next + 1) % self.under_way.len();
        }
        if self.arrivals.len() >= MOST_KEPT {
            self.arrivals.retain(|_, arrives| *arrives > asked);
        }
        self.arrivals.insert(line, start + cycles);
        start + cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arch::Model;

    #[test]
    fn reads_of_entries_are_limited_and_shared() {
        let rates = Rates { walks: Some(2), ..Rates::of(Model::by_name("mi300a").unwrap()) };
        let (read, walk, near) = (rates.read_entries, rates.walk, rates.translation);
        assert!(near < read && read < walk, "{near} {read} {walk}");
        let mut tables = PageTables::new(rates.walks);
        for (asked, found, arrives) in [
            (0, Translation::Root(1), walk),
            // Another compute unit waits for the line that is on its way.
            (5, Translation::Xcd(1), walk),
            (5, Translation::Entries(2), 5 + read),
            // Both places are taken.
            (6, Translation::Entries(3), walk + read),
            (2 * walk, Translation::Xcd(2), 2 * walk + near),
            // The line came in an earlier dispatch.
            (2 * walk, Translation::Xcd(9), 2 * walk + near),
        ] {
            assert_eq!(tables.translate(asked, found, &rates), arrives, "{asked} {found:?}");
        }
    }
}
