//! Any bytes as the file with counters beside a rocpd database.
#![no_main]

mod recording;

use libfuzzer_sys::fuzz_target;

const DATABASE: &[u8] = include_bytes!("../seeds/kernels.db");

fuzz_target!(|data: &[u8]| recording::check(
    &["7_native_counter_collection.csv"],
    &[("7.db", DATABASE)],
    data
));
