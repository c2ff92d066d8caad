//! Allocations: memory of the process that kernels may reach.
//!
//! A device pointer is a host pointer inside an allocation registered here. Allocations have an address range
//! that nothing else in the process uses, and the same addresses in every run, because cache behaviour
//! depends on them; memory that is freed goes back to the system at once, so that host code faults on it too,
//! and its addresses are used again only by programs that free the same size over and over. Tensors of Python programs, whose memory is wherever torch has it,
//! get device addresses of the same kind and are found through them.

mod mapping;
mod pageable;

use crate::codes::Code;
use emu::{Memory, Shared};
pub(crate) use mapping::{Pages, shared_pages};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Address range of allocations, which follow one another, between the systems' usual ranges for programs and
/// libraries.
const FIRST: usize = 0x3000_0000_0000;
const LAST: usize = 0x5000_0000_0000;
const PAGE: usize = 4096;
/// Most bytes of an allocation that are filled: whatever is touched takes memory of this machine.
pub(crate) const MOST_FILLED: usize = 1 << 30;
/// `hipDeviceMallocFinegrained`, and a part of `hipDeviceMallocUncached`.
const FINE_GRAINED: u32 = 1;
/// Alignment of allocations of at least this many bytes.
const FRAGMENTS: [usize; 2] = [2 << 20, 64 << 10];
/// Bytes kept free behind memory of Python programs; with checks on, as far as a product of a 32-bit index
/// and four bytes reaches.
const ROOM: usize = PAGE;
const ROOM_CHECKED: usize = 8 << 30;

/// Kind of an allocation for the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `hipMalloc` and the like.
    Device,
    /// `hipHostMalloc` and the like.
    Host,
    /// `hipMallocManaged`.
    Managed,
    /// Memory of the program, `hipHostRegister`.
    Registered,
    /// Memory of the GPU in reserved addresses, or of another process.
    Mapped,
    /// Code objects and other memory of the runtime.
    Internal,
}

/// One allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub(crate) base: usize,
    pub(crate) bytes: usize,
    pub(crate) kind: Kind,
    pub(crate) flags: u32,
    pub(crate) device: i32,
    pub(crate) number: u64,
    /// Bytes that are mapped, 0 when the memory is the program's.
    mapped: usize,
    /// Address in the process.
    host: usize,
    /// File with its pages, if other processes may have them.
    file: Option<i32>,
}

impl Allocation {
    /// Whether it is memory of the GPU.
    pub(crate) fn is_on_device(&self) -> bool {
        matches!(self.kind, Kind::Device | Kind::Managed | Kind::Mapped | Kind::Internal)
    }
}

/// Contents of new memory of the GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum NewMemory {
    /// Zeros.
    #[default]
    Cleared,
    /// This byte.
    Filled(u8),
    /// The pattern by which reads of what nothing has written are found.
    Unwritten,
}

/// All allocations of the process.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    live: BTreeMap<usize, Allocation>,
    /// Memory that kernels see.
    pub(crate) emulated: Memory,
    count: u64,
    device_bytes: usize,
    /// Bytes of addresses that were given out.
    used: usize,
    new_memory: NewMemory,
    freed: Freed,
    /// Addresses of memory of the program that one launch reaches.
    lent: Vec<u64>,
}

/// Addresses of freed memory of the GPU. A program that allocates and frees in a loop gets the same addresses again from the
/// third round on, so that its launches repeat each other. Until then no address is used again, and a stale pointer faults.
#[derive(Debug, Default)]
struct Freed {
    /// No address is ever used again.
    is_off: bool,
    /// By size: how often such memory was freed, and the addresses that may be used again.
    sizes: HashMap<usize, (u32, VecDeque<usize>)>,
}

/// Frees of a size whose addresses are not used again.
const FEWEST_FREES: u32 = 2;

impl Freed {
    fn add(&mut self, base: usize, bytes: usize) {
        let (count, bases) = self.sizes.entry(bytes).or_default();
        *count = count.saturating_add(1);
        if *count > FEWEST_FREES && !self.is_off {
            bases.push_back(base);
        }
    }

