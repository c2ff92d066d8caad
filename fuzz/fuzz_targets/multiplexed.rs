//! Any bytes as a recording whose dispatches take turns at counters.
#![no_main]

mod recording;

use libfuzzer_sys::fuzz_target;

const SETTINGS: &[u8] = b"iteration_multiplexing: kernel\n";

fuzz_target!(|data: &[u8]| recording::check(&["pmc_perf.csv"], &[("profiling_config.yaml", SETTINGS)], data));
