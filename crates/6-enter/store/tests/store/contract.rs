//! Properties of every engine.

use crate::engines::{Database, study, worker};
use rockhound_store::{
    Finish, Journal, MOST_LOST, Population, Progress, State, StoreError, Study, StudyId, Task, Worker, open,
};
use std::collections::BTreeSet;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(3600);
/// Expires at once.
const NONE: Duration = Duration::ZERO;

pub(crate) fn tasks(count: u64) -> Vec<Task> {
    (0..count).map(|sequence| Task { sequence, payload: format!("{{\"id\": {sequence}}}") }).collect()
}

/// A study with tasks.
pub(crate) fn study_of(journal: &mut dyn Journal, name: &str, count: u64) -> StudyId {
    let id = journal.begin(&study(name)).unwrap();
    journal.push(id, &tasks(count)).unwrap();
    id
}

/// Claims and finishes until nothing is left; returns how many results were kept.
pub(crate) fn work(journal: &mut dyn Journal, id: StudyId, name: &str) -> u64 {
    let mut kept = 0;
    while let Some(claim) = journal.claim(id, &worker(name), LONG).unwrap() {
        kept += u64::from(journal.finish(&claim, &claim.payload).unwrap() == Finish::Kept);
    }
    kept
}

fn wait_for_the_clock() {
    std::thread::sleep(Duration::from_millis(5));
}

