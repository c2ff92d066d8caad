//! Streams and events.
//!
//! Work is done at the call, so a stream holds nothing except its capture, and an event only the moment it
//! was recorded.

use crate::codes::Code;
use crate::timeline::Moment;
use std::collections::{BTreeMap, BTreeSet};

/// The value of an attribute of a stream or of a node, as programs lay it out: no larger than a window of accesses.
pub(crate) type AttributeValue = [u64; 4];

/// A capture.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    pub(crate) graph: usize,
    /// Nodes that nothing has to wait for at the end: those that were there, and those taken from the dependencies.
    pub(crate) loose: BTreeSet<usize>,
    /// The graph was the program's before.
    pub(crate) is_given: bool,
}

/// A stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    /// GPU of the thread that made it.
    pub(crate) device: i32,
    /// Compute units that it may use, as the program said.
    pub(crate) mask: Vec<u32>,
    pub(crate) attributes: BTreeMap<u32, AttributeValue>,
    /// The capture that began here.
    pub(crate) capture: Option<Capture>,
    /// The captured stream that this one waits for, whose graph gets its work.
    pub(crate) joins: Option<usize>,
    /// Captured nodes that the next one depends on.
    pub(crate) tail: Vec<usize>,
}

/// An event.
#[derive(Debug, Default)]
pub(crate) struct Event {
    pub(crate) recorded: Option<Moment>,
    /// The captured stream that it was recorded in, and the nodes before it.
    pub(crate) captured: Option<(usize, Vec<usize>)>,
    pub(crate) timing: bool,
    /// GPU of the thread that made it.
    pub(crate) device: i32,
    /// Other processes may wait for it.
    pub(crate) interprocess: bool,
}

/// Everything that has a handle. Handles are small numbers in steps of 16, never 0, never used twice.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    pub(crate) streams: BTreeMap<usize, Stream>,
    pub(crate) events: BTreeMap<usize, Event>,
    last: usize,
}

/// The stream of each thread.
pub(crate) const PER_THREAD: usize = 2;
/// Streams every program has: the default one, the legacy one, the per-thread one.
const ALWAYS: [usize; 3] = [0, 1, PER_THREAD];

impl Streams {
    /// An unused handle.
    pub(crate) fn handle(&mut self) -> usize {
        self.last += 16;
        self.last
    }

    /// Why a handle that a program ends is none: one that was given out has ended already.
    pub(crate) fn refusal(&self, handle: usize) -> Code {
        let was_given = handle != 0 && handle <= self.last && handle.is_multiple_of(16);
        if was_given { Code::hipErrorContextIsDestroyed } else { Code::hipErrorInvalidHandle }
    }

    /// Whether a handle is a stream.
    pub(crate) fn is_stream(&self, handle: usize) -> bool {
        ALWAYS.contains(&handle) || self.streams.contains_key(&handle)
    }

    /// The captured stream whose graph gets the work of a stream.
    pub(crate) fn origin(&self, handle: usize) -> Option<usize> {
        let stream = self.streams.get(&handle)?;
        if stream.capture.is_some() {
            return Some(handle);
        }
        stream.joins.filter(|it| self.streams.get(it).is_some_and(|it| it.capture.is_some()))
    }

    /// Graph of the capture that a stream takes part in, and the nodes that its next one depends on.
    pub(crate) fn captured(&self, handle: usize) -> Option<(usize, Vec<usize>)> {
        let origin = self.origin(handle)?;
        let graph = self.streams.get(&origin)?.capture.as_ref()?.graph;
        Some((graph, self.streams.get(&handle)?.tail.clone()))
    }

    /// A stream that captures keeps the legacy stream from being used.
    pub(crate) fn any_captures(&self) -> bool {
        self.streams.values().any(|it| it.capture.is_some())
    }

    /// Ends the capture that began in a stream; returns it with the nodes at its end.
    pub(crate) fn end_capture(&mut self, handle: usize) -> Result<(Capture, Vec<usize>), Code> {
        let stream = self.streams.get_mut(&handle).ok_or(Code::hipErrorIllegalState)?;
        let Some(capture) = stream.capture.take() else {
            let joins = stream.joins.is_some();
            return Err(if joins {
                Code::hipErrorStreamCaptureUnmatched
            } else {
                Code::hipErrorIllegalState
            });
        };
        let tail = std::mem::take(&mut stream.tail);
        for stream in self.streams.values_mut().filter(|it| it.joins == Some(handle)) {
            (stream.joins, stream.tail) = (None, Vec::new());
        }
        for event in self.events.values_mut() {
            event.captured.take_if(|it| it.0 == handle);
        }
        Ok((capture, tail))
    }

    /// A stream waits for an event: it joins the capture that the event was recorded in.
    pub(crate) fn wait(&mut self, handle: usize, event: usize) {
        let Some((origin, nodes)) = self.events.get(&event).and_then(|it| it.captured.clone()) else {
            return;
        };
        let Some(stream) = self.streams.get_mut(&handle) else { return };
        if handle != origin && stream.joins != Some(origin) {
            if stream.capture.is_some() {
                return;
            }
            (stream.joins, stream.tail) = (Some(origin), Vec::new());
        }
        stream.tail.extend(nodes);
        stream.tail.sort_unstable();
        stream.tail.dedup();
    }
}
