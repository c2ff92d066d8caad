//! Any bytes as the `results.csv` of rocprof.
#![no_main]

mod recording;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| recording::check(&["results.csv"], &[], data));
