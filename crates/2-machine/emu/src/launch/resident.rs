//! Launches whose workgroups may wait for later ones, which are on the GPU at the same time.
//!
//! The one idea to keep in mind: a workgroup runs until it ends or waits for others; then the next begins, as long as the
//! GPU has room for it. Workgroups that wait get turns when no other can begin. One thread does this in order, so the
//! polls of a wave, and all counts, are the same in every run.

use super::cooperative::{Group, QUANTUM, deadlock};
use super::worker::{Replay, Turn, Worker, may_be_deadlocked};
use super::{Launch, Summary};
use crate::fault::Fault;
use crate::memory::Memory;
use crate::observe::Observer;
use crate::program::Program;
use std::collections::BTreeMap;

/// How a workgroup got on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Ended,
    /// It waits for memory to change, which only others can.
    Waits,
    /// It had its turns.
    Goes,
}

/// Runs a launch.
pub(crate) fn run<O: Observer + Send>(
    program: &Program,
    memory: &Memory,
    launch: &Launch<'_>,
    make: impl Fn() -> O,
    mut merge: impl FnMut(O),
) -> Result<Summary, Box<Fault>> {
    let mut worker = Worker::new(program, memory, launch);
    let mut summary = Summary::default();
    let total = launch.workgroup_count();
    // Workgroups that began and have not ended, and observers that wait for earlier workgroups, by workgroup.
    let mut waiting: BTreeMap<u64, Group<O>> = BTreeMap::new();
    let mut done: BTreeMap<u64, O> = BTreeMap::new();
    let (mut next, mut merged) = (0, 0);
    while merged < total {
        if next < total && (waiting.len() as u64) < launch.resident {
            let mut observer = make();
            let count = worker.begin(next, &mut observer);
            worker.waves.truncate(count);
            match advance(&mut worker, count, u64::MAX, &mut observer, &mut summary)? {
                Way::Ended => {
                    done.insert(next, observer);
                }
                Way::Waits | Way::Goes => {
                    waiting.insert(next, Group::taken(&mut worker, observer));
                }
            }
            next += 1;
        } else {
            let Some(ended) = round(&mut worker, &mut waiting, &mut summary)? else {
                return Err(stuck(&mut worker, waiting, next == total));
            };
            for index in ended {
                if let Some(group) = waiting.remove(&index) {
                    done.insert(index, group.observer);
                }
            }
        }
        while let Some(observer) = done.remove(&merged) {
            merge(observer);
            merged += 1;
        }
    }
    Ok(summary)
}

/// The fault of workgroups that all wait: the loop of the first one if `all` have begun, and a deadlock if there is no
/// room for those they may wait for.
fn stuck<O>(worker: &mut Worker<'_>, waiting: BTreeMap<u64, Group<O>>, all: bool) -> Box<Fault> {
    let mut groups: Vec<Group<O>> = waiting.into_values().collect();
    match groups.first_mut() {
        Some(first) if all => {
            first.exchange(worker);
            worker.deadlock_fault(worker.waves.len(), false)
        }
        _ => deadlock(worker, &groups),
    }
}

/// Gives every waiting workgroup a turn. Returns those that ended; `None` if all wait for each other.
fn round<O: Observer>(
    worker: &mut Worker<'_>,
    waiting: &mut BTreeMap<u64, Group<O>>,
    summary: &mut Summary,
) -> Result<Option<Vec<u64>>, Box<Fault>> {
    let (mut ended, mut goes) = (Vec::new(), false);
    for (index, group) in waiting.iter_mut() {
        group.exchange(worker);
        let count = worker.waves.len();
        let way = advance(worker, count, 1, &mut group.observer, summary);
        group.exchange(worker);
        match way? {
            Way::Ended => ended.push(*index),
            Way::Goes => goes = true,
            Way::Waits => {}
        }
    }
    Ok((goes || !ended.is_empty()).then_some(ended))
}

/// Gives the workgroup on the machine turns until it ends or waits.
fn advance<O: Observer>(
    worker: &mut Worker<'_>,
    count: usize,
    turns: u64,
    observer: &mut O,
    summary: &mut Summary,
) -> Result<Way, Box<Fault>> {
    let mut turn = 0;
    while turn < turns {
        if worker.turn(count, QUANTUM, observer)? == Turn::Ended {
            worker.add_ended_workgroup(count, summary)?;
            return Ok(Way::Ended);
        }
        if may_be_deadlocked(&worker.waves[..count]) {
            match worker.replay(count, observer)? {
                Replay::Moves => {}
                Replay::Returned { looked: true } => return Ok(Way::Waits),
                Replay::Returned { looked: false } => return Err(worker.deadlock_fault(count, false)),
            }
        }
        turn += 1;
    }
    Ok(Way::Goes)
}
