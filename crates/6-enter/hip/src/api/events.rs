//! Events.
//!
//! An event has the moment at which it was recorded; the time between two is modelled if all work between
//! them is, and otherwise the duration of the emulation. The user is told once.

use super::{Out, entries};
use crate::codes::Code;
use crate::message::{rely_on_times, say_once};
use crate::runtime::lock;
use crate::stream::Event;
use crate::timeline::Span;

/// Flags of events without time, and of those for other processes, which have none.
const NO_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;
/// All flags: how to wait, without time, between processes, and three of what is released.
const FLAGS: u32 = 7 | RELEASES;
/// At most one of these may be set.
const RELEASES: u32 = 7 << 29;

fn create(place: Out<usize>, flags: u32) -> Result<(), Code> {
    let mut runtime = lock();
    let handle = runtime.streams.handle();
    let (timing, interprocess) = (flags & NO_TIMING == 0, flags & INTERPROCESS != 0);
    let device = super::current_device();
    runtime.streams.events.insert(handle, Event { timing, interprocess, device, ..Event::default() });
    place.put(handle)
}

entries! {
    /// An event.
    fn hipEventCreate(event: Out<usize>) {
        create(event, 0)
    }

    /// An event with flags.
    fn hipEventCreateWithFlags(event: Out<usize>, flags: u32) {
        if flags & !FLAGS != 0 || (flags & RELEASES).count_ones() > 1 || flags & (INTERPROCESS | NO_TIMING) == INTERPROCESS {
            return Err(Code::hipErrorInvalidValue);
        }
        create(event, flags)
    }

    /// Ends an event.
    fn hipEventDestroy(event: usize) {
        let mut runtime = lock();
        let ended = runtime.streams.events.remove(&event).map(|_| ());
        ended.ok_or_else(|| runtime.streams.refusal(event))
    }

    /// Records an event.
    fn hipEventRecord = hipEventRecord_spt(event: usize, stream: usize) {
        let mut runtime = lock();
        if !runtime.streams.is_stream(stream) {
            return Err(Code::hipErrorInvalidHandle);
        }
        let origin = runtime.streams.origin(stream);
        let captured = origin.zip(runtime.streams.captured(stream).map(|it| it.1));
        let device = runtime.streams.streams.get(&stream).map_or_else(super::current_device, |it| it.device);
        let found = runtime.streams.events.get(&event).ok_or(Code::hipErrorInvalidHandle)?;
        if origin.is_none() && !found.interprocess && found.device != device {
            return Err(Code::hipErrorInvalidHandle);
        }
        runtime.record(event, stream);
        // In a capture it is a place in the graph and has no time.
        if let Some(event) = runtime.streams.events.get_mut(&event).filter(|_| origin.is_some()) {
            (event.recorded, event.captured) = (None, captured);
        }
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

    /// Waits for an event; everything recorded has happened.
    fn hipEventSynchronize(event: usize) {
        let mut runtime = lock();
        let recorded = runtime.streams.events.get(&event).ok_or(Code::hipErrorInvalidHandle)?.recorded;
        if let Some(moment) = recorded {
            runtime.timeline.wait_for_moment(&moment);
        }
        Ok(())
    }

    /// Whether a GPU would have reached an event.
    fn hipEventQuery(event: usize) {
        let runtime = lock();
        let recorded = runtime.streams.events.get(&event).ok_or(Code::hipErrorInvalidHandle)?.recorded;
        let is_ahead = recorded.is_some_and(|moment| runtime.timeline.is_ahead(&moment));
        if is_ahead { Err(Code::hipErrorNotReady) } else { Ok(()) }
    }

    /// Milliseconds between two events.
    fn hipEventElapsedTime(milliseconds: Out<f32>, start: usize, stop: usize) {
        if milliseconds.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        let runtime = lock();
        let device = |handle: usize| runtime.streams.events.get(&handle).map(|it| it.device);
        if device(start) != device(stop) {
            return Err(Code::hipErrorInvalidHandle);
        }
        let event = |handle: usize| {
            let event = runtime.streams.events.get(&handle).ok_or(Code::hipErrorInvalidHandle)?;
            event.recorded.filter(|_| event.timing).ok_or(Code::hipErrorInvalidHandle)
        };
        let (from, to) = (event(start)?, event(stop)?);
        if [&from, &to].iter().any(|moment| runtime.timeline.is_ahead(moment)) {
            return Err(Code::hipErrorNotReady);
        }
        let value = match from.until(&to) {
            Span::Modelled(time) => {
                let host = runtime.device.model.host_gb_per_s.value();
                let host = host.map_or("have no time".to_string(), |it| format!("take theirs at {it} GB/s"));
                say_once(&format!(
                    "times between events are modelled: kernels take what the model says, launches and events what was measured of the \
                     GPU's kind; copies to and from the host {host}, others and fills that of the GPU's memory"
                ));
                rely_on_times("times between events are modelled");
                time
            }
            Span::Emulated(time, 0) => {
                rely_on_times("times between events are the times of the emulation");
                say_once(
                    "times between events are how long the emulation took, not what a GPU would take\n\
                     hint: `rockhound profile` models them, without `--counters-only` and `--check`",
                );
                time
            }
            Span::Emulated(time, _) => {
                rely_on_times("some times between events are the times of the emulation");
                say_once(
                    "some times between events are how long the emulation took: not all work between them has a modelled time \
                     (launches that are not recorded, samples of too few workgroups, copies over a link whose bandwidth is not known)",
                );
                time
            }
        };
        milliseconds.put(value as f32)
    }
}
