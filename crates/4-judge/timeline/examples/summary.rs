//! Reads a trace and gathers its evidence, and says how long both take: `cargo run --release -p rockhound-timeline --example
//! summary FILE`.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "an example reads files and prints")]

use std::time::Instant;
use timeline::TimelineEvidence;

fn main() {
    for path in std::env::args().skip(1) {
        let start = Instant::now();
        let mut file = std::fs::File::open(&path).expect("a readable file");
        let timeline = trace::read(&path, &mut file).expect("a trace");
        let read = start.elapsed();
        let evidence = TimelineEvidence::gather(&timeline);
        println!(
            "{path}: read {read:?}, all {:?}; {} spans on GPUs, {} on the host, idle {:?} %",
            start.elapsed(),
            timeline.gpu.len(),
            timeline.host.len(),
            evidence.total.idle_percent()
        );
    }
}
