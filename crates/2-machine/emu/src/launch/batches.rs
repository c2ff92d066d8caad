//! Batches of workgroups: taken by threads, merged in workgroup order.
//!
//! One lock guards all shared state; threads take it once per batch and to wait.

use super::Summary;
use super::worker::{OtherThreads, ThreadStates};
use crate::deferred_atomics::{self, Note, Turns};
use crate::fault::Fault;
use crate::memory::Memory;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time for which a possibly deadlocked workgroup yields to others.
const PAUSE: Duration = Duration::from_millis(1);

/// Most batches that may finish before an earlier one, and are kept until then. More than a GPU holds at a time.
const AHEAD: u64 = 2048;

/// State shared by the threads of a launch.
pub(crate) struct BatchQueue<'m, O> {
    pub(crate) memory: &'m Memory,
    pub(crate) next: AtomicU64,
    /// First batch not to begin, because an earlier one failed.
    pub(crate) end: AtomicU64,
    done: Mutex<Done<O>>,
    /// Signals that a batch was merged.
    merged: Condvar,
}

impl<'m, O> BatchQueue<'m, O> {
    /// State for a number of batches and threads.
    pub(crate) fn new(memory: &'m Memory, batches: u64, workers: usize) -> Self {
        BatchQueue {
            memory,
            next: AtomicU64::new(0),
            end: AtomicU64::new(batches),
            done: Mutex::new(Done {
                waiting: BTreeMap::new(),
                merged: 0,
                threads: ThreadStates::new(workers),
                summary: Summary::default(),
                fault: None,
            }),
            merged: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Done<O>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the batches long before this one are merged.
    pub(crate) fn keep_near(&self, batch: u64) {
        self.wait_for(batch.saturating_sub(AHEAD));
    }

    /// Waits until a number of batches is merged.
    fn wait_for(&self, merged: u64) {
        let mut done = self.lock();
        if done.merged >= merged {
            return;
        }
        done.threads.waiting.push(merged);
        while done.merged < merged {
            done = self.merged.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
        done.threads.waiting.retain(|it| *it != merged);
    }

    /// Ends a thread.
    pub(crate) fn end_worker(&self) {
        self.lock().threads.workers -= 1;
    }

    /// Totals of all batches, or the first fault.
    pub(crate) fn result(self) -> Result<Summary, Box<Fault>> {
        let done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        match done.fault {
            Some((_, fault)) => Err(fault),
            None => Ok(done.summary),
        }
    }
}

impl<O> fmt::Debug for BatchQueue<'_, O> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Shared").field("next", &self.next).finish_non_exhaustive()
    }
}

impl<O: Send> Turns for BatchQueue<'_, O> {
    fn wait(&self, batch: u64) {
        self.wait_for(batch);
    }
}

impl<O: Send> OtherThreads for BatchQueue<'_, O> {
    fn enter(&self) {
        self.lock().threads.enter();
    }

    fn leave(&self) {
        self.lock().threads.leave();
    }

    fn quiet_period(&self) -> Option<u64> {
        let done = self.lock();
        done.threads.quiet_period(done.merged)
    }

    fn confirm(&self, quiet: u64, first: bool) -> bool {
        let mut done = self.lock();
        let merged = done.merged;
        done.threads.confirm(quiet, first, merged)
    }

    fn pause(&self) {
        let _ = self.merged.wait_timeout(self.lock(), PAUSE);
    }
}

struct Done<O> {
    waiting: BTreeMap<u64, (O, Vec<Note>)>,
    merged: u64,
    threads: ThreadStates,
    summary: Summary,
    fault: Option<(u64, Box<Fault>)>,
}

/// Takes the observer and deferred atomics of a batch; merges them once all earlier batches are merged.
pub(crate) fn finish<O>(
    shared: &BatchQueue<'_, O>,
    merge: &Mutex<impl FnMut(O)>,
    batch: u64,
    found: (O, Vec<Note>),
    summary: Summary,
    fault: Option<Box<Fault>>,
) {
    let mut done = shared.done.lock().unwrap_or_else(PoisonError::into_inner);
    // The deferred atomics are applied below.
    done.threads.time += 1;
    done.summary.workgroups += summary.workgroups;
    done.summary.waves += summary.waves;
    done.summary.instructions += summary.instructions;
    done.summary.add_lost(&summary);
    if let Some(fault) = fault
        && done.fault.as_ref().is_none_or(|(first, _)| batch < *first)
    {
        done.fault = Some((batch, fault));
    }
    done.waiting.insert(batch, found);
    let mut merge = merge.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let next = done.merged;
        let Some((observer, notes)) = done.waiting.remove(&next) else { break };
        deferred_atomics::apply(&notes, shared.memory);
        done.merged += 1;
        merge(observer);
    }
    shared.merged.notify_all();
}
