use super::*;
use store::{Population, Study, Task};

struct Sleeps(Duration);

impl EvaluateTask for Sleeps {
    fn evaluate(&mut self, payload: &str, alive: &dyn Fn() -> bool) -> String {
        let until = Instant::now() + self.0;
        while alive() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        payload.to_owned()
    }
}

/// A database with a study of some tasks.
fn with_tasks(folder: &std::path::Path, count: u64) -> (Work, Box<dyn Journal>, store::StudyId) {
    let address = folder.join("tune.db").display().to_string();
    let mut journal = store::open(&address).unwrap();
    let population = Population::First;
    let study = Study { name: "s".into(), fingerprint: "f".into(), settings: String::new(), population };
    let id = journal.begin(&study).unwrap();
    let tasks = (0..count).map(|sequence| Task { sequence, payload: format!("p{sequence}") });
    journal.push(id, &tasks.collect::<Vec<_>>()).unwrap();
    let worker = Worker { name: "w".into(), population: "MI300X".into() };
    let work =
        Work { store: address, study: "s".into(), worker, lease: Duration::from_millis(150), patience: None };
    (work, journal, id)
}

#[test]
fn evaluations_longer_than_a_lease_are_kept_by_heartbeats() {
    let folder = tempfile::tempdir().unwrap();
    let (first, mut journal, id) = with_tasks(folder.path(), 4);
    let told = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| work(&first, &mut Sleeps(Duration::from_millis(500)), &told).unwrap()))
            .collect();
        while journal.results(id, 0).unwrap().len() < 4 {
            std::thread::sleep(Duration::from_millis(20));
        }
        journal.close(id).unwrap();
        let worked: Vec<Worked> = workers.into_iter().map(|it| it.join().unwrap()).collect();
        assert_eq!(
            worked.iter().map(|it| (it.kept, it.late, it.end)).collect::<Vec<_>>(),
            [(2, 0, WorkerEnd::Closed); 2]
        );
    });
    let results = journal.results(id, 0).unwrap();
    assert!(results.iter().all(|it| it.attempt == 1 && it.result.as_ref() == Ok(&it.payload)), "{results:?}");
}

#[test]
fn a_worker_told_to_end_gives_its_task_back_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (all, mut journal, id) = with_tasks(folder.path(), 1);
    let told = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| work(&all, &mut Sleeps(Duration::from_secs(60)), &told).unwrap());
        while journal.progress(id).unwrap().claimed == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        told.store(true, Ordering::Relaxed);
        assert_eq!(worker.join().unwrap(), Worked { kept: 0, late: 0, end: WorkerEnd::Told });
    });
    assert_eq!(journal.progress(id).unwrap().waiting, 1);
}

#[test]
fn a_worker_whose_task_went_to_another_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (all, mut journal, id) = with_tasks(folder.path(), 1);
    let told = AtomicBool::new(false);
    let all = Work { patience: Some(Duration::ZERO), ..all };
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| work(&all, &mut Sleeps(Duration::from_secs(60)), &told).unwrap());
        while journal.progress(id).unwrap().claimed == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Another process takes the task over, as after a clock that stepped.
        rusqlite::Connection::open(&all.store)
            .and_then(|it| {
                it.execute("UPDATE tune_tasks SET token = 'another', beat = beat + 60000, lease = 60000", [])
            })
            .unwrap();
        assert_eq!(worker.join().unwrap(), Worked { kept: 0, late: 1, end: WorkerEnd::Idle });
    });
}

#[test]
fn workers_take_the_gpus_of_their_node() {
    for (local, list, expected) in [
        (3, None, Some("3")),
        (1, Some(""), Some("1")),
        (1, Some("4,5,6"), Some("5")),
        (2, Some("GPU-1, GPU-2, GPU-3"), Some("GPU-3")),
        (5, Some("7"), Some("7")),
        (3, Some("4,5"), None),
    ] {
        let found = pinned(local, |name| (name == "ROCR_VISIBLE_DEVICES").then_some(list?.to_owned()));
        let expected = expected.map(|it| vec![("ROCR_VISIBLE_DEVICES".to_owned(), it.to_owned())]);
        assert_eq!(found.ok(), expected, "{local} {list:?}");
    }
}
