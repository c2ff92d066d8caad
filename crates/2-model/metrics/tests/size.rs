//! Speed of a full report over many dispatches; run with `--ignored --nocapture`.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "measures and says so")]

use metrics::{Definitions, Evaluation, Settings, table};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use workload::Options;

#[test]
#[ignore = "takes seconds; ROWS sets the number of dispatches"]
fn a_full_report_over_many_dispatches() {
    let rows: usize = std::env::var("ROWS").ok().and_then(|r| r.parse().ok()).unwrap_or(100_000);
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/workloads/vcopy/MI200");
    let Ok(text) = std::fs::read_to_string(dir.join("pmc_perf.csv")) else {
        println!("skipped: needs ../shared/workloads, install with the project's shared data");
        return;
    };
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let samples: Vec<&str> =
        lines.map(|l| l.split_once(",\"").unwrap().1.split_once('"').unwrap().1).collect();
    let mut csv = String::from(header);
    for i in 0..rows {
        let rest = samples[i % samples.len()];
        csv.push_str(&format!("\n{i},\"kernel_{}(double*, int)\"{rest}", i % 50));
    }
    let folder = BTreeMap::from([
        ("pmc_perf.csv".to_string(), csv.into_bytes()),
        ("sysinfo.csv".to_string(), std::fs::read(dir.join("sysinfo.csv")).unwrap()),
    ]);
    let begin = Instant::now();
    let w = workload::read(&folder, &Options::default()).unwrap();
    let read = begin.elapsed();
    let begin = Instant::now();
    let d = Definitions::built_in();
    let compiled = d.compile(w.machine.target().unwrap()).unwrap();
    let load = begin.elapsed();
    let begin = Instant::now();
    let settings = Settings::default();
    let e = Evaluation::new(&compiled, &w, (0..rows as u32).collect(), settings);
    let cells: usize = d
        .tables()
        .iter()
        .map(|t| table(d, t, &e, settings).rows.iter().map(|r| r.cells.len()).sum::<usize>())
        .sum();
    println!("{rows} dispatches: read {read:?}, definitions {load:?}, {cells} cells {:?}", begin.elapsed());
    assert!(cells > 2000);
}
