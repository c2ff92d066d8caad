//! Owner and memory type of an address.
//!
//! Memory not known to be the host's is local to the GPU.

use arch::MemoryType;
use std::ops::Range;

/// Ranges of the host's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MemoryOwner {
    /// Sorted, disjoint ranges with their memory types.
    host: Vec<(Range<u64>, MemoryType)>,
    /// From the first range to the last.
    bounds: Range<u64>,
    /// Sorted, disjoint ranges in pages of the host's kernel, and from the first to the last.
    small_pages: Vec<Range<u64>>,
    paged: Range<u64>,
}

impl MemoryOwner {
    /// `arguments` of the runtime have type `memory`; `host` memory of the program is uncached.
    pub(crate) fn new(
        arguments: Vec<Range<u64>>,
        memory: MemoryType,
        host: Vec<Range<u64>>,
        mut small_pages: Vec<Range<u64>>,
    ) -> MemoryOwner {
        let of_program = host.into_iter().map(|range| (range, MemoryType::Uc));
        let mut host: Vec<_> = arguments.into_iter().map(|range| (range, memory)).chain(of_program).collect();
        host.retain(|(range, _)| !range.is_empty());
        host.sort_by_key(|(range, _)| range.start);
        let end = host.iter().map(|(range, _)| range.end).max().unwrap_or(0);
        let bounds = host.first().map_or(0, |(range, _)| range.start)..end;
        small_pages.retain(|range| !range.is_empty());
        small_pages.sort_by_key(|range| range.start);
        let end = small_pages.iter().map(|range| range.end).max().unwrap_or(0);
        let paged = small_pages.first().map_or(0, |range| range.start)..end;
        MemoryOwner { host, bounds, small_pages, paged }
    }

    /// Memory type of an address, and whether it is local.
    #[inline]
    pub(crate) fn of(&self, address: u64) -> (MemoryType, bool) {
        // Most addresses are outside of all host ranges.
        if self.bounds.contains(&address) { self.search(address) } else { (MemoryType::Rw, true) }
    }

    /// True for memory in pages of the host's kernel.
    #[inline]
    pub(crate) fn is_in_small_page(&self, address: u64) -> bool {
        self.paged.contains(&address) && {
            let at = self.small_pages.partition_point(|range| range.start <= address);
            at.checked_sub(1)
                .and_then(|at| self.small_pages.get(at))
                .is_some_and(|range| range.contains(&address))
        }
    }

    /// True if all addresses from `first` to `last`, both included, are local. May be false between host
    /// ranges.
    #[inline]
    pub(crate) fn all_local(&self, first: u64, last: u64) -> bool {
        if last < self.bounds.start || first >= self.bounds.end {
            return true;
        }
        // Much local memory may lie between two host ranges.
        let at = self.host.partition_point(|(range, _)| range.start <= last);
        at.checked_sub(1).and_then(|at| self.host.get(at)).is_none_or(|(range, _)| range.end <= first)
    }

    fn search(&self, address: u64) -> (MemoryType, bool) {
        let at = self.host.partition_point(|(range, _)| range.start <= address);
        match at.checked_sub(1).and_then(|at| self.host.get(at)) {
            Some((range, memory)) if range.contains(&address) => (*memory, *memory == MemoryType::Rw),
            _ => (MemoryType::Rw, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_apart() {
        let owner = MemoryOwner::new(
            vec![100..200, 50..50],
            MemoryType::Cc,
            vec![10..20, 0..0],
            vec![60..70, 5..15, 3..3],
        );
        for (address, local) in [(0, true), (10, false), (19, false), (20, true), (150, false), (200, true)] {
            assert_eq!(owner.of(address).1, local, "{address}");
        }
        for (address, small) in [(4, false), (5, true), (14, true), (15, false), (60, true), (70, false)] {
            assert_eq!(owner.is_in_small_page(address), small, "{address}");
        }
        let types = [5, 15, 25, 150].map(|address| owner.of(address).0);
        assert_eq!(types, [MemoryType::Rw, MemoryType::Uc, MemoryType::Rw, MemoryType::Cc]);
        for (first, last, unique) in [
            (0, 9, true),
            (0, 10, false),
            (19, 30, false),
            (20, 99, true),
            (30, 100, false),
            (199, 300, false),
            (200, 300, true),
            (0, 300, false),
        ] {
            assert_eq!(owner.all_local(first, last), unique, "{first} {last}");
        }
    }
}
