//! Streams.
//!
//! Work is done at the call; whether a GPU would still be at it is up to the timeline.

use super::{In, Out, entries};
use crate::codes::Code;
use crate::launch::perform;
use crate::runtime::lock;
use crate::stream::{AttributeValue, Stream};
use crate::work::{HostFunction, Work};
use std::ffi::c_void;

type Callback = unsafe extern "C" fn(usize, i32, *mut c_void);

fn create(place: Out<usize>, flags: u32, priority: i32) -> Result<(), Code> {
    let mut runtime = lock();
    let handle = runtime.streams.handle();
    let device = super::current_device();
    runtime.streams.streams.insert(handle, Stream { flags, priority, device, ..Stream::default() });
    place.put(handle)
}

/// The only flag of streams.
const NON_BLOCKING: u32 = 1;

/// Priorities.
const LOWEST: i32 = 1;
const HIGHEST: i32 = -1;

/// Attribute of streams.
const PRIORITY: u32 = 8;

fn check(stream: usize) -> Result<(), Code> {
    if lock().streams.is_stream(stream) { Ok(()) } else { Err(Code::hipErrorInvalidHandle) }
}

/// A property of a stream; those that always exist have none set.
fn property<T: Default>(stream: usize, of: impl Fn(&Stream) -> T) -> Result<T, Code> {
    check(stream)?;
    Ok(lock().streams.streams.get(&stream).map(of).unwrap_or_default())
}

/// Device of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetStreamDeviceId(stream: usize) -> i32 {
    of_stream(stream)
}

/// Device of a stream; those that always exist are the thread's.
pub(super) fn of_stream(stream: usize) -> i32 {
    let own = lock().streams.streams.get(&stream).map(|it| it.device);
    own.unwrap_or_else(super::devices::current)
}

impl Stream {
    fn attribute(&self, attribute: u32) -> AttributeValue {
        let priority = [u64::from(self.priority as u32), 0, 0, 0];
        let unset = if attribute == PRIORITY { priority } else { AttributeValue::default() };
        self.attributes.get(&attribute).copied().unwrap_or(unset)
    }
}

/// Attributes of streams: window of accesses, how the host waits, priority.
fn check_attribute(attribute: u32) -> Result<(), Code> {
    if matches!(attribute, 1 | 3 | PRIORITY) { Ok(()) } else { Err(Code::hipErrorInvalidValue) }
}

