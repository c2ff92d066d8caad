//! Any bytes as each kind of recording: a workload or an error, what is written reads back, and nothing panics.
//! The first byte says which file the rest is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use workload::{Options, read, write};

const MAIN: &[u8] = b"Dispatch_ID,GPU_ID,Kernel_Name,Grid_Size,Start_Timestamp,End_Timestamp,SQ_WAVES\n0,0,a,64,1,9,5\n1,0,b,64,10,12,6\n";

const FILES: &[&str] = &[
    "pmc_perf.csv",
    "SQ_IFETCH_LEVEL.csv",
    "timestamps.csv",
    "sysinfo.csv",
    "roofline.csv",
    "profiling_config.yaml",
    "perfmon/pmc_perf_0.txt",
    "1_counter_collection.csv",
    "1_kernel_trace.csv",
    "1_agent_info.csv",
    "results.csv",
    "out.db",
];

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let name = FILES[*first as usize % FILES.len()];
    let mut folder = BTreeMap::new();
    match *first as usize % FILES.len() {
        1..=6 => drop(folder.insert("pmc_perf.csv".to_string(), MAIN.to_vec())),
        9 => drop(folder.insert("1_kernel_trace.csv".to_string(), MAIN.to_vec())),
        _ => {}
    }
    folder.insert(name.to_string(), rest.to_vec());
    let options = Options { max_unpacked: 1 << 24 };
    let Ok(w) = read(&folder, &options) else { return };
    let rows = w.dispatches.len();
    assert!(w.counters.iter().all(|c| c.values.len() == rows));
    for row in 0..rows {
        let _ = w.kernel_of(row);
        let _ = w.dispatches.duration(row);
    }
    if let Ok(back) = read(&write(&w), &options) {
        assert_eq!(back.dispatches.len(), rows);
    }
});
