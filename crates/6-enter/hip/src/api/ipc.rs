//! Memory and events of other processes.
//!
//! A handle names a file of the process that gave it, found under `/proc`. Work is done at the call, so an event that
//! another process recorded has happened.

use super::virtual_memory::length;
use super::{Out, entries};
use crate::codes::Code;
use crate::runtime::lock;
use crate::stream::Event;
use std::fs::OpenOptions;
use std::os::fd::{AsFd, OwnedFd};

/// The only flag of opened memory, which older headers have as 0.
const LAZY_PEER_ACCESS: u32 = 1;

/// First bytes of this library's handles of memory and of events.
const MEMORY: u64 = u64::from_le_bytes(*b"rockMEMO");
const EVENT: u64 = u64::from_le_bytes(*b"rockEVEN");

/// Memory for other processes.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Handle {
    kind: u64,
    process: u32,
    file: i32,
    bytes: u64,
    offset: u64,
    rest: [u64; 4],
}

const _: () = assert!(size_of::<Handle>() == 64);

impl Handle {
    /// The handle of memory at an address.
    pub(super) fn of(address: usize) -> Result<Handle, Code> {
        let mut runtime = lock();
        let found = runtime.allocations.find(address).ok_or(Code::hipErrorInvalidValue)?;
        let file = runtime.allocations.share(found.base)?;
        let (bytes, offset) = (found.bytes as u64, (address - found.base) as u64);
        Ok(Handle { kind: MEMORY, process: std::process::id(), file, bytes, offset, rest: [0; 4] })
    }

    /// Maps the memory; gives the address.
    pub(super) fn open(self) -> Result<usize, Code> {
        let path = format!("/proc/{}/fd/{}", self.process, self.file);
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = OwnedFd::from(file.map_err(|_| Code::hipErrorInvalidDevicePointer)?);
        let bytes = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        if bytes == 0 || bytes > length(&file) || self.offset >= self.bytes {
            return Err(Code::hipErrorInvalidDevicePointer);
        }
        let base = lock().allocations.attach(file.as_fd(), bytes)?;
        Ok(base + self.offset as usize)
    }

    /// Whether it is one.
    pub(super) fn is_memory(&self) -> bool {
        self.kind == MEMORY && self.bytes > 0
    }

    /// Whether this process gave it.
    fn is_own(&self) -> bool {
        self.process == std::process::id()
    }
}

entries! {
    /// A handle of memory for other processes.
    fn hipIpcGetMemHandle(handle: Out<Handle>, address: usize) {
        if handle.is_null() || address == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        handle.put(Handle::of(address)?)
    }

    /// Memory of another process.
    fn hipIpcOpenMemHandle(place: Out<usize>, handle: Handle, flags: u32) {
        if place.is_null() || flags > LAZY_PEER_ACCESS || !handle.is_memory() {
            return Err(Code::hipErrorInvalidValue);
        }
        if handle.is_own() {
            return Err(Code::hipErrorInvalidContext);
        }
        let address = handle.open()?;
        place.put(address)
    }

    /// Ends that.
    fn hipIpcCloseMemHandle(address: usize) {
        let mut runtime = lock();
        let found = runtime.allocations.find(address).ok_or(Code::hipErrorInvalidValue)?;
        runtime.allocations.detach(found.base)
    }

    /// A handle of an event that was made for other processes.
    fn hipIpcGetEventHandle(handle: Out<Handle>, event: usize) {
        if handle.is_null() || event == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let runtime = lock();
        let found = runtime.streams.events.get(&event).ok_or(Code::hipErrorInvalidHandle)?;
        if !found.interprocess {
            return Err(Code::hipErrorInvalidConfiguration);
        }
        let process = std::process::id();
        handle.put(Handle { kind: EVENT, process, file: -1, bytes: 0, offset: event as u64, rest: [0; 4] })
    }

    /// An event of another process.
    fn hipIpcOpenEventHandle(place: Out<usize>, handle: Handle) {
        if place.is_null() || handle.kind != EVENT {
            return Err(Code::hipErrorInvalidValue);
        }
        if handle.is_own() {
            return Err(Code::hipErrorInvalidContext);
        }
        let mut runtime = lock();
        let made = runtime.streams.handle();
        runtime.streams.events.insert(made, Event { interprocess: true, ..Event::default() });
        place.put(made)
    }
}