#[test]
fn tasks_are_claimed_in_order_and_results_come_in_the_order_of_ends() {
    for database in Database::all() {
        let mut journal = database.open();
        let id = study_of(&mut *journal, "order", 3);
        let claims: Vec<_> =
            (0..3).map(|_| journal.claim(id, &worker("a"), LONG).unwrap().unwrap()).collect();
        assert_eq!(claims.iter().map(|it| it.sequence).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(journal.claim(id, &worker("a"), LONG).unwrap(), None);
        for at in [2, 0] {
            assert_eq!(journal.finish(&claims[at], &format!("r{at}")).unwrap(), Finish::Kept);
        }
        let expected = Progress { state: State::Open, waiting: 0, claimed: 1, done: 2, lost: 0 };
        assert_eq!(journal.progress(id).unwrap(), expected);
        let results = journal.results(id, 0).unwrap();
        let seen: Vec<_> = results.iter().map(|it| (it.order, it.sequence, it.result.as_deref())).collect();
        assert_eq!(seen, [(1, 2, Ok("r2")), (2, 0, Ok("r0"))]);
        let (first, rest) = (&results[0], journal.results(id, 1).unwrap());
        assert_eq!((first.worker.as_str(), first.population.as_str(), first.attempt), ("a", "MI300X", 1));
        assert!(first.ended_ms >= first.started_ms && first.started_ms > 1_700_000_000_000, "{first:?}");
        assert_eq!(first.payload, "{\"id\": 2}");
        assert_eq!(rest.iter().map(|it| it.sequence).collect::<Vec<_>>(), [0]);
        assert_eq!(journal.results(id, 2).unwrap(), []);
    }
}

#[test]
fn a_study_is_gone_on_with_only_as_it_began() {
    for database in Database::all() {
        let id = study_of(&mut *database.open(), "again", 2);
        let mut journal = database.open();
        assert_eq!(journal.begin(&study("again")).unwrap(), id);
        journal.push(id, &tasks(4)).unwrap();
        assert_eq!(journal.progress(id).unwrap().waiting, 4);
        let other = Study { fingerprint: "f2".into(), ..study("again") };
        assert_eq!(journal.begin(&other), Err(StoreError::OtherStudy { name: "again".into() }));
        let changed = [Task { sequence: 3, payload: "other".into() }];
        let pushed = journal.push(id, &changed).unwrap_err().to_string();
        testkit::golden("another task", &pushed);
        let error = journal.study("another").unwrap_err();
        assert!(matches!(&error, StoreError::NoStudy { known, .. } if known == "`again`"), "{error}");
        assert_eq!(journal.studies().unwrap().len(), 1);
        for (ends, state) in [(false, State::Stopped), (true, State::Closed)] {
            if ends {
                journal.close(id).unwrap()
            } else {
                journal.stop(id).unwrap()
            }
            assert_eq!(journal.state(id).unwrap(), state);
            assert_eq!(journal.claim(id, &worker("a"), LONG).unwrap(), None, "{state:?}");
            journal.begin(&study("again")).unwrap();
            assert_eq!(journal.state(id).unwrap(), State::Open);
        }
        assert_eq!(work(&mut *journal, id, "a"), 4);
        assert!(matches!(journal.close(StudyId(999)), Err(StoreError::NoStudy { .. })));
        assert!(matches!(journal.claim(StudyId(999), &worker("a"), LONG), Err(StoreError::NoStudy { .. })));
    }
}

#[test]
fn a_result_after_the_task_went_to_another_worker_is_late() {
    for database in Database::all() {
        let mut journal = database.open();
        let id = study_of(&mut *journal, "late", 1);
        let first = journal.claim(id, &worker("a"), NONE).unwrap().unwrap();
        wait_for_the_clock();
        // Expired and not claimed by another: the worker is still in time.
        assert!(journal.heartbeat(&first).unwrap());
        wait_for_the_clock();
        let second = journal.claim(id, &worker("b"), LONG).unwrap().unwrap();
        assert_eq!((second.sequence, second.attempt), (0, 2));
        assert!(!journal.heartbeat(&first).unwrap() && journal.heartbeat(&second).unwrap());
        assert_eq!(journal.finish(&first, "first").unwrap(), Finish::Late);
        assert_eq!(journal.finish(&second, "second").unwrap(), Finish::Kept);
        // A repeated call, as after a lost connection, changes nothing.
        assert_eq!(journal.finish(&second, "again").unwrap(), Finish::Kept);
        assert_eq!(journal.finish(&first, "first").unwrap(), Finish::Late);
        let results = journal.results(id, 0).unwrap();
        let seen: Vec<_> = results.iter().map(|it| (&it.result, it.worker.as_str(), it.attempt)).collect();
        assert_eq!(seen, [(&Ok("second".to_owned()), "b", 2)]);
    }
}

#[test]
fn a_released_task_goes_to_the_next_worker_and_counts_as_no_loss() {
    for database in Database::all() {
        let mut journal = database.open();
        let id = study_of(&mut *journal, "released", 1);
        for attempt in 1..=5 {
            let claim = journal.claim(id, &worker("a"), LONG).unwrap().unwrap();
            assert_eq!(claim.attempt, attempt);
            assert!(journal.release(&claim).unwrap() && !journal.release(&claim).unwrap());
            assert_eq!(journal.finish(&claim, "gone").unwrap(), Finish::Late);
        }
        assert_eq!(journal.progress(id).unwrap().waiting, 1);
    }
}

#[test]
fn a_task_that_loses_every_worker_fails_with_the_reason() {
    for database in Database::all() {
        let mut journal = database.open();
        let id = study_of(&mut *journal, "killer", 2);
        for attempt in 1..=MOST_LOST {
            let claim = journal.claim(id, &worker(&format!("w{attempt}")), NONE).unwrap().unwrap();
            assert_eq!((claim.sequence, i64::from(claim.attempt)), (0, attempt));
            wait_for_the_clock();
        }
        // Whoever waits for results ends it: there may be no worker left.
        let results = journal.results(id, 0).unwrap();
        let failure = Err("3 workers were lost while they ran it, the last is w3".to_owned());
        assert_eq!(results.iter().map(|it| (it.sequence, &it.result)).collect::<Vec<_>>(), [(0, &failure)]);
        let claim = journal.claim(id, &worker("a"), LONG).unwrap().unwrap();
        assert_eq!((claim.sequence, journal.progress(id).unwrap().lost), (1, 1));
    }
}

#[test]
fn gpus_that_differ_are_not_mixed_unless_asked() {
    let of = |population: &str| Worker { name: "w".into(), population: population.into() };
    for database in Database::all() {
        let mut journal = database.open();
        for (name, population, first, second) in [
            ("first", Population::First, true, false),
            ("only", Population::Only("MI250X".into()), false, true),
            ("any", Population::Any, true, true),
        ] {
            let id = journal.begin(&Study { population, ..study(name) }).unwrap();
            journal.push(id, &tasks(2)).unwrap();
            for (population, passes) in [("MI300X", first), ("MI250X", second)] {
                match journal.claim(id, &of(population), LONG) {
                    Ok(claim) => assert!(claim.is_some() && passes, "{name} {population}"),
                    Err(error) => {
                        assert!(!passes && matches!(error, StoreError::OtherPopulation { .. }), "{error}");
                    }
                }
            }
        }
        let other = Study { population: Population::Only("MI355X".into()), ..study("first") };
        assert!(matches!(journal.begin(&other), Err(StoreError::OtherPopulation { .. })));
        assert_eq!(journal.study("first").unwrap().study.population, Population::Only("MI300X".into()));
    }
}

#[test]
fn many_processes_at_once_claim_each_task_once() {
    for database in Database::all() {
        let id = study_of(&mut *database.open(), "many", 400);
        let kept: u64 = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..8)
                .map(|at| {
                    let address = &database.address;
                    scope.spawn(move || work(&mut *open(address).unwrap(), id, &format!("w{at}")))
                })
                .collect();
            // Whoever follows the results sees each end once, in order, although they are written at once.
            let mut journal = database.open();
            let mut seen = Vec::new();
            while seen.len() < 400 {
                let after = seen.last().map_or(0, |&(order, _)| order);
                let new = journal.results(id, after).unwrap();
                seen.extend(new.iter().map(|it| (it.order, it.sequence)));
            }
            assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert_eq!(seen.iter().map(|it| it.1).collect::<BTreeSet<_>>().len(), 400);
            workers.into_iter().map(|it| it.join().unwrap()).sum()
        });
        assert_eq!(kept, 400);
    }
}

#[test]
fn a_new_database_is_made_by_many_at_once() {
    for database in Database::all() {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| database.open().begin(&study("same")).unwrap());
            }
        });
        assert_eq!(database.open().studies().unwrap().len(), 1);
    }
}

#[test]
fn hostile_text_is_kept_as_it_is() {
    let text = "'); DROP TABLE tune_tasks; -- $1 ?1 {now} \\ \u{1f600} \"";
    for database in Database::all() {
        let mut journal = database.open();
        let hostile = Study { name: text.into(), settings: text.into(), ..study("") };
        let id = journal.begin(&hostile).unwrap();
        journal.push(id, &[Task { sequence: 0, payload: text.into() }]).unwrap();
        let claim = journal.claim(id, &worker(text), LONG).unwrap().unwrap();
        assert_eq!(journal.finish(&claim, text).unwrap(), Finish::Kept);
        let done = &journal.results(id, 0).unwrap()[0];
        assert_eq!(
            (done.payload.as_str(), done.result.as_deref(), done.worker.as_str()),
            (text, Ok(text), text)
        );
        assert_eq!(journal.study(text).unwrap().study.settings, text);
    }
}
