//! Allocation, copies, fills.
//!
//! One address space; the kind of a copy is the program's belief, the addresses are the fact.

use super::{Dim3, In, Out, check_device, entries};
use crate::codes::Code;
use crate::host_memory;
use crate::launch::perform;
use crate::memory::Kind;
use crate::message::say;
use crate::runtime::lock;
use crate::work::{Copy3, Fill, Place, Work};
use std::ffi::c_void;

/// Most bytes that rows of pitched memory are rounded up to.
const PITCH: usize = 256;

/// Pitched memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Pitched {
    address: usize,
    pitch: usize,
    width: usize,
    height: usize,
}

/// Sizes or positions in three dimensions.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Size3 {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) z: usize,
}

/// A copy in three dimensions.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Parameters3 {
    from_array: usize,
    from_position: Size3,
    from: Pitched,
    to_array: usize,
    to_position: Size3,
    to: Pitched,
    extent: Size3,
    kind: u32,
}

impl Parameters3 {
    /// A copy from the first end to the second: array, position, memory.
    pub(super) fn between(ends: [(usize, Size3, Pitched); 2], extent: Size3) -> Parameters3 {
        let [(from_array, from_position, from), (to_array, to_position, to)] = ends;
        Parameters3 { from_array, from_position, from, to_array, to_position, to, extent, kind: 4 }
    }
}

const _: () = assert!(size_of::<Dim3>() == 12 && size_of::<Parameters3>() == 160);

pub(super) fn allocate(place: Out<usize>, bytes: usize, kind: Kind, flags: u32) -> Result<(), Code> {
    if place.is_null() {
        return Err(Code::hipErrorInvalidValue);
    }
    let mut runtime = lock();
    // A size of 0 allocates nothing.
    let address = match bytes {
        0 => 0,
        _ => {
            let capacity = runtime.device.memory_bytes();
            runtime.allocations.allocate(kind, bytes, flags, capacity)?
        }
    };
    place.put(address)
}

pub(super) fn free(memory: *mut c_void, kinds: &[Kind]) -> Result<(), Code> {
    if memory.is_null() {
        return Ok(());
    }
    let mut runtime = lock();
    // Memory of a graph can be freed outside of it.
    if let Some(result) = runtime.free_of_graph(memory.addr()) {
        return result;
    }
    let result = runtime.allocations.free(memory.cast(), kinds);
    if result.is_ok() {
        if let Some(bytes) = runtime.pools.gave(memory.addr()) {
            runtime.allocations.use_again(memory.addr(), bytes as usize);
        }
    } else {
        // Memory of the runtime says nothing to a user.
        let nearest = runtime.allocations.emulated.nearest(memory.addr() as u64);
        let nearest = nearest.filter(|it| !runtime.allocations.is_internal(it.base));
        let nearest = nearest.map_or_else(String::new, |it| format!(": {it}"));
        say(&format!("{memory:?} is freed, which is not the beginning of an allocation{nearest}"));
    }
    result
}

/// Kinds of copies: from host to host is 0.
pub(super) const FROM_HOST: u32 = 1;
pub(super) const TO_HOST: u32 = 2;
pub(super) const WITHIN_GPU: u32 = 3;
pub(super) const BY_ADDRESS: u32 = 4;
/// Within memory of the GPU, by the copy engines alone.
pub(super) const BY_COPY_ENGINES: u32 = 1024;

/// Refuses a kind of copy that does not exist. The kind decides nothing else: the addresses do.
pub(super) fn check_kind(kind: u32) -> Result<(), Code> {
    match kind {
        ..=BY_ADDRESS | BY_COPY_ENGINES => Ok(()),
        _ => Err(Code::hipErrorInvalidMemcpyDirection),
    }
}

fn copy2(to: usize, to_pitch: usize, from: usize, from_pitch: usize, width: usize, height: usize) -> Copy3 {
    let place = |address, pitch| Place { address, pitch, slice: 0 };
    Copy3 { to: place(to, to_pitch), from: place(from, from_pitch), width, height, depth: 1 }
}

