//! A line on the terminal that says how far the kernel is; in a log, a line now and then.
//!
//! A separate thread draws, and only while a kernel runs for longer than a second; whoever writes to the
//! terminal removes the line first.

use crate::virtual_time;
use emu::Progress;
use host::session::Progress as Shown;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

/// Longest silence of a kernel.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest silence without a terminal. Each line after the first appears when the kernel has run twice as
/// long.
const PATIENCE_OF_LOGS: Duration = Duration::from_secs(60);
/// Between two lines.
const STEP: Duration = Duration::from_millis(200);
/// Columns of a terminal that does not say.
const COLUMNS: usize = 80;

/// The kernel that runs.
struct Current {
    kernel: String,
    dispatch: u64,
    waves: u64,
    start: Instant,
    progress: Arc<Progress>,
    /// Time of the next line of a log.
    due: Duration,
}

#[derive(Default)]
struct State {
    current: Option<Current>,
    drawn: bool,
}

static STATE: Mutex<State> = Mutex::new(State { current: None, drawn: false });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counter of a kernel's progress, if it is shown.
pub(crate) fn begin(how: Shown, kernel: &str, dispatch: u64, waves: u64) -> Option<Arc<Progress>> {
    static THREAD: Once = Once::new();
    let work = match how {
        Shown::Silent => return None,
        Shown::Line => draw,
        Shown::Log => note,
    };
    THREAD.call_once(|| {
        // A process that cannot have another thread does without the line.
        let _ = std::thread::Builder::new().name("rockhound-progress".into()).spawn(work);
    });
    let progress = Arc::new(Progress::default());
    let current = Current {
        kernel: kernel.to_owned(),
        dispatch,
        waves,
        start: Instant::now(),
        progress: progress.clone(),
        due: PATIENCE_OF_LOGS,
    };
    state().current = Some(current);
    Some(progress)
}

/// The kernel has ended; one that was seen running leaves a line.
pub(crate) fn end() {
    let mut state = state();
    let was_drawn = state.drawn;
    state.clear();
    if let Some(current) = state.current.take()
        && was_drawn
    {
        let _ = writeln!(std::io::stderr(), "{}", current.line(columns()));
    }
}

/// Clears the line, so that others can write.
pub(crate) fn clear() {
    state().clear();
}

impl State {
    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let _ = std::io::stderr().write_all(b"\r\x1b[2K");
        }
    }
}

fn draw() {
    virtual_time::own_thread();
    loop {
        std::thread::sleep(STEP);
        let mut state = state();
        let Some(current) = &state.current else { continue };
        if current.start.elapsed() >= PATIENCE {
            let line = current.line(columns());
            let _ = write!(std::io::stderr(), "\r\x1b[2K{line}");
            state.drawn = true;
        }
    }
}

/// Adds lines to a log.
fn note() {
    virtual_time::own_thread();
    loop {
        std::thread::sleep(STEP);
        let mut state = state();
        let Some(current) = &mut state.current else { continue };
        if current.is_due(current.start.elapsed()) {
            let _ = writeln!(std::io::stderr(), "rockhound: still running: {}", current.line(usize::MAX));
        }
    }
}

impl Current {
    /// Whether a line of a log is due after a time.
    fn is_due(&mut self, elapsed: Duration) -> bool {
        let due = elapsed >= self.due;
        if due {
            self.due *= 2;
        }
        due
    }

    fn line(&self, columns: usize) -> String {
        fitting(
            &self.kernel,
            self.dispatch,
            &self.progress.text(self.waves, self.start.elapsed().as_secs_f64()),
            columns,
        )
    }
}

/// The line, one column shorter than the terminal; the kernel's name is shortened to fit.
fn fitting(kernel: &str, dispatch: u64, text: &str, columns: usize) -> String {
    let rest = format!(": dispatch {dispatch}, {text}");
    let room = columns.saturating_sub(rest.chars().count() + 1);
    let mut name = kernel.to_owned();
    if name.chars().count() > room {
        name = name.chars().take(room.saturating_sub(1)).chain(['…']).collect();
    }
    let line: String = name.chars().chain(rest.chars()).collect();
    line.chars().take(columns.saturating_sub(1)).collect()
}

/// Columns of the terminal on standard error.
fn columns() -> usize {
    // SAFETY: all zero is a value of this type, and the call writes no more than it.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        if libc::ioctl(2, libc::TIOCGWINSZ, &mut size) == 0 { usize::from(size.ws_col) } else { 0 }
    };
    if size == 0 { COLUMNS } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_logs_become_rare() {
        let (kernel, progress) = ("f".to_string(), Arc::default());
        let start = Instant::now();
        let mut current = Current { kernel, dispatch: 0, waves: 1, start, progress, due: PATIENCE_OF_LOGS };
        let due: Vec<u64> = (0..1000).filter(|it| current.is_due(Duration::from_secs(*it))).collect();
        assert_eq!(due, [60, 120, 240, 480, 960]);
    }

    #[test]
    fn lines_fit_the_terminal() {
        let kernel = "void gemm<float, 128, 64>(float const*, float const*, float*, int, int, int)";
        for (columns, expected) in [
            (160, format!("{kernel}: dispatch 3, 12 of 64 waves")),
            (60, "void gemm<float, 128, 64>(floa…: dispatch 3, 12 of 64 waves".to_string()),
            (20, "…: dispatch 3, 12 o".to_string()),
            (0, String::new()),
        ] {
            let line = fitting(kernel, 3, "12 of 64 waves", columns);
            assert!(line.chars().count() < columns.max(1), "{line}");
            assert_eq!(line, expected);
        }
    }
}
