//! Ranks that communicate, and the calls of each that others have not matched yet.

use super::super::Problem;
use super::super::objects::Objects;
use super::work::{self, Call};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest time for which a rank waits for the others.
const PATIENCE: Duration = Duration::from_secs(120);

/// One rank of a clique.
#[derive(Clone)]
pub(super) struct Rank {
    pub(super) clique: Arc<Clique>,
    pub(super) rank: usize,
    pub(super) device: i32,
}

/// Ranks that communicate with each other.
pub(super) struct Clique {
    ranks: usize,
    /// One thread calls for all ranks, so that a call cannot wait for the next.
    is_of_one_thread: bool,
    pending: Mutex<Pending>,
    changed: Condvar,
}

/// Calls that wait.
struct Pending {
    /// Of each rank, with its device, in order.
    calls: Vec<VecDeque<(Call, i32)>>,
    /// Calls of each rank that were carried out.
    done: Vec<u64>,
    /// Why one could not be carried out.
    failed: Option<Problem>,
}

pub(super) static RANKS: Objects<Rank> = Objects::numbered_from(0x30_0000);
/// Cliques by the number in their unique ID.
static NAMED: Mutex<BTreeMap<u64, Arc<Clique>>> = Mutex::new(BTreeMap::new());

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The clique of a unique ID; the first rank makes it.
pub(super) fn named(id: u64, ranks: usize) -> Result<Arc<Clique>, Problem> {
    let mut named = locked(&NAMED);
    let clique = named.entry(id).or_insert_with(|| Clique::new(ranks, false));
    if clique.ranks == ranks { Ok(clique.clone()) } else { Err(Problem::Value) }
}

impl Clique {
    pub(super) fn new(ranks: usize, is_of_one_thread: bool) -> Arc<Clique> {
        let calls = (0..ranks).map(|_| VecDeque::new()).collect();
        let pending = Mutex::new(Pending { calls, done: vec![0; ranks], failed: None });
        Arc::new(Clique { ranks, is_of_one_thread, pending, changed: Condvar::new() })
    }

    pub(super) fn ranks(&self) -> usize {
        self.ranks
    }

    /// Waits until a rank's calls are carried out.
    fn wait(&self, rank: usize, until: u64) -> Result<(), Problem> {
        let start = Instant::now();
        let mut pending = locked(&self.pending);
        while pending.done[rank] < until && pending.failed.is_none() {
            let Some(left) = PATIENCE.checked_sub(start.elapsed()) else {
                let seconds = PATIENCE.as_secs();
                return Err(Problem::Unsupported(format!(
                    "the other ranks did not call it within {seconds} s"
                )));
            };
            pending = self.changed.wait_timeout(pending, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        pending.failed.clone().map_or(Ok(()), Err)
    }
}

impl Pending {
    /// Carries out what all ranks concerned have called.
    fn advance(&mut self) {
        while self.failed.is_none() {
            let Some(ready) = work::ready(&self.calls) else { return };
            let calls: Vec<_> =
                ready.iter().filter_map(|&(rank, at)| Some((rank, self.calls[rank].remove(at)?))).collect();
            let matched: Vec<_> =
                calls.iter().map(|(rank, (call, device))| (*rank, *call, *device)).collect();
            if let Err(problem) = work::perform(&matched) {
                self.failed = Some(problem);
            }
            matched.iter().for_each(|(rank, ..)| self.done[*rank] += 1);
        }
    }
}

/// Calls of ranks that begin together. It returns when all are carried out, or at once for a thread that calls for all
/// ranks and has not called for the others yet.
pub(super) fn call(calls: Vec<(usize, Call)>) -> Result<(), Problem> {
    let mut waits: Vec<(Arc<Clique>, usize, u64)> = Vec::new();
    let calls = calls.into_iter().map(|(number, call)| Ok((RANKS.find(number)?, call)));
    let calls = calls.collect::<Result<Vec<_>, Problem>>()?;
    for (rank, call) in &calls {
        let mut pending = locked(&rank.clique.pending);
        pending.calls[rank.rank].push_back((*call, rank.device));
        let until = pending.done[rank.rank] + pending.calls[rank.rank].len() as u64;
        waits.push((rank.clique.clone(), rank.rank, until));
    }
    for (clique, rank, until) in waits {
        locked(&clique.pending).advance();
        clique.changed.notify_all();
        if !clique.is_of_one_thread {
            clique.wait(rank, until)?;
        }
        if let Some(problem) = &locked(&clique.pending).failed {
            return Err(problem.clone());
        }
    }
    Ok(())
}
