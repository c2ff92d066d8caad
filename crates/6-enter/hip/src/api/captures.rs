//! Captures: the calls on a stream become nodes of a graph.

use super::{In, Out, entries};
use crate::codes::Code;
use crate::runtime::lock;
use crate::stream::{Capture, PER_THREAD};
use std::cell::RefCell;

/// States of capture, as programs read them.
const NOT_CAPTURING: i32 = 0;
const CAPTURING: i32 = 1;

/// The default stream, which cannot be captured, by its two names.
const LEGACY: [usize; 2] = [0, 1];

/// Modes of capture: global, of the thread, relaxed.
const MODES: u32 = 3;

/// Ways to change the dependencies of a capture.
const ADD: u32 = 0;
const REPLACE: u32 = 1;

thread_local! {
    /// Dependencies that the thread was shown last.
    static SHOWN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Begins a capture into a new graph, or into one of the program behind some of its nodes.
fn begin(stream: usize, mode: u32, given: Option<(usize, Vec<usize>)>) -> Result<(), Code> {
    let mut runtime = lock();
    if LEGACY.contains(&stream) {
        return Err(Code::hipErrorStreamCaptureUnsupported);
    }
    if !runtime.streams.is_stream(stream) {
        return Err(Code::hipErrorContextIsDestroyed);
    }
    if mode >= MODES {
        return Err(Code::hipErrorInvalidValue);
    }
    if stream == PER_THREAD {
        // It is there from the beginning, and has a state from its first capture on.
        runtime.streams.streams.entry(stream).or_default();
    }
    if runtime.streams.origin(stream).is_some() {
        return Err(Code::hipErrorIllegalState);
    }
    let is_given = given.is_some();
    let (graph, tail) = given.unwrap_or_else(|| (runtime.graphs.create(), Vec::new()));
    let loose = runtime.graphs.graph(graph)?.nodes.iter().copied().collect();
    let stream = runtime.streams.streams.get_mut(&stream).ok_or(Code::hipErrorContextIsDestroyed)?;
    stream.capture = Some(Capture { graph, loose, is_given });
    (stream.joins, stream.tail) = (None, tail);
    Ok(())
}

/// Ends a capture. Nodes at the ends of other streams must have been joined.
fn end(stream: usize) -> Result<usize, Code> {
    if LEGACY.contains(&stream) {
        return Err(Code::hipErrorIllegalState);
    }
    let mut runtime = lock();
    if !runtime.streams.is_stream(stream) {
        return Err(Code::hipErrorContextIsDestroyed);
    }
    let (capture, tail) = runtime.streams.end_capture(stream)?;
    let edges = runtime.graphs.edges(capture.graph)?;
    let is_last = |node: &usize| edges.iter().all(|it| it.0 != *node);
    let nodes = &runtime.graphs.graph(capture.graph)?.nodes;
    let unjoined = nodes.iter().any(|it| is_last(it) && !tail.contains(it) && !capture.loose.contains(it));
    if unjoined {
        if !capture.is_given {
            runtime.graphs.destroy(capture.graph)?;
        }
        return Err(Code::hipErrorStreamCaptureUnjoined);
    }
    Ok(capture.graph)
}

/// Whether a stream is captured. While another is, the legacy stream must not be asked.
fn status(stream: usize) -> Result<i32, Code> {
    let runtime = lock();
    if LEGACY.contains(&stream) {
        let is_blocked = runtime.streams.any_captures();
        return if is_blocked { Err(Code::hipErrorStreamCaptureImplicit) } else { Ok(NOT_CAPTURING) };
    }
    if !runtime.streams.is_stream(stream) {
        return Err(Code::hipErrorContextIsDestroyed);
    }
    Ok(if runtime.streams.origin(stream).is_some() { CAPTURING } else { NOT_CAPTURING })
}

/// Nodes that the program names.
fn named(nodes: In<usize>, count: usize) -> Result<Vec<usize>, Code> {
    (0..count).map(|index| nodes.at(index).get()).collect()
}

entries! {
    /// Begins to capture the calls on a stream.
    fn hipStreamBeginCapture = hipStreamBeginCapture_spt(stream: usize, mode: u32) {
        begin(stream, mode, None)
    }

    /// The same into a graph that is there, behind some of its nodes.
    fn hipStreamBeginCaptureToGraph(
        stream: usize, graph: usize, before: In<usize>, data: *const u8, count: usize, mode: u32,
    ) {
        if !data.is_null() {
            return Err(Code::hipErrorNotSupported);
        }
        if before.is_null() != (count == 0) {
            return Err(Code::hipErrorInvalidValue);
        }
        let nodes = named(before, count)?;
        let is_inside = |node: &usize| lock().graphs.node(*node).is_ok_and(|it| it.graph == graph);
        if !nodes.iter().all(is_inside) {
            return Err(Code::hipErrorInvalidValue);
        }
        lock().graphs.graph(graph)?;
        begin(stream, mode, Some((graph, nodes)))
    }

    /// Ends the capture and gives the graph.
    fn hipStreamEndCapture = hipStreamEndCapture_spt(stream: usize, graph: Out<usize>) {
        if graph.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        graph.put(0)?;
        let made = end(stream)?;
        graph.put(made)
    }

    /// Whether a stream is captured.
    fn hipStreamIsCapturing = hipStreamIsCapturing_spt(stream: usize, place: Out<i32>) {
        if place.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        let found = status(stream)?;
        place.put(found)
    }

    /// The same with a number for the capture.
    fn hipStreamGetCaptureInfo = hipStreamGetCaptureInfo_spt(stream: usize, place: Out<i32>, number: Out<u64>) {
        let found = status(stream)?;
        let origin = lock().streams.origin(stream);
        place.put(found)?;
        match origin.filter(|_| !number.is_null()) {
            Some(origin) => number.put(origin as u64),
            None => Ok(()),
        }
    }

    /// The same with the graph, and the nodes that the next one depends on.
    fn hipStreamGetCaptureInfo_v2 = hipStreamGetCaptureInfo_v2_spt(
        stream: usize, place: Out<i32>, number: Out<u64>, graph: Out<usize>, nodes: Out<*const usize>, count: Out<usize>,
    ) {
        let found = status(stream)?;
        let (origin, captured) = {
            let runtime = lock();
            (runtime.streams.origin(stream), runtime.streams.captured(stream))
        };
        place.put(found)?;
        let (Some(origin), Some((own, tail))) = (origin, captured) else { return Ok(()) };
        let (shown, length) = SHOWN.with_borrow_mut(|shown| {
            *shown = tail;
            (shown.as_ptr(), shown.len())
        });
        // Places that are null are not wanted.
        number.offer(origin as u64);
        graph.offer(own);
        nodes.offer(shown);
        count.offer(length);
        Ok(())
    }

    /// Adds to the nodes that the next one depends on, or replaces them.
    fn hipStreamUpdateCaptureDependencies(stream: usize, nodes: In<usize>, count: usize, way: u32) {
        if !lock().streams.is_stream(stream) {
            return Err(Code::hipErrorContextIsDestroyed);
        }
        let (graph, tail) = lock().streams.captured(stream).ok_or(Code::hipErrorIllegalState)?;
        let nodes = named(nodes, count)?;
        let mut runtime = lock();
        let known = &runtime.graphs.graph(graph)?.nodes;
        if !matches!(way, ADD | REPLACE) || nodes.iter().any(|it| !known.contains(it)) {
            return Err(Code::hipErrorInvalidValue);
        }
        let origin = runtime.streams.origin(stream).ok_or(Code::hipErrorIllegalState)?;
        let streams = &mut runtime.streams.streams;
        let own = streams.get_mut(&stream).ok_or(Code::hipErrorIllegalState)?;
        if way == REPLACE {
            own.tail.clear();
        }
        own.tail.extend(nodes);
        own.tail.sort_unstable();
        own.tail.dedup();
        let removed: Vec<usize> = tail.into_iter().filter(|it| !own.tail.contains(it)).collect();
        if let Some(capture) = streams.get_mut(&origin).and_then(|it| it.capture.as_mut()) {
            capture.loose.extend(removed);
        }
        Ok(())
    }

    /// Capture works the same in every mode.
    fn hipThreadExchangeStreamCaptureMode(mode: Out<u32>) {
        if mode.get()? >= MODES { Err(Code::hipErrorInvalidValue) } else { Ok(()) }
    }
}
