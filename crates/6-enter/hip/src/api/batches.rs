//! Copies of several boxes at once, between devices, and fills of rows in the order of a stream.

use super::memory::{Parameters3, Pitched, Size3, copy_of, fill2};
use super::{entries, get, put};
use crate::codes::Code;
use crate::launch::perform;
use crate::work::{Copy3, Place, Work};

/// A copy between devices, which share their memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct PeerCopy {
    from_array: usize,
    from_position: Size3,
    from: Pitched,
    from_device: i32,
    to_array: usize,
    to_position: Size3,
    to: Pitched,
    to_device: i32,
    extent: Size3,
}

/// A box of a batch: two ends, sizes, order.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct BoxCopy {
    from: End,
    to: End,
    extent: Size3,
    order: u32,
    flags: u32,
}

/// An end: rows and layers in bytes, 0 if they follow each other.
#[repr(C)]
#[derive(Clone, Copy)]
struct End {
    kind: u32,
    address: usize,
    row: usize,
    layer: usize,
    hint: u64,
}

const _: () = assert!(size_of::<PeerCopy>() == 168 && size_of::<BoxCopy>() == 112);

/// Kind of an end that is an address.
const POINTER: u32 = 1;
/// Orders in which sources may be read.
const ORDERS: std::ops::RangeInclusive<u32> = 1..=3;
/// Index that a failed batch names when no copy is to blame.
const NO_COPY: usize = usize::MAX;

impl End {
    fn place(&self, extent: &Size3) -> Result<Place, Code> {
        if self.kind != POINTER || self.address == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let pitch = if self.row == 0 { extent.x } else { self.row };
        let rows = if self.layer == 0 { extent.y } else { self.layer };
        let slice = pitch.checked_mul(rows).ok_or(Code::hipErrorInvalidValue)?;
        let fits = pitch >= extent.x && rows >= extent.y;
        if fits { Ok(Place { address: self.address, pitch, slice }) } else { Err(Code::hipErrorInvalidValue) }
    }
}

impl BoxCopy {
    fn copy(&self) -> Result<Copy3, Code> {
        let BoxCopy { from, to, extent, order, .. } = self;
        if !ORDERS.contains(order) {
            return Err(Code::hipErrorInvalidValue);
        }
        let (to, from) = (to.place(extent)?, from.place(extent)?);
        Ok(Copy3 { to, from, width: extent.x, height: extent.y, depth: extent.z })
    }
}

/// Does copies in the order of a stream, all or none of those that are wrong; `failed` gets the first of these.
///
/// # Safety
/// `failed` is null or may be written.
unsafe fn all(
    count: usize,
    one: impl Fn(usize) -> Result<Copy3, Code>,
    failed: *mut usize,
    stream: usize,
) -> Result<(), Code> {
    let tell = |index: usize| {
        if !failed.is_null() {
            // SAFETY: as the caller says.
            let _ = unsafe { put(failed, index) };
        }
    };
    if count == 0 {
        tell(NO_COPY);
        return Err(Code::hipErrorInvalidValue);
    }
    let mut copies = Vec::new();
    for index in 0..count {
        copies.push(one(index).inspect_err(|_| tell(index))?);
    }
    for (index, copy) in copies.into_iter().enumerate() {
        perform(stream, Work::Copy(copy)).inspect_err(|_| tell(index))?;
    }
    Ok(())
}

/// # Safety
/// `given` is null or may be read.
unsafe fn peer(given: *const PeerCopy, stream: usize) -> Result<(), Code> {
    // SAFETY: as the caller says.
    let it = unsafe { get(given) }?;
    super::devices::check(it.from_device)?;
    super::devices::check(it.to_device)?;
    let ends = [(it.from_array, it.from_position, it.from), (it.to_array, it.to_position, it.to)];
    let parameters = Parameters3::between(ends, it.extent);
    // SAFETY: our own.
    perform(stream, Work::Copy(unsafe { copy_of(&raw const parameters) }?))
}

entries! {
    /// Copies a box between devices.
    fn hipMemcpy3DPeer(given: *const PeerCopy) {
        // SAFETY: as the headers say; this holds for all entries here.
        unsafe { peer(given, 0) }
    }

    /// The same in the order of a stream.
    fn hipMemcpy3DPeerAsync(given: *const PeerCopy, stream: usize) {
        // SAFETY: as above.
        unsafe { peer(given, stream) }
    }

    /// Copies contiguous bytes several times.
    fn hipMemcpyBatchAsync(
        to: *const usize, from: *const usize, bytes: *const usize, count: usize, attributes: *const u32,
        _first: *const usize, attribute_count: usize, failed: *mut usize, stream: usize,
    ) {
        if attribute_count > count || (attribute_count > 0 && attributes.is_null()) {
            return Err(Code::hipErrorInvalidValue);
        }
        let one = |index: usize| {
            // SAFETY: as above: the lists have that length.
            let (to, from, bytes) = unsafe {
                (get(to.wrapping_add(index))?, get(from.wrapping_add(index))?, get(bytes.wrapping_add(index))?)
            };
            match to != 0 && from != 0 && bytes != 0 {
                true => Ok(Copy3::flat(to, from, bytes)),
                false => Err(Code::hipErrorInvalidValue),
            }
        };
        // SAFETY: as above.
        unsafe { all(count, one, failed, stream) }
    }

    /// Copies several boxes.
    fn hipMemcpy3DBatchAsync(count: usize, boxes: *const BoxCopy, failed: *mut usize, flags: u64, stream: usize) {
        if flags != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        // SAFETY: as above.
        unsafe { all(count, |index| get(boxes.wrapping_add(index))?.copy(), failed, stream) }
    }

    /// Fills rows with bytes in the order of a stream.
    fn hipMemsetD2D8Async(to: usize, pitch: usize, value: u8, width: usize, height: usize, stream: usize) {
        fill2((to, pitch), (u32::from(value), 1), (width, height), stream)
    }

    /// The same with values of two bytes.
    fn hipMemsetD2D16Async(to: usize, pitch: usize, value: u16, width: usize, height: usize, stream: usize) {
        fill2((to, pitch), (u32::from(value), 2), (width, height), stream)
    }

    /// The same with values of four bytes.
    fn hipMemsetD2D32Async(to: usize, pitch: usize, value: u32, width: usize, height: usize, stream: usize) {
        fill2((to, pitch), (value, 4), (width, height), stream)
    }
}
