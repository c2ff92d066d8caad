//! Whose memory an address belongs to.
//!
//! The one idea to keep in mind: what is not known to be the host's is the GPU's own.

use arch::MemoryType;
use std::ops::Range;

/// Ranges of the host's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Places {
    /// With how they are cached; sorted, not overlapping.
    host: Vec<(Range<u64>, MemoryType)>,
    /// From the first to the last.
    bounds: Range<u64>,
}

impl Places {
    /// `arguments` are those of the runtime, cached as `memory` says; what the program has on the `host` is not cached.
    pub(crate) fn new(arguments: Vec<Range<u64>>, memory: MemoryType, host: Vec<Range<u64>>) -> Places {
        let of_program = host.into_iter().map(|range| (range, MemoryType::Uc));
        let mut host: Vec<_> = arguments.into_iter().map(|range| (range, memory)).chain(of_program).collect();
        host.retain(|(range, _)| !range.is_empty());
        host.sort_by_key(|(range, _)| range.start);
        let end = host.iter().map(|(range, _)| range.end).max().unwrap_or(0);
        let bounds = host.first().map_or(0, |(range, _)| range.start)..end;
        Places { host, bounds }
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
        if last < self.bounds.start || first >= self.bounds.end {
            return true;
        }
        // Between two ranges, far from both, there may be much that is the GPU's.
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
        let places = Places::new(vec![100..200, 50..50], MemoryType::Cc, vec![10..20, 0..0]);
        for (address, local) in [(0, true), (10, false), (19, false), (20, true), (150, false), (200, true)] {
            assert_eq!(places.of(address).1, local, "{address}");
        }
        let types = [5, 15, 25, 150].map(|address| places.of(address).0);
        assert_eq!(types, [MemoryType::Rw, MemoryType::Uc, MemoryType::Rw, MemoryType::Cc]);
        for (first, last, own) in [
            (0, 9, true),
            (0, 10, false),
            (19, 30, false),
            (20, 99, true),
            (30, 100, false),
            (199, 300, false),
            (200, 300, true),
            (0, 300, false),
        ] {
            assert_eq!(places.all_own(first, last), own, "{first} {last}");
        }
    }
}
