//! Streams and events.
//!
//! Work is done at the call, so a stream holds nothing except its capture, and an event only the moment it
//! was recorded.

use crate::codes::Code;
use crate::graph::Action;
use crate::timeline::Moment;
use std::collections::BTreeMap;

/// A stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    /// Work since the capture began.
    pub(crate) capture: Option<Vec<Action>>,
    /// The captured stream that this one waits for, whose graph gets its work.
    pub(crate) joins: Option<usize>,
}

/// An event.
#[derive(Debug, Default)]
pub(crate) struct Event {
    pub(crate) recorded: Option<Moment>,
    /// The captured stream that it was recorded in.
    pub(crate) captured: Option<usize>,
    pub(crate) timing: bool,
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

    /// Actions of a stream during its capture.
    pub(crate) fn capture(&mut self, handle: usize) -> Option<&mut Vec<Action>> {
        let origin = self.origin(handle)?;
        self.streams.get_mut(&origin)?.capture.as_mut()
    }

    /// Ends the capture that began in a stream; returns the captured actions.
    pub(crate) fn end_capture(&mut self, handle: usize) -> Option<Vec<Action>> {
        let captured = self.streams.get_mut(&handle)?.capture.take()?;
        for stream in self.streams.values_mut().filter(|it| it.joins == Some(handle)) {
            stream.joins = None;
        }
        for event in self.events.values_mut().filter(|it| it.captured == Some(handle)) {
            event.captured = None;
        }
        Some(captured)
    }

    /// A stream waits for an event: it joins the capture that the event was recorded in.
    pub(crate) fn wait(&mut self, handle: usize, event: usize) {
        let Some(origin) = self.events.get(&event).and_then(|it| it.captured) else { return };
        if let Some(stream) = self.streams.get_mut(&handle).filter(|it| it.capture.is_none()) {
            stream.joins = Some(origin);
        }
    }
}
