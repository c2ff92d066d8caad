//! Pools of memory, and allocations in the order of a stream.

use super::devices::check;
use super::ipc::Handle;
use super::memory::{allocate, free};
use super::virtual_memory::{
    Access, FILE_HANDLE, Location, NO_HANDLE, ON_DEVICE, PINNED, file_of, length, token,
};
use super::{In, Out, entries};
use crate::codes::Code;
use crate::graph::Action;
use crate::memory::Kind;
use crate::pools::{Pool, Pools, Value};
use crate::runtime::lock;
use std::ffi::c_void;

/// The pool that a program wants.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Properties {
    pub(super) kind: u32,
    pub(super) handle: u32,
    pub(super) location: Location,
    windows: usize,
    most: u64,
    rest: [u8; 56],
}

const _: () = assert!(size_of::<Properties>() == 88);

impl Properties {
    /// Properties of memory of a GPU.
    pub(super) fn of_device(number: i32) -> Properties {
        let location = Location { kind: ON_DEVICE, number };
        Properties { kind: PINNED, handle: NO_HANDLE, location, windows: 0, most: 0, rest: [0; 56] }
    }
}

/// Contents of the file that names a shared pool.
const TOKEN: &[u8] = b"a pool of Rockhound";

/// A GPU by number.
fn device(number: i32) -> Result<i32, Code> {
    check(number).map(|()| number).map_err(|_| Code::hipErrorInvalidValue)
}

/// Does something with a pool.
fn with<T>(pool: usize, what: impl FnOnce(&mut Pool) -> Result<T, Code>) -> Result<T, Code> {
    let mut runtime = lock();
    let devices = runtime.devices;
    what(runtime.pools.pool(pool, devices)?)
}

/// Memory from a pool in the order of a stream; in a capture a node of the graph allocates it.
fn allocate_from(place: Out<usize>, bytes: usize, pool: Option<usize>, stream: usize) -> Result<(), Code> {
    if place.is_null() {
        return Err(Code::hipErrorInvalidValue);
    }
    let device = super::current_device();
    let mut runtime = lock();
    if !runtime.streams.is_stream(stream) {
        return Err(Code::hipErrorInvalidHandle);
    }
    let devices = runtime.devices;
    let pool = pool.unwrap_or_else(|| runtime.pools.chosen(device));
    runtime.pools.has_room(pool, bytes as u64, devices)?;
    if bytes > 0 && runtime.streams.origin(stream).is_some() {
        let address = runtime.allocations.reserve_for_graph(bytes)?;
        runtime.capture(stream, Action::Allocate { address, bytes, device })?;
        return place.put(address);
    }
    drop(runtime);
    allocate(place, bytes, Kind::Device, 0)?;
    let address = place.get()?;
    if bytes > 0 {
        lock().pools.took(pool, address, bytes as u64);
    }
    Ok(())
}

/// The type of an attribute's value.
fn value(attribute: u32, value: In<c_void>) -> Result<Value, Code> {
    match attribute {
        1..=3 => Ok(Value::Switch(value.cast().get()?)),
        _ => Ok(Value::Bytes(value.cast().get()?)),
    }
}

