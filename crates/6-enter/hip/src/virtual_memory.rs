//! Virtual memory: addresses that a program reserves, pages that it makes, and which pages are where.
//!
//! Pages are a file without a name, so one piece can be mapped at several addresses and given to other processes.

use crate::codes::Code;
use crate::memory::{Allocations, Pages};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Bytes of the smallest piece, and multiple of all.
pub(crate) const GRANULARITY: usize = 4096;

/// Access of a GPU to mapped pages, as programs read it.
pub(crate) const NO_ACCESS: u32 = 0;

/// Pages that a program made or was given.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pages: Arc<OwnedFd>,
    pub(crate) bytes: usize,
    /// GPU that holds it.
    pub(crate) device: i32,
    /// Kind of handle by which other processes may have it.
    pub(crate) shareable: u32,
    /// Handles and mappings.
    references: u32,
    /// The pages count as memory of this process.
    is_own: bool,
}

/// Pages at an address.
#[derive(Debug)]
struct Mapping {
    piece: usize,
    bytes: usize,
    /// By GPU.
    access: BTreeMap<i32, u32>,
}

/// Reserved addresses and the pages behind them.
#[derive(Debug, Default)]
pub(crate) struct VirtualMemory {
    reserved: BTreeMap<usize, usize>,
    pieces: BTreeMap<usize, Piece>,
    mappings: BTreeMap<usize, Mapping>,
    last: usize,
}

impl VirtualMemory {
    /// Reserves addresses.
    pub(crate) fn reserve(
        &mut self,
        (bytes, alignment, wanted): (usize, usize, usize),
        allocations: &mut Allocations,
    ) -> Result<usize, Code> {
        let base = allocations.reserve(bytes, alignment, wanted).ok_or(Code::hipErrorOutOfMemory)?;
        self.reserved.insert(base, bytes);
        Ok(base)
    }

    /// Gives reserved addresses back; nothing may be mapped there.
    pub(crate) fn release(&mut self, base: usize, allocations: &mut Allocations) -> Result<(), Code> {
        let bytes = *self.reserved.get(&base).ok_or(Code::hipErrorInvalidValue)?;
        if self.mappings.range(base..base + bytes).next().is_some() {
            return Err(Code::hipErrorInvalidValue);
        }
        self.reserved.remove(&base);
        allocations.release(base, bytes);
        Ok(())
    }

    /// Keeps pages under a new handle.
    pub(crate) fn add(
        &mut self,
        pages: OwnedFd,
        bytes: usize,
        (device, shareable): (i32, u32),
        is_own: bool,
    ) -> usize {
        self.last += 16;
        let piece = Piece { pages: Arc::new(pages), bytes, device, shareable, references: 1, is_own };
        self.pieces.insert(self.last, piece);
        self.last
    }

    /// The pages of a handle.
    pub(crate) fn piece(&self, handle: usize) -> Result<&Piece, Code> {
        self.pieces.get(&handle).ok_or(Code::hipErrorInvalidValue)
    }

    /// The handle of the pages at an address, which counts as one more.
    pub(crate) fn retain(&mut self, address: usize) -> Result<usize, Code> {
        let handle = self.at(address)?.1.piece;
        self.pieces.get_mut(&handle).ok_or(Code::hipErrorInvalidValue)?.references += 1;
        Ok(handle)
    }

    /// Gives a handle back; pages go with the last handle and mapping.
    pub(crate) fn drop_handle(&mut self, handle: usize, allocations: &mut Allocations) -> Result<(), Code> {
        let piece = self.pieces.get_mut(&handle).ok_or(Code::hipErrorInvalidValue)?;
        piece.references -= 1;
        if piece.references == 0
            && let Some(piece) = self.pieces.remove(&handle)
            && piece.is_own
        {
            allocations.give_device_bytes(piece.bytes);
        }
        Ok(())
    }

    /// The mapping around an address, with its first address.
    fn at(&self, address: usize) -> Result<(usize, &Mapping), Code> {
        let (base, mapping) =
            self.mappings.range(..=address).next_back().ok_or(Code::hipErrorInvalidValue)?;
        if address - base < mapping.bytes { Ok((*base, mapping)) } else { Err(Code::hipErrorInvalidValue) }
    }

    /// Puts pages at reserved addresses. No GPU may touch them yet.
    pub(crate) fn map(&mut self, base: usize, bytes: usize, handle: usize) -> Result<(), Code> {
        let piece = self.pieces.get_mut(&handle).ok_or(Code::hipErrorInvalidValue)?;
        let (start, room) = self.reserved.range(..=base).next_back().ok_or(Code::hipErrorInvalidValue)?;
        let is_inside = bytes <= piece.bytes
            && bytes.is_multiple_of(GRANULARITY)
            && base.is_multiple_of(GRANULARITY)
            && base - start <= *room
            && bytes <= room - (base - start);
        let before = self.mappings.range(..base + bytes).next_back();
        let is_taken = before.is_some_and(|(start, it)| base < start + it.bytes);
        if !is_inside || is_taken {
            return Err(Code::hipErrorInvalidValue);
        }
        piece.references += 1;
        self.mappings.insert(base, Mapping { piece: handle, bytes, access: BTreeMap::new() });
        Ok(())
    }

