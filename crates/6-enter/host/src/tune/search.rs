//! The loop that asks what to run, has it run, and tells the result.

use super::evaluate::Evaluator;
use super::evaluation::Evaluation;
use super::objective::Objective;
use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
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
    /// Expected times.
    pub prior: Prior,
    /// Who runs configurations.
    pub evaluate: &'a dyn Evaluate,
    /// Configurations that run at once.
    pub workers: usize,
    /// Set when the user interrupts.
    pub stop: Arc<AtomicBool>,
}

/// Time after which a search proposes nothing more. It waits for configurations that still run.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub enum Limit {
    /// None: the budget in runs counts.
    #[default]
    None,
    /// Time of the search.
    Wall(Duration),
    /// Time that configurations ran, of all workers and earlier runs together.
    Busy(Duration),
}

/// The course of a search: what it makes small, and what ends it before its budget.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// The number to make small.
    pub objective: &'a Objective,
    /// Time.
    pub limit: Limit,
    /// Set when the user interrupts.
    pub stop: &'a AtomicBool,
}

impl Limit {
    /// Whether it is reached; `busy` is the time that configurations ran, seconds.
    pub(super) fn is_over(self, elapsed: Duration, busy: &dyn Fn() -> f64) -> bool {
        match self {
            Limit::None => false,
            Limit::Wall(limit) => elapsed >= limit,
            Limit::Busy(limit) => busy() >= limit.as_secs_f64(),
        }
    }
}

/// One configuration that was run.
#[derive(Clone, PartialEq, Debug)]
pub struct Attempt {
    /// The configuration.
    pub id: Id,
    /// Its result.
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
    /// The limit of time ended it.
    pub timed_out: bool,
}

/// Someone who watches a search: told of each result when it is known, in any order.
pub trait Watching: Sync {
    /// A result: its number among the proposals, the configuration, and whether it is from an earlier run.
    ///
    /// # Errors
    /// If it cannot be kept; the search ends.
    fn known(&self, number: u64, attempt: &Attempt, earlier: bool) -> Result<()>;
}

/// A result of a proposal.
pub struct Known {
    /// Number of the proposal, from 0.
    pub number: u64,
    /// Its result.
    pub evaluation: Evaluation,
    /// An earlier run of the search has it.
    pub earlier: bool,
}

/// Somewhere that runs proposals.
pub trait Pool {
    /// Takes a proposal.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn submit(&mut self, number: u64, id: Id) -> Result<()>;

    /// Waits for results; none if the search was interrupted.
    ///
    /// # Errors
    /// If no result can come any more.
    fn wait(&mut self) -> Result<Vec<Known>>;
}

/// Searches for the shortest time, with proposals run in threads of this process.
///
/// # Errors
/// If a result cannot be kept.
pub fn search(plan: Plan<'_>, watching: &dyn Watching) -> Result<Found> {
    let Plan { space, settings, prior, evaluate, workers, stop } = plan;
    let search = Search::new(space.clone(), settings, prior);
    let (tasks, queue) = mpsc::channel::<(u64, Id)>();
    let queue = Mutex::new(queue);
    let (send, done) = mpsc::channel::<Known>();
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            let (queue, send, space) = (&queue, send.clone(), &space);
            scope.spawn(move || {
                loop {
                    let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((number, id)) = task else { return };
                    let evaluation = evaluate.evaluate(space, id);
                    if send.send(Known { number, evaluation, earlier: false }).is_err() {
                        return;
                    }
                }
            });
        }
        // Threads end when the pool goes.
        let course = Course { objective: &Objective::default(), limit: Limit::None, stop: &stop };
        drive(search, &mut Threads { tasks, done }, &course, watching)
    })
}

struct Threads {
    tasks: mpsc::Sender<(u64, Id)>,
    done: mpsc::Receiver<Known>,
}

impl Pool for Threads {
    fn submit(&mut self, number: u64, id: Id) -> Result<()> {
        Ok(self.tasks.send((number, id))?)
    }

    fn wait(&mut self) -> Result<Vec<Known>> {
        Ok(vec![self.done.recv()?])
    }
}

/// Asks what to run, has it run, and tells the results, until the budget is used or its course ends it.
///
/// # Errors
/// If a result cannot be kept, or none can come any more.
pub fn drive(
    mut search: Search,
    pool: &mut dyn Pool,
    course: &Course<'_>,
    watching: &dyn Watching,
) -> Result<Found> {
    let begin = Instant::now();
    let mut asked: Vec<Id> = Vec::new();
    let mut attempts: BTreeMap<u64, Attempt> = BTreeMap::new();
    let (mut ended, mut timed_out) = (false, false);
    loop {
        while !ended {
            let busy = || attempts.values().map(|it| it.evaluation.run_s).sum();
            if course.limit.is_over(begin.elapsed(), &busy) {
                (ended, timed_out) = (true, true);
                break;
            }
            match search.ask() {
                Asked::Run(_) if course.stop.load(Ordering::Relaxed) => ended = true,
                Asked::Run(id) => {
                    pool.submit(asked.len() as u64, id)?;
                    asked.push(id);
                }
                Asked::Wait => break,
                Asked::Finished => ended = true,
            }
        }
        if attempts.len() == asked.len() {
            break;
        }
        let known = pool.wait()?;
        if known.is_empty() {
            break;
        }
        for Known { number, evaluation, earlier } in known {
            let Some(&id) = asked.get(number as usize) else { continue };
            let attempt = Attempt { id, evaluation };
            watching.known(number, &attempt, earlier)?;
            search.tell(id, told(course.objective, &attempt.evaluation));
            attempts.insert(number, attempt);
        }
    }
    let interrupted = course.stop.load(Ordering::Relaxed);
    Ok(Found { search, attempts: attempts.into_values().collect(), interrupted, timed_out })
}

fn told(objective: &Objective, evaluation: &Evaluation) -> Told {
    objective.score(evaluation).map_or(Told::Failed, Told::Took)
}
