//! A worker: claims tasks of a study, evaluates them and writes their results, until the study is closed.

use anyhow::Result;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::{Claim, Finish, Journal, State, Worker};

/// Lease of a claim. Heartbeats are sent three times as often.
pub const LEASE: Duration = Duration::from_secs(60);
/// First and longest pause of a worker without work.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// Evaluates tasks.
pub trait EvaluateTask {
    /// Result of a task, as text. `alive` turns false when the result is no longer wanted: the worker is told to end, or
    /// the lease went to another.
    fn evaluate(&mut self, payload: &str, alive: &dyn Fn() -> bool) -> String;
}

/// The study and the terms of a worker.
#[derive(Clone, Debug)]
pub struct Work {
    /// Address of the database.
    pub store: String,
    /// Name of the study.
    pub study: String,
    /// The worker.
    pub worker: Worker,
    /// Lease of a claim: [`LEASE`], or less in tests.
    pub lease: Duration,
    /// Ends after this time without work; `None`: only when the study is closed.
    pub patience: Option<Duration>,
}

/// Why a worker ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkerEnd {
    /// The study is closed.
    Closed,
    /// The study was interrupted.
    Stopped,
    /// It was told to end: by a signal, as Slurm and Kubernetes send before they take a node.
    Told,
    /// It had no work for too long.
    Idle,
}

/// Results of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Worked {
    /// Results that were kept.
    pub kept: u64,
    /// Results that came after the lease had expired and the task went to another worker.
    pub late: u64,
    /// Why it ended.
    pub end: WorkerEnd,
}

/// A flag that the signals before an end set: SIGTERM, SIGINT, SIGHUP and SIGUSR1, which Slurm sends on request.
///
/// # Errors
/// If handlers cannot be installed.
pub fn told_to_end() -> Result<Arc<AtomicBool>> {
    let told = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGUSR1] {
        signal_hook::flag::register(signal, told.clone())?;
    }
    Ok(told)
}

/// Works on a study until it is closed or `told` is set; then the task in work is given back.
///
/// # Errors
/// If the study does not exist, its GPU is another, or with the database.
pub fn work(work: &Work, evaluate: &mut dyn EvaluateTask, told: &AtomicBool) -> Result<Worked> {
    let mut journal = store::open(&work.store)?;
    let study = journal.study(&work.study)?.id;
    let beats = Beats::default();
    std::thread::scope(|scope| {
        scope.spawn(|| beats.send(work));
        let worked = until_closed(work, study, (&mut *journal, &beats), evaluate, told);
        beats.finish();
        worked
    })
}

fn until_closed(
    work: &Work,
    study: store::StudyId,
    (journal, beats): (&mut dyn Journal, &Beats),
    evaluate: &mut dyn EvaluateTask,
    told: &AtomicBool,
) -> Result<Worked> {
    let mut worked = Worked { kept: 0, late: 0, end: WorkerEnd::Told };
    let is_told = || told.load(Ordering::Relaxed);
    let (mut pause, mut idle_since) = (PAUSES.0, Instant::now());
    while !is_told() {
        let Some(claim) = journal.claim(study, &work.worker, work.lease)? else {
            worked.end = match journal.state(study)? {
                State::Closed => WorkerEnd::Closed,
                State::Stopped => WorkerEnd::Stopped,
                State::Open if work.patience.is_some_and(|it| idle_since.elapsed() >= it) => WorkerEnd::Idle,
                State::Open => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(PAUSES.1);
                    continue;
                }
            };
            return Ok(worked);
        };
        beats.begin(&claim);
        let result = evaluate.evaluate(&claim.payload, &|| !is_told() && beats.holds());
        beats.end();
        if is_told() {
            // What was evaluated while the worker was told to end may be half.
            journal.release(&claim)?;
            break;
        }
        match journal.finish(&claim, &result)? {
            Finish::Kept => worked.kept += 1,
            Finish::Late => worked.late += 1,
        }
        (pause, idle_since) = (PAUSES.0, Instant::now());
    }
    worked.end = WorkerEnd::Told;
    Ok(worked)
}

