//! Any bytes as two tables of names that say nothing, in one folder.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use workload::{Error, Options, read};

fuzz_target!(|data: &[u8]| {
    // The first byte of this value ends the first table.
    let at = data.iter().position(|byte| *byte == 0xfe).unwrap_or(data.len());
    let (first, second) = data.split_at(at);
    let mut folder = BTreeMap::from([("a.csv".to_string(), first.to_vec())]);
    if let Some((_, second)) = second.split_first() {
        folder.insert("b.csv".to_string(), second.to_vec());
    }
    let options = Options { max_unpacked: 1 << 24 };
    let names: Vec<String> = folder.keys().cloned().collect();
    match read(&folder, &options) {
        Ok(workload) => {
            let rows = workload.dispatches.len();
            assert!(rows > 0 && workload.counters.iter().all(|it| it.values.len() == rows));
            (0..rows).for_each(|row| drop(workload.dispatches.duration(row)));
        }
        // Every run is a file that is there.
        Err(Error::SeveralRuns { runs, .. }) => {
            assert!(runs.len() > 1 && runs.iter().flatten().all(|it| names.contains(it)));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