    /// Lets the next memory of a size have an address.
    fn put_first(&mut self, base: usize, bytes: usize) {
        let (_, bases) = self.sizes.entry(bytes).or_default();
        if !self.is_off {
            bases.retain(|it| *it != base);
            bases.push_front(base);
        }
    }

    fn take(&mut self, bytes: usize) -> Option<usize> {
        self.sizes.get_mut(&bytes)?.1.pop_front()
    }
}

impl Allocations {
    /// No memory yet; what new memory of the GPU holds is given.
    pub(crate) fn with(new_memory: NewMemory) -> Allocations {
        Allocations { new_memory, ..Allocations::default() }
    }

    /// Addresses are never used again, so that every access of freed memory faults.
    pub(crate) fn keep_freed(&mut self) {
        self.freed.is_off = true;
    }

    /// The next memory of that size has the address of this one, which was freed: pools give back what they have.
    pub(crate) fn use_again(&mut self, base: usize, bytes: usize) {
        self.freed.put_first(base, bytes);
    }

    /// Memory of a kind, zeroed unless new memory holds something else. `capacity` is the device's memory size.
    pub(crate) fn allocate(
        &mut self,
        kind: Kind,
        bytes: usize,
        flags: u32,
        capacity: usize,
    ) -> Result<usize, Code> {
        let wanted = bytes.max(1);
        let on_device = matches!(kind, Kind::Device | Kind::Managed);
        if on_device && wanted > capacity.saturating_sub(self.device_bytes) {
            return Err(Code::hipErrorOutOfMemory);
        }
        let mapped = wanted.checked_next_multiple_of(PAGE).ok_or(Code::hipErrorOutOfMemory)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let again = (kind == Kind::Device).then(|| self.freed.take(wanted)).flatten();
        let start = again
            .and_then(|base| mapping::map_new(base, mapped, access))
            .or_else(|| self.map(mapped, 0, access))
            .ok_or(Code::hipErrorOutOfMemory)?;
        self.add(
            start,
            Allocation {
                base: start.addr(),
                bytes: wanted,
                kind,
                flags,
                device: 0,
                number: 0,
                mapped,
                host: start.addr(),
                file: None,
            },
            None,
        )?;
        if on_device {
            self.device_bytes += wanted;
        }
        if kind == Kind::Device && self.new_memory != NewMemory::Cleared {
            // SAFETY: just mapped with at least this length, and nobody else knows of it.
            let bytes = unsafe { std::slice::from_raw_parts_mut(start, wanted.min(MOST_FILLED)) };
            match self.new_memory {
                NewMemory::Cleared => {}
                NewMemory::Filled(fill) => bytes.fill(fill),
                NewMemory::Unwritten => self.begin_unwritten(start.addr(), bytes),
            }
        }
        Ok(start.expose_provenance())
    }

    /// Fills the begin of an allocation with the pattern of memory that nothing has written.
    fn begin_unwritten(&mut self, base: usize, bytes: &mut [u8]) {
        emu::fill_unwritten(bytes);
        self.emulated.expect_unwritten(base as u64);
    }

    /// Makes memory of the program reachable for kernels.
    pub(crate) fn register(&mut self, start: *mut u8, bytes: usize, flags: u32) -> Result<(), Code> {
        let base = start.addr();
        let taken = self.live.range(..base.saturating_add(bytes)).next_back();
        if taken.is_some_and(|(_, it)| base < it.base + it.bytes) {
            return Err(Code::hipErrorHostMemoryAlreadyRegistered);
        }
        self.add(
            start,
            Allocation {
                base,
                bytes,
                kind: Kind::Registered,
                flags,
                device: 0,
                number: 0,
                mapped: 0,
                host: base,
                file: None,
            },
            None,
        )
    }

