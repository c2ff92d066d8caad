//! Calls that few programs make: values that streams write and wait for, launches in three steps, structures of the
//! driver interface, and questions about pools, peers and graphs that have one answer here.

use super::devices::{check, context_device, current};
use super::kernels::launch_bytes;
use super::{Dim3, entries, get, put};
use crate::codes::Code;
use crate::launch::perform;
use crate::message::say_once;
use crate::runtime::lock;
use crate::work::{Copy3, Fill, Place, Work};
use std::cell::RefCell;
use std::ffi::c_void;

/// Two-dimensional copy of the driver interface.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Copy2 {
    from: End,
    to: End,
    width: usize,
    height: usize,
}

/// One end of a copy.
#[repr(C)]
#[derive(Clone, Copy)]
struct End {
    x: usize,
    y: usize,
    kind: u32,
    host: usize,
    device: usize,
    array: usize,
    pitch: usize,
}

impl End {
    /// Place of the first byte. Kinds: 0 is the host, 2 an array.
    fn place(&self) -> Result<Place, Code> {
        let base = match self.kind {
            0 => self.host,
            2 => return Err(Code::hipErrorNotSupported),
            _ => self.device,
        };
        let rows = self.y.checked_mul(self.pitch).ok_or(Code::hipErrorInvalidValue)?;
        let address = base.checked_add(self.x).and_then(|it| it.checked_add(rows));
        Ok(Place { address: address.ok_or(Code::hipErrorInvalidValue)?, pitch: self.pitch, slice: 0 })
    }
}

fn copy2(parameters: *const Copy2, stream: usize) -> Result<(), Code> {
    // SAFETY: as the headers say.
    let copy = unsafe { get(parameters) }?;
    let (to, from) = (copy.to.place()?, copy.from.place()?);
    perform(stream, Work::Copy(Copy3 { to, from, width: copy.width, height: copy.height, depth: 1 }))
}

/// Writes a word in the order of a stream.
fn write(stream: usize, to: usize, word: u32) -> Result<(), Code> {
    let to = Place { address: to, pitch: 4, slice: 4 };
    perform(stream, Work::Fill(Fill { to, pattern: word, size: 4, width: 4, height: 1, depth: 1 }))
}

/// Whether a stream that waits for a value goes on.
fn arrived(value: u64, wanted: u64, flags: u32, mask: u64) -> Result<bool, Code> {
    let value = value & mask;
    match flags {
        0 => Ok(value >= wanted),
        1 => Ok(value == wanted),
        2 => Ok(value & wanted != 0),
        3 => Ok(!(value | wanted) & mask != 0),
        _ => Err(Code::hipErrorInvalidValue),
    }
}

/// A wait that is over already. Streams do their work at once, so a value that is not there yet can only come from
/// work after this call.
fn wait(stream: usize, at: usize, bytes: usize, wanted: u64, flags: u32, mask: u64) -> Result<(), Code> {
    let runtime = lock();
    if !runtime.streams.is_stream(stream) {
        return Err(Code::hipErrorInvalidHandle);
    }
    runtime.allocations.check("wait for a value at", at, bytes)?;
    let place = std::ptr::with_exposed_provenance::<u8>(runtime.allocations.host(at));
    // SAFETY: inside an allocation as just checked, or memory the program vouches for.
    let value = unsafe {
        if bytes == 4 {
            u64::from(place.cast::<u32>().read_unaligned())
        } else {
            place.cast::<u64>().read_unaligned()
        }
    };
    if arrived(value, wanted, flags, mask)? {
        return Ok(());
    }
    say_once(
        "hipStreamWaitValue waits for a value that comes later, which is not supported: streams do their work at once",
    );
    Err(Code::hipErrorNotSupported)
}

/// A launch that is being put together.
struct Configured {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: usize,
    arguments: Vec<u8>,
}

thread_local! {
    static CONFIGURED: RefCell<Vec<Configured>> = const { RefCell::new(Vec::new()) };
}

/// Largest arguments of a kernel.
const MOST_ARGUMENTS: usize = 1 << 16;

