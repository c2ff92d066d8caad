//! Copies of several boxes at once, between devices, and fills of rows in the order of a stream.

use super::memory::{Parameters3, Pitched, Size3, copy_of, fill2};
use super::{In, Out, entries};
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
fn all(
    count: usize,
    one: impl Fn(usize) -> Result<Copy3, Code>,
    failed: Out<usize>,
    stream: usize,
) -> Result<(), Code> {
    let tell = |index: usize| {
        if !failed.is_null() {
            let _ = failed.put(index);
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

fn peer(given: In<PeerCopy>, stream: usize) -> Result<(), Code> {
    let it = given.get()?;
    super::devices::check(it.from_device)?;
    super::devices::check(it.to_device)?;
    let ends = [(it.from_array, it.from_position, it.from), (it.to_array, it.to_position, it.to)];
    perform(stream, Work::Copy(copy_of(Parameters3::between(ends, it.extent))?))
}

entries! {
    /// Copies a box between devices.
    fn hipMemcpy3DPeer(given: In<PeerCopy>) {
        peer(given, 0)
    }

    /// The same in the order of a stream.
    fn hipMemcpy3DPeerAsync(given: In<PeerCopy>, stream: usize) {
        peer(given, stream)
    }

    /// Copies contiguous bytes several times.
    fn hipMemcpyBatchAsync(
        to: In<usize>, from: In<usize>, bytes: In<usize>, count: usize, attributes: In<u32>,
        _first: In<usize>, attribute_count: usize, failed: Out<usize>, stream: usize,
    ) {
        if attribute_count > count || (attribute_count > 0 && attributes.is_null()) {
            return Err(Code::hipErrorInvalidValue);
        }
        let one = |index: usize| {
            let (to, from, bytes) = (to.at(index).get()?, from.at(index).get()?, bytes.at(index).get()?);
            match to != 0 && from != 0 && bytes != 0 {
                true => Ok(Copy3::flat(to, from, bytes)),
                false => Err(Code::hipErrorInvalidValue),
            }
        };
        all(count, one, failed, stream)
    }

    /// Copies several boxes.
    fn hipMemcpy3DBatchAsync(count: usize, boxes: In<BoxCopy>, failed: Out<usize>, flags: u64, stream: usize) {
        if flags != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        all(count, |index| boxes.at(index).get()?.copy(), failed, stream)
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
