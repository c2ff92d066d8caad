//! Memory that is mapped piece by piece: reserved addresses, and pages that several mappings or processes share.

use super::{Allocation, Allocations, FIRST, FRAGMENTS, Kind, LAST, PAGE};
use crate::codes::Code;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};

/// Pages behind reserved addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pages<'a> {
    /// Fresh ones, zeroed.
    Fresh,
    /// The pages of a file.
    Of(BorrowedFd<'a>),
}

/// A file without a name whose pages several mappings share, with zeros.
pub(crate) fn shared_pages(bytes: usize) -> Option<OwnedFd> {
    let length = i64::try_from(bytes).ok()?;
    // SAFETY: the name is a text, and the file is nobody else's.
    unsafe {
        let file = libc::memfd_create(c"rockhound".as_ptr(), libc::MFD_CLOEXEC);
        let file = (file >= 0).then(|| OwnedFd::from_raw_fd(file))?;
        (libc::ftruncate(file.as_raw_fd(), length) == 0).then_some(file)
    }
}

/// Replaces the pages of addresses that are ours; without pages they can be touched no more.
fn map_over(base: usize, bytes: usize, pages: Option<Pages<'_>>) -> Result<*mut u8, Code> {
    let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let (access, kind, file) = match pages {
        None => (libc::PROT_NONE, anonymous, -1),
        Some(Pages::Fresh) => (libc::PROT_READ | libc::PROT_WRITE, anonymous, -1),
        Some(Pages::Of(file)) => (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file.as_raw_fd()),
    };
    let place = std::ptr::with_exposed_provenance_mut(base);
    // SAFETY: the addresses belong to an allocation or a reservation of this library.
    let start = unsafe { libc::mmap(place, bytes, access, kind | libc::MAP_FIXED, file, 0) };
    if start == libc::MAP_FAILED {
        return Err(Code::hipErrorOutOfMemory);
    }
    if matches!(pages, Some(Pages::Fresh)) {
        ask_for_large_pages(start, bytes);
    }
    Ok(start.cast())
}

/// Asks for pages of 2 MiB behind a large allocation, whose first touch then takes half the time or less.
fn ask_for_large_pages(start: *mut libc::c_void, bytes: usize) {
    if bytes >= emu::LARGE {
        // SAFETY: the addresses were mapped just now. The advice changes no contents; a host without such pages ignores it.
        unsafe { libc::madvise(start, bytes, libc::MADV_HUGEPAGE) };
    }
}

impl Allocations {
    /// Maps memory at the next addresses, or anywhere free if those are taken. `alignment` is the least one.
    pub(super) fn map(&mut self, bytes: usize, alignment: usize, access: i32) -> Option<*mut u8> {
        let usual = FRAGMENTS.into_iter().find(|it| bytes >= *it).unwrap_or(PAGE);
        let next = (FIRST + self.used).checked_next_multiple_of(usual.max(alignment))?;
        let fits = next.checked_add(bytes).is_some_and(|end| end <= LAST);
        if fits {
            self.used = next + bytes - FIRST;
            if let Some(start) = map_new(next, bytes, access) {
                return Some(start);
            }
        }
        map_new(0, bytes, access)
    }

    /// Reserves addresses without memory, at `wanted` if that is free.
    pub(crate) fn reserve(&mut self, bytes: usize, alignment: usize, wanted: usize) -> Option<usize> {
        let start = (wanted != 0 && wanted.is_multiple_of(PAGE))
            .then(|| map_new(wanted, bytes, libc::PROT_NONE))
            .flatten()
            .or_else(|| self.map(bytes, alignment, libc::PROT_NONE))?;
        Some(start.expose_provenance())
    }

    /// Reserves addresses for memory that a graph allocates when it runs.
    pub(crate) fn reserve_for_graph(&mut self, bytes: usize) -> Result<usize, Code> {
        let bytes = bytes.checked_next_multiple_of(PAGE).ok_or(Code::hipErrorOutOfMemory)?;
        self.reserve(bytes, 0, 0).ok_or(Code::hipErrorOutOfMemory)
    }

