//! Advice on memory, where it is wanted, and what was said of it.

use super::devices::check;
use super::{In, Out, entries};
use crate::advice::HOST;
use crate::codes::Code;
use crate::memory::Kind;
use crate::runtime::lock;
use std::ffi::c_void;

/// Kinds of places in the newer interface.
const ON_DEVICE: u32 = 1;
const ON_HOST: u32 = 2;

/// Advice that names no place.
const READ_MOSTLY: [u32; 2] = [1, 2];

/// A place as the newer interface has it: a kind and a number in one register.
fn place(location: u64) -> Result<i32, Code> {
    match location as u32 {
        ON_DEVICE => Ok((location >> 32) as u32 as i32),
        ON_HOST => Ok(HOST),
        _ => Err(Code::hipErrorInvalidValue),
    }
}

/// Checks a range and a place.
fn check_range(address: usize, bytes: usize) -> Result<(), Code> {
    let found = lock().allocations.find(address);
    let is_past = found.is_some_and(|it| bytes > it.base + it.bytes - address);
    if address == 0 || bytes == 0 || is_past { Err(Code::hipErrorInvalidValue) } else { Ok(()) }
}

fn check_place(place: i32) -> Result<(), Code> {
    if place == HOST { Ok(()) } else { check(place) }
}

fn advise(address: usize, bytes: usize, advice: u32, place: i32) -> Result<(), Code> {
    if !READ_MOSTLY.contains(&advice) {
        check_place(place)?;
    }
    check_range(address, bytes)?;
    lock().advice.advise(address, bytes, advice, place)
}

fn prefetch(address: usize, bytes: usize, place: i32, stream: usize) -> Result<(), Code> {
    check_range(address, bytes)?;
    let mut runtime = lock();
    if !runtime.streams.is_stream(stream) {
        return Err(Code::hipErrorContextIsDestroyed);
    }
    let is_known = runtime.device.retries || runtime.allocations.find(address).is_some();
    drop(runtime);
    check_place(place)?;
    // A GPU cannot reach memory that only the host has.
    if !is_known && place != HOST {
        return Err(Code::hipErrorNotSupported);
    }
    runtime = lock();
    runtime.advice.prefetch(address, bytes, place);
    Ok(())
}

/// Writes an attribute of a range.
fn attribute(
    data: Out<c_void>,
    room: usize,
    attribute: u32,
    (address, bytes): (usize, usize),
) -> Result<(), Code> {
    if data.is_null() || room == 0 || address == 0 || bytes == 0 || !room.is_multiple_of(size_of::<i32>()) {
        return Err(Code::hipErrorInvalidValue);
    }
    let mut runtime = lock();
    // Only memory of both sides has pages that may be anywhere.
    let found = runtime.allocations.find(address);
    let is_shared = found.map_or(runtime.device.retries, |it| {
        matches!(it.kind, Kind::Managed | Kind::Host | Kind::Registered)
    });
    if !is_shared {
        return Err(Code::hipErrorInvalidValue);
    }
    let numbers = runtime.advice.attribute(address, bytes, attribute, room / size_of::<i32>())?;
    for (index, number) in numbers.into_iter().enumerate() {
        data.cast::<i32>().at(index).put(number)?;
    }
    Ok(())
}

entries! {
    /// Keeps advice.
    fn hipMemAdvise(address: usize, bytes: usize, advice: u32, device: i32) {
        advise(address, bytes, advice, device)
    }

    /// The same with a place.
    fn hipMemAdvise_v2(address: usize, bytes: usize, advice: u32, location: u64) {
        let place = if READ_MOSTLY.contains(&advice) { HOST } else { place(location)? };
        advise(address, bytes, advice, place)
    }

    /// Notes where memory is wanted, in the order of a stream; it does not move.
    fn hipMemPrefetchAsync(address: usize, bytes: usize, device: i32, stream: usize) {
        prefetch(address, bytes, device, stream)
    }

    /// The same with a place.
    fn hipMemPrefetchAsync_v2(address: usize, bytes: usize, location: u64, flags: u32, stream: usize) {
        if flags != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        prefetch(address, bytes, place(location)?, stream)
    }

    /// An attribute of a range.
    fn hipMemRangeGetAttribute(data: Out<c_void>, room: usize, number: u32, address: usize, bytes: usize) {
        attribute(data, room, number, (address, bytes))
    }

    /// The same for several attributes.
    fn hipMemRangeGetAttributes(
        data: In<Out<c_void>>, rooms: In<usize>, numbers: In<u32>, count: usize, address: usize, bytes: usize,
    ) {
        if count == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        for index in 0..count {
            let data = data.at(index).get()?;
            let (room, number) = (rooms.at(index).get()?, numbers.at(index).get()?);
            attribute(data, room, number, (address, bytes))?;
        }
        Ok(())
    }
}
