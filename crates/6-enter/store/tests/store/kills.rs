//! Workers that are killed, and clocks that step.

use crate::contract::{study_of, tasks};
use crate::engines::{Database, study, worker};
use rockhound_store::{State, open};
use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::Random;

/// Address and study of the worker that this test program is as a process.
const ADDRESS: &str = "STORE_TEST_ADDRESS";
const KILLS: usize = 20;
const TASKS: u64 = 150;

/// Works until the study is closed.
#[test]
fn works_if_another_test_asks() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let mut journal = open(&address).unwrap();
    let id = journal.study("kills").unwrap().id;
    while journal.state(id).unwrap() == State::Open {
        match journal.claim(id, &worker(&std::process::id().to_string()), Duration::from_millis(400)).unwrap()
        {
            Some(claim) => {
                std::thread::sleep(Duration::from_millis(10));
                journal.finish(&claim, &claim.payload).unwrap();
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn start(address: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "kills::works_if_another_test_asks"]).env(ADDRESS, address);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn workers_killed_at_random_lose_nothing_and_count_nothing_twice() {
    for database in Database::all() {
        let mut journal = database.open();
        let id = journal.begin(&study("kills")).unwrap();
        let mut workers: Vec<Child> = (0..4).map(|_| start(&database.address)).collect();
        let mut random = Random(46);
        let begun = Instant::now();
        let (mut kills, mut pushed) = (0, 0);
        while kills < KILLS || journal.progress(id).unwrap().done < TASKS {
            assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", journal.progress(id));
            // Tasks come while workers are killed, so that kills hit workers that work.
            if pushed < TASKS {
                pushed = (pushed + 8).min(TASKS);
                journal.push(id, &tasks(pushed)).unwrap();
            }
            if kills < KILLS {
                let at = random.below(workers.len());
                workers[at].kill().unwrap();
                workers[at].wait().unwrap();
                workers[at] = start(&database.address);
                kills += 1;
            }
            std::thread::sleep(Duration::from_millis(20 + random.next() % 40));
        }
        journal.close(id).unwrap();
        for worker in &mut workers {
            assert!(worker.wait().unwrap().success());
        }
        let results = journal.results(id, 0).unwrap();
        assert_eq!(results.len() as u64, TASKS);
        assert_eq!(results.iter().map(|it| it.sequence).collect::<BTreeSet<_>>().len() as u64, TASKS);
        for it in &results {
            assert!(it.result.as_ref() == Ok(&it.payload) || it.attempt >= 3, "{it:?}");
        }
        // A kill loses at most the evaluation that ran.
        let again: u32 = results.iter().map(|it| it.attempt - 1).sum();
        assert!(again as usize <= KILLS, "{again} evaluations were repeated after {KILLS} kills");
    }
}

#[test]
fn a_clock_that_steps_neither_loses_tasks_nor_holds_them() {
    let lease = Duration::from_millis(200);
    for database in Database::all() {
        let mut journal = database.open();
        let id = study_of(&mut *journal, "clock", 1);
        let alive = journal.claim(id, &worker("alive"), Duration::from_secs(60)).unwrap().unwrap();
        // The clock goes forward by an hour: a heartbeat in time keeps the lease.
        database.sql("UPDATE {s}tune_tasks SET beat = beat - 3600000");
        assert!(journal.heartbeat(&alive).unwrap());
        assert_eq!(journal.claim(id, &worker("b"), lease).unwrap(), None);
        assert!(journal.release(&alive).unwrap());
        // It goes back by an hour: a lost worker's lease does not last an hour longer.
        journal.claim(id, &worker("lost"), lease).unwrap().unwrap();
        database.sql("UPDATE {s}tune_tasks SET beat = beat + 3600000");
        let begun = Instant::now();
        let claim = loop {
            if let Some(claim) = journal.claim(id, &worker("b"), lease).unwrap() {
                break claim;
            }
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(begun.elapsed() >= lease, "the lease of a worker that may live is kept");
        assert_eq!(claim.attempt, 3);
    }
}
