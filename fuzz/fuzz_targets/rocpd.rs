//! Any bytes as a rocpd database.
#![no_main]

mod recording;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| recording::check(&["out.db"], &[], data));
