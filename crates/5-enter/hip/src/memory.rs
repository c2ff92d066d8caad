//! Allocations: memory of the process that kernels may reach.
//!
//! The one idea to keep in mind: a device pointer is a host pointer inside an allocation registered here; memory that
//! is freed goes back to the system at once, so that host code faults on it too.

use crate::codes::Code;
use emu::{Memory, Shared};
use std::collections::BTreeMap;

/// Bytes from which an allocation is mapped on its own.
const MAPPED: usize = 128 << 10;
/// Alignment of smaller ones.
const ALIGNMENT: usize = 256;
const PAGE: usize = 4096;

/// What an allocation is to the program.
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
    /// Code objects and what the runtime itself needs.
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
    /// Bytes that are mapped, 0 when the memory is on the heap or the program's.
    mapped: usize,
}

/// All allocations of the process.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    live: BTreeMap<usize, Allocation>,
    /// What kernels see.
    pub(crate) emulated: Memory,
    count: u64,
    device_bytes: usize,
}

impl Allocations {
    /// Zeroed memory of a kind. `capacity` is what the device has.
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
        let mapped = if wanted >= MAPPED { wanted.checked_next_multiple_of(PAGE).unwrap_or(0) } else { 0 };
        let start = match mapped {
            0 if wanted >= MAPPED => return Err(Code::hipErrorOutOfMemory),
            0 => {
                let layout = layout(wanted).ok_or(Code::hipErrorOutOfMemory)?;
                // SAFETY: the layout is not empty.
                unsafe { std::alloc::alloc_zeroed(layout) }
            }
            // SAFETY: a new private mapping touches nothing that exists.
            _ => match unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    mapped,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                )
            } {
                libc::MAP_FAILED => std::ptr::null_mut(),
                start => start.cast(),
            },
        };
        if start.is_null() {
            return Err(Code::hipErrorOutOfMemory);
        }
        self.add(
            start,
            Allocation { base: start.addr(), bytes: wanted, kind, flags, device: 0, number: 0, mapped },
        )?;
        if on_device {
            self.device_bytes += wanted;
        }
        Ok(start.expose_provenance())
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
            Allocation { base, bytes, kind: Kind::Registered, flags, device: 0, number: 0, mapped: 0 },
        )
    }

    fn add(&mut self, start: *mut u8, allocation: Allocation) -> Result<(), Code> {
        self.count += 1;
        let number = self.count;
        let Allocation { base, bytes, kind, .. } = allocation;
        let name = match kind {
            Kind::Device => format!("device allocation {number}"),
            Kind::Host => format!("host allocation {number}"),
            Kind::Managed => format!("managed allocation {number}"),
            Kind::Registered => format!("registered memory {number}"),
            Kind::Internal => format!("memory {number} of the runtime"),
        };
        // SAFETY: the range was allocated just now or is the program's, which keeps it until it is unregistered; it
        // leaves `emulated` before it goes. References into it are made nowhere while a kernel runs.
        let shared = unsafe { Shared::borrowed(start, bytes) };
        self.emulated.register(&name, base as u64, shared).map_err(|_| Code::hipErrorInvalidValue)?;
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
        self.emulated.free(base as u64);
        if matches!(allocation.kind, Kind::Device | Kind::Managed) {
            self.device_bytes -= allocation.bytes;
        }
        if allocation.kind == Kind::Registered {
            return Ok(());
        }
        let start = std::ptr::with_exposed_provenance_mut::<u8>(base);
        if allocation.mapped > 0 {
            // SAFETY: mapped by `allocate` with this length, and no longer registered.
            unsafe { libc::munmap(start.cast(), allocation.mapped) };
        } else if let Some(layout) = layout(allocation.bytes) {
            // SAFETY: allocated by `allocate` with this layout, and no longer registered.
            unsafe { std::alloc::dealloc(start, layout) };
        }
        Ok(())
    }

    /// The allocation that holds an address.
    pub(crate) fn find(&self, address: usize) -> Option<Allocation> {
        let (_, allocation) = self.live.range(..=address).next_back()?;
        (address - allocation.base < allocation.bytes).then_some(*allocation)
    }

    /// Bytes of the device in use.
    pub(crate) fn device_bytes(&self) -> usize {
        self.device_bytes
    }

    /// Whether the program may touch `bytes` from an address on: memory unknown here is the program's own affair.
    pub(crate) fn check(&self, what: &str, address: usize, bytes: usize) -> Result<(), Code> {
        if let Some(allocation) = self.find(address) {
            let left = allocation.base + allocation.bytes - address;
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
            _ => Ok(()),
        }
    }
}

fn layout(bytes: usize) -> Option<std::alloc::Layout> {
    std::alloc::Layout::from_size_align(bytes.max(1), ALIGNMENT).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: usize = 1 << 30;

    #[test]
    fn memory_is_zeroed_found_and_given_back() {
        for bytes in [0, 1, 100, MAPPED - 1, MAPPED, 1 << 20] {
            let mut all = Allocations::default();
            let base = all.allocate(Kind::Device, bytes, 0, CAPACITY).unwrap();
            assert_eq!(base % ALIGNMENT, 0);
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
    fn memory_is_registered_once() {
        let mut all = Allocations::default();
        let mut memory = vec![0u8; 64];
        let start = memory.as_mut_ptr();
        assert_eq!(all.register(start, 64, 0), Ok(()));
        assert_eq!(all.register(start.wrapping_add(8), 8, 0), Err(Code::hipErrorHostMemoryAlreadyRegistered));
        assert_eq!(all.free(start, &[Kind::Registered]), Ok(()));
        assert_eq!(all.register(start, 64, 0), Ok(()));
    }
}
