//! Workers that are the command itself, started by a real Slurm, over a real PostgreSQL.

use crate::run::{command, folder};
use serde_json::Value;
use std::process::Stdio;
use testkit::postgres::Server;
use testkit::slurm::Slurm;

/// 40 configurations of 50 ms.
const SPACE: &str = "[parameters]
x = \"range(40)\"
[start]
x = 1
[run]
command = \"sleep 0.05; echo {10 + (x - 5)**2} ms\"
time = \"([0-9]+) ms\"
";

#[test]
fn workers_of_the_command_run_under_slurm() {
    let dir = folder("tune-slurm");
    let Some(server) = Server::start(&dir.join("server")) else { return };
    let Some(slurm) = Slurm::start() else { return };
    std::fs::write(dir.join("tune.toml"), SPACE).unwrap();
    let store = server.address();
    let study = ["--store", &store, "--study", "s"];
    // The search runs nothing itself: it waits for workers.
    let search =
        ["tune", "tune.toml", "--jobs", "0", "--strategy", "exhaustive", "--no-proof", "--format", "json"];
    let mut search = command(&[&search[..], &study].concat());
    let search =
        search.current_dir(&dir).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let emit = ["tune", "--emit", "slurm", "--workers", "4", "--per-node", "4", "--time", "5"];
    let script = command(&[&emit[..], &study].concat()).output().expect("it starts");
    let script = String::from_utf8(script.stdout).unwrap();
    // Workers end with an error while there is no study.
    let begun = std::time::Instant::now();
    for query in [
        "SELECT count(*) FROM pg_tables WHERE tablename = 'tune_tasks'",
        "SELECT count(*) FROM rockhound.tune_studies WHERE name = 's'",
    ] {
        while server.sql(query).trim() != "1" {
            assert!(begun.elapsed().as_secs() < 30, "no study");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
    slurm.submit(&script, &[]);
    let output = search.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    let answer: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    let found = &answer["searches"][0];
    assert_eq!((&found["tried"], &found["failed"]), (&40.into(), &0.into()), "{said}");
    assert_eq!(found["winner"]["values"][0]["value"], "5");
    let workers = server.sql("SELECT count(DISTINCT worker) FROM rockhound.tune_tasks");
    assert!(workers.trim().parse::<u32>().unwrap() >= 2, "{workers} workers");
}