/// Heartbeats of the claim in work, on a second thread and connection: evaluations take long, and a database may
/// be away for some time.
#[derive(Default)]
struct Beats {
    now: Mutex<Now>,
    changed: Condvar,
}

#[derive(Default)]
struct Now {
    claim: Option<Claim>,
    /// The claim in work went to another worker.
    lost: bool,
    finished: bool,
}

impl Beats {
    fn set(&self, change: impl FnOnce(&mut Now)) {
        change(&mut self.now.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    fn begin(&self, claim: &Claim) {
        self.set(|it| (it.claim, it.lost) = (Some(claim.clone()), false));
    }

    fn end(&self) {
        self.set(|it| it.claim = None);
    }

    fn finish(&self) {
        self.set(|it| it.finished = true);
    }

    /// Whether the claim in work is still this worker's, as far as is known.
    fn holds(&self) -> bool {
        !self.now.lock().unwrap_or_else(PoisonError::into_inner).lost
    }

    /// Renews the claim in work three times in a lease, until [`finish`](Beats::finish).
    fn send(&self, work: &Work) {
        let mut journal = None;
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        while !now.finished {
            let before = now.claim.clone();
            let waited = self.changed.wait_timeout(now, work.lease / 3);
            let (next, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            now = next;
            let Some(claim) =
                now.claim.clone().filter(|it| timeout.timed_out() && before.as_ref() == Some(it))
            else {
                continue;
            };
            drop(now);
            let held = renewed(&mut journal, work, &claim);
            now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
            // An unreachable database says nothing of the claim; its result is judged when it is written.
            if held == Some(false) && now.claim.as_ref() == Some(&claim) {
                now.lost = true;
            }
        }
    }
}

/// Renews a claim; `None` without an answer.
fn renewed(journal: &mut Option<Box<dyn Journal>>, work: &Work, claim: &Claim) -> Option<bool> {
    if journal.is_none() {
        *journal = store::open(&work.store).ok();
    }
    let held = journal.as_mut()?.heartbeat(claim);
    if held.is_err() {
        *journal = None;
    }
    held.ok()
}

/// Name of a worker: machine, process, and the task of Slurm or pod of Kubernetes where it runs in one.
pub fn name() -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let job = ["SLURM_JOB_ID", "SLURM_PROCID", "JOB_COMPLETION_INDEX"];
    let job = job.iter().filter_map(|it| std::env::var(it).ok()).map(|it| format!(" {it}"));
    let mut name = format!("{} {}", machine.trim(), std::process::id());
    name.extend(job);
    name
}

/// Variables that give a program one GPU of this machine: `local` by number, as Slurm numbers the tasks of a node.
///
/// If the machine's manager gave this process GPUs already, the number counts among those: ROCR_VISIBLE_DEVICES hides
/// GPUs from everything above the driver, HIP_VISIBLE_DEVICES counts among the rest, and one process must not set both.
pub fn pinned(local: usize, given: impl Fn(&str) -> Option<String>) -> Result<Vec<(String, String)>> {
    let name = "ROCR_VISIBLE_DEVICES";
    let list = given(name).filter(|it| !it.trim().is_empty());
    let gpu = match &list {
        None => local.to_string(),
        Some(list) => {
            let all: Vec<&str> = list.split(',').map(str::trim).collect();
            // A task that was given one GPU of its own has the only one, whatever its number on the node.
            let at = if all.len() == 1 { 0 } else { local };
            match all.get(at) {
                Some(it) => (*it).to_owned(),
                None => anyhow::bail!(
                    "worker {local} of this node has no GPU: {name} is `{list}`\nhint: start as many workers on a node as it has GPUs"
                ),
            }
        }
    };
    Ok(vec![(name.to_owned(), gpu)])
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;

#[cfg(all(test, feature = "postgres"))]
#[path = "cluster_tests.rs"]
mod cluster_tests;
