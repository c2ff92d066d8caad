//! Streams, events and captured graphs.
//!
//! The one idea to keep in mind: work is done when it is asked for, so a stream holds nothing except what is being
//! captured, and an event only the time it was recorded.

use crate::launch::Work;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// A stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    /// Work since the capture began.
    pub(crate) capture: Option<Vec<Work>>,
}

/// An event.
#[derive(Debug, Default)]
pub(crate) struct Event {
    pub(crate) recorded: Option<Instant>,
    pub(crate) timing: bool,
}

/// Everything that has a handle. Handles are small numbers in steps of 16, never 0, never used twice.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    pub(crate) streams: BTreeMap<usize, Stream>,
    pub(crate) events: BTreeMap<usize, Event>,
    pub(crate) graphs: BTreeMap<usize, Arc<Vec<Work>>>,
    pub(crate) executables: BTreeMap<usize, Arc<Vec<Work>>>,
    last: usize,
}

/// Streams every program has: the default one, the legacy one, that of the thread.
const ALWAYS: [usize; 3] = [0, 1, 2];

impl Streams {
    /// A handle that nobody has.
    pub(crate) fn handle(&mut self) -> usize {
        self.last += 16;
        self.last
    }

    /// Whether a handle is a stream.
    pub(crate) fn is_stream(&self, handle: usize) -> bool {
        ALWAYS.contains(&handle) || self.streams.contains_key(&handle)
    }

    /// Where work of a stream goes while it is captured.
    pub(crate) fn capture(&mut self, handle: usize) -> Option<&mut Vec<Work>> {
        self.streams.get_mut(&handle)?.capture.as_mut()
    }
}