    /// Gives memory of the program a device address, with free space behind it; `name` is its name in
    /// messages. With checks on, the free space is so large that no stray access reaches another tensor.
    pub(crate) fn lend(
        &mut self,
        start: *mut u8,
        bytes: usize,
        name: &str,
        is_checked: bool,
    ) -> Result<usize, Code> {
        let alignment = FRAGMENTS.into_iter().find(|it| bytes >= *it).unwrap_or(PAGE);
        let base =
            (FIRST + self.used).checked_next_multiple_of(alignment).ok_or(Code::hipErrorOutOfMemory)?;
        let end = |room: usize| base.checked_add(bytes)?.checked_add(room).filter(|end| *end <= LAST);
        let end = end(if is_checked { ROOM_CHECKED } else { ROOM }).or_else(|| end(ROOM));
        let end = end.ok_or(Code::hipErrorOutOfMemory)?;
        let (kind, host) = (Kind::Device, start.addr());
        let allocation =
            Allocation { base, bytes, kind, flags: 0, device: 0, number: 0, mapped: 0, host, file: None };
        self.add(start, allocation, Some(name))?;
        self.used = end - FIRST;
        Ok(base)
    }

    /// Forgets memory that was lent.
    pub(crate) fn take_back(&mut self, base: usize) -> Result<(), Code> {
        if !self.live.get(&base).is_some_and(|it| it.mapped == 0 && it.kind == Kind::Device) {
            return Err(Code::hipErrorInvalidValue);
        }
        self.live.remove(&base);
        self.emulated.free(base as u64);
        Ok(())
    }

    /// Address in the process of a device address.
    pub(crate) fn host(&self, address: usize) -> usize {
        self.find(address).map_or(address, |it| it.host + (address - it.base))
    }

    fn add(&mut self, start: *mut u8, allocation: Allocation, name: Option<&str>) -> Result<(), Code> {
        self.count += 1;
        let number = self.count;
        let Allocation { base, bytes, kind, .. } = allocation;
        let name = name.map(str::to_string).unwrap_or_else(|| match kind {
            Kind::Device => format!("device allocation {number}"),
            Kind::Host => format!("host allocation {number}"),
            Kind::Managed => format!("managed allocation {number}"),
            Kind::Registered => format!("registered memory {number}"),
            Kind::Mapped => format!("mapped memory {number}"),
            Kind::Internal => format!("memory {number} of the runtime"),
        });
        // SAFETY: the range was allocated just now or is the program's, which keeps it until it is
        // unregistered; it leaves `emulated` before it goes. References into it are made nowhere while a
        // kernel runs. The rest of the last dword is the allocator's: it hands out multiples of eight bytes.
        let shared = unsafe { Shared::borrowed(start, emu::whole_dwords(base as u64, bytes)) };
        self.emulated.register(&name, base as u64, bytes, shared).map_err(|_| Code::hipErrorInvalidValue)?;
        if matches!(kind, Kind::Host | Kind::Managed | Kind::Registered) {
            self.emulated.share_with_host(base as u64);
        }
        let fine_grained = kind == Kind::Device && allocation.flags & FINE_GRAINED != 0;
        if fine_grained || matches!(kind, Kind::Host | Kind::Registered) {
            self.emulated.place_on_host(base as u64);
        }
        if kind == Kind::Registered {
            self.emulated.place_in_small_pages(base as u64);
        }
        self.live.insert(base, Allocation { number, ..allocation });
        Ok(())
    }

    /// Gives memory back. The pointer must be what one of `kinds` began with.
    pub(crate) fn free(&mut self, start: *mut u8, kinds: &[Kind]) -> Result<(), Code> {
        let base = start.addr();
        let Some(allocation) = self.live.get(&base).copied().filter(|it| kinds.contains(&it.kind)) else {
            return Err(Code::hipErrorInvalidValue);
        };
        self.live.remove(&base);
        if allocation.kind == Kind::Registered {
            // It is plain memory of the program again.
            self.emulated.forget(base as u64);
            return Ok(());
        }
        self.emulated.free(base as u64);
        if matches!(allocation.kind, Kind::Device | Kind::Managed) {
            self.device_bytes -= allocation.bytes;
        }
        if allocation.kind == Kind::Device && allocation.file.is_none() && allocation.mapped > 0 {
            self.freed.add(base, allocation.bytes);
        }
        let start = std::ptr::with_exposed_provenance_mut::<u8>(base);
        // SAFETY: mapped by `allocate` with this length, and no longer registered; the file is its own.
        unsafe {
            libc::munmap(start.cast(), allocation.mapped);
            if let Some(file) = allocation.file {
                libc::close(file);
            }
        }
        Ok(())
    }