/// A copy after which the host waits, except for one of contiguous bytes within memory of GPUs.
pub(super) fn copy_now(copy: Copy3) -> Result<(), Code> {
    copy_now_in(0, copy)
}

/// The same behind the work of a stream.
fn copy_now_in(stream: usize, copy: Copy3) -> Result<(), Code> {
    perform(stream, Work::Copy(copy))?;
    let mut runtime = lock();
    let is_flat = copy.height == 1 && copy.depth == 1;
    let is_within = [copy.to, copy.from].iter().all(|it| {
        runtime.allocations.find(it.address).is_some_and(|it| matches!(it.kind, Kind::Device | Kind::Mapped))
    });
    if !(is_flat && is_within) && runtime.streams.origin(stream).is_none() {
        runtime.timeline.wait_for_copy(stream);
    }
    Ok(())
}

/// A copy in the order of a stream. The host waits for a copy to memory that only the host has, and for one within memory of
/// the host.
pub(super) fn copy_in(stream: usize, copy: Copy3) -> Result<(), Code> {
    perform(stream, Work::Copy(copy))?;
    let mut runtime = lock();
    let [to, from] = [copy.to, copy.from].map(|it| runtime.allocations.find(it.address));
    let is_on_host = [to, from].iter().all(|it| it.is_none_or(|it| !it.is_on_device()));
    if (to.is_none() || is_on_host) && runtime.streams.origin(stream).is_none() {
        runtime.timeline.wait_for_copy(stream);
    }
    Ok(())
}

/// Waits for a fill, as AMD's runtime does for memory of the host and in the middle of an allocation.
fn settle(to: usize, filled: Result<(), Code>) -> Result<(), Code> {
    filled?;
    let mut runtime = lock();
    let found = runtime.allocations.find(to);
    if found.is_some_and(|it| !matches!(it.kind, Kind::Device | Kind::Mapped) || it.base != to) {
        runtime.timeline.wait_for_copy(0);
    }
    Ok(())
}

/// The copy that the headers' structure describes.
pub(super) fn copy_of(p: Parameters3) -> Result<Copy3, Code> {
    if p.from_array != 0 || p.to_array != 0 {
        crate::message::say_once("hipMemcpy3D with arrays is not supported");
        return Err(Code::hipErrorNotSupported);
    }
    let place = |it: Pitched, at: Size3| {
        let slice = it.pitch.checked_mul(it.height)?;
        let offset = slice.checked_mul(at.z)?.checked_add(it.pitch.checked_mul(at.y)?)?.checked_add(at.x)?;
        Some(Place { address: it.address.checked_add(offset)?, pitch: it.pitch, slice })
    };
    let to = place(p.to, p.to_position).ok_or(Code::hipErrorInvalidValue)?;
    let from = place(p.from, p.from_position).ok_or(Code::hipErrorInvalidValue)?;
    Ok(Copy3 { to, from, width: p.extent.x, height: p.extent.y, depth: p.extent.z })
}

/// The same the other way round.
pub(super) fn parameters_of(copy: &Copy3) -> Parameters3 {
    let origin = Size3 { x: 0, y: 0, z: 0 };
    let pitched = |place: Place| Pitched {
        address: place.address,
        pitch: place.pitch,
        width: place.pitch,
        height: place.slice.checked_div(place.pitch).unwrap_or(0),
    };
    Parameters3 {
        from_array: 0,
        from_position: origin,
        from: pitched(copy.from),
        to_array: 0,
        to_position: origin,
        to: pitched(copy.to),
        extent: Size3 { x: copy.width, y: copy.height, z: copy.depth },
        kind: BY_ADDRESS,
    }
}

/// Fills `count` values of `size` bytes.
fn fill(to: usize, pattern: u32, size: usize, count: usize, stream: usize) -> Result<(), Code> {
    let width = count.checked_mul(size).ok_or(Code::hipErrorInvalidValue)?;
    let to = Place { address: to, pitch: width, slice: width };
    perform(stream, Work::Fill(Fill { to, pattern, size, width, height: 1, depth: 1 }))
}