entries! {
    /// Memory in the order of a stream.
    fn hipMallocAsync(place: Out<usize>, bytes: usize, stream: usize) {
        allocate_from(place, bytes, None, stream)
    }

    /// The same from a pool.
    fn hipMallocFromPoolAsync(place: Out<usize>, bytes: usize, pool: usize, stream: usize) {
        if pool == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        allocate_from(place, bytes, Some(pool), stream)
    }

    /// Gives memory back in the order of a stream.
    fn hipFreeAsync(memory: *mut c_void, stream: usize) {
        if memory.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        let mut runtime = lock();
        if !runtime.streams.is_stream(stream) {
            return Err(Code::hipErrorInvalidHandle);
        }
        if runtime.streams.origin(stream).is_some() {
            return runtime.capture(stream, Action::Free(memory.addr()));
        }
        drop(runtime);
        free(memory, &[Kind::Device, Kind::Managed])
    }

    /// The pool that a GPU begins with.
    fn hipDeviceGetDefaultMemPool(pool: Out<usize>, number: i32) {
        let device = device(number)?;
        pool.put(Pools::default_of(device))
    }

    /// The pool that allocations of a GPU use.
    fn hipDeviceGetMemPool(pool: Out<usize>, number: i32) {
        let device = device(number)?;
        let chosen = lock().pools.chosen(device);
        pool.put(chosen)
    }

    /// Chooses it.
    fn hipDeviceSetMemPool(number: i32, pool: usize) {
        let device = device(number)?;
        let mut runtime = lock();
        let devices = runtime.devices;
        runtime.pools.choose(device, pool, devices)
    }

    /// A pool.
    fn hipMemPoolCreate(pool: Out<usize>, properties: In<Properties>) {
        let wanted = properties.get()?;
        if pool.is_null() || wanted.kind != PINNED || !matches!(wanted.handle, NO_HANDLE | FILE_HANDLE) {
            return Err(Code::hipErrorInvalidValue);
        }
        let made = Pool::new(wanted.location.device()?, wanted.handle, wanted.most);
        pool.put(lock().pools.add(made))
    }

    /// Ends a pool.
    fn hipMemPoolDestroy(pool: usize) {
        lock().pools.end(pool)
    }

    /// Nothing is held back that could be trimmed.
    fn hipMemPoolTrimTo(pool: usize, _bytes: usize) {
        with(pool, |_| Ok(()))
    }

    /// Sets an attribute.
    fn hipMemPoolSetAttribute(pool: usize, attribute: u32, place: In<c_void>) {
        let value = value(attribute, place)?;
        with(pool, |it| it.set(attribute, value))
    }

    /// An attribute.
    fn hipMemPoolGetAttribute(pool: usize, attribute: u32, place: Out<c_void>) {
        match with(pool, |it| it.attribute(attribute))? {
            Value::Switch(value) => place.cast().put(value),
            Value::Bytes(value) => place.cast().put(value),
        }
    }

    /// Says what other GPUs may do with a pool. All devices share their memory, so nothing is refused.
    fn hipMemPoolSetAccess(pool: usize, accesses: In<Access>, count: usize) {
        if accesses.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        if count > lock().devices as usize {
            return Err(Code::hipErrorInvalidDevice);
        }
        for index in 0..count {
            let Access { location, flags } = accesses.at(index).get()?;
            if check(location.number).is_err() || flags == 0 {
                return Err(Code::hipErrorInvalidDevice);
            }
            if location.device().is_err() || !matches!(flags, 1 | 3) {
                return Err(Code::hipErrorInvalidValue);
            }
            with(pool, |it| {
                it.access.insert(location.number, flags);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Access of a GPU to a pool: it may do everything with its own.
    fn hipMemPoolGetAccess(access: Out<u32>, pool: usize, location: In<Location>) {
        let device = location.get()?.device()?;
        let known = with(pool, |it| {
            Ok(if it.device == device { 3 } else { it.access.get(&device).copied().unwrap_or(0) })
        })?;
        access.put(known)
    }

    /// A file that names a pool to other processes.
    fn hipMemPoolExportToShareableHandle(file: Out<i32>, pool: usize, kind: u32, flags: u32) {
        if file.is_null() || flags != 0 || kind == NO_HANDLE {
            return Err(Code::hipErrorInvalidValue);
        }
        if with(pool, |it| Ok(it.shareable))? != kind {
            return Err(Code::hipErrorInvalidValue);
        }
        file.put(token(TOKEN)?)
    }

    /// A pool of another process, for its memory.
    fn hipMemPoolImportFromShareableHandle(pool: Out<usize>, file: In<c_void>, kind: u32, flags: u32) {
        if pool.is_null() || flags != 0 || kind == NO_HANDLE {
            return Err(Code::hipErrorInvalidValue);
        }
        let named = file_of(file)?;
        if length(&named) != TOKEN.len() {
            return Err(Code::hipErrorOutOfMemory);
        }
        let made = Pool::new(super::current_device(), kind, 0);
        pool.put(lock().pools.add(made))
    }

    /// A name for other processes of memory of a pool.
    fn hipMemPoolExportPointer(data: Out<Handle>, address: usize) {
        if data.is_null() || address == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let handle = Handle::of(address).map_err(|_| Code::hipErrorOutOfMemory)?;
        data.put(handle)
    }

    /// The memory behind such a name.
    fn hipMemPoolImportPointer(place: Out<usize>, pool: usize, data: In<Handle>) {
        let handle = data.get()?;
        if place.is_null() || !handle.is_memory() {
            return Err(Code::hipErrorInvalidValue);
        }
        with(pool, |_| Ok(()))?;
        let address = handle.open().map_err(|_| Code::hipErrorOutOfMemory)?;
        place.put(address)
    }

    /// Memory that graphs hold on a GPU.
    fn hipDeviceGetGraphMemAttribute(number: i32, attribute: u32, place: Out<u64>) {
        check(number)?;
        let value = lock().pools.graphs(number).of_graphs(attribute)?;
        place.put(value)
    }

    /// Sets its marks back; they can only become 0.
    fn hipDeviceSetGraphMemAttribute(number: i32, attribute: u32, place: In<u64>) {
        check(number)?;
        if place.get()? != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        lock().pools.graphs(number).reset_of_graphs(attribute)
    }

    /// Memory that graphs freed is gone already.
    fn hipDeviceGraphMemTrim(number: i32) {
        check(number)
    }
}