    /// Takes pages away from their addresses.
    pub(crate) fn unmap(
        &mut self,
        base: usize,
        bytes: usize,
        allocations: &mut Allocations,
    ) -> Result<(), Code> {
        let found = self.mappings.get(&base).filter(|it| it.bytes == bytes);
        let mapping = found.ok_or(Code::hipErrorInvalidValue)?;
        let handle = mapping.piece;
        if mapping.is_open() {
            allocations.empty(base)?;
        }
        self.mappings.remove(&base);
        self.drop_handle(handle, allocations)
    }

    /// Says what a GPU may do with mapped addresses.
    pub(crate) fn set_access(
        &mut self,
        (base, bytes): (usize, usize),
        (device, access): (i32, u32),
        allocations: &mut Allocations,
    ) -> Result<(), Code> {
        let end = base.checked_add(bytes).ok_or(Code::hipErrorInvalidValue)?;
        let mut next = base;
        for (start, mapping) in self.mappings.range(base..end) {
            if *start != next {
                break;
            }
            next = start + mapping.bytes;
        }
        if next != end {
            return Err(Code::hipErrorInvalidValue);
        }
        for (start, mapping) in self.mappings.range_mut(base..end) {
            let was_open = mapping.is_open();
            mapping.access.insert(device, access);
            let piece = self.pieces.get(&mapping.piece).ok_or(Code::hipErrorInvalidValue)?;
            match (was_open, mapping.is_open()) {
                (false, true) => allocations.populate(*start, mapping.bytes, Pages::Of(piece.pages()))?,
                (true, false) => allocations.empty(*start)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Access of a GPU to an address.
    pub(crate) fn access(&self, address: usize, device: i32) -> Result<u32, Code> {
        Ok(self.at(address)?.1.access.get(&device).copied().unwrap_or(NO_ACCESS))
    }
}

impl Mapping {
    /// Whether a GPU may touch it.
    fn is_open(&self) -> bool {
        self.access.values().any(|it| *it != NO_ACCESS)
    }
}

impl Piece {
    /// The file of the pages.
    pub(crate) fn pages(&self) -> BorrowedFd<'_> {
        self.pages.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::shared_pages;

    const PAGE: usize = GRANULARITY;

    #[test]
    fn pages_are_there_while_a_gpu_may_touch_them() {
        let (mut memory, mut all) = (VirtualMemory::default(), Allocations::default());
        let base = memory.reserve((4 * PAGE, 0, 0), &mut all).unwrap();
        let piece = memory.add(shared_pages(2 * PAGE).unwrap(), 2 * PAGE, (0, 0), false);
        let wrong = Err(Code::hipErrorInvalidValue);
        assert_eq!(memory.map(base + 3 * PAGE, 2 * PAGE, piece), wrong, "past the reservation");
        assert_eq!(memory.map(base, 3 * PAGE, piece), wrong, "past the pages");
        assert_eq!(memory.map(base, 2 * PAGE, piece), Ok(()));
        assert_eq!(memory.map(base + PAGE, PAGE, piece), wrong, "taken");
        assert_eq!(memory.access(base + PAGE, 0), Ok(NO_ACCESS));
        assert_eq!(memory.set_access((base, 4 * PAGE), (0, 3), &mut all), wrong, "a gap");
        assert!(all.find(base).is_none());
        assert_eq!(memory.map(base + 2 * PAGE, 2 * PAGE, piece), Ok(()));
        assert_eq!(memory.set_access((base, 4 * PAGE), (0, 3), &mut all), Ok(()));
        all.emulated.write(base as u64 + 1, &[5]).unwrap();
        assert_eq!(all.emulated.read((base + 2 * PAGE) as u64 + 1, 1), Some(vec![5]));
        assert_eq!((memory.access(base + 1, 0), memory.access(base + 1, 1)), (Ok(3), Ok(0)));
        assert_eq!(memory.release(base, &mut all), wrong, "mapped");
        assert_eq!(memory.drop_handle(piece, &mut all), Ok(()));
        assert_eq!(memory.retain(base + 100), Ok(piece));
        assert_eq!(memory.unmap(base, PAGE, &mut all), wrong);
        for at in [0, 2 * PAGE] {
            assert_eq!(memory.unmap(base + at, 2 * PAGE, &mut all), Ok(()));
        }
        assert_eq!((all.find(base).is_none(), memory.release(base, &mut all)), (true, Ok(())));
        assert_eq!(
            (memory.drop_handle(piece, &mut all), memory.drop_handle(piece, &mut all)),
            (Ok(()), wrong)
        );
    }
}
