//! Virtual memory: addresses reserved, pages made, mapped and opened for GPUs, given to other processes.

use super::devices::check;
use super::{In, Out, entries};
use crate::codes::Code;
use crate::memory::shared_pages;
use crate::message::say_once;
use crate::runtime::lock;
use crate::virtual_memory::GRANULARITY;
use std::ffi::c_void;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Kinds of places, of allocations, of handles for other processes, and of access, as programs read them.
pub(super) const ON_DEVICE: u32 = 1;
pub(super) const PINNED: u32 = 1;
pub(super) const NO_HANDLE: u32 = 0;
pub(super) const FILE_HANDLE: u32 = 1;
const READ: u32 = 1;
const READ_WRITE: u32 = 3;
const DMA_BUFFER: u32 = 1;

/// Largest number of a file; a program may give the number or a pointer to it.
const MOST_FILES: usize = 1 << 20;

/// Where memory is.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Location {
    pub(super) kind: u32,
    pub(super) number: i32,
}

/// The pages that a program wants.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Properties {
    kind: u32,
    handle: u32,
    location: Location,
    windows: usize,
    flags: u64,
}

/// Access of a GPU.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) location: Location,
    pub(super) flags: u32,
}

const _: () = assert!(size_of::<Properties>() == 32 && size_of::<Access>() == 12);

impl Location {
    /// The GPU it names.
    pub(super) fn device(self) -> Result<i32, Code> {
        if self.kind != ON_DEVICE || check(self.number).is_err() {
            return Err(Code::hipErrorInvalidValue);
        }
        Ok(self.number)
    }
}

fn device_of(properties: In<Properties>) -> Result<(Properties, i32), Code> {
    let properties = properties.get()?;
    if properties.kind != PINNED {
        return Err(Code::hipErrorInvalidValue);
    }
    Ok((properties, properties.location.device()?))
}

/// A file of the program, by its number or a pointer to it; the copy is ours.
pub(super) fn file_of(file: In<c_void>) -> Result<OwnedFd, Code> {
    // AMD's runtime takes the lower half for the file, so programs leave the upper one undefined.
    let half = file.0.addr() & 0xffff_ffff;
    let is_file = |number: usize| {
        // SAFETY: asks whether the process has a file of that number.
        number > 0 && number < MOST_FILES && unsafe { libc::fcntl(number as i32, libc::F_GETFD) } != -1
    };
    let number = match file.0.addr() {
        0 => return Err(Code::hipErrorInvalidValue),
        number if number < MOST_FILES => number as i32,
        _ if is_file(half) => half as i32,
        _ => file.cast::<i32>().get()?,
    };
    if number < 0 {
        return Err(Code::hipErrorInvalidValue);
    }
    // SAFETY: borrowed for this call; the system refuses a number without a file.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    file.try_clone_to_owned().map_err(|_| Code::hipErrorInvalidValue)
}

/// A copy of a file for the program.
fn copied(file: BorrowedFd<'_>) -> Result<i32, Code> {
    use std::os::fd::IntoRawFd;
    file.try_clone_to_owned().map(IntoRawFd::into_raw_fd).map_err(|_| Code::hipErrorInvalidValue)
}

/// Bytes of a file.
pub(super) fn length(file: &OwnedFd) -> usize {
    let mut about = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: there is a place for the answer.
    let known = unsafe { libc::fstat(file.as_raw_fd(), about.as_mut_ptr()) == 0 };
    // SAFETY: zeroed or filled.
    if known { usize::try_from(unsafe { about.assume_init() }.st_size).unwrap_or(0) } else { 0 }
}

