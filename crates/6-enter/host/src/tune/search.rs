//! The loop that asks what to run, has it run, and tells the result.

use super::evaluate::Evaluator;
use super::evaluation::Evaluation;
use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use tune::{Asked, Id, Prior, Search, Settings, Space, Told};

/// Someone who runs configurations.
pub trait Evaluate: Sync {
    /// Runs a configuration of a space.
    fn evaluate(&self, space: &Space, id: Id) -> Evaluation;
}

/// Looks configurations of a recorded space up.
pub struct LookUp<'a>(pub &'a [Evaluation]);

impl Evaluate for LookUp<'_> {
    fn evaluate(&self, _: &Space, id: Id) -> Evaluation {
        self.0[id as usize].clone()
    }
}

impl Evaluate for Evaluator {
    fn evaluate(&self, space: &Space, id: Id) -> Evaluation {
        let names = space.parameters().iter().map(|it| it.name.as_str());
        let configuration: Vec<_> = names.zip(space.values(id)).collect();
        self.run_one(&configuration)
    }
}

/// A search to make.
pub struct Plan<'a> {
    /// The space.
    pub space: Arc<Space>,
    /// Settings of the search.
    pub settings: Settings,
    /// What is known before.
    pub prior: Prior,
    /// Who runs configurations.
    pub evaluate: &'a dyn Evaluate,
    /// Configurations that run at once.
    pub workers: usize,
    /// Results of earlier runs of the same search, in the order of its proposals.
    pub earlier: Vec<(Id, Evaluation)>,
    /// Set when the user interrupts.
    pub stop: Arc<AtomicBool>,
}

/// One configuration that was run.
#[derive(Clone, PartialEq, Debug)]
pub struct Attempt {
    /// The configuration.
    pub id: Id,
    /// What came of it.
    pub evaluation: Evaluation,
}

/// A search at its end.
pub struct Found {
    /// The search, for the fastest and for what it knows.
    pub search: Search,
    /// Configurations in the order of the proposals.
    pub attempts: Vec<Attempt>,
    /// The user interrupted it.
    pub interrupted: bool,
}

/// Someone who watches a search: told of each result when it is known, in any order.
pub trait Watching: Sync {
    /// A result: its number among the proposals, the configuration, and whether it is from an earlier run.
    ///
    /// # Errors
    /// If it cannot be kept; the search ends.
    fn known(&self, number: u64, attempt: &Attempt, earlier: bool) -> Result<()>;
}

/// Searches.
///
/// # Errors
/// If a result cannot be kept.
pub fn search(plan: Plan<'_>, watching: &dyn Watching) -> Result<Found> {
    let Plan { space, settings, prior, evaluate, workers, earlier, stop } = plan;
    let mut earlier: BTreeMap<u64, (Id, Evaluation)> = (0..).zip(earlier).collect();
    let mut search = Search::new(space.clone(), settings, prior);
    let mut attempts: BTreeMap<u64, Attempt> = BTreeMap::new();
    let (send_task, tasks) = mpsc::channel::<(u64, Id)>();
    let tasks = Mutex::new(tasks);
    let (send_done, done) = mpsc::channel::<(u64, Attempt)>();
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            let (tasks, send_done, space) = (&tasks, send_done.clone(), &space);
            scope.spawn(move || {
                loop {
                    let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((number, id)) = task else { return };
                    let attempt = Attempt { id, evaluation: evaluate.evaluate(space, id) };
                    if send_done.send((number, attempt)).is_err() {
                        return;
                    }
                }
            });
        }
        let mut next = 0;
        let mut out = 0;
        let mut ended = false;
        loop {
            while !ended {
                match search.ask() {
                    Asked::Run(_) if stop.load(Ordering::Relaxed) => ended = true,
                    Asked::Run(id) => {
                        let number = next;
                        next += 1;
                        match earlier.remove(&number).filter(|(it, _)| *it == id) {
                            Some((_, evaluation)) => {
                                let attempt = Attempt { id, evaluation };
                                watching.known(number, &attempt, true)?;
                                search.tell(id, told(&attempt.evaluation));
                                attempts.insert(number, attempt);
                            }
                            None => {
                                out += 1;
                                send_task.send((number, id))?;
                            }
                        }
                    }
                    Asked::Wait => break,
                    Asked::Finished => ended = true,
                }
            }
            if out == 0 {
                break;
            }
            let (number, attempt) = done.recv()?;
            out -= 1;
            watching.known(number, &attempt, false)?;
            search.tell(attempt.id, told(&attempt.evaluation));
            attempts.insert(number, attempt);
        }
        drop(send_task);
        Ok::<(), anyhow::Error>(())
    })?;
    let interrupted = stop.load(Ordering::Relaxed);
    Ok(Found { search, attempts: attempts.into_values().collect(), interrupted })
}

fn told(evaluation: &Evaluation) -> Told {
    evaluation.time_us().map_or(Told::Failed, Told::Took)
}