/// Fills rows of `width` values; a value is a pattern and its bytes.
pub(super) fn fill2(
    (address, pitch): (usize, usize),
    (pattern, size): (u32, usize),
    (width, height): (usize, usize),
    stream: usize,
) -> Result<(), Code> {
    let width = width.checked_mul(size).ok_or(Code::hipErrorInvalidValue)?;
    let to = Place { address, pitch, slice: 0 };
    perform(stream, Work::Fill(Fill { to, pattern, size, width, height, depth: 1 }))
}

fn fill3(to: Pitched, value: i32, extent: Size3, stream: usize) -> Result<(), Code> {
    let slice = to.pitch.checked_mul(to.height).ok_or(Code::hipErrorInvalidValue)?;
    let to = Place { address: to.address, pitch: to.pitch, slice };
    let (width, height, depth) = (extent.x, extent.y, extent.z);
    perform(stream, Work::Fill(Fill { to, pattern: value as u32, size: 1, width, height, depth }))
}

fn pitched(place: Out<usize>, pitch: Out<usize>, width: usize, height: usize) -> Result<(), Code> {
    let row = width.checked_next_multiple_of(PITCH).ok_or(Code::hipErrorOutOfMemory)?;
    allocate(place, row.checked_mul(height).ok_or(Code::hipErrorOutOfMemory)?, Kind::Device, 0)?;
    pitch.put(row)
}

