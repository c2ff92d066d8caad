//! Any bytes as `pmc_perf.csv`, wide or long, gzipped or not.
#![no_main]

mod recording;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| recording::check(&["pmc_perf.csv", "pmc_perf.csv.gz"], &[], data));
