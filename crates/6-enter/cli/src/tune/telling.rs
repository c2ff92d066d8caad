//! How far a search is, on standard error: a line on terminals, elsewhere a line whenever the best improves.

use crate::terminal;
use anyhow::Result;
use host::tune::{Attempt, Watching};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use view::duration;

/// Tells of each result.
pub(super) struct Telling {
    what: &'static str,
    start: Instant,
    budget: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: u64,
    earlier: u64,
    failed: u64,
    best_us: Option<f64>,
    bar: Option<ProgressBar>,
}

impl Telling {
    pub(super) fn new(what: &'static str, budget: u64) -> Telling {
        Telling { what, start: Instant::now(), budget, state: Mutex::default() }
    }

    /// Takes the line away.
    pub(super) fn finish(&self) {
        if let Some(bar) = self.state.lock().unwrap_or_else(PoisonError::into_inner).bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl State {
    fn line(&self, (what, budget): (&str, u64), start: Instant) -> String {
        let best = self
            .best_us
            .map_or_else(|| "none has a time".to_owned(), |us| format!("best {}", duration(us * 1e3)));
        let failed =
            if self.failed > 0 { format!(", {} without a time", self.failed) } else { String::new() };
        let ran = self.known - self.earlier;
        let left = match ran {
            ran if ran == 0 || budget == u64::MAX => String::new(),
            ran => {
                let each = start.elapsed().as_nanos() as f64 / ran as f64;
                format!(", {} left", duration(each * budget.saturating_sub(self.known) as f64))
            }
        };
        let of = if budget == u64::MAX { String::new() } else { format!(" of {budget}") };
        format!("{what}: {}{of} run, {best}{failed}{left}", self.known)
    }
}

impl Watching for Telling {
    fn known(&self, _: u64, attempt: &Attempt, earlier: bool) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.known += 1;
        state.earlier += u64::from(earlier);
        let time = attempt.evaluation.time_us();
        state.failed += u64::from(time.is_none());
        let improves = time.is_some_and(|us| state.best_us.is_none_or(|best| us < best));
        if improves {
            state.best_us = time;
        }
        let line = state.line((self.what, self.budget), self.start);
        if terminal::shows_progress() {
            let bar = state.bar.get_or_insert_with(|| {
                let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
                if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                    bar.set_style(style);
                }
                bar
            });
            bar.set_message(line);
            bar.tick();
        } else if improves && !earlier {
            eprintln!("{line}");
        }
        Ok(())
    }
}
