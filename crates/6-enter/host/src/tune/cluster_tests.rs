//! Workers that a real Slurm starts, over a real PostgreSQL.

use super::*;
use crate::tune::emit::Cluster;
use std::collections::{BTreeMap, BTreeSet};
use store::{Done, Population, Study, StudyId, Task};
use testkit::postgres::Server;
use testkit::slurm::Slurm;

/// Milliseconds of an evaluation of the workers that this test program is as tasks of Slurm.
const SLEEP: &str = "ROCKHOUND_TEST_SLEEP";

#[test]
fn works_if_slurm_asks() {
    let Ok(sleep) = std::env::var(SLEEP) else { return };
    struct Sleeps(Duration);
    impl EvaluateTask for Sleeps {
        fn evaluate(&mut self, payload: &str, alive: &dyn Fn() -> bool) -> String {
            let until = Instant::now() + self.0;
            while alive() && Instant::now() < until {
                std::thread::sleep((until - Instant::now()).min(Duration::from_millis(20)));
            }
            payload.to_owned()
        }
    }
    let local = std::env::var("SLURM_LOCALID").unwrap().parse().unwrap();
    let gpu = pinned(local, |name| std::env::var(name).ok()).unwrap();
    let worker = Worker { name: format!("{} gpu {}", name(), gpu[0].1), population: "MI300X".into() };
    let store = std::env::var("ROCKHOUND_STORE").unwrap();
    let all = Work { store, study: "s".into(), worker, lease: LEASE, patience: None };
    let told = told_to_end().unwrap();
    work(&all, &mut Sleeps(Duration::from_millis(sleep.parse().unwrap())), &told).unwrap();
}

struct Bench {
    slurm: Slurm,
    server: Server,
    journal: Box<dyn Journal>,
    study: StudyId,
    _folder: testkit::Scratch,
}

impl Bench {
    fn start() -> Option<Bench> {
        let folder = testkit::Scratch::new("cluster");
        let server = Server::start(&folder.path("server"))?;
        let slurm = Slurm::start()?;
        let mut journal = store::open(&server.address()).unwrap();
        let study = Study {
            name: "s".into(),
            fingerprint: "f".into(),
            settings: String::new(),
            population: Population::First,
        };
        let study = journal.begin(&study).unwrap();
        Some(Bench { slurm, server, journal, study, _folder: folder })
    }

    fn push(&mut self, from: u64, count: u64) {
        let tasks = (from..from + count).map(|sequence| Task { sequence, payload: format!("p{sequence}") });
        self.journal.push(self.study, &tasks.collect::<Vec<_>>()).unwrap();
    }

    fn submit(&self, workers: u32, sleep_ms: u32) -> String {
        let program = std::env::current_exe().unwrap().display().to_string();
        let hidden = format!(
            "exec {} --exact tune::worker::cluster_tests::works_if_slurm_asks",
            view::shell_word(&program)
        );
        let cluster = Cluster {
            study: "s".into(),
            store: self.server.address(),
            workers,
            per_node: 8,
            time: Some("10".into()),
            partition: None,
            image: None,
            command: vec!["sh".into(), "-c".into(), hidden, "worker".into()],
        };
        self.slurm.submit(&cluster.slurm().unwrap(), &[(SLEEP, &sleep_ms.to_string())])
    }

    /// Waits for a number of results in all.
    fn results(&mut self, count: usize) -> Vec<Done> {
        let begun = Instant::now();
        loop {
            let all = self.journal.results(self.study, 0).unwrap();
            if all.len() >= count {
                return all;
            }
            assert!(begun.elapsed() < Duration::from_secs(90), "{} of {count} results", all.len());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Milliseconds per evaluation between the first start and the last end.
fn pace(done: &[Done]) -> f64 {
    let first = done.iter().map(|it| it.started_ms).min().unwrap();
    let last = done.iter().map(|it| it.ended_ms).max().unwrap();
    (last - first) as f64 / done.len() as f64
}

#[test]
fn eight_workers_of_slurm_do_the_work_of_eight() {
    let Some(mut bench) = Bench::start() else { return };
    bench.push(0, 16);
    let one = bench.submit(1, 100);
    let alone = pace(&bench.results(16));
    bench.slurm.tool("scancel", &[&one]).unwrap();
    bench.submit(8, 100);
    // All are there before the work is.
    while bench.slurm.tool("squeue", &["-h", "-t", "RUNNING"]).is_none_or(|it| it.lines().count() != 1) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(1000));
    bench.push(16, 160);
    let all = bench.results(176);
    bench.journal.close(bench.study).unwrap();
    let together = &all[16..];
    let workers: BTreeSet<&str> = together.iter().map(|it| it.worker.as_str()).collect();
    let gpus: BTreeSet<&str> = together.iter().filter_map(|it| it.worker.rsplit(' ').next()).collect();
    assert_eq!((workers.len(), gpus.len()), (8, 8), "each has a GPU of its own: {workers:?}");
    let faster = alone / pace(together);
    // Other programs of the machine slow eight workers down more than one.
    assert!(faster > 4.0, "8 workers do the work of {faster:.2}");
}

#[test]
fn drained_nodes_killed_workers_and_a_restarted_database_lose_nothing() {
    let Some(mut bench) = Bench::start() else { return };
    bench.push(0, 120);
    let first = bench.submit(4, 100);
    bench.submit(8, 100);
    let seen = bench.results(10);
    assert!(seen.iter().all(|it| it.attempt == 1));
    bench.server.down("fast");
    bench.server.up();
    // A worker dies: its task comes back when its lease has expired. The test does not wait that long.
    let pids: BTreeMap<u32, u64> = bench
        .results(30)
        .iter()
        .filter_map(|it| Some((it.worker.split(' ').nth(1)?.parse().ok()?, it.sequence)))
        .collect();
    let victim = pids.keys().next_back().unwrap().to_string();
    testkit::run("kill", &["-KILL", &victim]);
    bench.server.sql("UPDATE rockhound.tune_tasks SET lease = 1500 WHERE state = 1");
    // A node is drained and its job put back: its workers give their tasks back before they end.
    let node = bench.slurm.tool("squeue", &["-h", "-j", &first, "-o", "%N"]).unwrap();
    bench
        .slurm
        .tool("scontrol", &["update", &format!("nodename={node}"), "state=drain", "reason=test"])
        .unwrap();
    bench.slurm.tool("scontrol", &["requeue", &first]).unwrap();
    let done = bench.results(120);
    bench.slurm.tool("scontrol", &["update", &format!("nodename={node}"), "state=resume"]).unwrap();
    bench.journal.close(bench.study).unwrap();
    assert_eq!(done.len(), 120);
    assert_eq!(done.iter().map(|it| it.sequence).collect::<BTreeSet<_>>().len(), 120);
    assert!(done.iter().all(|it| it.result.as_ref() == Ok(&it.payload)), "{done:?}");
    let again: u32 = done.iter().map(|it| it.attempt - 1).sum();
    // Given back by a drained worker, taken from the killed one, or claimed twice when the server went away.
    assert!((1..=20).contains(&again), "{again} repeated claims");
}
