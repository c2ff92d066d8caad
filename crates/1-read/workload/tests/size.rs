//! Speed and memory on a recording of 100,000 dispatches with 1,022 columns; run with `--ignored --nocapture`.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "measures and says so")]

use std::collections::BTreeMap;
use std::path::Path;

#[test]
#[ignore = "takes seconds and gigabytes; ROWS sets the number of dispatches"]
fn a_large_recording_reads_in_seconds() {
    let rows: usize = std::env::var("ROWS").ok().and_then(|r| r.parse().ok()).unwrap_or(100_000);
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/workloads/vcopy/MI200/pmc_perf.csv");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: needs ../shared/workloads, install with the project's shared data");
        return;
    };
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let samples: Vec<(&str, &str)> =
        lines.map(|l| l.split_once(",\"").unwrap().1.split_once('"').unwrap()).collect();
    let mut csv = String::with_capacity(rows * 8000);
    csv.push_str(header);
    for i in 0..rows {
        let rest = samples[i % samples.len()].1;
        csv.push_str(&format!("\n{i},\"kernel_{}(double*, int)\"{rest}", i % 50));
    }
    let bytes = csv.len();
    let folder = BTreeMap::from([("pmc_perf.csv".to_string(), csv.into_bytes())]);
    let begin = std::time::Instant::now();
    let w = workload::read(&folder, &workload::Options::default()).unwrap();
    let took = begin.elapsed();
    let heap: usize = w.counters.iter().map(|c| c.values.heap_bytes()).sum();
    println!("{rows} dispatches, {} MB of CSV: {took:?}, counters hold {} MB", bytes >> 20, heap >> 20);
    assert_eq!(w.dispatches.len(), rows);
    assert_eq!(w.kernels.len(), 50.min(rows));
    assert!(heap < rows * 1022 * 8);
}
