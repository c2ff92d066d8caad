//! Properties of pointers.
//!
//! Host and device addresses are the same, so the answer names one address twice.

use super::{In, Out, entries};
use crate::codes::Code;
use crate::memory::{Allocation, Kind};
use crate::runtime::lock;
use std::ffi::c_void;

/// Kinds of memory as programs read them.
const UNREGISTERED: u32 = 0;
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const MANAGED: u32 = 3;

/// Attributes of a pointer, by number.
const MEMORY_TYPE: u32 = 2;
const DEVICE_POINTER: u32 = 3;
const HOST_POINTER: u32 = 4;
const SYNC_MEMOPS: u32 = 6;
const BUFFER_ID: u32 = 7;
const IS_MANAGED: u32 = 8;
const DEVICE_ORDINAL: u32 = 9;
const RANGE_START: u32 = 11;
const RANGE_SIZE: u32 = 12;
const MAPPED: u32 = 13;

/// Attributes that AMD's runtime knows and does not answer.
const UNANSWERED: [u32; 6] = [1, 5, 10, 14, 15, 17];

/// Output of `hipPointerGetAttributes`.
#[repr(C)]
pub(super) struct Attributes {
    kind: u32,
    device: i32,
    device_pointer: usize,
    host_pointer: usize,
    is_managed: i32,
    flags: u32,
}

fn kind(allocation: &Allocation) -> u32 {
    match allocation.kind {
        Kind::Device | Kind::Mapped | Kind::Internal => DEVICE,
        Kind::Host | Kind::Registered => HOST,
        Kind::Managed => MANAGED,
    }
}

/// Device of memory that the runtime does not know.
const NO_DEVICE: i32 = -2;

/// Attributes of 32 bits, and of one byte. Others have 64.
const WORDS: [u32; 2] = [MEMORY_TYPE, DEVICE_ORDINAL];
const BYTES: [u32; 3] = [SYNC_MEMOPS, IS_MANAGED, MAPPED];

/// One attribute; `None` if the memory lacks it.
fn value(found: Option<&Allocation>, number: u32, address: usize) -> Option<u64> {
    let found = found?;
    let value = match number {
        MEMORY_TYPE => kind(found) as usize,
        HOST_POINTER if matches!(found.kind, Kind::Device | Kind::Mapped) => return None,
        DEVICE_POINTER | HOST_POINTER => address,
        SYNC_MEMOPS | MAPPED => 1,
        BUFFER_ID => found.number as usize,
        IS_MANAGED => usize::from(found.kind == Kind::Managed),
        DEVICE_ORDINAL => found.device as usize,
        RANGE_START => found.base,
        _ => found.bytes,
    };
    Some(value as u64)
}

/// Stores one attribute; one that the memory lacks is zero, with an error.
fn attribute(place: Out<c_void>, number: u32, address: usize) -> Result<(), Code> {
    if address == 0 || place.is_null() {
        return Err(Code::hipErrorInvalidValue);
    }
    let is_known = WORDS.contains(&number) || BYTES.contains(&number);
    if !is_known && !matches!(number, DEVICE_POINTER | HOST_POINTER | BUFFER_ID | RANGE_START | RANGE_SIZE) {
        let is_unanswered = UNANSWERED.contains(&number);
        return Err(if is_unanswered { Code::hipErrorNotSupported } else { Code::hipErrorInvalidValue });
    }
    let found = lock().allocations.find(address);
    let value = value(found.as_ref(), number, address);
    let none = if number == DEVICE_ORDINAL { i64::from(NO_DEVICE) as u64 } else { 0 };
    let shown = value.unwrap_or(none);
    match number {
        _ if WORDS.contains(&number) => place.cast().put(shown as u32)?,
        _ if BYTES.contains(&number) => place.cast().put(shown as u8)?,
        _ => place.cast().put(shown)?,
    }
    value.map(|_| ()).ok_or(Code::hipErrorInvalidValue)
}

entries! {
    /// Everything about a pointer.
    fn hipPointerGetAttributes(attributes: Out<Attributes>, address: usize) {
        let found = lock().allocations.find(address);
        let value = match found {
            Some(it) => Attributes {
                kind: kind(&it),
                device: it.device,
                device_pointer: address,
                host_pointer: if matches!(it.kind, Kind::Device | Kind::Mapped) { 0 } else { address },
                is_managed: i32::from(it.kind == Kind::Managed),
                flags: it.flags,
            },
            None => Attributes {
                kind: UNREGISTERED, device: NO_DEVICE, device_pointer: 0, host_pointer: 0, is_managed: 0, flags: 0,
            },
        };
        attributes.put(value)
    }

    /// One attribute.
    fn hipPointerGetAttribute(place: Out<c_void>, number: u32, address: usize) {
        attribute(place, number, address)
    }

    /// Several attributes; the ones that the memory lacks are zero.
    fn hipDrvPointerGetAttributes(count: u32, numbers: In<u32>, places: In<Out<c_void>>, address: usize) {
        if count == 0 || address == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        for index in 0..count as usize {
            let (number, place) = (numbers.at(index).get()?, places.at(index).get()?);
            let _ = attribute(place, number, address);
        }
        Ok(())
    }

    /// Sets whether operations on memory are synchronous, which they are anyway.
    fn hipPointerSetAttribute(value: In<c_void>, number: u32, address: usize) {
        const SYNCHRONOUS: u32 = 6;
        let value = value.cast::<u32>().get()?;
        if address == 0 || number != SYNCHRONOUS || value > 1 {
            return Err(Code::hipErrorInvalidValue);
        }
        lock().allocations.find(address).map(|_| ()).ok_or(Code::hipErrorInvalidDevicePointer)
    }

    /// The allocation around an address.
    fn hipMemGetAddressRange(base: Out<usize>, bytes: Out<usize>, address: usize) {
        let found = lock().allocations.find(address).ok_or(Code::hipErrorNotFound)?;
        base.offer(found.base);
        bytes.offer(found.bytes);
        Ok(())
    }

    /// Size of an allocation.
    fn hipMemPtrGetInfo(address: usize, bytes: Out<usize>) {
        let found = lock().allocations.find(address).ok_or(Code::hipErrorInvalidValue)?;
        bytes.put(found.bytes)
    }
}
