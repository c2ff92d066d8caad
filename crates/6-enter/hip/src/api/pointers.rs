//! Properties of pointers.
//!
//! Host and device addresses are the same, so the answer names one address twice.

use super::{entries, get, put};
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
const CONTEXT: u32 = 1;
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
const UNANSWERED: [u32; 5] = [5, 10, 14, 15, 17];

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

/// One attribute. Memory of the program has addresses too: kernels cannot reach it, which is reported at the
/// attempt.
unsafe fn attribute(place: *mut c_void, number: u32, address: usize) -> Result<(), Code> {
    if address == 0 {
        return Err(Code::hipErrorInvalidValue);
    }
    let found = lock().allocations.find(address);
    let known = || found.ok_or(Code::hipErrorInvalidValue);
    // SAFETY: as the headers say: the place has the size of the attribute.
    unsafe {
        match number {
            CONTEXT => put(place.cast(), 1usize),
            MEMORY_TYPE => put(place.cast(), kind(&known()?)),
            DEVICE_POINTER => put(place.cast(), address),
            HOST_POINTER if found.is_some_and(|it| matches!(it.kind, Kind::Device | Kind::Mapped)) => {
                put(place.cast(), 0usize)
            }
            HOST_POINTER => put(place.cast(), address),
            SYNC_MEMOPS => put(place.cast(), 1i32),
            BUFFER_ID => put(place.cast(), known()?.number),
            IS_MANAGED => put(place.cast(), u8::from(known()?.kind == Kind::Managed)),
            DEVICE_ORDINAL => put(place.cast(), known()?.device),
            RANGE_START => put(place.cast(), known()?.base),
            RANGE_SIZE => put(place.cast(), known()?.bytes),
            MAPPED => put(place.cast(), u8::from(found.is_some())),
            _ if UNANSWERED.contains(&number) => Err(Code::hipErrorNotSupported),
            _ => Err(Code::hipErrorInvalidValue),
        }
    }
}

entries! {
    /// Everything about a pointer.
    fn hipPointerGetAttributes(attributes: *mut Attributes, address: usize) {
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
                kind: UNREGISTERED, device: -2, device_pointer: 0, host_pointer: 0, is_managed: 0, flags: 0,
            },
        };
        // SAFETY: as the headers say; this holds for all entries here.
        unsafe { put(attributes, value) }
    }

    /// One attribute.
    fn hipPointerGetAttribute(place: *mut c_void, number: u32, address: usize) {
        // SAFETY: as above.
        unsafe { attribute(place, number, address) }
    }

    /// Several attributes; those that are not known are zero.
    fn hipDrvPointerGetAttributes(count: u32, numbers: *mut u32, places: *mut *mut c_void, address: usize) {
        if count == 0 || address == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        for index in 0..count as usize {
            // SAFETY: as above: both lists have that length.
            unsafe {
                let (number, place) = (super::get(numbers.add(index))?, super::get(places.add(index))?);
                if attribute(place, number, address).is_err() && !place.is_null() {
                    put(place.cast::<u8>(), 0)?;
                }
            }
        }
        Ok(())
    }

    /// Sets whether operations on memory are synchronous, which they are anyway.
    fn hipPointerSetAttribute(value: *const c_void, number: u32, address: usize) {
        const SYNCHRONOUS: u32 = 6;
        // SAFETY: as above.
        let value = unsafe { get(value.cast::<u32>()) }?;
        if address == 0 || number != SYNCHRONOUS || value > 1 {
            return Err(Code::hipErrorInvalidValue);
        }
        lock().allocations.find(address).map(|_| ()).ok_or(Code::hipErrorInvalidDevicePointer)
    }

    /// The allocation around an address.
    fn hipMemGetAddressRange(base: *mut usize, bytes: *mut usize, address: usize) {
        let found = lock().allocations.find(address).ok_or(Code::hipErrorNotFound)?;
        // SAFETY: as above.
        unsafe {
            if !base.is_null() { put(base, found.base)? }
            if !bytes.is_null() { put(bytes, found.bytes)? }
        }
        Ok(())
    }

    /// Size of an allocation.
    fn hipMemPtrGetInfo(address: usize, bytes: *mut usize) {
        let found = lock().allocations.find(address).ok_or(Code::hipErrorInvalidValue)?;
        // SAFETY: as above.
        unsafe { put(bytes, found.bytes) }
    }
}