    /// Gives reserved addresses back, which have no memory any more.
    pub(crate) fn release(&mut self, base: usize, bytes: usize) {
        // SAFETY: reserved by `reserve`.
        unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(base), bytes) };
    }

    /// Gives reserved addresses memory.
    pub(crate) fn populate(&mut self, base: usize, bytes: usize, pages: Pages<'_>) -> Result<(), Code> {
        let mapped = bytes.checked_next_multiple_of(PAGE).ok_or(Code::hipErrorOutOfMemory)?;
        let start = map_over(base, mapped, Some(pages))?;
        self.add(start, mapping(base, bytes, mapped), None)
    }

    /// Takes the memory of reserved addresses.
    pub(crate) fn empty(&mut self, base: usize) -> Result<(), Code> {
        let allocation = self.remove_mapped(base)?;
        map_over(base, allocation.mapped, None).map(|_| ())
    }

    fn remove_mapped(&mut self, base: usize) -> Result<Allocation, Code> {
        let found = self.live.get(&base).copied().filter(|it| it.kind == Kind::Mapped);
        let allocation = found.ok_or(Code::hipErrorInvalidValue)?;
        self.live.remove(&base);
        self.emulated.free(base as u64);
        Ok(allocation)
    }

    /// Makes the pages of an allocation a file, which other processes can map, and gives the file.
    pub(crate) fn share(&mut self, base: usize) -> Result<i32, Code> {
        let found = self.live.get(&base).copied().filter(|it| it.kind == Kind::Device && it.mapped > 0);
        let allocation = found.ok_or(Code::hipErrorInvalidValue)?;
        if let Some(file) = allocation.file {
            return Ok(file);
        }
        let file = shared_pages(allocation.mapped).ok_or(Code::hipErrorOutOfMemory)?;
        let zeros = [0u8; PAGE];
        for at in (0..allocation.mapped).step_by(PAGE) {
            let page = std::ptr::with_exposed_provenance::<u8>(base + at);
            // SAFETY: inside the allocation; kernels do not run while the runtime is locked.
            let contents = unsafe { std::slice::from_raw_parts(page, PAGE) };
            // Pages that were never written stay holes.
            if contents != zeros {
                let length = isize::try_from(PAGE).unwrap_or_default();
                // SAFETY: the file is ours and has that length.
                let written = unsafe { libc::pwrite(file.as_raw_fd(), page.cast(), PAGE, at as libc::off_t) };
                if written != length {
                    return Err(Code::hipErrorOutOfMemory);
                }
            }
        }
        use std::os::fd::AsFd;
        map_over(base, allocation.mapped, Some(Pages::Of(file.as_fd())))?;
        let file = file.into_raw_fd();
        if let Some(allocation) = self.live.get_mut(&base) {
            allocation.file = Some(file);
        }
        // Other processes write to it whenever they like.
        self.emulated.share_with_host(base as u64);
        Ok(file)
    }

    /// Maps pages of another process; gives the address.
    pub(crate) fn attach(&mut self, file: BorrowedFd<'_>, bytes: usize) -> Result<usize, Code> {
        let mapped = bytes.checked_next_multiple_of(PAGE).ok_or(Code::hipErrorInvalidValue)?;
        let base = self.reserve(mapped, 0, 0).ok_or(Code::hipErrorOutOfMemory)?;
        self.populate(base, bytes, Pages::Of(file))?;
        self.emulated.share_with_host(base as u64);
        Ok(base)
    }

    /// Ends what [`Allocations::attach`] began.
    pub(crate) fn detach(&mut self, base: usize) -> Result<(), Code> {
        let allocation = self.remove_mapped(base)?;
        self.release(base, allocation.mapped);
        Ok(())
    }

    /// End of an allocation, or of those that are mapped behind one another.
    pub(super) fn mapped_end(&self, first: &Allocation) -> usize {
        let mut end = first.base + first.bytes;
        while let Some(next) =
            self.live.get(&end).filter(|it| it.kind == first.kind && it.kind == Kind::Mapped)
        {
            end += next.bytes;
        }
        end
    }

    /// Takes bytes of the GPU's memory for pages that are not mapped yet.
    pub(crate) fn take_device_bytes(&mut self, bytes: usize, capacity: usize) -> Result<(), Code> {
        if bytes > capacity.saturating_sub(self.device_bytes) {
            return Err(Code::hipErrorOutOfMemory);
        }
        self.device_bytes += bytes;
        Ok(())
    }

    /// Gives them back.
    pub(crate) fn give_device_bytes(&mut self, bytes: usize) {
        self.device_bytes = self.device_bytes.saturating_sub(bytes);
    }
}

