//! Reads a trace, gathers its evidence, writes and reads its index, and says how long each takes: `cargo run
//! --release -p rockhound-timeline --example summary FILE`.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "an example reads files and prints")]

use rockhound_timeline::TimelineEvidence;
use std::time::Instant;

fn main() {
    for path in std::env::args().skip(1) {
        let start = Instant::now();
        let mut file = std::fs::File::open(&path).expect("a readable file");
        let timeline = trace::read(&path, &mut file).expect("a trace");
        let read = start.elapsed();
        let evidence = TimelineEvidence::gather(&timeline);
        let gathered = start.elapsed();
        let lines = rockhound_timeline::origins(&timeline, &evidence.links).len();
        let lined = start.elapsed();
        let index = timeline.to_index().expect("an index");
        let written = start.elapsed();
        let back = trace::Timeline::from_index(&index).expect("the same index");
        println!(
            "  {lines} origins in {:?}; index of {} MB written in {:?}, read in {:?}: {} spans",
            lined - gathered,
            index.len() / 1_000_000,
            written - lined,
            start.elapsed() - written,
            back.gpu.len() + back.host.len()
        );
        println!(
            "{path}: read {read:?}, all {gathered:?}; {} spans on GPUs, {} on the host, idle {:?} %",
            timeline.gpu.len(),
            timeline.host.len(),
            evidence.total.idle_percent()
        );
    }
}