    /// The allocation that holds an address.
    pub(crate) fn find(&self, address: usize) -> Option<Allocation> {
        let (_, allocation) = self.live.range(..=address).next_back()?;
        (address - allocation.base < allocation.bytes).then_some(*allocation)
    }

    /// Bytes from an address to the end of its allocation.
    pub(crate) fn room(&self, address: usize) -> Option<usize> {
        self.find(address).map(|it| self.mapped_end(&it) - address)
    }

    /// Addresses outside of which there is no allocation.
    pub(crate) fn span(&self) -> std::ops::Range<usize> {
        let first = self.live.first_key_value().map_or(0, |(base, _)| *base);
        first..self.live.last_key_value().map_or(0, |(base, it)| base + it.bytes)
    }

    /// Whether an address is in the pages of an allocation, perhaps behind its last byte.
    pub(crate) fn is_in_pages(&self, address: u64) -> bool {
        let found = usize::try_from(address).ok().and_then(|it| self.live.range(..=it).next_back());
        found.is_some_and(|(base, it)| address - (*base as u64) < it.mapped as u64)
    }

    /// Whether memory of the runtime begins at an address.
    pub(crate) fn is_internal(&self, base: u64) -> bool {
        usize::try_from(base)
            .ok()
            .and_then(|it| self.live.get(&it))
            .is_some_and(|it| it.kind == Kind::Internal)
    }

    /// Whether a copy brings to the GPU what the host has.
    pub(crate) fn is_copy_from_host(&self, to: usize, from: usize) -> bool {
        let of_gpu = |address| self.find(address).is_some_and(|it| it.is_on_device());
        of_gpu(to) && !of_gpu(from)
    }

    /// Whether a copy brings to the host what the GPU has.
    pub(crate) fn is_copy_to_host(&self, to: usize, from: usize) -> bool {
        self.is_copy_from_host(from, to)
    }

    /// Bytes of the device in use.
    pub(crate) fn device_bytes(&self) -> usize {
        self.device_bytes
    }