fn mapping(base: usize, bytes: usize, mapped: usize) -> Allocation {
    Allocation {
        base,
        bytes,
        kind: Kind::Mapped,
        flags: 0,
        device: 0,
        number: 0,
        mapped,
        host: base,
        file: None,
    }
}

/// A mapping where nothing is, at an address if it is not 0.
pub(super) fn map_new(address: usize, bytes: usize, access: i32) -> Option<*mut u8> {
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let kind = if address == 0 { kind } else { kind | libc::MAP_FIXED_NOREPLACE };
    let address = std::ptr::without_provenance_mut(address);
    // SAFETY: a new private mapping touches nothing that exists.
    let start = unsafe { libc::mmap(address, bytes, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    if access != libc::PROT_NONE {
        ask_for_large_pages(start, bytes);
    }
    Some(start.cast())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn reserved_addresses_have_memory_while_it_is_mapped() {
        let mut all = Allocations::default();
        let base = all.reserve(4 * PAGE, 0, 0).unwrap();
        assert_eq!(all.emulated.read(base as u64, 1), None);
        let pages = shared_pages(PAGE).unwrap();
        for at in [0, PAGE, 3 * PAGE] {
            all.populate(base + at, PAGE, Pages::Of(pages.as_fd())).unwrap();
        }
        // The pages are the same everywhere.
        all.emulated.write(base as u64 + 5, &[7]).unwrap();
        let read = |all: &Allocations, at: usize| all.emulated.read((base + at) as u64 + 5, 1);
        assert_eq!(
            [0, PAGE, 3 * PAGE].map(|at| read(&all, at)),
            [Some(vec![7]), Some(vec![7]), Some(vec![7])]
        );
        // A copy may go over mappings that follow each other, and not over a gap.
        let checks = [2 * PAGE, 2 * PAGE + 1].map(|bytes| all.check("copy", base, bytes).is_ok());
        assert_eq!(checks, [true, false]);
        assert_eq!([base + PAGE, base + 1].map(|it| all.empty(it).is_ok()), [true, false]);
        assert_eq!((read(&all, 0), read(&all, PAGE)), (Some(vec![7]), None));
    }

    #[test]
    fn shared_pages_keep_what_was_there() {
        let mut all = Allocations::default();
        let base = all.allocate(Kind::Device, 3 * PAGE, 0, usize::MAX).unwrap();
        all.emulated.write((base + 2 * PAGE) as u64, &[1, 2, 3]).unwrap();
        let file = all.share(base).unwrap();
        assert_eq!(all.share(base), Ok(file));
        // SAFETY: the file stays open as long as the allocation.
        let pages = unsafe { BorrowedFd::borrow_raw(file) };
        let other = all.attach(pages, 3 * PAGE).unwrap();
        assert_eq!(all.emulated.read((other + 2 * PAGE) as u64, 3), Some(vec![1, 2, 3]));
        all.emulated.write(other as u64, &[9]).unwrap();
        assert_eq!(all.emulated.read(base as u64, 1), Some(vec![9]));
        assert_eq!([all.detach(other), all.detach(other)], [Ok(()), Err(Code::hipErrorInvalidValue)]);
        assert_eq!(all.free(std::ptr::with_exposed_provenance_mut(base), &[Kind::Device]), Ok(()));
    }
}
