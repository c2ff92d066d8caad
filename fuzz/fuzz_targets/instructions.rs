//! Any bytes as the instructions of an emulated recording.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use workload::{INSTRUCTIONS_FILE, Options, read_instructions};

fuzz_target!(|data: &[u8]| {
    let folder = BTreeMap::from([(INSTRUCTIONS_FILE.to_string(), data.to_vec())]);
    let options = Options { max_unpacked: 1 << 24 };
    if let Ok(Some(runs)) = read_instructions(&folder, &options, &|dispatch| dispatch % 2 == 0) {
        for run in runs {
            assert!(run.dispatches > 0 && !run.rows.is_empty());
        }
    }
});
