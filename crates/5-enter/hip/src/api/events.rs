//! Events.
//!
//! The one idea to keep in mind: an event has the time at which it was recorded; the time between two is how long the
//! emulation took, which the user is told once.

use super::{entries, put};
use crate::codes::Code;
use crate::message::say_once;
use crate::runtime::lock;
use crate::stream::Event;
use std::time::Instant;

/// Flag of events without time.
const NO_TIMING: u32 = 2;

fn create(place: *mut usize, flags: u32) -> Result<(), Code> {
    let mut runtime = lock();
    let handle = runtime.streams.handle();
    runtime.streams.events.insert(handle, Event { recorded: None, timing: flags & NO_TIMING == 0 });
    // SAFETY: as the headers say.
    unsafe { put(place, handle) }
}

entries! {
    /// An event.
    fn hipEventCreate(event: *mut usize) {
        create(event, 0)
    }

    /// An event with flags.
    fn hipEventCreateWithFlags(event: *mut usize, flags: u32) {
        create(event, flags)
    }

    /// Ends an event.
    fn hipEventDestroy(event: usize) {
        lock().streams.events.remove(&event).map(|_| ()).ok_or(Code::hipErrorInvalidHandle)
    }

    /// Records an event.
    fn hipEventRecord = hipEventRecord_spt(event: usize, stream: usize) {
        let mut runtime = lock();
        if !runtime.streams.is_stream(stream) {
            return Err(Code::hipErrorInvalidHandle);
        }
        let event = runtime.streams.events.get_mut(&event).ok_or(Code::hipErrorInvalidHandle)?;
        event.recorded = Some(Instant::now());
        Ok(())
    }

    /// Records an event with flags that change nothing.
    fn hipEventRecordWithFlags(event: usize, stream: usize, _flags: u32) {
        // SAFETY: no pointers.
        match unsafe { hipEventRecord(event, stream) } {
            0 => Ok(()),
            code => Err(Code(code)),
        }
    }

    /// Everything recorded has happened.
    fn hipEventSynchronize = hipEventQuery(event: usize) {
        if lock().streams.events.contains_key(&event) { Ok(()) } else { Err(Code::hipErrorInvalidHandle) }
    }

    /// Milliseconds between two events.
    fn hipEventElapsedTime(milliseconds: *mut f32, start: usize, stop: usize) {
        let runtime = lock();
        let event = |handle: usize| {
            let event = runtime.streams.events.get(&handle).ok_or(Code::hipErrorInvalidHandle)?;
            event.recorded.filter(|_| event.timing).ok_or(Code::hipErrorInvalidHandle)
        };
        let (from, to) = (event(start)?, event(stop)?);
        say_once("times of events are how long the emulation took, not what a GPU would take");
        let value = if to >= from { (to - from).as_secs_f64() } else { -(from - to).as_secs_f64() };
        // SAFETY: as the headers say.
        unsafe { put(milliseconds, (value * 1e3) as f32) }
    }
}
