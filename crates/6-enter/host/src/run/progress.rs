//! A look at a running kernel from time to time.

use super::report::Reporter;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Between two looks at a kernel's progress.
const STEP: Duration = Duration::from_millis(200);

/// Runs a kernel, and reports its progress. `waves` is the total.
pub(super) fn watch<T>(
    reporter: &dyn Reporter,
    kernel: &str,
    waves: u64,
    progress: &emu::Progress,
    run: impl FnOnce() -> T,
) -> T {
    let (done, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let start = Instant::now();
            while let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(STEP) {
                let time = start.elapsed();
                reporter.running(kernel, time, &|| progress.text(waves, time.as_secs_f64()));
            }
            reporter.stopped();
        });
        let result = run();
        drop(done);
        result
    })
}
