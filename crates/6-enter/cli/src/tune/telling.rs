//! How far a search is, on standard error: a line on terminals, elsewhere a line whenever the best improves.

use crate::terminal;
use anyhow::Result;
use host::tune::{Attempt, Objective, Watching};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use view::{duration, objective_words};

/// Tells of each result.
pub(super) struct Telling {
    what: &'static str,
    start: Instant,
    budget: u64,
    objective: Objective,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: u64,
    earlier: u64,
    failed: u64,
    best: Option<f64>,
    bar: Option<ProgressBar>,
}

impl Telling {
    pub(super) fn new(what: &'static str, budget: u64) -> Telling {
        let objective = Objective::default();
        Telling { what, start: Instant::now(), budget, objective, state: Mutex::default() }
    }

    /// Of an objective other than the time.
    pub(super) fn of(self, objective: &Objective) -> Telling {
        Telling { objective: objective.clone(), ..self }
    }

    /// Takes the line away.
    pub(super) fn finish(&self) {
        if let Some(bar) = self.state.lock().unwrap_or_else(PoisonError::into_inner).bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl State {
    fn line(&self, telling: &Telling) -> String {
        let Telling { what, start, budget, objective, .. } = telling;
        let budget = *budget;
        let best = match self.best {
            None => "none has a time".to_owned(),
            Some(value) => format!("best {}", objective_words(value, objective.unit())),
        };
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
        let value = self.objective.score(&attempt.evaluation);
        state.failed += u64::from(value.is_none());
        let improves = value.is_some_and(|it| state.best.is_none_or(|best| it < best));
        if improves {
            state.best = value;
        }
        let line = state.line(self);
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
