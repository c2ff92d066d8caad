//! Whose memory an address belongs to.
//!
//! The one idea to keep in mind: what is not known to be the host's is the GPU's own.

use arch::MemoryType;
use std::ops::Range;

/// Ranges of the host's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Places {
    /// Sorted, not overlapping.
    host: Vec<Range<u64>>,
    /// From the first to the last.
    bounds: Range<u64>,
    memory: MemoryType,
}

impl Places {
    pub(crate) fn new(mut host: Vec<Range<u64>>, memory: MemoryType) -> Places {
        host.retain(|range| !range.is_empty());
        host.sort_by_key(|range| range.start);
        let end = host.iter().map(|range| range.end).max().unwrap_or(0);
        let bounds = host.first().map_or(0, |range| range.start)..end;
        Places { host, bounds, memory }
    }

    /// How the memory at an address is cached, and whether it is the GPU's own.
    #[inline]
    pub(crate) fn of(&self, address: u64) -> (MemoryType, bool) {
        // Most memory lies outside of all that is the host's.
        if self.bounds.contains(&address) { self.search(address) } else { (MemoryType::Rw, true) }
    }

    /// Whether all addresses from one to another, both included, are the GPU's own for sure.
    #[inline]
    pub(crate) fn all_own(&self, first: u64, last: u64) -> bool {
        last < self.bounds.start || first >= self.bounds.end
    }

    fn search(&self, address: u64) -> (MemoryType, bool) {
        let at = self.host.partition_point(|range| range.start <= address);
        match at.checked_sub(1).and_then(|at| self.host.get(at)) {
            Some(range) if range.contains(&address) => (self.memory, self.memory == MemoryType::Rw),
            _ => (MemoryType::Rw, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_apart() {
        let places = Places::new(vec![100..200, 50..50, 10..20], MemoryType::Uc);
        for (address, local) in [(0, true), (10, false), (19, false), (20, true), (150, false), (200, true)] {
            assert_eq!(places.of(address).1, local, "{address}");
        }
        for (first, last, own) in
            [(0, 9, true), (0, 10, false), (199, 300, false), (200, 300, true), (0, 300, false)]
        {
            assert_eq!(places.all_own(first, last), own, "{first} {last}");
        }
    }
}