entries! {
    /// A stream.
    fn hipStreamCreate(stream: Out<usize>) {
        create(stream, 0, 0)
    }

    /// A stream with flags.
    fn hipStreamCreateWithFlags(stream: Out<usize>, flags: u32) {
        if flags > NON_BLOCKING {
            return Err(Code::hipErrorInvalidValue);
        }
        create(stream, flags, 0)
    }

    /// A stream with a priority, which orders nothing here.
    fn hipStreamCreateWithPriority(stream: Out<usize>, flags: u32, priority: i32) {
        if flags > NON_BLOCKING {
            return Err(Code::hipErrorInvalidValue);
        }
        create(stream, flags, priority.clamp(HIGHEST, LOWEST))
    }

    /// A stream on some compute units, which is kept and told; all are used.
    fn hipExtStreamCreateWithCUMask(stream: Out<usize>, words: u32, mask: In<u32>) {
        if stream.is_null() || words == 0 || mask.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        let mut kept = Vec::new();
        for index in 0..words as usize {
            kept.push(mask.at(index).get()?);
        }
        create(stream, 0, 0)?;
        let handle = stream.get()?;
        if let Some(stream) = lock().streams.streams.get_mut(&handle) {
            stream.mask = kept;
        }
        Ok(())
    }

    /// Compute units of a stream: all, or the ones in its mask.
    fn hipExtStreamGetCUMask(stream: usize, words: u32, mask: Out<u32>) {
        let own = property(stream, |it| it.mask.clone())?;
        let units = lock().device.model.compute_units.value;
        if mask.is_null() || words < units.div_ceil(32) {
            return Err(Code::hipErrorInvalidValue);
        }
        let all = (0..units.div_ceil(32)).map(|word| u32::MAX >> (32 - (units - 32 * word).min(32)));
        let all: Vec<u32> = all.collect();
        let masked: Vec<u32> = all.iter().zip(&own).map(|(all, own)| all & own).collect();
        let shown = if masked.iter().all(|it| *it == 0) { all } else { masked };
        for (index, word) in shown.into_iter().enumerate() {
            mask.at(index).put(word)?;
        }
        Ok(())
    }

    /// An attribute of a stream. What was not set is zero; the priority is the stream's.
    fn hipStreamGetAttribute(stream: usize, attribute: u32, value: Out<AttributeValue>) {
        let known = property(stream, |it| it.attribute(attribute))?;
        check_attribute(attribute)?;
        value.put(known)
    }

    /// Sets an attribute, which is kept and changes nothing: caches are not divided, hosts do not spin.
    fn hipStreamSetAttribute(stream: usize, attribute: u32, value: In<AttributeValue>) {
        let value = value.get()?;
        check(stream)?;
        check_attribute(attribute)?;
        lock().streams.streams.entry(stream).or_default().attributes.insert(attribute, value);
        Ok(())
    }

    /// Ends a stream.
    fn hipStreamDestroy(stream: usize) {
        let mut runtime = lock();
        let ended = runtime.streams.streams.remove(&stream).map(|_| ());
        ended.ok_or_else(|| runtime.streams.refusal(stream))
    }

    /// Waits for the work of a stream, which is done already.
    fn hipStreamSynchronize = hipStreamSynchronize_spt(stream: usize) {
        check(stream)?;
        let mut runtime = lock();
        if runtime.streams.origin(stream).is_some() {
            return Err(Code::hipErrorStreamCaptureUnsupported);
        }
        runtime.timeline.wait_for_stream(stream);
        Ok(())
    }

    /// Whether a GPU would have done the work of a stream.
    fn hipStreamQuery = hipStreamQuery_spt(stream: usize) {
        check(stream)?;
        let runtime = lock();
        if runtime.streams.origin(stream).is_some() {
            return Err(Code::hipErrorStreamCaptureUnsupported);
        }
        if runtime.timeline.is_busy(stream) { Err(Code::hipErrorNotReady) } else { Ok(()) }
    }

    /// An awaited event is complete already, or captured.
    fn hipStreamWaitEvent = hipStreamWaitEvent_spt(stream: usize, event: usize, flags: u32) {
        check(stream)?;
        if flags != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let mut runtime = lock();
        if !runtime.streams.events.contains_key(&event) {
            return Err(Code::hipErrorInvalidHandle);
        }
        runtime.streams.wait(stream, event);
        let moment = runtime.streams.events.get(&event).and_then(|it| it.recorded);
        if let Some(moment) = moment {
            runtime.timeline.wait(stream, &moment);
        }
        Ok(())
    }

    /// Flags of a stream.
    fn hipStreamGetFlags = hipStreamGetFlags_spt(stream: usize, flags: Out<u32>) {
        if stream == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        flags.put(property(stream, |it| it.flags)?)
    }

    /// Priority of a stream.
    fn hipStreamGetPriority = hipStreamGetPriority_spt(stream: usize, priority: Out<i32>) {
        priority.put(property(stream, |it| it.priority)?)
    }

    /// Priorities, from the lowest to the highest.
    fn hipDeviceGetStreamPriorityRange(lowest: Out<i32>, highest: Out<i32>) {
        lowest.offer(LOWEST);
        highest.offer(HIGHEST);
        Ok(())
    }

    /// Device of a stream.
    fn hipStreamGetDevice(stream: usize, device: Out<i32>) {
        check(stream)?;
        device.put(of_stream(stream))
    }

    /// Number of a stream.
    fn hipStreamGetId(stream: usize, number: Out<u64>) {
        check(stream)?;
        number.put(stream as u64)
    }

    /// Calls a function in the order of the stream.
    fn hipLaunchHostFunc = hipLaunchHostFunc_spt(stream: usize, function: Option<HostFunction>, data: *mut c_void) {
        let function = function.ok_or(Code::hipErrorInvalidValue)?;
        perform(stream, Work::Call(function, data.expose_provenance()))
    }

    /// The older form, which hears how the stream fares.
    fn hipStreamAddCallback = hipStreamAddCallback_spt(stream: usize, callback: Option<Callback>, data: *mut c_void, flags: u32) {
        check(stream)?;
        let callback = callback.ok_or(Code::hipErrorInvalidValue)?;
        if flags != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        // SAFETY: the program gave the function for this call.
        unsafe { callback(stream, 0, data) };
        Ok(())
    }

    /// Managed memory belongs to every stream; what is said of it is checked.
    fn hipStreamAttachMemAsync(stream: usize, memory: usize, bytes: usize, flags: u32) {
        const SINGLE: u32 = 4;
        if memory == 0 || !matches!(flags, 1 | 2 | SINGLE) || (flags == SINGLE && stream == 0) {
            return Err(Code::hipErrorInvalidValue);
        }
        if check(stream).is_err() {
            return Err(Code::hipErrorContextIsDestroyed);
        }
        // Memory that only the host has cannot be reached by the GPUs that are emulated.
        let found = lock().allocations.find(memory).ok_or(Code::hipErrorInvalidValue)?;
        let is_whole = bytes == 0 || bytes == found.bytes;
        if found.is_on_device() && !is_whole { Err(Code::hipErrorInvalidValue) } else { Ok(()) }
    }
}
