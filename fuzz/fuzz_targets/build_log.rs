//! Any bytes as the log of a build, in pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut log = logs::BuildLog::default();
    for piece in data.chunks(61) {
        log.feed(piece);
        let _ = log.take();
    }
    let _ = log.finish();
});
