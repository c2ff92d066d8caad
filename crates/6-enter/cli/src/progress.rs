//! A line on standard error that says how far the work is.
//!
//! It appears only on terminals and only when the work takes longer than a second; whoever writes to standard
//! error meanwhile goes through `Progress::say`.

use crate::args::Look;
use crate::{output, terminal};
use anyhow::Result;
use host::Watch;
use host::run::{self, Reporter};
use host::session;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use render::text;
use std::io::{IsTerminal, Write as _};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use view::Finding;

/// Longest silence of work.
const PATIENCE: Duration = Duration::from_secs(1);

/// Longest silence of a kernel without a terminal. Each line after the first appears when the kernel has run
/// twice as long.
const PATIENCE_OF_LOGS: Duration = Duration::from_secs(60);

/// Shortest name of a kernel in a line on standard error.
const MIN_NAME: usize = 16;

/// How programs show the progress of long kernels.
pub(crate) fn of_programs() -> session::Progress {
    if terminal::shows_progress() { session::Progress::Line } else { session::Progress::Log }
}

/// Reports a run on standard error.
pub(crate) struct Running<'a> {
    look: &'a Look,
    /// The line of the running kernel, and when the next line of a log is due.
    shown: Mutex<(Option<ProgressBar>, Duration)>,
}

impl<'a> Running<'a> {
    pub(crate) fn new(look: &'a Look) -> Self {
        Running { look, shown: Mutex::new((None, PATIENCE_OF_LOGS)) }
    }
}

impl Reporter for Running<'_> {
    fn say(&self, line: &str) {
        eprintln!("{line}");
    }

    fn print(&self, output: run::Output, text: &[u8]) {
        // A closed output does not stop the run.
        let _ = match output {
            run::Output::Standard => std::io::stdout().write_all(text),
            run::Output::Error => std::io::stderr().write_all(text),
        };
    }

    fn running(&self, kernel: &str, time: Duration, state: &dyn Fn() -> String) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let (bar, due) = &mut *shown;
        if !terminal::shows_progress() {
            if time >= *due {
                eprintln!("still running: {kernel}: {}", state());
                *due *= 2;
            }
            return;
        }
        if time < PATIENCE {
            return;
        }
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_message(format!("{kernel}: {}", state()));
        bar.tick();
    }

    fn stopped(&self) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = shown.0.take() {
            bar.finish_and_clear();
        }
        shown.1 = PATIENCE_OF_LOGS;
    }

    fn ran(&self, kernel: &str, numbers: &str) {
        let room = terminal::message_columns().saturating_sub(numbers.len() + 2).max(MIN_NAME);
        eprintln!("{}: {numbers}", text::shorten(kernel, room));
    }

    fn interrupts(&self) -> Result<Arc<AtomicBool>> {
        let stop = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGINT, stop.clone())?;
        Ok(stop)
    }

    fn findings(&self, kernel: &str, findings: &[Finding], well: bool) -> Result<()> {
        match findings {
            [] if well => output::print(&format!("{kernel}\n  nothing found\n")),
            [] => Ok(()),
            _ => output::print(&text::findings(kernel, findings, &terminal::style(self.look, false))),
        }
    }
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

    /// The line, which is there from the first call on.
    fn bar(&mut self) -> &ProgressBar {
        self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
            if let Ok(style) = ProgressStyle::with_template("{wide_msg} {elapsed}") {
                bar.set_style(style);
            }
            bar
        })
    }
}

/// Last part of a path.
fn short(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

impl Watch for Progress {
    fn kernels(&mut self, more: u64) {
        self.kernels += more;
    }

    fn compiles(&mut self, file: &str) {
        if self.terminal {
            let bar = self.bar();
            bar.set_message(format!("{}: compiling", short(file)));
            // Nothing else moves the time until the compiler has ended.
            bar.enable_steady_tick(Duration::from_millis(500));
        }
    }

    fn at(&mut self, file: &str, done: u64, total: u64) {
        if !self.terminal || self.start.elapsed() < PATIENCE {
            return;
        }
        let kernels = self.kernels;
        let (done, total) = (HumanBytes(done), HumanBytes(total));
        self.bar().set_message(format!("{}: {done} of {total}, kernels: {kernels}", short(file)));
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
