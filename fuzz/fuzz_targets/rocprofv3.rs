//! Any bytes as the counter collection of rocprofv3.
#![no_main]

mod recording;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| recording::check(&["1_counter_collection.csv"], &[], data));
