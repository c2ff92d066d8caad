//! Batches of workgroups that threads run, and what comes of them in the order of workgroups.
//!
//! The one idea to keep in mind: everything the threads of a launch know of each other is behind one lock, taken once for a batch
//! and by who waits.

use super::Summary;
use super::worker::{Crew, Others};
use crate::deferred_atomics::{self, Note, Turns};
use crate::fault::Fault;
use crate::memory::Memory;
use crate::outside_lds::OutsideLds;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a workgroup that looks stuck lets others go on.
const PAUSE: Duration = Duration::from_millis(1);

/// Batches that may be done before one is: what they came to is kept so long. More than all that a GPU has at a time.
const AHEAD: u64 = 2048;

/// Progress shared by the threads of a launch.
pub(crate) struct Shared<'m, O> {
    pub(crate) memory: &'m Memory,
    pub(crate) next: AtomicU64,
    /// Batches from this one on are not begun: an earlier one failed.
    pub(crate) end: AtomicU64,
    done: Mutex<Done<O>>,
    /// Some batch was merged.
    merged: Condvar,
}

impl<'m, O> Shared<'m, O> {
    /// So many batches, run by so many threads.
    pub(crate) fn new(memory: &'m Memory, batches: u64, workers: usize) -> Self {
        Shared {
            memory,
            next: AtomicU64::new(0),
            end: AtomicU64::new(batches),
            done: Mutex::new(Done {
                waiting: BTreeMap::new(),
                merged: 0,
                crew: Crew::new(workers),
                summary: Summary::default(),
                fault: None,
            }),
            merged: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Done<O>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A batch is not begun while one long before it is not done.
    pub(crate) fn keep_near(&self, batch: u64) {
        self.wait_for(batch.saturating_sub(AHEAD));
    }

    /// A thread waits until so many batches are merged.
    fn wait_for(&self, merged: u64) {
        let mut done = self.lock();
        if done.merged >= merged {
            return;
        }
        done.crew.waiting.push(merged);
        while done.merged < merged {
            done = self.merged.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
        done.crew.waiting.retain(|it| *it != merged);
    }

    /// A thread finds no more batches.
    pub(crate) fn worker_ends(&self) {
        self.lock().crew.workers -= 1;
    }

    /// What all batches came to.
    pub(crate) fn result(self) -> Result<Summary, Box<Fault>> {
        let done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        match done.fault {
            Some((_, fault)) => Err(fault),
            None => Ok(done.summary),
        }
    }
}

impl<O> fmt::Debug for Shared<'_, O> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Shared").field("next", &self.next).finish_non_exhaustive()
    }
}

impl<O: Send> Turns for Shared<'_, O> {
    fn wait(&self, batch: u64) {
        self.wait_for(batch);
    }
}

impl<O: Send> Others for Shared<'_, O> {
    fn enter(&self) {
        self.lock().crew.enter();
    }

    fn leave(&self) {
        self.lock().crew.leave();
    }

    fn quiet(&self) -> Option<u64> {
        let done = self.lock();
        done.crew.quiet(done.merged)
    }

    fn confirm(&self, quiet: u64, first: bool) -> bool {
        let mut done = self.lock();
        let merged = done.merged;
        done.crew.confirm(quiet, first, merged)
    }

    fn pause(&self) {
        let _ = self.merged.wait_timeout(self.lock(), PAUSE);
    }
}

struct Done<O> {
    waiting: BTreeMap<u64, (O, Vec<Note>)>,
    merged: u64,
    crew: Crew,
    summary: Summary,
    fault: Option<(u64, Box<Fault>)>,
}

/// Hands over what a batch observed and works off its notes, as soon as all batches before it are done.
pub(crate) fn finish<O>(
    shared: &Shared<'_, O>,
    merge: &Mutex<impl FnMut(O)>,
    batch: u64,
    found: (O, Vec<Note>),
    summary: Summary,
    fault: Option<Box<Fault>>,
) {
    let mut done = shared.done.lock().unwrap_or_else(PoisonError::into_inner);
    // Its notes are written below.
    done.crew.time += 1;
    done.summary.workgroups += summary.workgroups;
    done.summary.waves += summary.waves;
    done.summary.instructions += summary.instructions;
    done.summary.outside_lds = OutsideLds::joined(done.summary.outside_lds, summary.outside_lds);
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