entries! {
    /// Reserves addresses.
    fn hipMemAddressReserve(place: Out<usize>, bytes: usize, alignment: usize, wanted: usize, flags: u64) {
        if place.is_null() || flags != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) || (alignment != 0 && !alignment.is_power_of_two()) {
            return Err(Code::hipErrorOutOfMemory);
        }
        let mut runtime = lock();
        let runtime = &mut *runtime;
        let base = runtime.virtual_memory.reserve((bytes, alignment, wanted), &mut runtime.allocations)?;
        place.put(base)
    }

    /// Gives reserved addresses back.
    fn hipMemAddressFree(base: usize, bytes: usize) {
        if base == 0 || bytes == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let mut runtime = lock();
        let runtime = &mut *runtime;
        runtime.virtual_memory.release(base, &mut runtime.allocations)
    }

    /// Makes pages.
    fn hipMemCreate(handle: Out<usize>, bytes: usize, properties: In<Properties>, flags: u64) {
        if handle.is_null() || bytes == 0 || flags != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let (properties, device) = device_of(properties)?;
        if !matches!(properties.handle, NO_HANDLE | FILE_HANDLE) {
            return Err(Code::hipErrorNotSupported);
        }
        let mut runtime = lock();
        let capacity = runtime.device.memory_bytes();
        if bytes > capacity {
            return Err(Code::hipErrorOutOfMemory);
        }
        if !bytes.is_multiple_of(GRANULARITY) {
            return Err(Code::hipErrorInvalidValue);
        }
        let pages = shared_pages(bytes).ok_or(Code::hipErrorOutOfMemory)?;
        runtime.allocations.take_device_bytes(bytes, capacity)?;
        let made = runtime.virtual_memory.add(pages, bytes, (device, properties.handle), true);
        handle.put(made)
    }

    /// Gives a handle back; pages that are mapped stay.
    fn hipMemRelease(handle: usize) {
        let mut runtime = lock();
        let runtime = &mut *runtime;
        runtime.virtual_memory.drop_handle(handle, &mut runtime.allocations)
    }

    /// The handle of what is mapped at an address.
    fn hipMemRetainAllocationHandle(handle: Out<usize>, address: usize) {
        if handle.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        let found = lock().virtual_memory.retain(address)?;
        handle.put(found)
    }

    /// Puts pages at reserved addresses.
    fn hipMemMap(base: usize, bytes: usize, offset: usize, handle: usize, flags: u64) {
        if base == 0 || bytes == 0 || offset != 0 || flags != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        lock().virtual_memory.map(base, bytes, handle)
    }

    /// Puts pages behind arrays, which AMD's runtime does on no GPU.
    fn hipMemMapArrayAsync(list: usize, count: u32, _stream: usize) {
        let is_right = list != 0 && count > 0;
        Err(if is_right { Code::hipErrorNotSupported } else { Code::hipErrorInvalidValue })
    }

    /// Takes them away.
    fn hipMemUnmap(base: usize, bytes: usize) {
        if base == 0 || bytes == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let mut runtime = lock();
        let runtime = &mut *runtime;
        runtime.virtual_memory.unmap(base, bytes, &mut runtime.allocations)
    }

    /// Opens mapped addresses for GPUs, or closes them.
    fn hipMemSetAccess(base: usize, bytes: usize, accesses: In<Access>, count: usize) {
        if base == 0 || bytes == 0 || count == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        for index in 0..count {
            let access = accesses.at(index).get()?;
            let device = access.location.device()?;
            if access.flags == READ {
                say_once("hipMemSetAccess for reading only: stores of kernels are not refused");
            }
            if !matches!(access.flags, 0 | READ | READ_WRITE) {
                return Err(Code::hipErrorInvalidValue);
            }
            let mut runtime = lock();
            let runtime = &mut *runtime;
            let opened = (device, access.flags);
            runtime.virtual_memory.set_access((base, bytes), opened, &mut runtime.allocations)?;
        }
        Ok(())
    }

    /// Access of a GPU to an address.
    fn hipMemGetAccess(flags: Out<u64>, location: In<Location>, address: usize) {
        let device = location.get()?.device()?;
        let access = lock().virtual_memory.access(address, device)?;
        flags.put(u64::from(access))
    }

    /// Bytes that pieces are multiples of.
    fn hipMemGetAllocationGranularity(bytes: Out<usize>, properties: In<Properties>, option: u32) {
        device_of(properties)?;
        if option > 1 {
            return Err(Code::hipErrorInvalidValue);
        }
        bytes.put(GRANULARITY)
    }

    /// Properties of the pages behind a handle.
    fn hipMemGetAllocationPropertiesFromHandle(properties: Out<Properties>, handle: usize) {
        let piece = lock().virtual_memory.piece(handle)?.clone();
        let location = Location { kind: ON_DEVICE, number: piece.device };
        let wanted = Properties { kind: PINNED, handle: piece.shareable, location, windows: 0, flags: 0 };
        properties.put(wanted)
    }

    /// A file for other processes.
    fn hipMemExportToShareableHandle(file: Out<i32>, handle: usize, kind: u32, flags: u64) {
        if flags != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let runtime = lock();
        let piece = runtime.virtual_memory.piece(handle)?;
        if piece.shareable != kind || kind != FILE_HANDLE || file.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        let copy = copied(piece.pages())?;
        file.put(copy)
    }

    /// Pages of another process.
    fn hipMemImportFromShareableHandle(handle: Out<usize>, file: In<c_void>, kind: u32) {
        if handle.is_null() || kind != FILE_HANDLE {
            return Err(Code::hipErrorInvalidValue);
        }
        let pages = file_of(file)?;
        let bytes = length(&pages);
        if bytes == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let made = lock().virtual_memory.add(pages, bytes, (super::current_device(), kind), false);
        handle.put(made)
    }

    /// A file with the pages of an allocation.
    fn hipMemGetHandleForAddressRange(file: Out<i32>, address: usize, bytes: usize, kind: u32, flags: u64) {
        if file.is_null() || address == 0 || bytes == 0 || kind != DMA_BUFFER || flags != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let mut runtime = lock();
        let found = runtime.allocations.find(address).ok_or(Code::hipErrorInvalidValue)?;
        if found.base != address || found.bytes < bytes {
            return Err(Code::hipErrorInvalidValue);
        }
        let shared = runtime.allocations.share(address)?;
        // SAFETY: open as long as the allocation, which the lock keeps.
        let copy = copied(unsafe { BorrowedFd::borrow_raw(shared) })?;
        file.put(copy)
    }
}

/// A file that names something to other processes.
pub(super) fn token(bytes: &[u8]) -> Result<i32, Code> {
    use std::io::Write;
    use std::os::fd::IntoRawFd;
    let file = shared_pages(0).ok_or(Code::hipErrorOutOfMemory)?;
    // SAFETY: the file is ours and goes on.
    let mut file = unsafe { std::fs::File::from_raw_fd(file.into_raw_fd()) };
    file.write_all(bytes).map_err(|_| Code::hipErrorOutOfMemory)?;
    Ok(file.into_raw_fd())
}