entries! {
    /// Writes a 32-bit value.
    fn hipStreamWriteValue32(stream: usize, to: usize, value: u32, _flags: u32) {
        write(stream, to, value)
    }

    /// Writes a 64-bit value.
    fn hipStreamWriteValue64(stream: usize, to: usize, value: u64, _flags: u32) {
        write(stream, to, value as u32)?;
        write(stream, to + 4, (value >> 32) as u32)
    }

    /// Waits for a 32-bit value.
    fn hipStreamWaitValue32(stream: usize, at: usize, value: u32, flags: u32, mask: u32) {
        wait(stream, at, 4, u64::from(value), flags, u64::from(mask))
    }

    /// Waits for a 64-bit value.
    fn hipStreamWaitValue64(stream: usize, at: usize, value: u64, flags: u32, mask: u64) {
        wait(stream, at, 8, value, flags, mask)
    }

    /// Begins a launch: sizes and stream.
    fn hipConfigureCall(grid: Dim3, block: Dim3, shared: usize, stream: usize) {
        let configured = Configured { grid, block, shared, stream, arguments: Vec::new() };
        CONFIGURED.with_borrow_mut(|all| all.push(configured));
        Ok(())
    }

    /// Adds an argument to the launch.
    fn hipSetupArgument(argument: *const c_void, bytes: usize, offset: usize) {
        let end = offset.checked_add(bytes).filter(|end| *end <= MOST_ARGUMENTS).ok_or(Code::hipErrorInvalidValue)?;
        if argument.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        CONFIGURED.with_borrow_mut(|all| {
            let arguments = &mut all.last_mut().ok_or(Code::hipErrorMissingConfiguration)?.arguments;
            arguments.resize(end.max(arguments.len()), 0);
            // SAFETY: the program's argument has that many bytes, and there is room as just made.
            unsafe { std::ptr::copy_nonoverlapping(argument.cast(), arguments[offset..].as_mut_ptr(), bytes) };
            Ok(())
        })
    }

    /// Launches what was put together.
    fn hipLaunchByPtr(function: usize) {
        let configured = CONFIGURED.with_borrow_mut(Vec::pop).ok_or(Code::hipErrorMissingConfiguration)?;
        let Configured { grid, block, shared, stream, arguments } = configured;
        launch_bytes(function, [grid, block], shared, stream, arguments)
    }

    /// A two-dimensional copy by the driver's structure.
    fn hipMemcpyParam2D = hipDrvMemcpy2DUnaligned(parameters: *const Copy2) {
        copy2(parameters, 0)
    }

    /// The same in the order of a stream.
    fn hipMemcpyParam2DAsync(parameters: *const Copy2, stream: usize) {
        copy2(parameters, stream)
    }

    /// A no-op: memory does not move. The place is a kind and a number in one register.
    fn hipMemAdvise_v2(_memory: usize, _bytes: usize, _advice: u32, _place: u64) {
        Ok(())
    }

    /// As above.
    fn hipMemPrefetchAsync_v2(_memory: usize, _bytes: usize, _place: u64, _flags: u32, _stream: usize) {
        Ok(())
    }

    /// The pool holds nothing back: only what is allocated is reserved, and reuse needs no permission.
    fn hipMemPoolGetAttribute(_pool: usize, attribute: u32, value: *mut c_void) {
        let used = lock().allocations.device_bytes() as u64;
        // SAFETY: the header's type of each attribute; this holds for all entries here.
        unsafe {
            match attribute {
                1..=3 => put(value.cast(), 1i32),
                4 => put(value.cast(), 0u64),
                5..=8 => put(value.cast(), used),
                _ => Err(Code::hipErrorInvalidValue),
            }
        }
    }

    /// All devices read and write all pools.
    fn hipMemPoolGetAccess(access: *mut u32, _pool: usize, _place: *const c_void) {
        // SAFETY: as above.
        unsafe { put(access, 3) }
    }

    /// Graphs own no memory.
    fn hipDeviceGetGraphMemAttribute(device: i32, attribute: u32, value: *mut u64) {
        check(device)?;
        if attribute > 3 {
            return Err(Code::hipErrorInvalidValue);
        }
        // SAFETY: as above.
        unsafe { put(value, 0) }
    }

    /// The only settable values are marks that become 0.
    fn hipDeviceSetGraphMemAttribute(device: i32, attribute: u32, value: *const u64) {
        check(device)?;
        // SAFETY: as above.
        let value = unsafe { get(value) }?;
        if matches!(attribute, 1 | 3) && value == 0 { Ok(()) } else { Err(Code::hipErrorInvalidValue) }
    }

    /// As above: there is nothing to trim.
    fn hipDeviceGraphMemTrim(device: i32) {
        check(device)
    }

    /// Between different devices everything is possible but arrays.
    fn hipDeviceGetP2PAttribute(value: *mut i32, attribute: u32, from: i32, to: i32) {
        check(from)?;
        check(to)?;
        if from == to || attribute > 3 {
            return Err(Code::hipErrorInvalidValue);
        }
        // SAFETY: as above.
        unsafe { put(value, i32::from(matches!(attribute, 1 | 2))) }
    }

    /// Devices are one hop of Infinity Fabric apart.
    fn hipExtGetLinkTypeAndHopCount(from: i32, to: i32, kind: *mut u32, hops: *mut u32) {
        check(from)?;
        check(to)?;
        if from == to {
            return Err(Code::hipErrorInvalidValue);
        }
        // SAFETY: as above.
        unsafe {
            put(kind, 4)?;
            put(hops, 1)
        }
    }

    /// Version of the interface of contexts, as AMD's runtime has it.
    fn hipCtxGetApiVersion(_context: usize, version: *mut u32) {
        // SAFETY: as above.
        unsafe { put(version, 4) }
    }

    /// Contexts have no flags set.
    fn hipCtxGetFlags(flags: *mut u32) {
        // SAFETY: as above.
        unsafe { put(flags, 0) }
    }

    /// Access is always open.
    fn hipCtxEnablePeerAccess(context: usize, _flags: u32) {
        if context_device(context)? == current() { Err(Code::hipErrorInvalidDevice) } else { Ok(()) }
    }

    /// As above.
    fn hipCtxDisablePeerAccess(context: usize) {
        context_device(context).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_end_as_the_header_says() {
        for (value, wanted, flags, mask, expected) in [
            (5, 5, 0, u64::MAX, Ok(true)),
            (4, 5, 0, u64::MAX, Ok(false)),
            (0x105, 5, 1, 0xff, Ok(true)),
            (6, 2, 2, u64::MAX, Ok(true)),
            (4, 2, 2, u64::MAX, Ok(false)),
            (0xff, 0, 3, 0xff, Ok(false)),
            (0xf0, 0, 3, 0xff, Ok(true)),
            (0, 0, 4, 0, Err(Code::hipErrorInvalidValue)),
        ] {
            assert_eq!(arrived(value, wanted, flags, mask), expected, "{value} {wanted} {flags}");
        }
    }
}
