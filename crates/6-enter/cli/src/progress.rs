//! A line on standard error that says how far the work is.
//!
//! It appears only on terminals and only when the work takes longer than a second; whoever writes to standard
//! error meanwhile goes through `Progress::say`.

use crate::terminal;
use host::Watch;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Longest silence of work.
const PATIENCE: Duration = Duration::from_secs(1);

/// Longest silence of a kernel without a terminal. Each line after the first appears when the kernel has run
/// twice as long.
const PATIENCE_OF_LOGS: Duration = Duration::from_secs(60);

/// Between two looks at a kernel's progress.
const STEP: Duration = Duration::from_millis(200);

/// Runs a kernel, and shows its progress when it takes long. `waves` is the total.
pub(crate) fn watch<T>(kernel: &str, waves: u64, progress: &emu::Progress, run: impl FnOnce() -> T) -> T {
    let (done, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let start = Instant::now();
            if !terminal::shows_progress() {
                let mut due = PATIENCE_OF_LOGS;
                while let Err(mpsc::RecvTimeoutError::Timeout) =
                    ended.recv_timeout(due - start.elapsed().min(due))
                {
                    eprintln!(
                        "still running: {kernel}: {}",
                        progress.text(waves, start.elapsed().as_secs_f64())
                    );
                    due *= 2;
                }
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                bar.set_style(style);
            }
            while let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(STEP) {
                if start.elapsed() >= PATIENCE {
                    bar.set_message(format!(
                        "{kernel}: {}",
                        progress.text(waves, start.elapsed().as_secs_f64())
                    ));
                    bar.tick();
                }
            }
            bar.finish_and_clear();
        });
        let result = run();
        drop(done);
        result
    })
}

/// Progress of the work.
pub(crate) struct Progress {
    start: Instant,
    bar: Option<ProgressBar>,
    terminal: bool,
    kernels: u64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Progress { start: Instant::now(), bar: None, terminal: std::io::stderr().is_terminal(), kernels: 0 }
    }
}

impl Watch for Progress {
    fn kernels(&mut self, more: u64) {
        self.kernels += more;
    }

    fn at(&mut self, file: &str, done: u64, total: u64) {
        if !self.terminal || self.start.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
            if let Ok(style) = ProgressStyle::with_template("{wide_msg} {elapsed}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_length(total);
        bar.set_position(done);
        let name = file.rsplit('/').next().unwrap_or(file);
        bar.set_message(format!(
            "{name}: {} of {}, kernels: {}",
            HumanBytes(done),
            HumanBytes(total),
            self.kernels
        ));
    }

    /// Writes a line to standard error, above the progress line.
    fn say(&mut self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{line}")),
            None => eprintln!("{line}"),
        }
    }

    /// Takes the line away.
    fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
