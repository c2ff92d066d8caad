//! Memory that the program has without HIP, which kernels reach with `HSA_XNACK=1`.

use super::{Allocations, FIRST, LAST};
use crate::host_memory;
use emu::Shared;
use std::ops::Range;

impl Allocations {
    /// Makes all memory that the program may write reachable for the next launch, but for allocations, which are
    /// reachable already. Each page is where the program has it: it does not move to the GPU.
    pub(crate) fn lend_pages(&mut self) {
        // Addresses of our own have only allocations, and what was freed.
        let is_own = |range: &Range<usize>| FIRST <= range.start && range.end <= LAST;
        for (range, name) in host_memory::writable().into_iter().filter(|it| !is_own(&it.0)) {
            let taken = self.live.range(..range.end).map(|(base, it)| *base..base + it.bytes.max(it.mapped));
            let free = without(range, &taken.filter(|it| !it.is_empty()).collect::<Vec<_>>());
            for Range { start, end } in free {
                let pointer = std::ptr::with_exposed_provenance_mut(start);
                let bytes = end - start;
                // SAFETY: the system has this memory as readable and writable. It leaves `emulated` after the launch, and
                // what the program unmaps meanwhile is not what its kernel reaches, or the program is wrong on the hardware
                // too. This library passes no pointer to its own objects to kernels.
                let shared = unsafe { Shared::borrowed(pointer, bytes) };
                // Another range is there only where the two lists changed in between.
                if self.emulated.register(&name, start as u64, bytes, shared).is_ok() {
                    self.emulated.share_with_host(start as u64);
                    self.emulated.place_in_small_pages(start as u64);
                    self.lent.push(start as u64);
                }
            }
        }
    }

    /// Ends the launch of [`Allocations::lend_pages`].
    pub(crate) fn take_pages_back(&mut self) {
        for base in self.lent.drain(..) {
            self.emulated.forget(base);
        }
    }
}

/// Parts of a range that are in none of some others, which are sorted and do not overlap.
fn without(range: Range<usize>, others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    for other in others.iter().filter(|it| it.end > range.start && it.start < range.end) {
        parts.push(start..other.start);
        start = start.max(other.end);
    }
    parts.push(start..range.end);
    parts.retain(|it| it.start < it.end);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Kind;

    #[test]
    fn parts_without_others() {
        for (others, expected) in [
            (&[][..], &[(10, 20)][..]),
            (&[(0, 5), (30, 40)], &[(10, 20)]),
            (&[(0, 10), (20, 40)], &[(10, 20)]),
            (&[(0, 12), (15, 16), (19, 22)], &[(12, 15), (16, 19)]),
            (&[(10, 20)], &[]),
            (&[(5, 25)], &[]),
        ] {
            let ranges = |of: &[(usize, usize)]| of.iter().map(|it| it.0..it.1).collect::<Vec<_>>();
            assert_eq!(without(10..20, &ranges(others)), ranges(expected), "{others:?}");
        }
    }

    #[test]
    fn memory_of_the_program_is_reachable_while_it_is_lent() {
        let mut all = Allocations::default();
        let device = all.allocate(Kind::Device, 100, 0, 1 << 30).unwrap();
        let mut heap = vec![7u8; 1 << 20];
        let start = heap.as_mut_ptr();
        let inside = start.wrapping_add(4096);
        assert_eq!(all.register(inside, 100, 0), Ok(()));
        let read = |all: &Allocations, at: *mut u8| all.emulated.read(at.expose_provenance() as u64, 4);
        assert_eq!(read(&all, start), None);
        all.lend_pages();
        for at in [start, inside, inside.wrapping_add(100), start.wrapping_add((1 << 20) - 4)] {
            assert_eq!(read(&all, at), Some(vec![7; 4]), "{:?}", at.wrapping_sub(start.addr()));
        }
        all.emulated.write(start.addr() as u64 + 8, &[9]);
        assert_eq!(heap[8], 9);
        assert_eq!(
            all.emulated.in_small_pages().iter().filter(|it| it.start == inside.addr() as u64).count(),
            1
        );
        let of_device = [0, 96, 104].map(|at| all.emulated.read(device as u64 + at, 4).is_some());
        assert_eq!(of_device, [true, true, false], "the rest of its page is not the program's");
        all.take_pages_back();
        assert_eq!((read(&all, start), read(&all, inside)), (None, Some(vec![7; 4])));
    }
}
