//! Any bytes as a file: the scan ends, gives each part of the file once, and does not panic.
#![no_main]

use codeobj::{Target, Wanted, recognise, scan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = recognise(data);
    let one = Target::parse("gfx942").map_or_else(Wanted::all, |target| Wanted::targets(vec![target]));
    for wanted in [Wanted::all(), one] {
        let Ok(mut found) = scan(data, &wanted) else { continue };
        let mut total = 0u64;
        for found in found.by_ref().flatten() {
            assert!(found.position <= data.len() as u64);
            assert!(wanted.accepts(&found.target));
            total += found.data.len() as u64;
        }
        let _ = found.passed_over().count();
        // Plain parts do not overlap, and compression has its limit.
        assert!(total <= (32 << 20) * 100 + 201 * data.len() as u64);
    }
});