    /// Whether the program may touch `bytes` from an address on: memory unknown here is the program's
    /// responsibility.
    pub(crate) fn check(&self, what: &str, address: usize, bytes: usize) -> Result<(), Code> {
        if let Some(allocation) = self.find(address) {
            let left = self.mapped_end(&allocation) - address;
            if bytes <= left {
                return Ok(());
            }
            crate::message::say(&format!(
                "{what} {address:#x}, {bytes} bytes: only {left} bytes are left of the allocation of {} bytes at {:#x}",
                allocation.bytes, allocation.base
            ));
            return Err(Code::hipErrorInvalidValue);
        }
        match self.emulated.nearest(address as u64) {
            Some(nearest) if nearest.freed => {
                crate::message::say(&format!("{what} {address:#x}, {bytes} bytes: {nearest}"));
                Err(Code::hipErrorInvalidValue)
            }
            _ if (FIRST..FIRST + self.used).contains(&address) => {
                crate::message::say(&format!("{what} {address:#x}, {bytes} bytes: no memory is there"));
                Err(Code::hipErrorInvalidValue)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const CAPACITY: usize = 1 << 30;

    #[test]
    fn memory_is_zeroed_found_and_given_back() {
        for bytes in [0, 1, 100, PAGE, 64 << 10, 5 << 20] {
            let mut all = Allocations::default();
            let base = all.allocate(Kind::Device, bytes, 0, CAPACITY).unwrap();
            assert_eq!(base % PAGE, 0);
            let last = base + bytes.max(1) - 1;
            assert_eq!(all.find(last).map(|it| it.base), Some(base), "{bytes}");
            assert!(all.find(last + 1).is_none());
            assert_eq!(all.emulated.read(base as u64, bytes), Some(vec![0; bytes]));
            let start = std::ptr::with_exposed_provenance_mut::<u8>(base);
            assert_eq!(all.free(start, &[Kind::Host]), Err(Code::hipErrorInvalidValue));
            assert_eq!(all.free(start, &[Kind::Device]), Ok(()));
            assert_eq!(all.free(start, &[Kind::Device]), Err(Code::hipErrorInvalidValue));
            assert_eq!((all.find(base).is_none(), all.device_bytes()), (true, 0));
            assert_eq!(all.check("copy", base, 1), Err(Code::hipErrorInvalidValue), "freed");
        }
    }

    #[test]
    fn new_memory_holds_what_was_asked_for() {
        for (new_memory, kind, is_unwritten, first) in [
            (NewMemory::Cleared, Kind::Device, false, Some(0)),
            (NewMemory::Filled(7), Kind::Device, false, Some(7)),
            (NewMemory::Filled(7), Kind::Managed, false, Some(0)),
            (NewMemory::Unwritten, Kind::Device, true, None),
            (NewMemory::Unwritten, Kind::Host, false, Some(0)),
        ] {
            let mut all = Allocations::with(new_memory);
            let base = all.allocate(kind, 100, 0, CAPACITY).unwrap() as u64;
            assert_eq!(all.emulated.is_unwritten(base + 96, 4), is_unwritten, "{new_memory:?} {kind:?}");
            let found = all.emulated.read(base, 100).unwrap();
            assert!(first.is_none_or(|it| found == [it; 100]), "{new_memory:?} {kind:?}");
            all.emulated.write(base + 96, &[0; 4]);
            assert!(!all.emulated.is_unwritten(base + 96, 4));
        }
    }

    #[test]
    fn addresses_are_the_same_in_every_run_and_not_used_again() {
        // Tests of this process share the addresses: what counts is where an allocation wants to be.
        let mut all = Allocations::default();
        let mut used = Vec::new();
        for bytes in [100, 5 << 20, 100 << 10, 1] {
            let base = all.allocate(Kind::Device, bytes, 0, CAPACITY).unwrap();
            used.push(all.used);
            assert_eq!(all.free(std::ptr::with_exposed_provenance_mut(base), &[Kind::Device]), Ok(()));
        }
        assert_eq!(used, [4096, 7 << 20, (7 << 20) + (100 << 10), (7 << 20) + (104 << 10)]);
    }

    #[test]
    fn addresses_are_used_again_from_the_third_round_on() {
        for (is_off, expected) in [(false, 4), (true, 8)] {
            let mut all = Allocations::default();
            if is_off {
                all.keep_freed();
            }
            // Other tests may have the wanted address: what counts is how many there are. Two buffers of a size in each round.
            let rounds: BTreeSet<Vec<usize>> = (0..8)
                .map(|_| {
                    let bases: Vec<usize> =
                        (0..2).map(|_| all.allocate(Kind::Device, 5000, 0, CAPACITY).unwrap()).collect();
                    for base in &bases {
                        assert_eq!(all.emulated.read(*base as u64, 5000), Some(vec![0; 5000]));
                        all.emulated.write(*base as u64, &[1; 5000]);
                    }
                    for base in &bases {
                        let start = std::ptr::with_exposed_provenance_mut(*base);
                        assert_eq!(all.free(start, &[Kind::Device]), Ok(()));
                    }
                    bases
                })
                .collect();
            assert!(if is_off { rounds.len() == expected } else { rounds.len() < expected }, "{rounds:?}");
        }
    }

    #[test]
    fn addresses_of_pools_are_used_again_at_once() {
        for is_off in [false, true] {
            let mut freed = Freed { is_off, ..Freed::default() };
            freed.add(4096, 7000);
            assert_eq!(freed.take(7000), None, "not of a pool");
            for base in [4096, 8192, 4096] {
                freed.put_first(base, 7000);
            }
            let found = [7000, 8000, 7000, 7000].map(|bytes| freed.take(bytes));
            let expected = if is_off { [None; 4] } else { [Some(4096), None, Some(8192), None] };
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn more_than_the_device_has_is_refused() {
        let mut all = Allocations::default();
        for bytes in [CAPACITY + 1, usize::MAX, usize::MAX - 4096] {
            assert_eq!(all.allocate(Kind::Device, bytes, 0, CAPACITY), Err(Code::hipErrorOutOfMemory));
        }
        assert!(all.allocate(Kind::Device, CAPACITY - 10, 0, CAPACITY).is_ok());
        assert_eq!(all.allocate(Kind::Device, 11, 0, CAPACITY), Err(Code::hipErrorOutOfMemory));
    }

    #[test]
    fn copies_beyond_the_end_are_refused() {
        let mut all = Allocations::default();
        let base = all.allocate(Kind::Device, 1000, 0, CAPACITY).unwrap();
        assert_eq!(all.check("copy", base + 200, 800), Ok(()));
        assert_eq!(all.check("copy", base + 201, 800), Err(Code::hipErrorInvalidValue));
    }

    #[test]
    fn copies_from_the_host_are_known() {
        let mut all = Allocations::default();
        let own = 0u64;
        let host = all.allocate(Kind::Host, 100, 0, CAPACITY).unwrap();
        let [device, managed] =
            [Kind::Device, Kind::Managed].map(|kind| all.allocate(kind, 100, 0, CAPACITY).unwrap());
        let places = [(&raw const own).addr(), host, device + 99, managed];
        let found = places.map(|to| places.map(|from| all.is_copy_from_host(to, from)));
        let none = [false; 4];
        let from_host = [true, true, false, false];
        assert_eq!(found, [none, none, from_host, from_host]);
    }

    #[test]
    fn memory_of_tensors_has_addresses_of_its_own_with_room_behind() {
        for is_checked in [false, true] {
            let mut all = Allocations::default();
            let mut tensor = vec![7u8; 1000];
            let start = tensor.as_mut_ptr();
            let [first, second] =
                [1000, 8].map(|bytes| all.lend(start, bytes, "`x`, int8 [1000]", is_checked).unwrap());
            assert_eq!((first % PAGE, all.host(first + 5), all.host(3)), (0, start.addr() + 5, 3));
            assert!(second - first >= if is_checked { 8 << 30 } else { 2 * PAGE });
            assert_eq!(all.emulated.read(first as u64, 2), Some(vec![7, 7]));
            assert_eq!(all.emulated.read(first as u64 + 1000, 1), None);
            assert_eq!(all.take_back(first + 1), Err(Code::hipErrorInvalidValue));
            assert_eq!(
                (all.take_back(first), all.take_back(second), all.device_bytes()),
                (Ok(()), Ok(()), 0)
            );
        }
    }

    #[test]
    fn memory_is_registered_once() {
        let mut all = Allocations::default();
        let mut memory = vec![0u8; 64];
        let start = memory.as_mut_ptr();
        assert_eq!(all.register(start, 64, 0), Ok(()));
        assert_eq!(all.register(start.wrapping_add(8), 8, 0), Err(Code::hipErrorHostMemoryAlreadyRegistered));
        assert_eq!(all.free(start, &[Kind::Registered]), Ok(()));
        // Memory that is not registered any more is the program's.
        assert_eq!(all.check("copy to", start.addr(), 64), Ok(()));
        assert_eq!(all.register(start, 64, 0), Ok(()));
    }

    #[test]
    fn only_registered_memory_is_in_small_pages() {
        let mut all = Allocations::default();
        for kind in [Kind::Device, Kind::Host, Kind::Managed] {
            all.allocate(kind, 4096, 0, CAPACITY).unwrap();
        }
        assert_eq!(all.emulated.in_small_pages(), []);
        let mut memory = vec![0u8; 64];
        let start = memory.as_mut_ptr();
        assert_eq!(all.register(start, 64, 0), Ok(()));
        let range = start.addr() as u64..start.addr() as u64 + 64;
        assert_eq!(all.emulated.in_small_pages(), vec![range]);
        assert_eq!(all.free(start, &[Kind::Registered]), Ok(()));
        assert_eq!(all.emulated.in_small_pages(), []);
    }

    #[test]
    fn the_last_page_of_an_allocation_is_no_other_memory() {
        let mut all = Allocations::default();
        let base = all.allocate(Kind::Device, 4000, 0, CAPACITY).unwrap() as u64;
        let found = [base, base + 4000, base + 4095, base + 4096].map(|it| all.is_in_pages(it));
        assert_eq!(found, [true, true, true, false]);
    }
}
