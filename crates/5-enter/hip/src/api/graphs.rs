//! Graphs: captured from streams, replayed in the order of capture.
//!
//! The one idea to keep in mind: the order of capture satisfies every dependency, so a graph is a list.

use super::{entries, put};
use crate::codes::Code;
use crate::launch::{now, perform};
use crate::runtime::lock;
use std::ffi::c_void;
use std::sync::Arc;

/// States of capture, as programs read them.
const NOT_CAPTURING: i32 = 0;
const CAPTURING: i32 = 1;

entries! {
    /// Begins to capture what is asked of a stream.
    fn hipStreamBeginCapture = hipStreamBeginCapture_spt(stream: usize, _mode: u32) {
        let mut runtime = lock();
        let stream = runtime.streams.streams.get_mut(&stream).ok_or(Code::hipErrorStreamCaptureImplicit)?;
        if stream.capture.is_some() {
            return Err(Code::hipErrorIllegalState);
        }
        stream.capture = Some(Vec::new());
        Ok(())
    }

    /// Ends the capture and gives the graph.
    fn hipStreamEndCapture = hipStreamEndCapture_spt(stream: usize, graph: *mut usize) {
        let mut runtime = lock();
        let captured = runtime.streams.streams.get_mut(&stream).and_then(|it| it.capture.take());
        let captured = captured.ok_or(Code::hipErrorStreamCaptureUnmatched)?;
        let handle = runtime.streams.handle();
        runtime.streams.graphs.insert(handle, Arc::new(captured));
        // SAFETY: as the headers say; this holds for all entries here.
        unsafe { put(graph, handle) }
    }

    /// Whether a stream is captured.
    fn hipStreamIsCapturing = hipStreamIsCapturing_spt(stream: usize, status: *mut i32) {
        let capturing = lock().streams.capture(stream).is_some();
        // SAFETY: as above.
        unsafe { put(status, if capturing { CAPTURING } else { NOT_CAPTURING }) }
    }

    /// The same with a number for the capture.
    fn hipStreamGetCaptureInfo = hipStreamGetCaptureInfo_spt(stream: usize, status: *mut i32, number: *mut u64) {
        let capturing = lock().streams.capture(stream).is_some();
        // SAFETY: as above.
        unsafe {
            if !number.is_null() { put(number, stream as u64)? }
            put(status, if capturing { CAPTURING } else { NOT_CAPTURING })
        }
    }

    /// Capture works the same in every mode.
    fn hipThreadExchangeStreamCaptureMode(_mode: *mut u32) {
        Ok(())
    }

    /// An empty graph.
    fn hipGraphCreate(graph: *mut usize, _flags: u32) {
        let mut runtime = lock();
        let handle = runtime.streams.handle();
        runtime.streams.graphs.insert(handle, Arc::default());
        // SAFETY: as above.
        unsafe { put(graph, handle) }
    }

    /// Ends a graph.
    fn hipGraphDestroy(graph: usize) {
        lock().streams.graphs.remove(&graph).map(|_| ()).ok_or(Code::hipErrorInvalidValue)
    }

    /// Makes a graph ready to run.
    fn hipGraphInstantiate(executable: *mut usize, graph: usize, _error: *mut usize, _log: *mut c_void, _size: usize) {
        instantiate(executable, graph)
    }

    /// The same with flags that change nothing.
    fn hipGraphInstantiateWithFlags(executable: *mut usize, graph: usize, _flags: u64) {
        instantiate(executable, graph)
    }

    /// Ends a graph that is ready to run.
    fn hipGraphExecDestroy(executable: usize) {
        lock().streams.executables.remove(&executable).map(|_| ()).ok_or(Code::hipErrorInvalidValue)
    }

    /// Nothing has to be brought anywhere.
    fn hipGraphUpload(executable: usize, _stream: usize) {
        if lock().streams.executables.contains_key(&executable) { Ok(()) } else { Err(Code::hipErrorInvalidValue) }
    }

    /// Runs a graph in a stream, which may itself be captured.
    fn hipGraphLaunch = hipGraphLaunch_spt(executable: usize, stream: usize) {
        let works = lock().streams.executables.get(&executable).cloned().ok_or(Code::hipErrorInvalidValue)?;
        let capturing = lock().streams.capture(stream).is_some();
        for work in works.iter() {
            if capturing { perform(stream, work.clone())? } else { now(work)? }
        }
        Ok(())
    }
}

fn instantiate(executable: *mut usize, graph: usize) -> Result<(), Code> {
    let mut runtime = lock();
    let works = runtime.streams.graphs.get(&graph).cloned().ok_or(Code::hipErrorInvalidValue)?;
    let handle = runtime.streams.handle();
    runtime.streams.executables.insert(handle, works);
    // SAFETY: as the headers say.
    unsafe { put(executable, handle) }
}