entries! {
    /// Device memory.
    fn hipMalloc(place: Out<usize>, bytes: usize) {
        allocate(place, bytes, Kind::Device, 0)
    }

    /// Device memory of a sort; all sorts are the same here.
    fn hipExtMallocWithFlags(place: Out<usize>, bytes: usize, flags: u32) {
        // Default, fine-grained, of a signal, not cached, contiguous.
        const SIGNAL: u32 = 2;
        if flags > 4 || (flags == SIGNAL && bytes != 8) {
            return Err(Code::hipErrorInvalidValue);
        }
        allocate(place, bytes, Kind::Device, flags)
    }

    /// Memory of both sides.
    fn hipMallocManaged(place: Out<usize>, bytes: usize, flags: u32) {
        // Attached to all GPUs, or to the host.
        if bytes == 0 || !matches!(flags, 1 | 2) {
            return Err(Code::hipErrorInvalidValue);
        }
        allocate(place, bytes, Kind::Managed, flags)
    }

    /// Host memory that kernels reach.
    fn hipHostMalloc = hipHostAlloc hipExtHostAlloc(place: Out<usize>, bytes: usize, flags: u32) {
        // Coherent and not.
        const EITHER: u32 = 3 << 30;
        if flags & EITHER == EITHER {
            return Err(Code::hipErrorInvalidValue);
        }
        allocate(place, bytes, Kind::Host, flags)
    }

    /// The same without flags.
    fn hipMallocHost = hipMemAllocHost(place: Out<usize>, bytes: usize) {
        allocate(place, bytes, Kind::Host, 0)
    }

    /// Rows that begin at multiples of the pitch.
    fn hipMallocPitch(place: Out<usize>, pitch: Out<usize>, width: usize, height: usize) {
        pitched(place, pitch, width, height)
    }

    /// The same with the size of an element, which changes nothing.
    fn hipMemAllocPitch(place: Out<usize>, pitch: Out<usize>, width: usize, height: usize, _element: u32) {
        pitched(place, pitch, width, height)
    }

    /// A box of rows.
    fn hipMalloc3D(place: Out<Pitched>, extent: Size3) {
        let (mut address, mut pitch) = (0, 0);
        let rows = extent.y.checked_mul(extent.z).ok_or(Code::hipErrorOutOfMemory)?;
        pitched(Out::of(&mut address), Out::of(&mut pitch), extent.x, rows)?;
        place.put(Pitched { address, pitch, width: extent.x, height: extent.y })
    }

    /// Gives device memory back; host memory too, as some programs do.
    fn hipFree(memory: *mut c_void) {
        free(memory, &[Kind::Device, Kind::Managed, Kind::Host])
    }

    /// Gives host memory back.
    fn hipHostFree = hipFreeHost(memory: *mut c_void) {
        free(memory, &[Kind::Host])
    }

    /// Makes memory of the program reachable for kernels.
    fn hipHostRegister(memory: *mut c_void, bytes: usize, flags: u32) {
        const FLAGS: u32 = 15;
        if memory.is_null() || bytes == 0 || flags > FLAGS || !host_memory::is_mapped(memory.addr(), bytes) {
            return Err(Code::hipErrorInvalidValue);
        }
        lock().allocations.register(memory.cast(), bytes, flags)
    }

    /// Takes that back.
    fn hipHostUnregister(memory: *mut c_void) {
        if memory.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        let result = lock().allocations.free(memory.cast(), &[Kind::Registered]);
        result.map_err(|_| Code::hipErrorHostMemoryNotRegistered)
    }

    /// The address kernels use: the same.
    fn hipHostGetDevicePointer(place: Out<usize>, memory: usize, _flags: u32) {
        if lock().allocations.find(memory).is_none() {
            return Err(Code::hipErrorInvalidValue);
        }
        place.put(memory)
    }

    /// Flags host memory was made with.
    fn hipHostGetFlags(flags: Out<u32>, memory: usize) {
        let found = lock().allocations.find(memory).ok_or(Code::hipErrorInvalidValue)?;
        flags.put(found.flags)
    }

    /// Copies.
    fn hipMemcpy = hipMemcpy_spt(to: usize, from: usize, bytes: usize, kind: u32) {
        check_kind(kind)?;
        copy_now(Copy3::flat(to, from, bytes))
    }

    /// Copies in the order of a stream.
    fn hipMemcpyAsync = hipMemcpyAsync_spt(to: usize, from: usize, bytes: usize, kind: u32, stream: usize) {
        check_kind(kind)?;
        copy_in(stream, Copy3::flat(to, from, bytes))
    }

    /// Copies behind the work of a stream.
    fn hipMemcpyWithStream(to: usize, from: usize, bytes: usize, kind: u32, stream: usize) {
        check_kind(kind)?;
        copy_now_in(stream, Copy3::flat(to, from, bytes))
    }

    /// Copies, by direction.
    fn hipMemcpyHtoD = hipMemcpyDtoH hipMemcpyDtoD(to: usize, from: usize, bytes: usize) {
        copy_now(Copy3::flat(to, from, bytes))
    }

    /// The same in the order of a stream.
    fn hipMemcpyHtoDAsync = hipMemcpyDtoHAsync hipMemcpyDtoDAsync(to: usize, from: usize, bytes: usize, stream: usize) {
        copy_in(stream, Copy3::flat(to, from, bytes))
    }

    /// Copies between devices, which share their memory.
    fn hipMemcpyPeer(to: usize, to_device: i32, from: usize, from_device: i32, bytes: usize) {
        check_device(to_device)?;
        check_device(from_device)?;
        copy_now(Copy3::flat(to, from, bytes))
    }

    /// The same in the order of a stream.
    fn hipMemcpyPeerAsync(to: usize, to_device: i32, from: usize, from_device: i32, bytes: usize, stream: usize) {
        check_device(to_device)?;
        check_device(from_device)?;
        copy_in(stream, Copy3::flat(to, from, bytes))
    }

    /// Copies rows.
    fn hipMemcpy2D = hipMemcpy2D_spt(
        to: usize, to_pitch: usize, from: usize, from_pitch: usize, width: usize, height: usize, kind: u32,
    ) {
        check_kind(kind)?;
        copy_now(copy2(to, to_pitch, from, from_pitch, width, height))
    }

    /// The same in the order of a stream.
    fn hipMemcpy2DAsync = hipMemcpy2DAsync_spt(
        to: usize, to_pitch: usize, from: usize, from_pitch: usize, width: usize, height: usize, kind: u32, stream: usize,
    ) {
        check_kind(kind)?;
        copy_in(stream, copy2(to, to_pitch, from, from_pitch, width, height))
    }

    /// Copies a box.
    fn hipMemcpy3D = hipMemcpy3D_spt(parameters: In<Parameters3>) {
        copy_now(copy_of(parameters.get()?)?)
    }

    /// The same in the order of a stream.
    fn hipMemcpy3DAsync = hipMemcpy3DAsync_spt(parameters: In<Parameters3>, stream: usize) {
        copy_in(stream, copy_of(parameters.get()?)?)
    }

    /// Fills bytes.
    fn hipMemset = hipMemset_spt(to: usize, value: i32, bytes: usize) {
        settle(to, fill(to, value as u32, 1, bytes, 0))
    }

    /// The same in the order of a stream.
    fn hipMemsetAsync = hipMemsetAsync_spt(to: usize, value: i32, bytes: usize, stream: usize) {
        fill(to, value as u32, 1, bytes, stream)
    }

    /// Fills bytes.
    fn hipMemsetD8(to: usize, value: u8, count: usize) {
        settle(to, fill(to, u32::from(value), 1, count, 0))
    }

    /// The same in the order of a stream.
    fn hipMemsetD8Async(to: usize, value: u8, count: usize, stream: usize) {
        fill(to, u32::from(value), 1, count, stream)
    }

    /// Fills values of two bytes.
    fn hipMemsetD16(to: usize, value: u16, count: usize) {
        settle(to, fill(to, u32::from(value), 2, count, 0))
    }

    /// The same in the order of a stream.
    fn hipMemsetD16Async(to: usize, value: u16, count: usize, stream: usize) {
        fill(to, u32::from(value), 2, count, stream)
    }

    /// Fills values of four bytes.
    fn hipMemsetD32(to: usize, value: i32, count: usize) {
        settle(to, fill(to, value as u32, 4, count, 0))
    }

    /// The same in the order of a stream.
    fn hipMemsetD32Async(to: usize, value: i32, count: usize, stream: usize) {
        fill(to, value as u32, 4, count, stream)
    }

    /// Fills rows.
    fn hipMemset2D = hipMemset2D_spt(to: usize, pitch: usize, value: i32, width: usize, height: usize) {
        settle(to, fill2((to, pitch), (value as u32, 1), (width, height), 0))
    }

    /// The same in the order of a stream.
    fn hipMemset2DAsync = hipMemset2DAsync_spt(to: usize, pitch: usize, value: i32, width: usize, height: usize, stream: usize) {
        fill2((to, pitch), (value as u32, 1), (width, height), stream)
    }

    /// Fills rows with bytes.
    fn hipMemsetD2D8(to: usize, pitch: usize, value: u8, width: usize, height: usize) {
        settle(to, fill2((to, pitch), (u32::from(value), 1), (width, height), 0))
    }

    /// Fills rows with values of two bytes.
    fn hipMemsetD2D16(to: usize, pitch: usize, value: u16, width: usize, height: usize) {
        settle(to, fill2((to, pitch), (u32::from(value), 2), (width, height), 0))
    }

    /// Fills rows with values of four bytes.
    fn hipMemsetD2D32(to: usize, pitch: usize, value: u32, width: usize, height: usize) {
        settle(to, fill2((to, pitch), (value, 4), (width, height), 0))
    }

    /// Fills a box.
    fn hipMemset3D = hipMemset3D_spt(to: Pitched, value: i32, extent: Size3) {
        settle(to.address, fill3(to, value, extent, 0))
    }

    /// The same in the order of a stream.
    fn hipMemset3DAsync = hipMemset3DAsync_spt(to: Pitched, value: i32, extent: Size3, stream: usize) {
        fill3(to, value, extent, stream)
    }
}
