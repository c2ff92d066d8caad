//! Work in a thread beside Python's, so that Ctrl-C and progress reach Python while the work goes on.

use crate::error::raise;
use anyhow::Result;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// Longest time until Ctrl-C is seen.
const PAUSE: Duration = Duration::from_millis(50);

/// Stack of the thread, bytes: the usual stack of a program's first thread.
const STACK: usize = 8 << 20;

/// Messages from the work to Python.
pub(crate) struct Telling {
    lines: Sender<String>,
    stop: Arc<AtomicBool>,
}

impl Telling {
    /// Says how far the work is.
    pub(crate) fn say(&self, line: String) {
        // Nobody listens any more after Ctrl-C.
        let _ = self.lines.send(line);
    }

    /// True if nobody waits for the result.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The result of some work. Python's lock is free meanwhile; `progress` is called with each line that the work says.
///
/// # Errors
/// Fails as the work, at Ctrl-C, and as `progress`; the work then learns that it can stop, and nobody waits for it.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Telling) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (lines, mut said) = mpsc::channel();
    let telling = Telling { lines, stop: stop.clone() };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || work(&telling))?;
    loop {
        let (back, line) = py.detach(move || {
            let line = said.recv_timeout(PAUSE);
            (said, line)
        });
        said = back;
        let told = match (line, progress) {
            (Ok(line), Some(progress)) => progress.call1((line,)).map(|_| ()),
            (Ok(_), None) | (Err(RecvTimeoutError::Timeout), _) => Ok(()),
            (Err(RecvTimeoutError::Disconnected), _) => break,
        };
        if let Err(interrupt) = told.and_then(|()| py.check_signals()) {
            stop.store(true, Ordering::Relaxed);
            return Err(interrupt);
        }
    }
    match py.detach(move || thread.join()) {
        Ok(result) => result.map_err(|error| raise(py, &error)),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
