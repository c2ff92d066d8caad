//! Any bytes as a file on communication.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = trace::comm::read(data);
});
